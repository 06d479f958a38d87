"""Messages about clusters, trials and score types: UQ400 to UQ499."""

from harness_uq.messages.message import MessageType, message_types_in

STRUCTURE_INVALID = MessageType(
    "UQ401",
    "structure-invalid",
    "error",
    "{reason:sentence}",
    "A cluster field, score range or margin does not fit the data.",
    "Correct the option or the setting.",
)
UNKNOWN_CLUSTER_FIELD = MessageType(
    "UQ402",
    "unknown-cluster-field",
    "warning",
    "Task {task!r} has no field {field!r} to define clusters. Available fields: {known}.",
    "The field named by the user does not occur in the documents of the task. A live run detects the clusters instead.",
    "Use one of the fields listed, with `--cluster TASK=FIELD`.",
)
PARTIAL_CLUSTER_FIELD = MessageType(
    "UQ403",
    "partial-cluster-field",
    "warning",
    "The cluster field {field!r} is missing from {n_missing} of {n_questions:count question}. Each question without "
    "the field counts as a separate cluster.",
    "If these questions share material with others, the interval is too narrow.",
    "Complete the field, or choose another one.",
)
RANGE_UNKNOWN = MessageType(
    "UQ404",
    "range-unknown",
    "note",
    "The range of metric {metric!r} is unknown. Declare the range with --range {metric}=LO,HI to get an interval "
    "that stays within it.",
    "Intervals for scores of a known range stay inside it and have better coverage.",
    "Declare the range if the metric has one.",
)
POSSIBLE_CLUSTER_FIELDS = MessageType(
    "UQ405",
    "possible-cluster-fields",
    "note",
    "These fields divide the questions into groups and may define clusters: {fields}. If questions of the same "
    "group share material, use --cluster {example}.",
    "Fields with repeated values can indicate shared passages, but also mere categories such as subjects.",
    "Use `--cluster` if the groups share material.",
)
RANGE_EXCLUDES_VALUE = MessageType(
    "UQ406",
    "range-excludes-value",
    "refusal",
    "The log contains the score {value:g} for metric {metric!r}, which lies outside the declared range of {low:g} to "
    "{high:g}.",
    "The range must contain all possible scores.",
    "Correct the range.",
)
UNKNOWN_NAME = MessageType(
    "UQ407",
    "unknown-name",
    "error",
    "The logs contain no {kind} {name!r}.{known:nearest {name}} Available {kind}s: {known:join}.",
    "A cluster field or range is given for a task or metric that the logs do not contain.",
    "Use one of the names listed.",
)
RANGE_INFERRED = MessageType(
    "UQ408",
    "range-inferred",
    "note",
    "All scores of metric {metric!r} are {value:g}. The range {low:g} to {high:g} is inferred from {source}.",
    "Scores that are all equal do not show the range of a metric, which determines the width of the interval.",
    "If the range is another one, declare it with `--range METRIC=LO,HI`.",
)
RANGE_ASSUMED = MessageType(
    "UQ409",
    "range-assumed",
    "warning",
    "All scores of metric {metric!r} are {value:g}, so the interval assumes a range from {low:g} to {high:g}. "
    "If the range is another one, such as 0 to 100, declare it with --range {metric}=0,100.",
    "Scores that are all equal do not show the range of a metric, which determines the width of the interval. For "
    "scores from 0 to 100 it is a hundred times the width for scores from 0 to 1.",
    "Declare the range with `--range METRIC=LO,HI`.",
)
GROUP_SAMPLES_MISSING = MessageType(
    "UQ410",
    "group-samples-missing",
    "refusal",
    "The logs contain no samples of {tasks:quote}. The score of a group of tasks requires samples of all its tasks.",
    "The score of a group is a weighted mean over all of its tasks.",
    "Pass the logs of all tasks.",
)
GROUP_WITHOUT_METRIC = MessageType(
    "UQ411",
    "group-without-metric",
    "refusal",
    "None of the tasks in the group has a score for metric {metric!r}.",
    "The group reports a metric that its tasks do not have.",
    "Use another metric of the group.",
)
GROUP_TOTAL_TOO_LARGE = MessageType(
    "UQ412",
    "group-total-too-large",
    "refusal",
    "Task {task!r} has only a total for {n_questions:count question}, but only tasks of up to {limit:,} questions"
    " can be combined without samples.",
    "Totals are expanded to one score per question.",
    "Log the samples.",
)
GROUP_WEIGHTS_UNKNOWN = MessageType(
    "UQ413",
    "group-weights-unknown",
    "refusal",
    "The value {reported:.6g} of the group cannot be reproduced from its {n_tasks:count task}. Equal weights give "
    "{equal:.6g}, and weights by number of questions give {by_size:.6g}.",
    "The weights of a group are inferred from the value that the harness reports.",
    "Report the tasks separately.",
)
TASK_TOTALS_ONLY = MessageType(
    "UQ414",
    "task-totals-only",
    "warning",
    "The log contains only totals for {n_totals} of {n_tasks:count task}. The interval treats the questions of these "
    "tasks as independent and ignores any clusters, repeated trials or items that recur across tasks.",
    "The structure of questions without logged samples is unknown.",
    "Log the samples of all tasks.",
)
GROUP_MEMBER_UNUSABLE = MessageType(
    "UQ415",
    "group-member-unusable",
    "refusal",
    "Task {task!r} of the group cannot be used for the following reason: {reason:sentence}",
    "The score of a group is a weighted mean over all of its tasks.",
    "Log the samples of the task.",
)

