"""Messages about estimates: UQ100 to UQ199."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- warnings

FEW_QUESTIONS = MessageType(
    "UQ101",
    "few-questions",
    "warning",
    "With only {n_questions:count question}, the {level:percent} interval contains the true accuracy with a "
    "probability of {level:percent} on average, but of only {lowest:percent} for some accuracies.",
    "A credible interval has its nominal coverage on average over the prior. With few questions the coverage at a "
    "single accuracy can be much lower.",
    "Add questions, or use `--uq clopper-pearson`, whose coverage is never below nominal.",
)
FEW_BOOTSTRAP_UNITS = MessageType(
    "UQ102",
    "few-bootstrap-units",
    "warning",
    "With {n_units:count {unit}}, the Bayesian bootstrap interval is too narrow. In simulations, the coverage of 95 "
    "% intervals was 60 % with 3 questions or clusters, 75 % with 5, 85 % with 10 and 90 % with 20.",
    "The Bayesian bootstrap reweights the observed questions (or clusters) only. With fewer than 30 of them it "
    "understates the variation of the population.",
    "Add questions or clusters.",
)
POSSIBLE_LONG_TAIL = MessageType(
    "UQ103",
    "possible-long-tail",
    "warning",
    "The range of the scores is unknown, and a sample of {n_units:count {unit}} may miss rare extreme scores. In "
    "simulations with one extreme score in 50, the coverage of 95 % intervals was 36 % with 10 questions or "
    "clusters, 44 % with 30 and 87 % with 100.",
    "A sample without extreme scores looks the same whether or not the population has them. Without a known range "
    "no method can account for scores that were not drawn.",
    "Declare the range with `--range METRIC=LO,HI` if the metric has one, or add questions.",
)
FEW_CLUSTERS = MessageType(
    "UQ104",
    "few-clusters",
    "warning",
    "The interval is unreliable because {n_clusters:count cluster} (defined by {clusters}) {n_clusters:plural "
    "is|are} too few to estimate the variation between clusters. Add clusters, or report the score of each cluster.",
    "The cluster is the unit of independence. The spread between fewer than 10 clusters cannot be estimated "
    "precisely, so the width of the interval depends largely on the prior.",
    "Add clusters (passages, dialogues, questions with repeated trials), or report the score of each cluster.",
)
HOMOGENEOUS_CLUSTERS = MessageType(
    "UQ105",
    "homogeneous-clusters",
    "warning",
    "Answers within the {n_clusters:count cluster} (defined by {clusters}) mostly agree, and in simulations of such "
    "data the coverage of 95 % intervals was {coverage}. The more conservative equal-tailed interval is [{low:.3f}, "
    "{high:.3f}].",
    "With fewer than 8 clusters and a high intra-cluster correlation, highest-density intervals have their lowest "
    "coverage.",
    "Add clusters, or report the equal-tailed interval in the message, which is more conservative.",
)
UNEVEN_CLUSTERS = MessageType(
    "UQ106",
    "uneven-clusters",
    "warning",
    "The {n_clusters:count cluster} (defined by {clusters}) differ so much in size that together they are only as "
    "informative as {effective:.1f} clusters of equal size. In simulations of such data, the coverage of 95 % "
    "intervals was between 80 and 98 %.",
    "A few large clusters dominate the score, and the data do not show how other clusters of their size would score. "
    "Coverage is lowest if large clusters score differently from small ones. The warning appears if cluster means "
    "depend on cluster size (p < 0.15), or if fewer than 3 effective clusters leave that open.",
    "Add large clusters, or report the score of each cluster.",
)
INTERVAL_OF_THETA = MessageType(
    "UQ107",
    "interval-of-theta",
    "warning",
    "The interval [{low:.4f}, {high:.4f}] is for theta, the mean of the fitted Beta distribution, and not for the "
    "mean score of {value:.4f}. Use the default method 'clustered' to estimate the mean score.",
    "In a beta-binomial model theta equals the mean score only if the difficulties of clusters follow a Beta "
    "distribution and cluster sizes are unrelated to scores.",
    "Use the default `--uq bayes` or `--uq clustered`.",
)
FEW_TASKS = MessageType(
    "UQ108",
    "few-tasks",
    "warning",
    "The interval is unreliable because {n_tasks:count task} {n_tasks:plural is|are} too few to estimate the "
    "variation between tasks. Add tasks, or report the score of each task.",
    "The tasks are treated as a sample of tasks. The spread between fewer than 10 of them cannot be estimated "
    "precisely.",
    "Add tasks, report the score of each task, or use the method `group`, which estimates the score on exactly these "
    "tasks.",
)
FEW_EFFECTIVE_UNITS = MessageType(
    "UQ109",
    "few-effective-units",
    "warning",
    "Tasks with few questions have large weights: the {n_units:count independent question or cluster|independent "
    "questions or clusters} are only as informative as {effective:.1f} with equal weights would be. In "
    "simulations with the information of 5 questions, the coverage of 95 % intervals was between 55 and 85 %.",
    "If all tasks of a group weigh the same, the questions of small tasks have much more influence than others, and "
    "the interval rests on few of them.",
    "Add questions to the smallest tasks.",
)
SMALL_CLASS = MessageType(
    "UQ110",
    "small-class",
    "warning",
    "Class {label!r} has only {n_questions:count question}, and with fewer than {enough} questions per class the "
    "interval can be too narrow. In simulations with 10 classes of 3 questions, the coverage of 95 % intervals was "
    "between 80 and 90 %.",
    "A metric that averages over classes gives the smallest class as much weight as the others, and its error rate "
    "is poorly known.",
    "Add questions of this class.",
)
TOTALS_ONLY = MessageType(
    "UQ111",
    "totals-only",
    "warning",
    "{reason:sentence} The interval therefore treats the questions as independent and ignores any clusters or "
    "repeated trials.",
    "The log contains a total, but no score for each question or only some of them. The structure of the questions is "
    "therefore unknown.",
    "Log the samples (`--log_samples` in lm-eval), or pass the logs that contain them. `--use-samples` uses the "
    "samples that a log contains, even if they are few.",
)
UNSEEN_SUBPOPULATION = MessageType(
    "UQ112",
    "unseen-subpopulation",
    "warning",
    "None of the {n_questions:count question} {outcome} in every trial, but up to {share:percent} of all similar "
    "questions could. The score on similar questions would then be {score:.2f}, which lies outside the interval "
    "(limit: {end:.2f}).",
    'Up to 1 - (1 - level)^(1/n) of the population can belong to a subpopulation that a sample of n misses (the "rule '
    'of three"). The interval assumes that there is no such subpopulation.',
    "Add questions. More trials of the same questions do not help.",
)
NON_EXCHANGEABLE_TRIALS = MessageType(
    "UQ113",
    "non-exchangeable-trials",
    "warning",
    "Scores differ systematically between trials of the same questions: the intra-batch correlation is "
    "{intra_batch_correlation:.3f} (Cochran's Q test, p = {p_value:.1g}). The interval treats trials as independent "
    "repeats and is too narrow if each trial had its own seed, server or run.",
    "The intra-batch correlation is the part of a score's variance that all questions of one trial column share. "
    "This error does not shrink as questions are added, only as batches are added. The warning appears in about 3 % of "
    "data sets without batch effects.",
    "Log each condition as a run of its own and use `harness-uq effects`.",
)
NON_RANDOM_SUBSET = MessageType(
    "UQ114",
    "non-random-subset",
    "warning",
    "The run covers only {n_questions} of the benchmark's {n_all:count question}, and the covered questions were not "
    "drawn at random. If the other questions differ, the interval does not describe the whole benchmark.",
    "`--limit N` takes the first N questions. Many data sets are sorted by subject or difficulty.",
    "Run all questions, or a random sample: `harness-uq subset` draws one.",
)
BETA_SHAPE_EXTRAPOLATION = MessageType(
    "UQ115",
    "beta-shape-extrapolation",
    "warning",
    "Estimating {estimand} from {k:count trial} per question relies on the assumption that success rates follow a "
    "Beta distribution. In simulations with two subpopulations of questions, the coverage of 95 % intervals was "
    "between 85 and 90 %.",
    "If k equals the number of trials, the data cannot show how success rates vary beyond the assumed Beta "
    "distribution.",
    "Run more than k trials per question, or use `--uq pass-k-unbiased`.",
)
FEW_LABELS = MessageType(
    "UQ116",
    "few-labels",
    "warning",
    "With only {n_labels:count human label}, the interval depends strongly on the prior. Label at least {enough} "
    "questions.",
    "The grader's error rate is estimated from the human labels alone.",
    "Label more questions, drawn at random.",
)
UNIFORM_LABELS = MessageType(
    "UQ117",
    "uniform-labels",
    "warning",
    "All human labels are equal, so the grader's error rate on other questions cannot be estimated. Label more "
    "questions.",
    "If every labeled question has the same label, the relation between labels and the grader's scores is unknown.",
    "Label more questions, drawn at random.",
)
LONG_TAIL = MessageType(
    "UQ118",
    "long-tail",
    "warning",
    "The scores have an unknown range and a long tail, and a sample of {n_units:count {unit}} may understate the "
    "tail. In simulations with log-normal scores, the coverage of 95 % intervals was 85 % with 10 questions or "
    "clusters, 90 % with 30 and 93 % with 100.",
    "If one score in 50 is extreme, coverage was 36 % with 10 units, 44 % with 30 and 87 % with 100, because a sample "
    "may contain too few of the extreme scores.",
    "Declare the range with `--range METRIC=LO,HI` if the metric has one, or add questions.",
)
UNKNOWN_PENDING_CLUSTERS = MessageType(
    "UQ119",
    "unknown-pending-clusters",
    "warning",
    "The log does not record the clusters of questions that have no score yet, so each cluster is counted with its "
    "scored questions only. The interval is therefore not strictly anytime-valid.",
    "An anytime-valid interval counts a cluster once all of its questions are scored, which requires the clusters of "
    "all planned questions.",
    "Treat the interval as approximate until the run has finished.",
)
FIRST_QUESTION_PENDING = MessageType(
    "UQ120",
    "first-question-pending",
    "refusal",
    "The first question of the run has no score yet, so no interval can be computed. Questions are counted in the "
    "order of the run.",
    "Questions count in the order of the run, up to the first without a score.",
    "Wait.",
)
PENDING_CLUSTERS_UNKNOWN = MessageType(
    "UQ121",
    "pending-clusters-unknown",
    "refusal",
    "The questions are clustered by {key}, but the clusters of the questions without a score are not known yet.",
    "An anytime-valid interval counts a cluster once all of its questions are scored.",
    "Wait until the run has finished.",
)
ORDER_NOT_RANDOM = MessageType(
    "UQ122",
    "order-not-random",
    "warning",
    "The questions were run in the order of the data set, but the interval assumes a random order. Start runs with "
    "`inspect eval --sample-shuffle`.",
    "If the data set is sorted, the first questions differ from the rest.",
    "Shuffle the questions.",
)
FAILED_QUESTIONS = MessageType(
    "UQ123",
    "failed-questions",
    "note",
    "{n_failed:count question} ended in an error and {n_failed:plural is|are} not included in the score.",
    "Questions without a score are left out of the mean.",
    "Check the errors of the run.",
)
PASS_K_OF_IDENTICAL_TRIALS = MessageType(
    "UQ124",
    "pass-k-of-identical-trials",
    "warning",
    "All {n_trials:count trial} of each question agree. If the trials are copies of one trial (temperature 0, a "
    "cache or a fixed seed), the interval describes pass@1, which is {relation} {estimand}.",
    "If all trials of each question agree, the scores do not show whether the trials are independent. If they are, "
    "the interval refers to the score of k trials. If they are copies, they show the score of a single trial, which "
    "is a lower bound of pass@k and an upper bound of pass^k.",
    "Check that the temperature is above 0, that caching is off and that seeds differ between trials.",
)
MISSING_SCORES_MATTER = MessageType(
    "UQ125",
    "missing-scores-matter",
    "warning",
    "The score depends on the {n_missing} of {n_trials:count trial} without a score. It is {value:.3f} "
    "[{low:.3f}, {high:.3f}] without them and {worst:.3f} [{worst_low:.3f}, {worst_high:.3f}] if they count as the "
    "worst possible score, and in [{lowest:.3f}, {highest:.3f}] whatever their scores are.",
    "Trials that failed are left out by default. If trials of hard questions fail more often, the remaining ones "
    "overstate the score.",
    "Choose a policy with `--missing`: `drop`, `zero`, `bounds` or `error`, also by the cause of the failure.",
)
MISSING_SCORES_COUNTED = MessageType(
    "UQ126",
    "missing-scores-counted",
    "note",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no usable score{causes}: {treatments:join}.",
    "The options `--missing` and `--treat` determine what trials without a usable score count as.",
    "State the policy with the score.",
)
IDENTIFIED_RANGE = MessageType(
    "UQ127",
    "identified-range",
    "note",
    "Depending on the scores of the missing trials, the score of these questions lies between {low:.4f} and "
    "{high:.4f}. The interval also includes the uncertainty of these two limits.",
    "With the policy `bounds` the data determine the score only up to a range. The interval contains the score with "
    "its nominal probability wherever the score lies in the range (Imbens and Manski 2004).",
    "Find out the missing scores if the range is wider than you can accept.",
)
REPORTED_ERROR_USED = MessageType(
    "UQ128",
    "reported-error-used",
    "warning",
    "{reason:sentence} The interval is computed from the standard error that the harness reported.",
    "Without a score for each question, neither the standard error nor its assumptions can be checked: most harnesses "
    "treat the questions as independent.",
    "Log the samples (`--log_samples` in lm-eval), or pass the logs that contain them.",
)
MISSING_SCORES_REFUSED = MessageType(
    "UQ129",
    "missing-scores-refused",
    "error",
    "{n_missing} of {n_trials:count trial} of task {task!r} ({system}) {n_missing:plural has|have} no usable "
    "score{causes}, which `--missing error` does not allow.",
    "The policy `error` refuses results of logs with missing scores.",
    "Repeat the failed trials, or choose another policy with `--missing`.",
)

# ---------------------------------------------------------------- notes

METHOD_SKIPPED = MessageType(
    "UQ130",
    "method-skipped",
    "note",
    "Method {method!r} was skipped for the following reason ({reason_code}): {reason:sentence}",
    "The first suitable method of a list is used. This one does not fit the data, and the next one was used instead.",
    "Nothing. The code in parentheses explains the reason.",
)
METHOD_FOR_NEW_QUESTIONS = MessageType(
    "UQ131",
    "method-for-new-questions",
    "note",
    "Method {method!r} estimates the score on new questions, so its interval is wider than an interval for the score "
    "on {target}.",
    "The scope asked for is narrower than the one the method supports. The interval is valid but conservative.",
    "Use a method that supports the scope, or `--scope population`.",
)
FULL_SCOPE_AVAILABLE = MessageType(
    "UQ132",
    "full-scope-available",
    "note",
    "The run covers {n_questions} of the benchmark's {n_all:count question}. With --scope full, the interval would "
    "describe the score on the whole benchmark and be about {relative_width:percent} as wide.",
    "This interval refers to new questions from the same population. The score on the whole benchmark is known better, "
    "because part of it is observed.",
    "Add `--scope full` if you need the score on this benchmark only.",
)
TRIALS_ASSUMED_INDEPENDENT = MessageType(
    "UQ133",
    "trials-assumed-independent",
    "note",
    "Trials of the same question are assumed to be independent. If half of the trials were copies, for example "
    "because of a cache or a fixed seed, the coverage of 95 % intervals would be only 65 to 74 %.",
    "With `--scope benchmark` only trial-to-trial noise is uncertain, and copies of a trial look like agreement.",
    "Check that caching is off and that seeds differ between trials.",
)
MISSING_SCORES = MessageType(
    "UQ134",
    "missing-scores",
    "note",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no score{causes}. The estimate is biased "
    "if the missing scores would have differed from the others.",
    "Trials that failed or were refused are left out of the mean.",
    "Find out why the scores are missing. With a known range (`--range`) the possible effect is reported.",
)
MISSING_SCORES_BOUNDS = MessageType(
    "UQ135",
    "missing-scores-bounds",
    "note",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no score{causes}. The mean score would be "
    "{low:.4f} if all missing scores were {worst_case} and {high:.4f} if all were {best_case}.",
    "Trials that failed or were refused are left out of the mean. The two values bound their effect.",
    "Find out why the scores are missing if the two values differ by more than you can accept.",
)
IDENTICAL_TRIALS = MessageType(
    "UQ136",
    "identical-trials",
    "note",
    "All trials of each question ({n_trials} at most) have the same score, perhaps because of temperature 0 or a "
    "cache. Only one trial per question is counted.",
    "Copies of a trial carry no information about trial-to-trial noise.",
    "Use a temperature above 0 and different seeds if the trials were meant to be independent.",
)
GRADED_BY_MODEL = MessageType(
    "UQ137",
    "graded-by-model",
    "note",
    "A model graded these answers, and the interval does not account for grading errors. Human labels correct for "
    "grading errors (`--labels`), but more questions do not reduce them.",
    "The interval describes the mean of the grader's scores. If the grader is biased, so is the score.",
    "Label a random subset of the questions and pass it with `--labels`.",
)
INTERVAL_EXCEEDS_RANGE = MessageType(
    "UQ138",
    "interval-exceeds-range",
    "note",
    "The interval extends beyond the range of possible scores, [{low:g}, {high:g}], because this method does not "
    "enforce the range.",
    "Intervals of the form mean ± error can contain impossible scores, mostly with few questions or near the ends of "
    "the range.",
    "Use `--uq bayes`, whose intervals stay inside the range.",
)
CLUSTER_PRIOR = MessageType(
    "UQ139",
    "cluster-prior",
    "note",
    "With only {n_clusters:count cluster} (defined by {clusters}), the interval depends on the prior for the "
    "variation between clusters. With the Gamma prior of Bowyer et al. (2025), the interval would be [{low:.3f}, "
    "{high:.3f}].",
    "Fewer than 10 clusters say little about how clusters vary.",
    "Add clusters. If the two intervals lead to different conclusions, the data are insufficient.",
)
FEW_INFORMATIVE_CLUSTERS = MessageType(
    "UQ140",
    "few-informative-clusters",
    "note",
    "The correlation within clusters is poorly known, because only {n_informative} of the {n_clusters:count cluster} "
    "(defined by {clusters}) {n_informative:plural has|have} a {outcome}.",
    "If nearly all answers are equal, few clusters show whether answers within a cluster agree. The interval is wide "
    "for this reason.",
    "Add clusters.",
)
CLASS_FREQUENCIES_RANDOM = MessageType(
    "UQ141",
    "class-frequencies-random",
    "note",
    "The interval treats the class frequencies as random. If they were fixed by design, the interval is wider than "
    "necessary.",
    "Metrics such as F1 and MCC depend on how frequent each class is.",
    "Report the class frequencies with the metric.",
)
TRIAL_CORRELATION = MessageType(
    "UQ142",
    "trial-correlation",
    "note",
    "Within a cluster, the scores of repeated trials of the same question have a correlation of {icc:.2f}.",
    "The correlation is estimated by a model with three levels: clusters, questions and trials.",
    "A value near 1 means that more trials add little; add questions instead.",
)
BINOMIAL_UPPER_BOUND = MessageType(
    "UQ143",
    "binomial-upper-bound",
    "note",
    "{share:percent} of this interval comes from the binomial interval, which is conservative with --scope benchmark. "
    "The reason is that {reason}.",
    "About exactly these questions only trial-to-trial noise is uncertain. If the data do not show it, the binomial "
    "interval bounds it from above.",
    "Run more trials per question.",
)
UNIFORM_PRIOR_PER_QUESTION = MessageType(
    "UQ144",
    "uniform-prior-per-question",
    "note",
    "Each question has its own uniform prior, which pulls the estimate towards the middle of the range. Intervals "
    "for easy or hard benchmarks can therefore miss the true score.",
    "Bayes@N as published assigns an independent uniform prior to each question. Its influence does not fade as "
    "questions are added.",
    "Use the default method of `--scope benchmark`.",
)
POPULATION_INTERVAL_SHOWN = MessageType(
    "UQ145",
    "population-interval-shown",
    "note",
    "The interval is the wider one for new questions. An interval with --scope benchmark requires at least "
    "{n_needed:count trial} per question to estimate the trial-to-trial noise.",
    "The variance for exactly these questions requires 2k trials per question.",
    "Run more trials per question.",
)
TASKS_AS_SAMPLE = MessageType(
    "UQ146",
    "tasks-as-sample",
    "note",
    "The interval treats the tasks as a random sample from a larger population of tasks. Use method 'group' to "
    "estimate the score on exactly these tasks.",
    "Generalizing to new tasks makes the interval wider.",
    "Use `--uq group` if only these tasks matter.",
)
EQUAL_TASK_WEIGHTS = MessageType(
    "UQ147",
    "equal-task-weights",
    "note",
    "The score is the unweighted mean of the scores of {n_tasks:count task}.",
    "The weights reproduce the value that the harness reports for the group.",
    "Nothing.",
)
TASK_WEIGHTS_BY_SIZE = MessageType(
    "UQ148",
    "task-weights-by-size",
    "note",
    "The score is the mean of {n_tasks:count task}, weighted by number of questions. The weights are equivalent to "
    "{effective:.1f} equally weighted tasks.",
    "The weights reproduce the value that the harness reports for the group.",
    "Nothing.",
)
NORMALITY_ASSUMED = MessageType(
    "UQ149",
    "normality-assumed",
    "note",
    "Student's t interval assumes that the mean is approximately normal, and {n_questions:count question} "
    "{n_questions:plural is|are} too few to check this assumption.",
    "With fewer than 30 questions a skewed or discrete distribution of scores can make the interval unreliable.",
    "Use `--uq bayes`, or add questions.",
)
GROUP_METHOD_REPLACED = MessageType(
    "UQ150",
    "group-method-replaced",
    "note",
    "Method {method!r} does not support groups of tasks, so the interval of the default method is shown for the group.",
    "The row of the group therefore uses another method than the rows of its tasks.",
    "Use `--uq bayes` for all rows, or report the tasks only.",
)
ANYTIME_VALID = MessageType(
    "UQ151",
    "anytime-valid",
    "note",
    "The interval is anytime-valid, so you may check it at any time and stop the run based on what you see. The "
    "order of the questions must not depend on their scores.",
    "A confidence sequence covers the score at all times at once with its nominal level.",
    "Start the run with its questions in random order.",
)
INCOMPLETE_CLUSTERS = MessageType(
    "UQ152",
    "incomplete-clusters",
    "note",
    "The score includes {n_complete} of {n_clusters:count cluster}, because a cluster counts only when all of its "
    "questions have a score.",
    "Counting clusters in part would favor clusters whose questions finish early.",
    "Nothing. The interval becomes narrower as clusters are completed.",
)
GRADER_CORRECTION = MessageType(
    "UQ153",
    "grader-correction",
    "note",
    "The grader's mean score is {grader_mean:.4f} and the mean of the human labels is {label_mean:.4f}. The "
    "corrected estimate of the mean score that a human would give is {estimate:.4f}.",
    "The human labels correct the mean of the grader's scores (prediction-powered inference).",
    "Nothing.",
)
EFFECTIVE_LABELS = MessageType(
    "UQ154",
    "effective-labels",
    "note",
    "Combined with the grader's scores, {n_labels:count human label} {n_labels:plural is|are} as informative as "
    "{effective:.0f} human labels alone.",
    "The better the grader agrees with the labels, the more its scores add.",
    "Nothing.",
)
WEAK_GRADER = MessageType(
    "UQ155",
    "weak-grader",
    "note",
    "The grader agrees with {agreement:percent} of the human labels, which is no more than the accuracy of the "
    "evaluated model. Such a grader can replace at most half of the human labels, however many questions it scores.",
    "A grader that is no more accurate than the evaluated model adds little information.",
    "Use a better grader, or more human labels.",
)
LABELS_ASSUMED_RANDOM = MessageType(
    "UQ156",
    "labels-assumed-random",
    "note",
    "The labeled questions are treated as a random sample. If the questions were drawn with known probabilities, add "
    "a column `probability` to the labels.",
    "If questions were chosen for labeling because of their scores, the correction is biased.",
    "Draw the questions to label at random, or record the probabilities.",
)
CLUSTERS_USED = MessageType(
    "UQ157",
    "clusters-used",
    "note",
    "The interval accounts for the clusters of the questions ({clusters}; {evidence}).",
    "Questions of a cluster share material, such as a passage, and are not independent.",
    "Use `--cluster TASK=FIELD` if the clusters are wrong, or `--cluster none` if the questions are independent.",
)
EQUAL_TAILED_INTERVAL = MessageType(
    "UQ158",
    "equal-tailed-interval",
    "note",
    "In simulations of data whose answers mostly agree within clusters, as in these {n_clusters:count cluster} "
    "({clusters}), the coverage of 95 % intervals was {coverage}. The equal-tailed interval is [{low:.3f}, "
    "{high:.3f}].",
    "With fewer than 8 clusters and a high intra-cluster correlation, coverage is close to nominal but tends to be "
    "lower than elsewhere.",
    "Add clusters, or report the equal-tailed interval in the message, which is more conservative.",
)
TRIALS_ALL_AGREE = MessageType(
    "UQ159",
    "trials-all-agree",
    "refusal",
    "Method {method!r} requires at least one question whose trials differ, but all trials of each question agree."
    " Use method 'pass-k-unbiased'.",
    "If all trials of each question agree, the data do not show whether they are independent trials or copies of one "
    "trial. The hierarchy over questions would then depend on its prior only.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)

# ---------------------------------------------------------------- refusals

NO_SCORES = MessageType(
    "UQ160",
    "no-scores",
    "refusal",
    "None of the questions has a score.",
    "All trials failed or were not scored.",
    "Check the errors of the run.",
)
NOT_A_MEAN = MessageType(
    "UQ161",
    "not-a-mean",
    "refusal",
    "Method {method!r} estimates means, not {estimand}. Use method 'pass-k' or 'pass-k-unbiased'.",
    "pass@k and related metrics are not means of single trials.",
    "Use `--uq bayes`, or the methods named.",
)
SINGLE_TASKS_ONLY = MessageType(
    "UQ162",
    "single-tasks-only",
    "refusal",
    "Method {method!r} applies to single tasks and does not support groups of tasks.",
    "The score of a group is a weighted mean over tasks.",
    "Use `--uq bayes` for groups.",
)
SCORES_REQUIRED = MessageType(
    "UQ163",
    "scores-required",
    "refusal",
    "Method {method!r} requires a score for each question, but the log contains none for metric {metric!r}.",
    "The metric is computed from all answers at once, or the log contains totals only.",
    "Use `--uq bayes`.",
)
SCORE_TYPE_UNSUPPORTED = MessageType(
    "UQ164",
    "score-type-unsupported",
    "refusal",
    "Method {method!r} requires {required}, but these scores are {actual}.",
    "The method assumes a type of score that the log does not have.",
    "Use `--uq bayes`, or declare the range with `--range METRIC=LO,HI`.",
)
INDEPENDENCE_REQUIRED = MessageType(
    "UQ165",
    "independence-required",
    "refusal",
    "Method {method!r} assumes independent answers, but this log has clusters or repeated trials.",
    "An interval that ignores clusters or repeated trials is too narrow.",
    "Use `--uq bayes`, or the method of the same family for clusters, such as `clustered-t`.",
)
CLUSTERS_REQUIRED = MessageType(
    "UQ166",
    "clusters-required",
    "refusal",
    "Method {method!r} requires {required}, but this task has none.",
    "The method models the variation between clusters.",
    "Use `--uq bayes`.",
)
TWO_LEVELS = MessageType(
    "UQ167",
    "two-levels",
    "refusal",
    "Method {method!r} supports only one level of clustering, but this log has two: clusters of questions, and "
    "repeated trials of each question.",
    "Questions within clusters were tried several times, so there are two sources of dependence.",
    "Use `--uq bayes` or `--uq nested`.",
)
CLASSES_REQUIRED = MessageType(
    "UQ168",
    "classes-required",
    "refusal",
    "Method {method!r} requires the target class and the predicted class of each question.",
    "The metric is a function of the confusion matrix.",
    "Use `--uq bayes`.",
)
CLASS_METRIC_UNSUPPORTED = MessageType(
    "UQ169",
    "class-metric-unsupported",
    "refusal",
    "Method {method!r} does not support metric {metric!r} with {n_classes:count class|classes}. Supported metrics: "
    "{supported:join}.",
    "No formula of the metric as a function of the confusion matrix is known.",
    "Use `--uq bayes`.",
)
STATISTIC_UNSUPPORTED = MessageType(
    "UQ170",
    "statistic-unsupported",
    "refusal",
    "Method {method!r} cannot compute the statistic {statistic!r}.",
    "The statistic is not one of the known functions of sums over questions.",
    "Use a registered aggregation of harness_uq in the task.",
)
GROUP_REQUIRED = MessageType(
    "UQ171",
    "group-required",
    "refusal",
    "Method {method!r} applies only to groups of tasks, not to single tasks.",
    "The method estimates a weighted mean over tasks.",
    "Use `--uq bayes` for single tasks.",
)
RANGE_REQUIRED = MessageType(
    "UQ172",
    "range-required",
    "refusal",
    "Method {method!r} requires scores with a known range. Declare the range with --range METRIC=LO,HI.",
    "The method uses the lowest and highest possible score.",
    "Add `--range METRIC=LO,HI`, such as `--range bleu=0,100`.",
)
INDEPENDENT_TASKS_REQUIRED = MessageType(
    "UQ173",
    "independent-tasks-required",
    "refusal",
    "Method {method!r} requires independently drawn tasks, but these tasks share items.",
    "Tasks built from the same items do not vary independently.",
    "Use `--uq group`.",
)
SCOPE_UNSUPPORTED = MessageType(
    "UQ174",
    "scope-unsupported",
    "refusal",
    "Method {method!r} requires --scope {scopes:join or}.",
    "The method estimates another quantity than the scope asks for.",
    "Change `--scope`, or use `--uq bayes`.",
)
UNKNOWN_BENCHMARK_SIZE = MessageType(
    "UQ175",
    "unknown-benchmark-size",
    "refusal",
    "Method {method!r} requires the number of questions in the whole benchmark, which the log does not record.",
    "The score on the whole benchmark combines the observed questions with the others.",
    "Use `--scope population`.",
)
WHOLE_BENCHMARK_RUN = MessageType(
    "UQ176",
    "whole-benchmark-run",
    "refusal",
    "The run covers all {n_all:count question} of the benchmark, so the score on the whole benchmark (--scope full) "
    "is known exactly.",
    "There are no other questions to predict.",
    "Use `--scope population` or `--scope benchmark`.",
)
TOTALS_REQUIRED = MessageType(
    "UQ177",
    "totals-required",
    "refusal",
    "Method {method!r} is for logs that contain only totals, but this log contains a score for each question.",
    "This log contains a score for each question, which gives a better interval.",
    "Use `--uq bayes`.",
)
INCOMPLETE_TOTALS = MessageType(
    "UQ178",
    "incomplete-totals",
    "refusal",
    "{reason:sentence} The uncertainty cannot be estimated because the log does not record the {missing}.",
    "An interval from totals requires a value, and the number of questions of a proportion or a standard error.",
    "Log the samples. If the log contains some samples, `--use-samples` uses these.",
)
TOTALS_NOT_A_PROPORTION = MessageType(
    "UQ179",
    "totals-not-a-proportion",
    "refusal",
    "{reason:sentence} The total cannot be used instead, because metric {metric!r} is not known to be a proportion "
    "of correct answers.",
    "The uncertainty of a total is determined only for a proportion of independent answers.",
    "Log the samples.",
)
INCONSISTENT_TOTALS = MessageType(
    "UQ180",
    "inconsistent-totals",
    "refusal",
    "{reason:sentence} The total cannot be used instead, because a value of {value:g} on {n_questions:count "
    "question} does not correspond to a whole number of correct answers.",
    "The value is rounded, weighted or not a proportion, so the number of correct answers is unknown.",
    "Log the samples.",
)
ZERO_WIDTH_INTERVAL = MessageType(
    "UQ181",
    "zero-width-interval",
    "refusal",
    "The data are insufficient to estimate the uncertainty: the interval would have zero width at {value:.6g}. Add "
    "questions or trials.",
    "An interval of zero width would claim certainty that the data do not support.",
    "Add questions or trials.",
)
CONSTANT_SCORES = MessageType(
    "UQ182",
    "constant-scores",
    "refusal",
    "All scores are equal, so this method would return an interval of zero width. Use --uq bayes instead.",
    "Methods based on the sample variance claim certainty if all scores are equal.",
    "Use `--uq bayes`.",
)
SCORE_TOO_LARGE = MessageType(
    "UQ183",
    "score-too-large",
    "refusal",
    "The score {value:.3g} is too large to be averaged; the limit is {limit:g}.",
    "Squares of larger numbers overflow.",
    "Rescale the scores.",
)
UNKNOWN_SCORE_LEVEL = MessageType(
    "UQ184",
    "unknown-score-level",
    "refusal",
    "Method 'bayes-at-n' requires every score to be one of the declared levels ({levels:join}).",
    "The method models the probability of each possible score.",
    "Use the default method of `--scope benchmark`.",
)
AVERAGE_AT_N_CONSTANT = MessageType(
    "UQ185",
    "avg-at-n-constant",
    "refusal",
    "Method 'avg-at-n' cannot compute an interval if all scores equal the lowest or the highest possible score.",
    "The rescaled standard deviation is zero.",
    "Use the default method of `--scope benchmark`.",
)
PASS_K_REQUIRED = MessageType(
    "UQ186",
    "pass-k-required",
    "refusal",
    "Method {method!r} estimates pass@k and related metrics, not means. Add --estimand pass@K.",
    "The method does not estimate means.",
    "Add `--estimand pass@K`, or use `--uq bayes`.",
)
CLUSTERED_PASS_K = MessageType(
    "UQ187",
    "clustered-pass-k",
    "refusal",
    "Method {method!r} assumes independent questions, but these questions are clustered. Use method 'pass-k-unbiased'.",
    "An interval that ignores clusters is too narrow.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)
NOT_BETA_DISTRIBUTED = MessageType(
    "UQ188",
    "not-beta-distributed",
    "refusal",
    "Method {method!r} assumes that the success rates of questions follow a Beta distribution, which the data reject "
    "(p = {p_value:.2g}). Use method 'pass-k-unbiased'.",
    "Moments beyond the second depend on the assumed shape of the distribution.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)
NO_LABEL_METRIC = MessageType(
    "UQ189",
    "no-label-metric",
    "refusal",
    "The log does not contain a metric {metric!r} with human scores.",
    "`--labels` names a metric of the log or a file of labels.",
    "Check the name with `harness-uq structure LOG`.",
)
LABELED_QUESTIONS_UNSCORED = MessageType(
    "UQ190",
    "labeled-questions-unscored",
    "refusal",
    "None of the {n_labels:count labeled question} has a score for metric {metric!r}.",
    "Labels correct the grader's scores only on questions that have both.",
    "Label questions that the grader scored.",
)
NO_LABELS = MessageType(
    "UQ191",
    "no-labels",
    "refusal",
    "None of the questions of this task has a human label.",
    "The identifiers or the task in the labels do not match the log.",
    "Compare the identifiers in the labels with those in the log.",
)
LABELS_UNMATCHED = MessageType(
    "UQ192",
    "labels-unmatched",
    "refusal",
    "Labels and scores cannot be matched, because the labels cover {n_labeled:count trial} per question and the "
    "grader scored {n_graded}.",
    "Each label must refer to one trial, or to a question as a whole.",
    "Label each trial, or one per question.",
)
GRADER_CORRECTION_UNSUPPORTED = MessageType(
    "UQ193",
    "grader-correction-unsupported",
    "error",
    "Human labels (--labels) do not support scope {scope!r} with estimand {estimand!r}. Use --scope population and "
    "--estimand mean.",
    "Human labels correct the mean score on new questions only.",
    "Leave out `--scope` and `--estimand`.",
)
NOT_COMPUTABLE = MessageType(
    "UQ194",
    "not-computable",
    "refusal",
    "The score cannot be estimated for the following reason: {reason:sentence}",
    "A numerical method cannot give an answer for these data. The reason is the method's own.",
    "Add questions or trials, or try another method with `--uq`.",
)
METHOD_UNSUITABLE = MessageType(
    "UQ195",
    "method-unsuitable",
    "refusal",
    "Method {method!r} does not apply to these data for the following reason: {reason:sentence}",
    "A method of a plugin does not support these data.",
    "Use `--uq bayes`, or see the documentation of the plugin.",
)
METHOD_FAILED = MessageType(
    "UQ196",
    "method-failed",
    "error",
    "Method {method!r} failed with an unexpected error: {error:sentence} Please report this error.",
    "The failure is a defect of harness_uq or of a plugin. Other results are not affected.",
    "Run again with `harness-uq --debug` to see the traceback, and report it.",
)
ESTIMATION_FAILED = MessageType(
    "UQ197",
    "estimation-failed",
    "error",
    "The result could not be computed because of an unexpected error: {error:sentence} Please report this error.",
    "The failure is a defect of harness_uq or of a plugin. Other results are not affected.",
    "Run again with `harness-uq --debug` to see the traceback, and report it.",
)
UNKNOWN_METHOD = MessageType(
    "UQ198",
    "unknown-method",
    "error",
    "Unknown method: {method!r}.{known:nearest {method}} Available methods: {known:join}.",
    "`--uq` names a method of harness_uq or of an installed plugin.",
    "Use one of the methods listed. `harness-uq plugins` lists plugins that were skipped.",
)
QUESTION_SCORES_REQUIRED = MessageType(
    "UQ199",
    "question-scores-required",
    "refusal",
    "The log contains no scores of individual questions for metric {metric!r}.",
    "The metric is computed from all answers at once, or the log contains totals only.",
    "Log the samples, or use another metric of the same run.",
)

TYPES = message_types_in(globals())
