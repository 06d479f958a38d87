"""How clusters, trials and score types were detected, as messages: UQ400 to UQ499."""

from harness_uq.messages.message import MessageType, message_types_in

STRUCTURE_INVALID = MessageType.error(
    "UQ401",
    "{reason:sentence}",
    "The command could not use a cluster field, a score range or a margin that you set. The message names the invalid "
    "value.",
    "Correct the option or the entry in the settings file.",
)
UNKNOWN_CLUSTER_FIELD = MessageType.warning(
    "UQ402",
    "Task {task!r} has no field {field!r}, which was named as the cluster field. Available fields: {known}.",
    "The documents of the task do not contain the field that you specified as the cluster field. In a live run, "
    "harness_uq ignores an unknown cluster field and detects the clusters automatically.",
    "Name one of the available fields with `--cluster TASK=FIELD`.",
)
PARTIAL_CLUSTER_FIELD = MessageType.warning(
    "UQ403",
    "The cluster field {field!r} is missing from {n_missing} of {n_questions:count question}. Each question without a "
    "cluster field counts as a separate cluster.",
    "If questions without a value of the cluster field share material with other questions, the interval is too "
    "narrow.",
    "Add the field to all questions, or choose another field with `--cluster TASK=FIELD`.",
)
RANGE_UNKNOWN = MessageType.note(
    "UQ404",
    "The range of metric {metric!r} is unknown. Declare the range with --range {metric}=LO,HI to get an interval "
    "inside the range.",
    "If the range of possible scores is known, intervals do not extend beyond the range, and their coverage is closer "
    "to the nominal level.",
    "If the metric has a lowest and a highest possible score, declare the range with `--range METRIC=LO,HI`.",
)
POSSIBLE_CLUSTER_FIELDS = MessageType.note(
    "UQ405",
    "The following fields divide the questions into groups and may define clusters: {fields}. If questions in the "
    "same group share material, use --cluster {example}.",
    "Questions with the same value of a field can share material, such as a passage. Fields that contain only "
    "categories, such as subjects, usually do not define clusters.",
    "If questions with the same value of a field share material, name this field with `--cluster FIELD`.",
)
RANGE_EXCLUDES_VALUE = MessageType.refusal(
    "UQ406",
    "The log contains the score {value:g} for metric {metric!r}, which lies outside the declared range of {low:g} to "
    "{high:g}.",
    "The range that you declare for a metric must contain all possible scores of the metric.",
    "Correct the range in `--range METRIC=LO,HI` or in the settings file.",
)
UNKNOWN_NAME = MessageType.error(
    "UQ407",
    "The logs contain no {kind} {name!r}.{known:nearest {name}|{kind}s}",
    "You specified a cluster field or a range for a task or metric that the logs do not contain.",
    "Use one of the names in the logs, which `harness-uq structure` lists.",
)
RANGE_INFERRED = MessageType.note(
    "UQ408",
    "All scores of metric {metric!r} are {value:g}. The range of the metric, {low:g} to {high:g}, is inferred from "
    "{source}.",
    "If all scores are equal, the range of the metric cannot be inferred from the scores. The width of the interval "
    "depends on the range of the metric.",
    "If the inferred range is wrong, declare the correct range with `--range METRIC=LO,HI`.",
)
RANGE_ASSUMED = MessageType.warning(
    "UQ409",
    "All scores of metric {metric!r} are {value:g}, so the interval assumes a range from {low:g} to {high:g}. If the "
    "metric has another range, such as 0 to 100, declare the range with --range {metric}=0,100.",
    "If all scores are equal, the range of the metric cannot be inferred from the scores. For a range from 0 to 100, "
    "the interval is a hundred times as wide as for a range from 0 to 1.",
    "Declare the range of the metric with `--range METRIC=LO,HI`.",
)
GROUP_SAMPLES_MISSING = MessageType.refusal(
    "UQ410",
    "The logs contain no samples of {tasks:quote}. The score of a group of tasks requires samples of all its tasks.",
    "The score of a group of tasks is a weighted mean over all its tasks, so the samples of all its tasks are "
    "required.",
    "Pass the logs of all tasks in the group.",
)
GROUP_WITHOUT_METRIC = MessageType.refusal(
    "UQ411",
    "None of the tasks in the group has a score for metric {metric!r}.",
    "The harness reports the requested metric only for the group as a whole, and not for the tasks in the group.",
    "Select another metric of the group with `--metric`.",
)
GROUP_TOTAL_TOO_LARGE = MessageType.refusal(
    "UQ412",
    "The log contains only the total score of task {task!r} for {n_questions:count question}. Without samples, only "
    "tasks of up to {limit:,} questions can be combined into a group.",
    "To combine tasks into a group, harness_uq needs one score per question. If a log contains only a total score, "
    "harness_uq constructs question scores of 0 and 1 that result in the same total. For very large tasks, the "
    "question scores that are constructed from the total score would need too much memory.",
    "Log the samples of the task.",
)
GROUP_WEIGHTS_UNKNOWN = MessageType.refusal(
    "UQ413",
    "The group score {reported:.6g} cannot be reproduced from the scores of its {n_tasks:count task}. Equal weights "
    "result in {equal:.6g}, and weights proportional to the number of questions result in {by_size:.6g}.",
    "harness_uq infers the weights of the tasks from the group score that the harness reports.",
    "Report the scores of the tasks separately instead of the group score.",
)
TASK_TOTALS_ONLY = MessageType.warning(
    "UQ414",
    "The log contains only total scores for {n_totals} of {n_tasks:count task}. The interval assumes that the "
    "questions of these tasks are independent and ignores any clusters, repeated trials or items that occur in "
    "several tasks.",
    "Without samples, harness_uq cannot detect clusters, repeated trials and items that occur in several tasks. If a "
    "task has clusters, repeated trials or shared items, an interval from total scores is too narrow.",
    "Log the samples of all tasks.",
)
GROUP_MEMBER_UNUSABLE = MessageType.refusal(
    "UQ415",
    "Task {task!r} of the group cannot be used: {reason:sentence}",
    "The score of a group is a weighted mean over all its tasks, so each task in the group must have a usable score.",
    "Log the samples of the task that the message names.",
)

