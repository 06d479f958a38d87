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
    "Task {task!r} has no field {field!r} to cluster by; clusters are detected instead. Its fields: {known}.",
    "The field named by the user does not occur in the documents of the task.",
    "Use one of the fields listed, with `--cluster TASK=FIELD`.",
)
PARTIAL_CLUSTER_FIELD = MessageType(
    "UQ403",
    "partial-cluster-field",
    "warning",
    "Cluster field {field!r} is missing from {n_missing} of {n_questions:count question}; each of these counts as its "
    "own cluster.",
    "If these questions share material with others, the interval is too narrow.",
    "Complete the field, or choose another one.",
)
RANGE_UNKNOWN = MessageType(
    "UQ404",
    "range-unknown",
    "note",
    "The range of {metric!r} is unknown. Declare it with --range {metric}=LO,HI to get a bounded interval.",
    "Intervals for scores of a known range stay inside it and have better coverage.",
    "Declare the range if the metric has one.",
)
POSSIBLE_CLUSTER_FIELDS = MessageType(
    "UQ405",
    "possible-cluster-fields",
    "note",
    "Fields that group the questions: {fields}. If questions of a group share material, use --cluster {example}.",
    "Fields with repeated values can indicate shared passages, but also mere categories such as subjects.",
    "Use `--cluster` if the groups share material.",
)
RANGE_EXCLUDES_VALUE = MessageType(
    "UQ406",
    "range-excludes-value",
    "refusal",
    "--range {metric}={low:g},{high:g} excludes a logged score: {value:g}.",
    "The range must contain all possible scores.",
    "Correct the range.",
)
UNKNOWN_NAME = MessageType(
    "UQ407",
    "unknown-name",
    "error",
    "Unknown {kind}: {name!r}.{known:nearest {name}} Available: {known:join}.",
    "A cluster field or range is given for a task or metric that the logs do not contain.",
    "Use one of the names listed.",
)
GROUP_SAMPLES_MISSING = MessageType(
    "UQ410",
    "group-samples-missing",
    "refusal",
    "Samples of {tasks:join} are missing from the logs. The group requires all of its tasks.",
    "The score of a group is a weighted mean over all of its tasks.",
    "Pass the logs of all tasks.",
)
GROUP_WITHOUT_METRIC = MessageType(
    "UQ411",
    "group-without-metric",
    "refusal",
    "None of the group's tasks has a score of {metric!r}.",
    "The group reports a metric that its tasks do not have.",
    "Use another metric of the group.",
)
GROUP_TOTAL_TOO_LARGE = MessageType(
    "UQ412",
    "group-total-too-large",
    "refusal",
    "{task}: {n_questions:count question} known by their total alone are too many to combine (limit: {limit:,}).",
    "Totals are expanded to one score per question.",
    "Log the samples.",
)
GROUP_WEIGHTS_UNKNOWN = MessageType(
    "UQ413",
    "group-weights-unknown",
    "refusal",
    "Neither equal weights ({equal:.6g}) nor weights by size ({by_size:.6g}) of the {n_tasks:count task} reproduce the "
    "group's value {reported:.6g}.",
    "The weights of a group are inferred from the value that the harness reports.",
    "Report the tasks separately.",
)
TASK_TOTALS_ONLY = MessageType(
    "UQ414",
    "task-totals-only",
    "warning",
    "Only the totals of {n_totals} of {n_tasks:count task} are known. The interval treats their questions as "
    "independent: it does not account "
    "for clusters, repeated trials or items that recur across tasks, if there are any.",
    "The structure of questions without logged samples is unknown.",
    "Log the samples of all tasks.",
)
GROUP_MEMBER_UNUSABLE = MessageType(
    "UQ415",
    "group-member-unusable",
    "refusal",
    "Task {task} of the group cannot be used: {reason:sentence}",
    "The score of a group is a weighted mean over all of its tasks.",
    "Log the samples of the task.",
)

TYPES = message_types_in(globals())
