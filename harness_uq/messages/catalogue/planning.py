"""Messages about plans, variance components, subsets and labels: UQ500 to UQ579."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- plans

PILOT_FEW_CLUSTERS = MessageType.warning(
    "UQ501",
    "The pilot run has only {n_clusters:count cluster}, so the estimate of the design effect and the plan are "
    "imprecise. Use a pilot run with more clusters.",
    "The design effect is the factor by which clusters increase the variance of a score. With few clusters, the "
    "estimate of the design effect is imprecise.",
    "Use a pilot run with at least 10 clusters, or assume a larger design effect (`--design-effect`).",
)
PILOT_AVERAGED = MessageType.note(
    "UQ502",
    "The plan uses the average variances of {n_systems:count system}{pairs}. The planned widths are those of the "
    "system with the widest interval.",
    "A plan for several systems uses the same variances for all systems.",
    "If the variances differ greatly between the systems, plan for each system separately.",
)
PILOT_ONE_SYSTEM = MessageType.note(
    "UQ503",
    "The pilot run contains only one system, so the variance of a difference between two systems is unknown. Add a "
    "pilot run of a second system, or set the correlation with --correlation.",
    "The variance of the difference between two systems depends on the correlation of their scores on the same "
    "questions.",
    "Add a pilot run of a second system on the same questions, or set the correlation between the scores of the two "
    "systems with `--correlation`.",
)
PILOT_ONE_TRIAL = MessageType.note(
    "UQ504",
    "The pilot run has only one trial per question, so the benefit of additional trials is unknown.",
    "With one trial per question, the variation between questions cannot be separated from the trial-to-trial noise.",
    "To plan the number of trials, use a pilot run with repeated trials.",
)
PILOT_CLUSTER_SIZE = MessageType.note(
    "UQ505",
    "The plan assumes clusters of the same size as in the pilot run, because the design effect depends on the cluster "
    "size.",
    "The design effect is the factor by which clusters increase the variance of a score. Larger clusters have a "
    "larger design effect.",
    "In the planned run, use clusters of the same size as in the pilot run.",
)
ZERO_VARIANCE_ESTIMATED = MessageType.warning(
    "UQ506",
    "The estimated variance due to {factors:quote} is 0, and the plan uses this estimate although larger values are "
    "plausible. For more precise estimates, use a pilot run with more levels of each factor.",
    "If few levels of a factor were run, such as few seeds, the estimated variance due to the factor is often 0. If "
    "the estimated variance due to a factor is 0, the plan uses only one level of the factor.",
    "Add more levels of the factor, such as more seeds, to the pilot run.",
)
ASSUMED_CORRELATION = MessageType.note(
    "UQ507",
    "The pilot run contains only one system. The plan assumes that a second system has the same variance, and that the "
    "correlation between the scores of the two systems is {correlation:g}.",
    "The variance of the difference between two systems depends on the correlation of their scores on the same "
    "questions, which is unknown for a pilot run of one system. A correlation of 0 is cautious, because the scores of "
    "two systems on the same questions are usually positively correlated.",
    "Add a pilot run of a second system on the same questions, or set the correlation with `--correlation`.",
)
PILOT_TOO_SMALL = MessageType.refusal(
    "UQ510",
    "A pilot run with only one question is not sufficient to estimate a variance. Use a larger pilot run.",
    "The variance between questions can be estimated only from two or more questions.",
    "Use a pilot run with more questions.",
)
PILOT_WITHOUT_TRIALS = MessageType.refusal(
    "UQ511",
    "Each question of the pilot run has only one trial, so the benefit of more trials is unknown. Use a pilot run "
    "with repeated trials, or set the variance between trials with --variance-within.",
    "With one trial per question, the variation between questions cannot be separated from the trial-to-trial noise.",
    "Use a pilot run with repeated trials, or set the variance between trials with `--variance-within`.",
)
PILOT_WITHOUT_SCORES = MessageType.refusal(
    "UQ512",
    "A plan requires a pilot run with scores of individual questions.",
    "A plan requires the variance between questions, which is estimated from the scores of the questions in the pilot "
    "run.",
    "Log the samples of the pilot run.",
)
PLAN_UNAVAILABLE = MessageType.refusal(
    "UQ513",
    "No plan is possible for {reasons:sentence}",
    "For each task and metric, the message states why no plan is possible.",
    "Use another pilot run, or plan for another target, such as the width of an interval (`--width`).",
)
PILOT_CLUSTERS_UNKNOWN = MessageType.warning(
    "UQ514",
    "No two answers of the pilot belong to the same cluster, so the plan ignores clusters, and its standard errors may "
    "be too small. Let all graders score several answers of each cluster.",
    "Scores of questions in the same cluster are often similar, which increases the standard error of the mean score. "
    "The variance between clusters can be estimated only if some clusters of the pilot have several answers.",
    "Let all graders score further answers of the clusters in the pilot, and plan again.",
)
PILOT_WITHOUT_VARIATION = MessageType.refusal(
    "UQ515",
    "In the pilot run, the systems' scores differ by the same amount on every question, so the number of questions "
    "that a difference requires is unknown. Use a pilot run in which the answers to some questions differ.",
    "The number of questions that a difference requires is proportional to the variance of the difference between "
    "questions. If all questions of the pilot run have the same difference, a plan would require only one question.",
    "Use a larger pilot run, or plan for the width of an interval (`--width`).",
)
PILOT_OF_EVENT = MessageType.refusal(
    "UQ516",
    "The scores of this filter are {event} of several trials. Plans support only means of single trials.",
    "A plan varies the numbers of questions and trials. A score such as pass@2 requires at least 2 trials of each "
    "question, and its value changes with the number of trials.",
    "Plan for the scores of the single trials, for example with `--filter` and the name of their filter.",
)

# ---------------------------------------------------------------- variance components

IDENTICAL_LOGS = MessageType.warning(
    "UQ520",
    "All {n_logs} runs have the same score on every question, perhaps because of copied files, cached answers or a "
    "fixed seed. Identical runs do not show how scores vary between runs.",
    "If all runs are identical, the estimated variance between runs is 0.",
    "Check that the runs used different seeds and no cache.",
)
FEW_LEVELS = MessageType.warning(
    "UQ521",
    "With only {n_levels:count level} of factor {factor!r}, the estimate of the variance between levels is imprecise. "
    "Add runs with other levels of the factor.",
    "The interval accounts for the uncertainty of the estimated variance between the levels of a factor. If a factor "
    "has fewer than 5 levels, the estimated variance between its levels is very uncertain.",
    "Add runs with other levels of the factor, such as other seeds.",
)
EFFECTS_UNAVAILABLE = MessageType.refusal(
    "UQ522",
    "No variance components can be estimated: {reasons:sentence}",
    "To estimate variance components, harness_uq needs at least two logs of the same system and task.",
    "Add logs that differ in the setting whose effect you want to measure, such as the seed.",
)
MODEL_LEFT_OUT = MessageType.warning(
    "UQ523",
    "System {model!r} on task {task!r} is left out ({reason_code}): {reason:sentence}",
    "harness_uq cannot use the scores of the named system on the named task. The results of other systems and tasks "
    "are not affected.",
    "To find the reason and the remedy, look up on this page the message code that is shown in parentheses.",
)
LOGS_COMBINED = MessageType.note(
    "UQ524",
    "The estimate combines the scores of {n_logs:count log}.",
    "The logs differ in one or more settings, such as the seed. Each setting that differs between logs is a factor, "
    "and each value of the setting is a level of the factor.",
)
FACTOR_USED = MessageType.note(
    "UQ525",
    "The analysis includes the factor {factor!r} ({evidence:clause}).",
    "A factor is a setting that differs between the logs, such as the seed or the prompt.",
    "If harness_uq detected the wrong factors, name the factors with `--factor NAME=FIELD`.",
)

# ---------------------------------------------------------------- subsets and labels

DRAW_SIZE_MISMATCH = MessageType.warning(
    "UQ540",
    "The inclusion probabilities belong to a subset of {expected:.0f} questions, but {n_questions:count question} "
    "{n_questions:plural has|have} a score, so the estimate is biased. Run all questions of the subset, and use the "
    "file that `harness-uq subset` wrote for this subset.",
    "Inverse-probability weights are valid only if all questions of the subset have a score.",
    "Run the questions of the subset that have no score. If you ran `harness-uq subset` more than once, pass the "
    "probabilities of the subset that you evaluated.",
)
SUBSET_WITH_REFERENCE_RUNS = MessageType.note(
    "UQ541",
    "The run covers {n_questions} of {n_all:count question}. The estimate predicts the scores of the other questions "
    "from the scores of {n_systems:count reference system} on all questions.",
    "The difference estimator first predicts the scores of all questions from the reference systems. The difference "
    "estimator then corrects the mean prediction by the mean prediction error on the questions that were run. The "
    "difference estimator is unbiased even if the reference systems are poor predictors of the scores.",
)
EFFECTIVE_SUBSET = MessageType.note(
    "UQ542",
    "With the reference runs, the subset is as informative as a random sample of {effective:.0f} questions without "
    "reference runs.",
    "The more accurately the reference runs predict the scores of the evaluated system, the more information they add.",
)
EQUAL_PROBABILITIES_ASSUMED = MessageType.note(
    "UQ543",
    "The estimate assumes that all questions were drawn with the same probability. If the run used the first "
    "questions of the data set, the assumption of equal probabilities is wrong.",
    "If some questions were more likely to be drawn than others, an estimate that assumes equal probabilities is "
    "biased.",
    "If the inclusion probabilities differ between the questions, pass them with `--inclusion-probabilities FILE`.",
)
INTERVAL_ALLOWS_STOPPING = MessageType.note(
    "UQ544",
    "The interval is valid even though the evaluation may end after any of its {n_rounds:count round}. The interval "
    "is wider than an interval for a fixed number of questions.",
    "If an evaluation ends as soon as an ordinary confidence interval is narrow enough, the coverage of the interval "
    "is below the nominal level. The interval of an active evaluation accounts for the decision to continue or to "
    "stop after each round.",
)
TOO_FEW_ACTIVE_SCORES = MessageType.refusal(
    "UQ545",
    "Fewer than two questions from the first round of the active evaluation have a score. A standard error requires "
    "at least two scores.",
    "An active evaluation draws questions in rounds and computes an estimate from the scores of each round.",
    "Continue the run until at least two questions from the first round have a score.",
)
REFERENCE_SIZE_MISMATCH = MessageType.refusal(
    "UQ550",
    "The reference runs contain {n_reference:count question}, but the benchmark has {n_all:count question}.",
    "Reference runs must contain scores for all questions of the benchmark.",
    "Use reference runs that contain all questions, without a sample limit.",
)
PROBABILITIES_MISSING = MessageType.refusal(
    "UQ551",
    "{n_missing} of {n_questions:count question} {n_missing:plural has|have} no inclusion probability, for example "
    "question {example!r}.",
    "The weight of each question in the estimate depends on the probability with which the question was drawn, so "
    "each question must have a probability.",
    "Pass the file of probabilities that `harness-uq subset` wrote for this task.",
)
QUESTIONS_NOT_IN_REFERENCE = MessageType.refusal(
    "UQ552",
    "{n_missing} of the run's {n_questions:count question} {n_missing:plural is|are} missing from the reference "
    "runs, for example question {example!r}.",
    "Reference runs must contain scores for all questions of the benchmark.",
    "Use reference runs of the same version of the benchmark.",
)
NO_REFERENCE_SCORES = MessageType.refusal(
    "UQ553",
    "The reference runs contain no scores of individual questions for {what}.",
    "Reference runs must contain scores of other systems for the same task and metric.",
    "Pass reference runs whose samples were logged.",
)
WHOLE_BENCHMARK_ESTIMAND = MessageType.error(
    "UQ554",
    "Reference runs (--reference-runs) cannot be used to estimate {estimand!r}. Use --estimand mean.",
    "With reference runs, harness_uq estimates the mean score on the whole benchmark.",
    "Omit `--estimand`, or use `--estimand mean`.",
)
DUPLICATE_LABEL = MessageType.error(
    "UQ555",
    "Question {question!r} of task {task!r} has two labels. Remove one of the labels, or add the name of the task to "
    "each label.",
    "Each question of a task must have at most one human label.",
    "Remove one of the two labels from the file. If questions of two tasks have the same identifier, add a column "
    "`task` to the file of labels.",
)
PARTIAL_PROBABILITIES = MessageType.error(
    "UQ556",
    "Only {n_given} of {n_labels:count label} of task {task!r} {n_given:plural has|have} an inclusion probability. "
    "Specify an inclusion probability for every label or for no label.",
    "Each labeled question is weighted by the inverse of the probability with which it was drawn for labeling.",
    "In the file of labels, fill in the probability of every label, or remove the column of probabilities.",
)
LABEL_COLUMNS_MISSING = MessageType.error(
    "UQ557",
    "The label file {path} has no column {columns:quote or}. Labels require the columns 'id' and 'score'.",
    "harness_uq reads human labels from a CSV file with one row per question.",
    "Add the missing columns to the label file.",
)
LABEL_NOT_A_NUMBER = MessageType.error(
    "UQ558",
    "The label on line {line} of {path} is not a number: {row}.",
    "The columns `score` and `probability` of a label file must contain numbers.",
    "Correct the line that the message names.",
)
PROBABILITIES_INVALID = MessageType.error(
    "UQ559",
    "{path} does not contain valid inclusion probabilities: {reason:sentence} Use the file that `harness-uq subset` "
    "wrote.",
    "A file of inclusion probabilities is a JSON object that contains, for each task, the probability of each "
    "question.",
    "Use the file whose name ends in `.drawn.json`, which `harness-uq subset` writes to the same folder as the list "
    "of drawn questions.",
)
LABEL_PLAN_TRIALS = MessageType.refusal(
    "UQ560",
    "A plan for human labels requires one trial per question, but the logs contain several trials per question. Pass "
    "logs with one trial per question.",
    "Each human label belongs to one answer, and a table of labels has no column that distinguishes the trials of a "
    "question.",
    "Pass logs that contain one trial per question.",
)
LABELS_OF_SEVERAL_TASKS = MessageType.error(
    "UQ561",
    "The human labels of {n_answers:count answer} do not name the task, but their question identifiers occur in "
    "several tasks: {tasks:join}. Add a column 'task' to the file of labels, or select one task with --task.",
    "A human label belongs to one answer. Questions of different tasks can have the same identifier: lm-eval, for "
    "example, numbers the questions of every task from 0.",
    "Add a column `task` with the names of the tasks in the logs, or select the task of the labels with `--task`.",
)
LABELS_OF_OTHER_SYSTEMS = MessageType.error(
    "UQ562",
    "The human labels name the systems {labeled:join}, but the logs contain the systems {systems:join}. In the column "
    "'system' of the labels, use the names from the logs.",
    "In a table of labels, the column `system` contains the name of the system that gave the labeled answer. No name "
    "in the column `system` of the labels matches a system in the logs.",
    "In the column `system` of the labels, use the system names that `harness-uq estimate` prints. To rename the "
    "system of a log, pass the log as `NAME=LOG`.",
)
LABEL_PROBABILITY_INVALID = MessageType.error(
    "UQ563",
    "The inclusion probability of the label of question {question!r} is {value:g}, which is not in (0, 1]. Specify "
    "the probability with which the question was drawn for labeling.",
    "Each label is weighted by the inverse of the probability with which its question was drawn. An inclusion "
    "probability is positive, because the labeled question was drawn, and is at most 1.",
    "Correct the probability in the table of labels. Percentages must be divided by 100.",
)
PROBABILITY_COLUMN_MISSING = MessageType.error(
    "UQ564",
    "Column {column!r} not found in {path} (expected for the inclusion probabilities of the labels). Available "
    "columns: {columns:join}.",
    "With `--labels FILE`, the value of the option `--inclusion-probabilities` must be the name of a column in the "
    "table of labels.",
    "Specify the column that contains the inclusion probability of each label. If all questions were drawn with the "
    "same probability, omit `--inclusion-probabilities`.",
)
LABELS_INCOMPLETE = MessageType.warning(
    "UQ565",
    "{n_missing} of the {n_answers:count answer} of {system!r} in the table of labels "
    "{n_missing:plural has|have} a probability but no label, so the result can be biased. Enter the missing labels.",
    "`harness-uq plan --target labels --ids` writes a table of answers to label, including the probability with which "
    "each answer was drawn. The weights of the labels are correct only if all answers in the table have a label.",
    "Enter the missing labels. If an answer cannot be labeled, remove its line from the table of labels. The result "
    "is biased if answers that cannot be labeled differ from the other answers.",
)

TYPES = message_types_in(globals())
