"""Messages about the assessment of graders: UQ580 to UQ589."""

from harness_uq.messages.message import MessageType, message_types_in

NO_COMMON_ANSWERS = MessageType(
    "UQ580",
    "no-common-answers",
    "refusal",
    "The graders {grader_a!r} and {grader_b!r} have fewer than three scored answers in common.",
    "harness_uq compares two graders on the answers that both graders scored.",
    "Score the same answers with both graders, for example with `inspect score --action append`.",
)
LABELS_OF_ONE_FAMILY = MessageType(
    "UQ581",
    "labels-of-one-family",
    "refusal",
    "Only {n_questions:count question} {n_questions:plural has|have} human labels for answers of the grader's own "
    "model family and for answers of other systems. At least {needed} questions are required.",
    "A grader's preference for answers of its own model family (self-preference) is measured on questions with human "
    "labels for answers of this family and for answers of other systems.",
    "Choose some questions, and label the answers of all systems to each chosen question.",
)
NOTHING_TO_ASSESS = MessageType(
    "UQ582",
    "nothing-to-assess",
    "error",
    "The data contain neither human labels nor scores of two graders for the same answers. Give human labels with "
    "`--labels`, or a log with the scores of several graders.",
    "The errors of a grader are measured by comparison with human labels or with another grader.",
    "Give human labels with `--labels`, or score the answers with a second grader.",
)
NO_COMMON_ANSWERS_OF_PANEL = MessageType(
    "UQ583",
    "no-common-answers-of-panel",
    "refusal",
    "Fewer than three answers were scored by all of the graders {graders:join}.",
    "To compute the mean score of several graders, harness_uq uses only answers that all graders scored.",
    "Score the same answers with all graders, or select graders with `--metric`.",
)
GRADERS_OF_DIFFERENT_RANGES = MessageType(
    "UQ584",
    "graders-of-different-ranges",
    "refusal",
    "The scores of {graders:join} have different ranges, so their mean has no meaning.",
    "Scores are averaged over graders only if all of them use the same scale.",
    "Select graders with the same scale with `--metric`, or set the ranges with `--range`.",
)
EFFECTIVE_GRADERS_UNKNOWN = MessageType(
    "UQ585",
    "effective-graders-unknown",
    "note",
    "The effective number of graders requires human labels, because graders that make the same errors agree with each "
    "other.",
    "Without human labels, it is unknown whether graders agree because they are right or because they share errors.",
    "Give labels with `--labels`.",
)

TYPES = message_types_in(globals())