# ---------------------------------------------------------------- what the data lack

TRIALS_NOT_NUMBERED = MessageType(
    "UQ416",
    "trials-not-numbered",
    "note",
    "The trials of {n_tasks:count task} are not numbered, so all rows of a question count as its trials. Name a "
    "column of trial numbers with --column trial=NAME.",
    "Without numbers, a row that was written twice cannot be distinguished from a second trial.",
    "Add a column such as `trial` or `epoch`.",
)
NO_QUESTION_SCORES = MessageType(
    "UQ417",
    "no-question-scores",
    "note",
    "{n_tasks:count task} of {n_all} {n_tasks:plural has|have} no score per question, so clusters and trials are "
    "unknown, and systems cannot be compared question by question.",
    "Totals without samples support wider intervals and unpaired comparisons only.",
    "Log the samples (lm-eval: `--log_samples`), and pass the folder that contains them.",
)
NO_CLUSTER_FIELD = MessageType(
    "UQ418",
    "no-cluster-field",
    "note",
    "No field of {n_tasks:count task} identifies clusters. If questions share material, such as a passage or a "
    "repository, name the field with --cluster FIELD.",
    "Intervals are too narrow if questions that share material count as independent.",
    "Log a field with the shared material, or ignore this note if the questions are independent.",
)
SINGLE_TRIALS = MessageType(
    "UQ419",
    "single-trials",
    "note",
    "Each question has one trial. Repeated trials are needed to estimate the variation between trials, and for "
    "estimands such as pass@2.",
    "With one trial per question, the variation between questions and that between trials cannot be separated.",
    "Repeat the questions (Inspect: `epochs`, lm-eval: `repeats`).",
)
QUESTIONS_NOT_SHARED = MessageType(
    "UQ420",
    "questions-not-shared",
    "note",
    "The systems have no task with common questions, so they can only be compared as independent samples.",
    "Systems are matched by task name and question identifier.",
    "Check that tasks and questions have the same identifiers in all files.",
)
PERCENT_SCORES = MessageType(
    "UQ421",
    "percent-scores",
    "note",
    "The scores of metric {metric!r} lie between 0 and 100 and look like percentages, but the range of the metric is "
    "unknown. Declare it with --range {metric}=0,100 if it applies.",
    "Without a known range, intervals can exceed 100, and scores in per cent are not combined with scores from 0 to 1.",
    "Declare the range, or ignore this note if larger scores are possible.",
)
MISSING_BY_GROUP = MessageType(
    "UQ422",
    "missing-by-group",
    "note",
    "Missing scores are related to the field {field!r}: the share of questions with a missing score ranges from "
    "{low:percent}{lowest} to {high:percent}{highest} in its {n_groups:count group} (p = {p_value:.2g}).",
    "Scores that are missing more often in some groups are not missing at random, so leaving them out shifts the mean.",
    "Compare the policies for missing scores (`--missing`), or report the scores of the groups with `--by`.",
)
MISSING_BY_SCORE = MessageType(
    "UQ423",
    "missing-by-score",
    "note",
    "Missing scores are related to the difficulty of the questions: the mean score of other systems is {lost:.3f} on "
    "the {n_questions:count question} with a missing score and {others:.3f} on the others (p = {p_value:.2g}).",
    "If hard questions fail more often, leaving them out overstates the score.",
    "Compare the policies for missing scores (`--missing`).",
)

TYPES = message_types_in(globals())