# ---------------------------------------------------------------- what the data lack

TRIALS_NOT_NUMBERED = MessageType.note(
    "UQ416",
    "The trials of {n_tasks:count task} are not numbered, so each row of a question counts as a trial. Name a column "
    "of trial numbers with --column trial=NAME.",
    "Without trial numbers, a row of the table that was written twice cannot be distinguished from a second trial.",
    "Add a column with trial numbers to the table, and name this column `trial` or `epoch`.",
)
NO_QUESTION_SCORES = MessageType.note(
    "UQ417",
    "For {n_tasks} of {n_all:count task}, the logs contain no scores of individual questions. The clusters and trials "
    "are therefore unknown, and systems cannot be compared question by question.",
    "Without scores of individual questions, intervals are wider, and systems can be compared only as independent "
    "samples.",
    "Log the samples (lm-eval: `--log_samples`), and pass the folder that contains the samples.",
)
NO_CLUSTER_FIELD = MessageType.note(
    "UQ418",
    "{n_tasks:count task} {n_tasks:plural has|have} no field that identifies clusters. If questions share material, "
    "such as a passage or a repository, name the field that identifies this material with --cluster FIELD.",
    "If questions share material but are treated as independent, intervals are too narrow.",
    "Log a field that identifies the shared material. If the questions are independent, ignore this note.",
)
SINGLE_TRIALS = MessageType.note(
    "UQ419",
    "Each question has only one trial. Repeated trials are required to estimate the variation between trials and "
    "metrics such as pass@2.",
    "With one trial per question, the variation between questions cannot be separated from the trial-to-trial noise.",
    "Run each question several times (Inspect AI: `epochs`, lm-eval: `repeats`).",
)
QUESTIONS_NOT_SHARED = MessageType.note(
    "UQ420",
    "The systems have no questions in common in any task, so the systems can be compared only as independent samples.",
    "To find the questions that two systems have in common, harness_uq compares the task names and question "
    "identifiers.",
    "Check that the same tasks and questions have the same names and identifiers in all files.",
)
PERCENT_SCORES = MessageType.note(
    "UQ421",
    "The scores of metric {metric!r} lie between 0 and 100 and look like percentages, but the range of the metric is "
    "unknown. If the scores are percentages, declare the range with --range {metric}=0,100.",
    "If the range of a metric is unknown, the interval of a percentage can extend beyond 100. Percentages with an "
    "unknown range and scores from 0 to 1 cannot be combined in an overall score.",
    "Declare the range with `--range METRIC=0,100`. If larger scores are possible, ignore this note.",
)
MISSING_BY_GROUP = MessageType.note(
    "UQ422",
    "Missing scores are related to the field {field!r}: the share of questions with a missing score in its "
    "{n_groups:count group} ranges from {low:percent}{lowest} to {high:percent}{highest} (p = {p_value:.2g}).",
    "If scores are missing more often in some groups of questions, the mean of the remaining scores is biased.",
    "Compare the results of `--missing drop`, `--missing zero` and `--missing bounds`, or report the score of each "
    "group with `--by FIELD`.",
)
MISSING_BY_SCORE = MessageType.note(
    "UQ423",
    "Missing scores are related to the difficulty of the questions (p = {p_value:.2g}): the mean score of other "
    "systems is {lost:.3f} on the {n_questions:count question} with a missing score and {others:.3f} on the other "
    "questions.",
    "If scores of hard questions are missing more often, the mean of the remaining scores is too high.",
    "Compare the results of `--missing drop`, `--missing zero` and `--missing bounds`.",
)
GROUP_TASKS_LEFT_OUT = MessageType.note(
    "UQ424",
    "{n_left_out} of the {n_tasks:count task} in the group {n_left_out:plural has|have} no score for metric "
    "{metric!r} and {n_left_out:plural is|are} left out, as in the value of the harness: {tasks:join}.",
    "The score of a group is the mean over the tasks that have the metric. The other tasks have only other metrics, or "
    "no scores at all.",
    "If a task should have a score, check whether it was run.",
)
CACHED_TRIALS = MessageType.note(
    "UQ425",
    "{n_cached} of the {n_repeats:count repeated trial} came from a cache, so {n_cached:plural it is no|they are no} "
    "independent {n_cached:plural trial|trials} of the model.",
    "A cache returns an earlier answer instead of asking the model again. Trials that are copies of each other contain "
    "no information about trial-to-trial noise.",
    "Disable the cache if the trials should be independent.",
)
CACHED_TRIALS_OF_PASS_K = MessageType.warning(
    "UQ426",
    "{n_cached} of the {n_repeats:count repeated trial} came from a cache, but {estimand} describes independent trials "
    "of the model.",
    "If trials are copies of each other, they agree more often than independent trials. Then pass^k is too high, and "
    "pass@k is too low.",
    "Disable the cache, and run the evaluation again.",
)
FEW_POSSIBLE_CLUSTERS = MessageType.note(
    "UQ427",
    "If questions in each of the {n_clusters:count group} with the same {field!r} share material, the interval is "
    "[{low:.3f}, {high:.3f}] instead of [{low_independent:.3f}, {high_independent:.3f}]. To use these groups as "
    "clusters, add --cluster {field}.",
    "A field that may define clusters is used automatically only if it has at least 5 different values, because the "
    "interval of 3 or 4 clusters depends mostly on the prior distribution.",
    "If questions in the same group share material, name the field with `--cluster FIELD`. Otherwise use `--cluster "
    "none`.",
)

TYPES = message_types_in(globals())
