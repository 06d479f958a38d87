"""Messages about plans, variance components, subsets and labels: UQ500 to UQ579."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- plans

PILOT_FEW_CLUSTERS = MessageType(
    "UQ501",
    "pilot-few-clusters",
    "warning",
    "The pilot has only {n_clusters:count cluster}, so its design effect and the plan are rough estimates. Use a "
    "pilot with more clusters.",
    "The design effect measures how much clusters reduce the information of a question.",
    "Use a pilot with at least 10 clusters, or plan with a larger design effect.",
)
PILOT_AVERAGED = MessageType(
    "UQ502",
    "pilot-averaged",
    "note",
    "The plan uses the mean variances of {n_systems:count system}{pairs}. The widths are those of the system with "
    "the widest interval.",
    "A plan for several systems uses one set of variances.",
    "Plan for each system separately if their variances differ much.",
)
PILOT_ONE_SYSTEM = MessageType(
    "UQ503",
    "pilot-one-system",
    "note",
    "The pilot contains one system only, so the variance of a difference between two systems is unknown. Add the "
    "pilot of a second system, or set --correlation.",
    "The variance of a paired difference depends on the correlation of the two systems' scores.",
    "Add a second pilot, or give the correlation.",
)
PILOT_ONE_TRIAL = MessageType(
    "UQ504",
    "pilot-one-trial",
    "note",
    "The pilot has only one trial per question, so the effect of additional trials is unknown.",
    "One trial does not separate the variation between questions from trial-to-trial noise.",
    "Use a pilot with repeated trials to plan the number of trials.",
)
PILOT_CLUSTER_SIZE = MessageType(
    "UQ505",
    "pilot-cluster-size",
    "note",
    "The design effect depends on the sizes of the clusters, and the plan assumes clusters of the same size as in"
    " the pilot.",
    "Larger clusters have a larger design effect.",
    "Plan for clusters of the same size.",
)
ZERO_VARIANCE_ESTIMATED = MessageType(
    "UQ506",
    "zero-variance-estimated",
    "warning",
    "The estimated variance due to {factors:quote} is 0, and the plan uses 0 although larger values are "
    "plausible. Use a pilot with more levels of these factors for a better estimate.",
    "With few levels a variance is often estimated as 0. The plan then assigns no levels to the factor.",
    "Add levels of the factor to the pilot.",
)
PILOT_TOO_SMALL = MessageType(
    "UQ510",
    "pilot-too-small",
    "refusal",
    "A pilot with only one question is not sufficient to estimate a variance. Use a larger pilot.",
    "A variance requires at least two questions.",
    "Use a larger pilot.",
)
PILOT_WITHOUT_TRIALS = MessageType(
    "UQ511",
    "pilot-without-trials",
    "refusal",
    "Each question of the pilot has only one trial, so the effect of more trials is unknown. Use a pilot with "
    "repeated trials, or set the variance between trials with --variance-within.",
    "One trial does not separate the variation between questions from trial-to-trial noise.",
    "Use a pilot with repeated trials.",
)
PILOT_WITHOUT_SCORES = MessageType(
    "UQ512",
    "pilot-without-scores",
    "refusal",
    "A plan requires a pilot run with scores of individual questions.",
    "The variance between questions is estimated from the scores of the pilot.",
    "Log the samples of the pilot.",
)
PLAN_UNAVAILABLE = MessageType(
    "UQ513",
    "plan-unavailable",
    "refusal",
    "No plan is possible for {reasons:sentence}",
    "Each reason names the task and metric.",
    "Use another pilot, or another target.",
)

# ---------------------------------------------------------------- variance components

IDENTICAL_LOGS = MessageType(
    "UQ520",
    "identical-logs",
    "warning",
    "All {n_logs} runs have the same score on every question, perhaps because of copied files, cached answers or a "
    "fixed seed. Such runs do not show how scores vary between runs.",
    "Identical runs give an estimated variance of 0 between runs.",
    "Check that the runs used different seeds and no cache.",
)
FEW_LEVELS = MessageType(
    "UQ521",
    "few-levels",
    "warning",
    "With only {n_levels:count level} of factor {factor!r}, the estimate of the variance between levels is "
    "imprecise. Run more levels of the factor.",
    "The interval accounts for the uncertainty of the variance. With fewer than 5 levels that uncertainty is large.",
    "Run more levels of the factor, such as more seeds.",
)
EFFECTS_UNAVAILABLE = MessageType(
    "UQ522",
    "effects-unavailable",
    "refusal",
    "No variance components can be estimated. {reasons:sentence}",
    "Variance components require at least two logs of the same system and task.",
    "Add logs that differ in the factor of interest.",
)
MODEL_LEFT_OUT = MessageType(
    "UQ523",
    "model-left-out",
    "warning",
    "System {model!r} on task {task!r} is left out for the following reason ({reason_code}): {reason:sentence}",
    "The other systems and tasks are not affected.",
    "See the reason named.",
)
LOGS_COMBINED = MessageType(
    "UQ524",
    "logs-combined",
    "note",
    "The estimate combines the scores of {n_logs:count log}.",
    "Logs that differ in the factors named are levels of these factors.",
    "Nothing.",
)
FACTOR_USED = MessageType(
    "UQ525",
    "factor-used",
    "note",
    "The analysis includes factor {factor!r} ({evidence:clause}).",
    "A factor is a setting that differs between the logs.",
    "Name factors with `--factor NAME=FIELD` if they were detected wrongly.",
)

# ---------------------------------------------------------------- subsets and labels

DRAW_SIZE_MISMATCH = MessageType(
    "UQ540",
    "draw-size-mismatch",
    "warning",
    "The inclusion probabilities belong to a subset of {expected:.0f} questions, but {n_questions:count question} "
    "{n_questions:plural has|have} a score, which biases the estimate. Run all questions of the subset, and use the "
    "file that `harness-uq subset` wrote for it.",
    "Inverse-probability weights are valid only if all drawn questions are scored.",
    "Pass the probabilities that the second draw wrote, and run the questions that are missing.",
)
SUBSET_WITH_REFERENCE_RUNS = MessageType(
    "UQ541",
    "subset-with-reference-runs",
    "note",
    "The run covers {n_questions} of {n_all:count question}. To adjust for the choice of questions, the estimate uses "
    "the scores of {n_systems:count reference system} on all questions.",
    "The difference estimator is unbiased even if the reference systems are misleading.",
    "Nothing.",
)
EFFECTIVE_SUBSET = MessageType(
    "UQ542",
    "effective-subset",
    "note",
    "With the reference runs, the subset is as informative as {effective:.0f} randomly drawn questions would be "
    "without them.",
    "The better the reference runs predict the scores, the more they add.",
    "Nothing.",
)
EQUAL_PROBABILITIES_ASSUMED = MessageType(
    "UQ543",
    "equal-probabilities-assumed",
    "note",
    "All questions are assumed to have been drawn with the same probability. This assumption is wrong if the run "
    "used the first questions of the data set.",
    "If the probabilities differ, the estimate is biased.",
    "Pass the probabilities with `--inclusion-probabilities FILE`.",
)
INTERVAL_ALLOWS_STOPPING = MessageType(
    "UQ544",
    "interval-allows-stopping",
    "note",
    "The interval is valid although the evaluation may end after any of its {n_rounds:count round}. It is wider than "
    "an interval after a fixed number of questions.",
    "If the end depends on the interval, intervals of the usual width contain the score too rarely.",
    "Nothing.",
)
TOO_FEW_ACTIVE_SCORES = MessageType(
    "UQ545",
    "too-few-active-scores",
    "refusal",
    "Fewer than two questions of the first round were run; a standard error needs at least two.",
    "Questions that are chosen actively are drawn in rounds, and each round estimates the score on its own.",
    "Continue the run.",
)
REFERENCE_SIZE_MISMATCH = MessageType(
    "UQ550",
    "reference-size-mismatch",
    "refusal",
    "The reference runs contain {n_reference:count question}, but the benchmark has {n_all}.",
    "The reference runs must cover the whole benchmark.",
    "Use reference runs without a limit.",
)
PROBABILITIES_MISSING = MessageType(
    "UQ551",
    "probabilities-missing",
    "refusal",
    "{n_missing} of {n_questions:count question} {n_missing:plural has|have} no inclusion probability, for example "
    "question {example!r}.",
    "Each question needs the probability with which it was drawn.",
    "Use the file that `harness-uq subset` wrote for this task.",
)
QUESTIONS_NOT_IN_REFERENCE = MessageType(
    "UQ552",
    "questions-not-in-reference",
    "refusal",
    "{n_missing} of the run's {n_questions:count question} {n_missing:plural is|are} missing from the reference "
    "runs, for example question {example!r}.",
    "The reference runs must cover the whole benchmark.",
    "Use reference runs of the same version of the benchmark.",
)
NO_REFERENCE_SCORES = MessageType(
    "UQ553",
    "no-reference-scores",
    "refusal",
    "The reference runs contain no scores of individual questions for {what}.",
    "Reference runs must contain the same task and metric, of other systems.",
    "Pass reference runs with logged samples.",
)
WHOLE_BENCHMARK_ESTIMAND = MessageType(
    "UQ554",
    "whole-benchmark-estimand",
    "error",
    "Reference runs (--reference-runs) do not support the estimand {estimand!r}. Use --estimand mean.",
    "The difference estimator estimates the mean score on the whole benchmark.",
    "Leave out `--estimand`.",
)
DUPLICATE_LABEL = MessageType(
    "UQ555",
    "duplicate-label",
    "error",
    "Question {question!r} of task {task!r} has two labels. Keep only one of them, or add the name of the task to "
    "each label.",
    "Each question has at most one label.",
    "Remove one of the labels.",
)
PARTIAL_PROBABILITIES = MessageType(
    "UQ556",
    "partial-probabilities",
    "error",
    "Only {n_given} of {n_labels:count label} of task {task!r} {n_given:plural has|have} a probability. Specify the "
    "probability of every label or of none.",
    "Weights require the probability of each labeled question.",
    "Fill in the column `probability`, or remove it.",
)
LABEL_COLUMNS_MISSING = MessageType(
    "UQ557",
    "label-columns-missing",
    "error",
    "The label file {path} has no column {columns:quote or}. Labels require the columns 'id' and 'score'.",
    "Labels are read from a CSV file with one row per question.",
    "Add the columns.",
)
LABEL_NOT_A_NUMBER = MessageType(
    "UQ558",
    "label-not-a-number",
    "error",
    "The label on line {line} of {path} is not a number: {row}.",
    "The columns `score` and `probability` contain numbers.",
    "Correct the line.",
)
PROBABILITIES_INVALID = MessageType(
    "UQ559",
    "probabilities-invalid",
    "error",
    "{path} does not contain valid inclusion probabilities: {reason:sentence} Use the file that `harness-uq subset` "
    "wrote.",
    "The file is a JSON object of probabilities by task and question.",
    "Use the file `FILE.drawn.json` beside the drawn identifiers.",
)
LABEL_PLAN_TRIALS = MessageType(
    "UQ560",
    "label-plan-trials",
    "refusal",
    "Labels cannot be planned for several trials per question. Give logs with one trial.",
    "A label refers to one answer, and the table of labels has no column for trials.",
    "Give a log with one trial per question.",
)

TYPES = message_types_in(globals())
