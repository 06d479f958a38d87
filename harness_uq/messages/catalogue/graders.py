"""Messages about the assessment of graders: UQ580 to UQ589."""

from harness_uq.messages.message import MessageType, message_types_in

NO_COMMON_ANSWERS = MessageType.refusal(
    "UQ580",
    "The graders {grader_a!r} and {grader_b!r} have fewer than three scored answers in common.",
    "harness_uq compares two graders on the answers that both graders scored.",
    "Score the same answers with both graders, for example with `inspect score --action append`.",
)
LABELS_OF_ONE_FAMILY = MessageType.refusal(
    "UQ581",
    "Only {n_questions:count question} {n_questions:plural has|have} human labels both for answers of the grader's "
    "own model family and for answers of other systems. At least {needed} questions are required.",
    "Self-preference means that a grader favors answers of models from its own family. To measure self-preference, "
    "harness_uq uses questions with human labels both for answers of models from the grader's family and for answers "
    "of other systems.",
    "Choose a sample of questions, and label the answers of all systems to each of these questions.",
)
NOTHING_TO_ASSESS = MessageType.error(
    "UQ582",
    "The data contain neither human labels nor scores of two graders for the same answers. Provide human labels with "
    "`--labels`, or a log with the scores of several graders.",
    "To measure the errors of a grader, harness_uq compares the grader's scores with human labels or with the scores "
    "of another grader.",
    "Provide human labels with `--labels`, or score the same answers with a second grader.",
)
NO_COMMON_ANSWERS_OF_PANEL = MessageType.refusal(
    "UQ583",
    "Fewer than three answers were scored by all of the graders {graders:join}.",
    "To compute the mean score of several graders, harness_uq uses only answers that all graders scored.",
    "Score the same answers with all graders, or use `--metric` to select graders that scored the same answers.",
)
GRADERS_OF_DIFFERENT_RANGES = MessageType.refusal(
    "UQ584",
    "The scores of {graders:join} have different ranges, so the mean of these scores is not meaningful.",
    "harness_uq averages the scores of several graders only if all graders use the same scale.",
    "Use `--metric` to select graders with the same scale, or set the range of each grader's scores with `--range`.",
)
EFFECTIVE_GRADERS_UNKNOWN = MessageType.note(
    "UQ585",
    "The effective number of graders cannot be estimated without human labels, because graders that make the same "
    "errors agree with each other.",
    "Without human labels, it is unknown whether graders agree because their scores are right or because they make "
    "the same errors.",
    "Provide human labels with `--labels`.",
)

TYPES = message_types_in(globals())
