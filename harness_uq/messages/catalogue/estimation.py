"""Messages about estimates, such as too few clusters or trials: UQ100 to UQ199."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- warnings

STORED_INTERVAL_DIFFERS = MessageType.refusal(
    "UQ100",
    "The log stores an interval of this score only for level {level:g} and scope {scope!r}, and the score cannot be "
    "computed again from the log.",
    "The run computed the interval with the aggregation function of the task, and stored the interval in the log. The "
    "log does not contain the aggregation function, so an interval for another level or scope cannot be computed from "
    "the log.",
    "Use `--level` and `--scope` to request the level and the scope of the stored interval, or repeat the run with "
    "another `--uq-level`. The command `harness-uq rescore` keeps the stored interval.",
)
FEW_QUESTIONS = MessageType.warning(
    "UQ101",
    "With only {n_questions:count question}, the {level:percent} interval contains the true accuracy with a "
    "probability of {level:percent} on average over all accuracies. For some accuracies the probability is only "
    "{lowest:percent}.",
    "The coverage of a credible interval equals the nominal level on average over the prior distribution of the "
    "accuracy. With few questions, the coverage at a particular accuracy can be much lower than the nominal level.",
    "Add questions, or use `--uq clopper-pearson`. The coverage of Clopper-Pearson intervals is never below the "
    "nominal level.",
)
FEW_BOOTSTRAP_UNITS = MessageType.warning(
    "UQ102",
    "With {n_units:count {unit}}, the Bayesian bootstrap interval is too narrow. In simulations, the coverage of 95 "
    "% intervals was 60 % with 3 questions or clusters, 75 % with 5, 85 % with 10 and 90 % with 20.",
    "The Bayesian bootstrap reweights only the questions (or clusters) in the log. With fewer than 30 questions or "
    "clusters, the Bayesian bootstrap underestimates how much scores vary in the population of questions.",
    "Add questions or clusters until there are at least 30.",
)
POSSIBLE_LONG_TAIL = MessageType.warning(
    "UQ103",
    "The range of the scores is unknown, and a sample of {n_units:count {unit}} may miss rare extreme scores. In "
    "simulations with one extreme score in 50, the coverage of 95 % intervals was 36 % with 10 questions or "
    "clusters, 44 % with 30 and 87 % with 100.",
    "A sample without extreme scores does not show whether the population contains extreme scores. If the range of "
    "the scores is unknown, no method can account for extreme scores that are missing from the sample.",
    "Declare the range of the metric with `--range METRIC=LO,HI`. If the metric has no range, add questions.",
)
FEW_CLUSTERS = MessageType.warning(
    "UQ104",
    "The interval is unreliable because {n_clusters:count cluster} (defined by {clusters}) {n_clusters:plural "
    "is|are} too few to estimate the variation between clusters. Add clusters, or report the score of each cluster.",
    "Clusters are the independent units of the data. The variation between fewer than 10 clusters cannot be "
    "estimated precisely, so the width of the interval depends largely on the prior distribution.",
    "Add clusters (such as passages or dialogues), or report the score of each cluster.",
    is_prominent=True,
)
HOMOGENEOUS_CLUSTERS = MessageType.warning(
    "UQ105",
    "Answers within the {n_clusters:count cluster} (defined by {clusters}) mostly agree, and in simulations of such "
    "data the coverage of 95 % intervals was 83 to 90 %. The equal-tailed interval, which is more conservative, is "
    "[{low:.3f}, {high:.3f}].",
    "Highest-density intervals have the lowest coverage if there are fewer than 8 clusters and the answers within "
    "clusters are highly correlated.",
    "Add clusters, or report the equal-tailed interval that the message states. The equal-tailed interval is more "
    "conservative than the highest-density interval.",
)
UNEVEN_CLUSTERS = MessageType.warning(
    "UQ106",
    "The {n_clusters:count cluster} (defined by {clusters}) differ so much in size that they are only as informative "
    "as {effective:.1f} clusters of equal size. In simulations of such data, the coverage of 95 % intervals was "
    "between 80 and 98 %.",
    "If a few large clusters dominate the score, the data do not show how other large clusters would score. The "
    "coverage of the interval is lowest if large clusters score differently from small clusters. The warning appears "
    "if the mean score of a cluster is related to the size of the cluster (p < 0.15). The warning also appears if the "
    "data contain too little information (fewer than 3 effective clusters) to test whether score and size are related.",
    "Add large clusters, or report the score of each cluster.",
)
INTERVAL_OF_THETA = MessageType.warning(
    "UQ107",
    "The interval [{low:.4f}, {high:.4f}] estimates theta, the mean of the fitted Beta distribution, and not the "
    "mean score of {value:.4f}. Use the default method 'clustered' to estimate the mean score.",
    "In a beta-binomial model, the success rates of clusters follow a Beta distribution, and theta is the mean of "
    "this distribution. Theta equals the mean score only if the success rates follow a Beta distribution and are "
    "unrelated to the sizes of the clusters.",
    "Use `--uq bayes` (the default) or `--uq clustered` to estimate the mean score.",
)
FEW_TASKS = MessageType.warning(
    "UQ108",
    "The interval is unreliable because {n_tasks:count task} {n_tasks:plural is|are} too few to estimate the "
    "variation between tasks. Add tasks, or report the score of each task.",
    "The interval treats the tasks as a random sample from a larger population of tasks. The variation between fewer "
    "than 10 tasks cannot be estimated precisely.",
    "Add tasks, or report the score of each task. If you do not draw conclusions about other tasks, use `--uq group`, "
    "which estimates the score on exactly these tasks.",
    is_prominent=True,
)
FEW_EFFECTIVE_UNITS = MessageType.warning(
    "UQ109",
    "Because tasks with few questions have large weights, the {n_units:count independent question or "
    "cluster|independent questions or clusters} are only as informative as {effective:.1f} questions with equal "
    "weights. In simulations with the information of 5 questions, the coverage of 95 % intervals was between 55 and "
    "85 %.",
    "If all tasks of a group have the same weight, each question of a small task has much more influence on the score "
    "than a question of a large task. With equal task weights, the interval is therefore based mainly on the few "
    "questions of the small tasks.",
    "Add questions to the smallest tasks.",
)
SMALL_CLASS = MessageType.warning(
    "UQ110",
    "Class {label!r} has only {n_questions:count question}, and with fewer than {enough} questions per class the "
    "interval can be too narrow. In simulations with 10 classes of 3 questions, the coverage of 95 % intervals was "
    "between 80 and 90 %.",
    "A metric that averages over classes gives the smallest class the same weight as the other classes. The estimated "
    "error rate of a class with few questions is imprecise.",
    "Add questions of the class that the message names.",
)
TOTALS_ONLY = MessageType.warning(
    "UQ111",
    "{reason:sentence} The interval therefore treats the questions as independent and ignores any clusters or "
    "repeated trials.",
    "The log contains the total score of the task, but no scores of single questions, or scores of only some "
    "questions. Without a score per question, harness_uq cannot detect clusters or repeated trials. If the data "
    "contain clusters or repeated trials, the interval is too narrow.",
    "Log the samples (`--log_samples` in lm-eval), or pass the logs that contain samples. With `--use-samples`, "
    "harness_uq uses the samples in the log, even if most samples are missing.",
    is_prominent=True,
)
UNSEEN_SUBPOPULATION = MessageType.warning(
    "UQ112",
    "None of the {n_questions:count question} {outcome} in every trial, but up to {share:percent} of all similar "
    "questions may do so. With such a share, the score on similar questions would be {score:.2f}, which lies outside "
    "the interval (limit: {end:.2f}).",
    "A sample of n questions can miss a subpopulation that contains up to 1 - (1 - level)^(1/n) of all questions (the "
    '"rule of three"). The interval assumes that the sample contains questions from every subpopulation.',
    "Add questions. More trials of the same questions do not show whether a subpopulation of questions is missing.",
)
NON_EXCHANGEABLE_TRIALS = MessageType.note(
    "UQ113",
    "Scores may differ systematically between trials of the same questions: the intra-batch correlation is "
    "{intra_batch_correlation:.3f} (Cochran's Q test, p = {p_value:.1g}). The interval assumes independent trials "
    "and is too narrow if each trial had its own seed, server or run.",
    "The first trials of all questions form one batch, the second trials the next batch, and so on. The intra-batch "
    "correlation is the proportion of the variance of scores that all questions of a batch share, for example because "
    "of a seed or a server. To reduce the uncertainty due to batches, you need more batches, because more questions "
    "do not reduce this uncertainty. The note appears in 7 to 10 % of data sets without differences between "
    "batches. It can be absent although the batches differ, in particular with few trials per question.",
    "Log each batch as a separate run, and measure the variation between the runs with `harness-uq effects`.",
)
NON_RANDOM_SUBSET = MessageType.warning(
    "UQ114",
    "The run covers only {n_questions} of the benchmark's {n_all:count question}, and the covered questions were not "
    "drawn at random. If the other questions differ, the interval does not describe the whole benchmark.",
    "The option `--limit N` of a harness runs the first N questions of the data set. Many data sets are sorted by "
    "subject or difficulty, so the first questions can be easier or harder than the rest.",
    "Run all questions, or a random sample of the questions. `harness-uq subset` draws a random sample.",
    is_prominent=True,
)
BETA_SHAPE_EXTRAPOLATION = MessageType.warning(
    "UQ115",
    "The estimate of {estimand} from {k:count trial} per question assumes that the success rates of questions follow "
    "a Beta distribution. In simulations with two subpopulations of questions, the coverage of 95 % intervals was "
    "between 85 and 90 %.",
    "If the number k in pass@k equals the number of trials per question, the data cannot show whether the success "
    "rates of questions follow the assumed Beta distribution.",
    "Run more than k trials per question, or use `--uq pass-k-unbiased`.",
)
FEW_LABELS = MessageType.warning(
    "UQ116",
    "With only {n_labels:count human label}, the interval depends strongly on the prior. Label at least {enough} "
    "questions.",
    "Human labels are the only data from which the error rate of the grader can be estimated.",
    "Label more questions, and choose these questions at random.",
)
UNIFORM_LABELS = MessageType.warning(
    "UQ117",
    "All human labels are equal, so the error rate of the grader on other questions cannot be estimated. Label more "
    "questions.",
    "If all human labels are equal, the data do not show how the grader's scores are related to the labels.",
    "Label more questions, and choose these questions at random.",
)
LONG_TAIL = MessageType.warning(
    "UQ118",
    "The scores have an unknown range and a long tail, and a sample of {n_units:count {unit}} may understate the "
    "tail. In simulations with log-normal scores, the coverage of 95 % intervals was 85 % with 10 questions or "
    "clusters, 90 % with 30 and 93 % with 100.",
    "A sample of questions may contain too few extreme scores. In simulations in which one score in 50 is extreme, "
    "the coverage of 95 % intervals was 36 % with 10 questions or clusters, 44 % with 30 and 87 % with 100.",
    "Declare the range of the metric with `--range METRIC=LO,HI`. If the metric has no range, add questions.",
)
UNKNOWN_PENDING_CLUSTERS = MessageType.warning(
    "UQ119",
    "The log does not record the clusters of questions without a score, so the size of each cluster is the number of "
    "its scored questions. The interval is therefore only approximately anytime-valid.",
    "An anytime-valid interval uses a cluster only if all questions of the cluster have a score. If the log records "
    "only the clusters of scored questions, harness_uq cannot check whether all questions of a cluster have a score.",
    "Treat the interval as approximate until the run has finished.",
)
FIRST_QUESTION_PENDING = MessageType.refusal(
    "UQ120",
    "The first question of the run has no score yet, so no interval can be computed. The interval uses questions in "
    "the order of the run.",
    "During a run, the interval uses the questions in the order of the run, up to the first question without a score.",
    "Wait until the first question has a score.",
)
PENDING_CLUSTERS_UNKNOWN = MessageType.refusal(
    "UQ121",
    "The questions are clustered by {key}, but the clusters of the questions without a score are not known yet.",
    "During a run, an anytime-valid interval uses a cluster only if all questions of the cluster have a score. The "
    "log does not yet record the clusters of the questions without a score.",
    "Wait until the run has finished.",
)
ORDER_NOT_RANDOM = MessageType.warning(
    "UQ122",
    "The questions were run in the order of the data set, but the interval assumes a random order. Start runs with "
    "`inspect eval --sample-shuffle`.",
    "If the data set is sorted, the first questions of a run can be easier or harder than the remaining questions. An "
    "interval that is computed during a run is wrong if the first questions are easier or harder than the remaining "
    "questions.",
    "Start runs in random order, for example with `inspect eval --sample-shuffle`.",
)
FAILED_QUESTIONS = MessageType.note(
    "UQ123",
    "{n_failed:count question} ended in an error and {n_failed:plural is|are} not part of the score.",
    "The mean score includes only questions with a score. If hard questions end in an error more often than easy "
    "questions, the mean score is too high.",
    "Read the errors in the log of the run, and run the failed questions again.",
)
PASS_K_OF_IDENTICAL_TRIALS = MessageType.warning(
    "UQ124",
    "All {n_trials:count trial} of each question agree. If the trials are copies of one trial (temperature 0, a "
    "cache or a fixed seed), the interval describes pass@1, which is {relation} {estimand}.",
    "If all trials of each question agree, the scores do not show whether the trials are independent. If the trials "
    "are independent, the interval describes pass@k or pass^k. If the trials are copies of one trial, the interval "
    "describes the score of a single trial, which is a lower bound for pass@k and an upper bound for pass^k.",
    "Check that the temperature is above 0, that caching is off and that each trial has a different seed.",
)
MISSING_SCORES_MATTER = MessageType.warning(
    "UQ125",
    "The score depends on the {n_missing} of {n_trials:count trial} without a score{causes}: it is {value:.3f} "
    "[{low:.3f}, {high:.3f}] without them and {worst:.3f} [{worst_low:.3f}, {worst_high:.3f}] if they count as the "
    "worst possible score. If the missing scores may have any value, the score lies in [{lowest:.3f}, {highest:.3f}].",
    "By default, trials that failed are not part of the score. If trials of hard questions lack a score more often "
    "than trials of easy questions, the mean of the remaining scores is too high.",
    "Use `--missing` to choose how trials without a score are counted, and report this choice with the score. With "
    "`--missing drop`, trials without a score are left out. With `--missing zero`, trials without a score count as "
    "the worst possible score. With `--missing bounds`, the interval accounts for every possible value of the missing "
    "scores. The value of `--missing` can depend on the cause of a failure, as in `--missing error=zero`.",
    is_prominent=True,
)
MISSING_SCORES_COUNTED = MessageType.note(
    "UQ126",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no usable score{causes}: {treatments:join}.",
    "The options `--missing` and `--treat` determine how trials without a usable score are counted.",
    "When you report the score, also report the values of the options `--missing` and `--treat`.",
)
IDENTIFIED_RANGE = MessageType.note(
    "UQ127",
    "Depending on the scores of the missing trials, the {quantity} on these questions lies between {low:.4f} and "
    "{high:.4f}. The interval also includes the uncertainty of these two limits.",
    "With `--missing bounds`, missing scores may have any possible value, so the data determine the score of a system, "
    "or the difference between two systems, only up to a range. The interval contains the true value with the nominal "
    "probability, wherever the true value lies within this range (Imbens and Manski 2004).",
    "If the range is too wide for your purpose, run the trials without a score again.",
)
REPORTED_ERROR_USED = MessageType.warning(
    "UQ128",
    "{reason:sentence} The interval is computed from the standard error that the harness reported.",
    "The log does not contain a score for each question, so harness_uq cannot check the standard error or the "
    "assumptions of the harness. Most harnesses compute standard errors as if all questions were independent.",
    "Log the samples (`--log_samples` in lm-eval), or pass the logs that contain samples.",
)
MISSING_SCORES_REFUSED = MessageType.error(
    "UQ129",
    "{n_missing} of {n_trials:count trial} of task {task!r} ({system}) {n_missing:plural has|have} no usable "
    "score{causes}, which `--missing error` does not allow.",
    "With `--missing error`, harness_uq reports no results for logs with missing scores.",
    "Run the failed trials again, or choose another value of `--missing`.",
)

# ---------------------------------------------------------------- notes

METHOD_SKIPPED = MessageType.note(
    "UQ130",
    "Method {method!r} was skipped for the following reason ({reason_code}): {reason:sentence}",
    "harness_uq tries several methods in a fixed order and uses the first method that supports the data. A method is "
    "skipped if it does not support the data.",
    "No action is required. To see why the skipped method does not support the data, look up the message code in "
    "parentheses.",
)
METHOD_FOR_NEW_QUESTIONS = MessageType.note(
    "UQ131",
    "Method {method!r} estimates the score on new questions, so the interval is wider than an interval for the score "
    "on {target}.",
    "The scope that you requested with `--scope` is narrower than the scope that the method supports. The interval is "
    "valid for the requested scope, but conservative.",
    "Choose a method that supports the requested scope, or use `--scope population`.",
)
FULL_SCOPE_AVAILABLE = MessageType.note(
    "UQ132",
    "The run covers {n_questions} of the benchmark's {n_all:count question}. With --scope full, the interval would "
    "describe the score on the whole benchmark and be about {relative_width:percent} as wide.",
    "By default, the interval describes the score on new questions from the same population. With `--scope full`, the "
    "interval describes the score on the whole benchmark. The interval for the whole benchmark is narrower, because "
    "the scores on part of the benchmark are known.",
    "Add `--scope full` if you need only the score on this benchmark.",
)
TRIALS_ASSUMED_INDEPENDENT = MessageType.note(
    "UQ133",
    "Trials of the same question are assumed to be independent. If half of the trials were copies, for example "
    "because of a cache or a fixed seed, the coverage of 95 % intervals would be only 65 to 74 %.",
    "With `--scope benchmark`, trial-to-trial noise is the only source of uncertainty. If trials are copies of one "
    "trial, the trials agree by construction, and the interval is too narrow.",
    "Check that caching is off and that each trial has a different seed.",
)
MISSING_SCORES = MessageType.note(
    "UQ134",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no score{causes}. The estimate is biased if "
    "the missing scores would have differed from the other scores.",
    "The mean score does not include trials that failed or trials in which the model refused to answer.",
    "Find out why the scores are missing. If you declare the range of the metric (`--range METRIC=LO,HI`), "
    "harness_uq reports how much the missing scores could change the mean.",
)
MISSING_SCORES_BOUNDS = MessageType.note(
    "UQ135",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no score{causes}. The mean score would be "
    "{low:.4f} if all missing scores were {worst_case} and {high:.4f} if all were {best_case}.",
    "The mean score does not include trials that failed or trials in which the model refused to answer. The message "
    "states the lowest and the highest mean score that are possible if trials without a score are included.",
    "If the lowest and the highest possible mean score are too far apart for your purpose, find out why scores are "
    "missing, and run the trials again.",
)
IDENTICAL_TRIALS = MessageType.note(
    "UQ136",
    "All trials of each question ({n_trials} at most) have the same score, perhaps because of temperature 0 or a "
    "cache. Only one trial per question is counted.",
    "Copies of one trial contain no information about trial-to-trial noise, so harness_uq counts one trial per "
    "question.",
    "If the trials should be independent, use a temperature above 0 and a different seed for each trial.",
)
GRADED_BY_MODEL = MessageType.note(
    "UQ137",
    "A model graded these answers, and the interval does not account for grading errors. More questions do not "
    "reduce grading errors, but human labels correct for them (`--labels`).",
    "The interval describes the mean of the grader's scores. If the grader is too lenient, the score is too high. If "
    "the grader is too strict, the score is too low.",
    "Label a random subset of the answers, and pass the labels with `--labels`.",
)
INTERVAL_EXCEEDS_RANGE = MessageType.note(
    "UQ138",
    "The interval extends beyond the range of possible values, [{low:g}, {high:g}], because this method does not "
    "restrict intervals to the range.",
    'Intervals of the form "mean ± error" can contain impossible scores or impossible differences between scores. '
    "Intervals contain impossible values mostly if there are few questions, or if the mean score is near an end of "
    "the range.",
    "Use `--uq bayes`, whose intervals lie within the range of possible values.",
)
CLUSTER_PRIOR = MessageType.note(
    "UQ139",
    "With only {n_clusters:count cluster} (defined by {clusters}), the interval depends on the prior for the "
    "variation between clusters. With the Gamma prior of Bowyer et al. (2025), the interval would be [{low:.3f}, "
    "{high:.3f}].",
    "Fewer than 10 clusters provide little information about the variation between clusters, so the choice of the "
    "prior distribution changes the interval.",
    "Add clusters. If the intervals with the two priors lead to different conclusions, the data are insufficient for "
    "a conclusion.",
)
FEW_INFORMATIVE_CLUSTERS = MessageType.note(
    "UQ140",
    "The estimate of the correlation within clusters is imprecise, because only {n_informative} of the "
    "{n_clusters:count cluster} (defined by {clusters}) {n_informative:plural has|have} a {outcome}.",
    "If nearly all answers in the data are right, or nearly all are wrong, only a few clusters show whether answers "
    "within a cluster agree. An imprecise estimate of the correlation within clusters makes the interval wide.",
    "Add clusters.",
)
CLASS_FREQUENCIES_RANDOM = MessageType.note(
    "UQ141",
    "The interval treats the class frequencies as random. If the class frequencies were fixed by design, the "
    "interval is wider than necessary.",
    "Metrics such as F1 and MCC depend on the frequency of each class in the data set.",
    "Report the class frequencies with the metric.",
)
TRIAL_CORRELATION = MessageType.note(
    "UQ142",
    "Within a cluster, the scores of repeated trials of the same question have a correlation of {icc:.2f}.",
    "A model with three levels (clusters, questions and trials) estimates the correlation between trials of the same "
    "question.",
    "If the correlation between trials of the same question is near 1, add questions instead of trials, because "
    "additional trials provide little information.",
)
BINOMIAL_UPPER_BOUND = MessageType.note(
    "UQ143",
    "The binomial interval has a weight of {share:percent} in the interval of the score, because {reason}. With "
    "--scope benchmark, the binomial interval is conservative.",
    "With `--scope benchmark`, trial-to-trial noise is the only source of uncertainty. If the scores do not show how "
    "large the trial-to-trial noise is, for example with one trial per question, harness_uq uses the binomial "
    "interval. The binomial interval may be wider than necessary, but not too narrow.",
    "Run more trials per question.",
)
UNIFORM_PRIOR_PER_QUESTION = MessageType.note(
    "UQ144",
    "The prior distribution of each question is uniform, which shifts the estimate towards the middle of the range. "
    "Intervals for easy or hard benchmarks can therefore miss the true score.",
    "The published method Bayes@N assigns an independent uniform prior distribution to each question. The influence "
    "of the uniform prior distributions does not decrease as questions are added.",
    "Use `--uq bayes`, which selects the default method for `--scope benchmark`.",
)
POPULATION_INTERVAL_SHOWN = MessageType.note(
    "UQ145",
    "The interval shown describes the score on new questions and is wider than an interval with --scope benchmark. "
    "An interval with --scope benchmark requires at least {n_needed:count trial} per question to estimate the "
    "trial-to-trial noise.",
    "With `--scope benchmark`, an interval for pass@k requires at least 2k trials per question.",
    "Run more trials per question.",
)
TASKS_AS_SAMPLE = MessageType.note(
    "UQ146",
    "The interval treats the tasks as a random sample from a larger population of tasks. Use method 'group' to "
    "estimate the score on exactly these tasks.",
    "The interval describes the score on new tasks from the same population as the tasks in the data. An interval for "
    "the score on new tasks is wider than an interval for the score on exactly the tasks in the data.",
    "Use `--uq group` if you need only the score on the tasks in the data.",
)
EQUAL_TASK_WEIGHTS = MessageType.note(
    "UQ147",
    "The score is the unweighted mean of the scores of {n_tasks:count task}.",
    "With equal weights for all tasks, the score equals the value that the harness reports for the group of tasks.",
)
TASK_WEIGHTS_BY_SIZE = MessageType.note(
    "UQ148",
    "The score is the mean of {n_tasks:count task}, weighted by number of questions. The weights are equivalent to "
    "{effective:.1f} equally weighted tasks.",
    "If each task is weighted by its number of questions, the score equals the value that the harness reports for the "
    "group of tasks.",
)
NORMALITY_ASSUMED = MessageType.note(
    "UQ149",
    "Student's t interval assumes that the mean is approximately normal, and {n_questions:count question} "
    "{n_questions:plural is|are} too few to check this assumption.",
    "With fewer than 30 questions, a skewed or discrete distribution of scores can make Student's t interval too "
    "narrow.",
    "Use `--uq bayes`, or add questions.",
)
GROUP_METHOD_REPLACED = MessageType.note(
    "UQ150",
    "Method {method!r} does not support groups of tasks, so the interval of the group uses the default method.",
    "The interval of the group and the intervals of its tasks are computed by different methods.",
    "Use `--uq bayes` for the group and its tasks, or report only the scores of the tasks.",
)
ANYTIME_VALID = MessageType.note(
    "UQ151",
    "The interval is anytime-valid, so you may look at the interval at any time and stop the run because of its "
    "value. The order of the questions must not depend on their scores.",
    "The interval is part of a confidence sequence. A confidence sequence is a sequence of intervals that, with the "
    "nominal probability, all contain the true score.",
    "Start runs with the questions in random order.",
)
INCOMPLETE_CLUSTERS = MessageType.note(
    "UQ152",
    "The score includes {n_complete} of {n_clusters:count cluster}. A cluster counts only if all of its questions "
    "have a score.",
    "If incomplete clusters were counted, clusters with questions that are answered quickly would have too much "
    "influence on the score.",
    "No action is required. The interval becomes narrower as the run completes more clusters.",
)
GRADER_CORRECTION = MessageType.note(
    "UQ153",
    "The grader's mean score is {grader_mean:.4f}, and the mean of the human labels is {label_mean:.4f}. The "
    "corrected estimate of the mean human score is {estimate:.4f}.",
    "harness_uq computes the mean of the grader's scores on all answers. Some answers also have human labels, which "
    "correct this mean (prediction-powered inference).",
)
EFFECTIVE_LABELS = MessageType.note(
    "UQ154",
    "Together with the grader's scores, {n_labels:count human label} {n_labels:plural is|are} as informative as "
    "{effective:.0f} human labels without a grader.",
    "The more often the grader agrees with the human labels, the more information the grader's scores contain.",
)
WEAK_GRADER = MessageType.note(
    "UQ155",
    "The grader agrees with {agreement:percent} of the human labels, and the accuracy of the evaluated model is at "
    "least as high. Such a grader can replace at most half of the human labels, however many questions it scores.",
    "A grader that is not more accurate than the evaluated model adds little information to human labels.",
    "Use a more accurate grader, or add human labels.",
)
LABELS_ASSUMED_RANDOM = MessageType.note(
    "UQ156",
    "The labeled questions are assumed to be a random sample. If the questions were drawn with known probabilities, "
    "add a column 'probability' to the labels.",
    "If you choose questions for labeling because of their scores, the corrected score is biased.",
    "Choose the questions to label at random, or record the probability with which each question was chosen in the "
    "column `probability`.",
)
CLUSTERS_USED = MessageType.note(
    "UQ157",
    "The interval accounts for the clusters of the questions ({clusters}; {evidence}).",
    "Questions of one cluster share material, such as a passage, so the answers to these questions are not "
    "independent.",
    "If another field identifies the clusters, name the field with `--cluster TASK=FIELD`. If the questions are "
    "independent, use `--cluster none`.",
)
TRIALS_ALL_AGREE = MessageType.refusal(
    "UQ159",
    "Method {method!r} requires at least one question whose trials have different scores, but all trials of each "
    "question agree. Use method 'pass-k-unbiased'.",
    "If all trials of each question agree, the data do not show whether the trials are independent or copies of one "
    "trial. If the trials may be copies of each other, the estimated variation between questions depends only on the "
    "prior distribution.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)

# ---------------------------------------------------------------- refusals

NO_SCORES = MessageType.refusal(
    "UQ160",
    "No question has a score.",
    "The log contains questions, but all trials failed or were not scored.",
    "Read the errors in the log of the run, and run the evaluation again.",
)
NOT_A_MEAN = MessageType.refusal(
    "UQ161",
    "Method {method!r} estimates means, not {estimand}. Use method 'pass-k' or 'pass-k-unbiased'.",
    "Metrics such as pass@k are not means of single trials, so a method for means cannot estimate these metrics.",
    "Use `--uq bayes`, `--uq pass-k` or `--uq pass-k-unbiased`.",
)
SINGLE_TASKS_ONLY = MessageType.refusal(
    "UQ162",
    "Method {method!r} supports single tasks, but not groups of tasks.",
    "The score of a group is a weighted mean over tasks, and the requested method does not estimate weighted means.",
    "Use `--uq bayes` for groups.",
)
SCORES_REQUIRED = MessageType.refusal(
    "UQ163",
    "Method {method!r} requires a score for each question, but the log contains none for metric {metric!r}.",
    "The log contains only the total score for the metric, or the metric is a function of all answers (such as F1 or "
    "BLEU) and has no score per question.",
    "Use `--uq bayes`.",
)
SCORE_TYPE_UNSUPPORTED = MessageType.refusal(
    "UQ164",
    "Method {method!r} requires {required}, but these scores are {actual}.",
    "Each method supports only certain types of scores, for example right-or-wrong scores. The scores in the log have "
    "a type that the requested method does not support.",
    "Use `--uq bayes`. If the scores have a known range, declare the range with `--range METRIC=LO,HI`.",
)
INDEPENDENCE_REQUIRED = MessageType.refusal(
    "UQ165",
    "Method {method!r} assumes independent answers, but this log has clusters or repeated trials.",
    "If the log contains clusters or repeated trials, a method for independent answers reports intervals that are too "
    "narrow.",
    "Use `--uq bayes`, or a method for clustered data, such as `--uq clustered-t`.",
)
CLUSTERS_REQUIRED = MessageType.refusal(
    "UQ166",
    "Method {method!r} requires {required}, but this task has none.",
    "The requested method estimates the variation between clusters, so the data must contain clusters.",
    "Use `--uq bayes`.",
)
TWO_LEVELS = MessageType.refusal(
    "UQ167",
    "Method {method!r} supports only one level of clustering, but this log has two levels: clusters of questions, "
    "and repeated trials of each question.",
    "Answers in the log can be correlated for two reasons: they belong to the same cluster of questions, or they are "
    "trials of the same question.",
    "Use `--uq bayes` or `--uq nested`.",
)
CLASSES_REQUIRED = MessageType.refusal(
    "UQ168",
    "Method {method!r} requires the target class and the predicted class of each question.",
    "The metric is computed from the confusion matrix, which requires the correct class and the predicted class of "
    "each question.",
    "Use `--uq bayes`.",
)
CLASS_METRIC_UNSUPPORTED = MessageType.refusal(
    "UQ169",
    "Method {method!r} does not support metric {metric!r} with {n_classes:count class|classes}. Supported metrics: "
    "{supported:join}.",
    "harness_uq has no formula that computes the requested metric from a confusion matrix with the given number of "
    "classes.",
    "Use `--uq bayes`.",
)
STATISTIC_UNSUPPORTED = MessageType.refusal(
    "UQ170",
    "Method {method!r} cannot compute the statistic {statistic!r}.",
    "The requested method supports a fixed list of statistics, which are functions of sums over questions. The "
    "statistic of the task is not in this list.",
    "Use `--uq bayes`. If a plugin reads the logs, the plugin must name a statistic that harness_uq supports in the "
    "attribute `statistic` of `SufficientStatistics`.",
)
GROUP_REQUIRED = MessageType.refusal(
    "UQ171",
    "Method {method!r} supports groups of tasks, but not single tasks.",
    "A method for groups estimates a weighted mean of the scores of several tasks.",
    "Use `--uq bayes` for single tasks.",
)
RANGE_REQUIRED = MessageType.refusal(
    "UQ172",
    "Method {method!r} requires scores with a known range. Declare the range with --range METRIC=LO,HI.",
    "The requested method computes the interval from the lowest and the highest possible score of the metric.",
    "Declare the range with `--range METRIC=LO,HI`, such as `--range bleu=0,100`.",
)
INDEPENDENT_TASKS_REQUIRED = MessageType.refusal(
    "UQ173",
    "Method {method!r} requires independent tasks, but these tasks share items.",
    "Scores of tasks with the same items rise and fall together, so the tasks are not an independent sample.",
    "Use `--uq group`.",
)
SCOPE_UNSUPPORTED = MessageType.refusal(
    "UQ174",
    "Method {method!r} requires --scope {scopes:join or}.",
    "The option `--scope` determines which score is estimated: the score on new questions, on the whole benchmark or "
    "on exactly the questions in the log. The requested method does not support the requested scope.",
    "Change `--scope` as the message states, or use `--uq bayes`.",
)
UNKNOWN_BENCHMARK_SIZE = MessageType.refusal(
    "UQ175",
    "Method {method!r} requires the number of questions in the whole benchmark, which the log does not record.",
    "With `--scope full`, the method predicts the scores on questions that were not run, so the log must record the "
    "number of questions in the whole benchmark.",
    "Use `--scope population`.",
)
WHOLE_BENCHMARK_RUN = MessageType.refusal(
    "UQ176",
    "The run covers all {n_all:count question} of the benchmark, so the score on the whole benchmark (--scope full) "
    "is known exactly.",
    "With `--scope full`, harness_uq predicts the scores on questions that were not run. This run contains all "
    "questions of the benchmark, so there are no scores to predict.",
    "Use `--scope population` or `--scope benchmark`.",
)
TOTALS_REQUIRED = MessageType.refusal(
    "UQ177",
    "Method {method!r} supports only logs without a score per question, but this log contains a score for each "
    "question.",
    "The scores of single questions give a more accurate interval than the total score, so harness_uq does not use a "
    "method for total scores.",
    "Use `--uq bayes`.",
)
INCOMPLETE_TOTALS = MessageType.refusal(
    "UQ178",
    "{reason:sentence} The uncertainty cannot be estimated because the log does not record {missing}.",
    "To compute an interval from a total score, harness_uq needs the total score, and either the number of questions "
    "or a standard error.",
    "Log the samples. If the log contains a part of the samples, use the option `--use-samples` to compute the score "
    "from this part. If the task has its own aggregation function, add `--uq bayes` to the run of lm-eval, "
    "because the function can only be called during the run.",
)
TOTALS_NOT_A_PROPORTION = MessageType.refusal(
    "UQ179",
    "{reason:sentence} The total score cannot be used instead, because metric {metric!r} is not known to be a "
    "proportion of correct answers.",
    "The uncertainty can be computed from a total score only if the score is a proportion of correct answers and the "
    "questions are independent.",
    "Log the samples. If the task has its own aggregation function, add `--uq bayes` to the run of lm-eval, because "
    "the function can only be called during the run.",
)
INCONSISTENT_TOTALS = MessageType.refusal(
    "UQ180",
    "{reason:sentence} The total score cannot be used instead, because a value of {value:g} on {n_questions:count "
    "question} does not correspond to a whole number of correct answers.",
    "The total score is rounded, weighted or not a proportion, so the number of correct answers is unknown.",
    "Log the samples.",
)
ZERO_WIDTH_INTERVAL = MessageType.refusal(
    "UQ181",
    "The data are insufficient to estimate the uncertainty of the {quantity}, because the interval would have zero "
    "width. Add questions or trials.",
    "An interval of zero width would imply a certainty that the data do not support.",
    "Add questions or trials.",
)
CONSTANT_SCORES = MessageType.refusal(
    "UQ182",
    "All scores are equal, so this method would return an interval of zero width. Use --uq bayes instead.",
    "If all scores are equal, the sample variance is 0, and methods that use the sample variance return intervals of "
    "zero width.",
    "Use `--uq bayes`.",
)
SCORE_TOO_LARGE = MessageType.refusal(
    "UQ183",
    "The score {value:.3g} is too large to be averaged. The largest supported score is {limit:g}.",
    "The computation squares the scores, and the square of a very large score exceeds the range of floating-point "
    "numbers.",
    "Divide the scores by a constant, such as 1,000, before the analysis.",
)
UNKNOWN_SCORE_LEVEL = MessageType.refusal(
    "UQ184",
    "Method 'bayes-at-n' requires every score to be one of the declared levels ({levels:join}).",
    "The method 'bayes-at-n' estimates the probability of each possible score, so all possible scores must be "
    "declared.",
    "Use `--uq bayes`, which selects the default method for `--scope benchmark`.",
)
AVERAGE_AT_N_CONSTANT = MessageType.refusal(
    "UQ185",
    "Method 'avg-at-n' cannot compute an interval if all scores equal the lowest or the highest possible score.",
    "The published method avg@N uses a rescaled standard deviation, which is 0 if all scores are equal.",
    "Use `--uq bayes`, which selects the default method for `--scope benchmark`.",
    name="avg-at-n-constant",
)
PASS_K_REQUIRED = MessageType.refusal(
    "UQ186",
    "Method {method!r} estimates pass@k and related metrics, not means. Add --estimand pass@K.",
    "The requested method estimates metrics such as pass@k, but the command requests the mean score.",
    "Add `--estimand pass@K`, such as `--estimand pass@4`. To estimate the mean score, use `--uq bayes`.",
)
CLUSTERED_PASS_K = MessageType.refusal(
    "UQ187",
    "Method {method!r} assumes independent questions, but these questions belong to clusters. Use method "
    "'pass-k-unbiased'.",
    "If the questions belong to clusters, a method for independent questions reports intervals that are too narrow.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)
NOT_BETA_DISTRIBUTED = MessageType.refusal(
    "UQ188",
    "Method {method!r} assumes that the success rates of questions follow a Beta distribution, which the data reject "
    "(p = {p_value:.2g}). Use method 'pass-k-unbiased'.",
    "An estimate of pass@k with k above 2 depends on the assumed shape of the distribution of success rates.",
    "Use `--uq bayes` or `--uq pass-k-unbiased`.",
)
NO_LABEL_METRIC = MessageType.refusal(
    "UQ189",
    "The log does not contain a metric {metric!r} with human scores.",
    "The option `--labels` accepts a file of human labels, or the name of a metric in the log that contains human "
    "scores.",
    "Check the name of the metric with `harness-uq structure LOG`.",
)
LABELED_QUESTIONS_UNSCORED = MessageType.refusal(
    "UQ190",
    "None of the {n_labels:count labeled question} has a score for metric {metric!r}.",
    "To correct the grader's scores with human labels, harness_uq needs answers that have both a human label and a "
    "score of the grader.",
    "Label answers that the grader scored.",
)
NO_LABELS = MessageType.refusal(
    "UQ191",
    "No question of this task has a human label.",
    "The task names or the question identifiers in the file of labels differ from the names or identifiers in the log.",
    "Compare the identifiers in the file of labels with the identifiers in the log. The command `harness-uq structure "
    "LOG` lists the tasks in the log.",
)
LABELS_UNMATCHED = MessageType.refusal(
    "UQ192",
    "Labels and scores cannot be matched, because the labels cover {n_labeled:count trial} per question and the "
    "grader scored {n_graded:count trial}.",
    "Each human label must belong either to one trial of a question or to the question as a whole.",
    "Provide one label for each trial, or one label for each question.",
)
GRADER_CORRECTION_UNSUPPORTED = MessageType.error(
    "UQ193",
    "Human labels (--labels) cannot be combined with scope {scope!r} and estimand {estimand!r}. Use --scope "
    "population and --estimand mean.",
    "With human labels, harness_uq estimates only the mean score on new questions.",
    "Omit `--scope` and `--estimand`.",
)
NOT_COMPUTABLE = MessageType.refusal(
    "UQ194",
    "The score cannot be estimated: {reason:sentence}",
    "The method cannot compute an interval from the data in the log. The message contains the reason.",
    "Add questions or trials, or choose another method with `--uq`.",
)
METHOD_UNSUITABLE = MessageType.refusal(
    "UQ195",
    "Method {method!r} does not support these data: {reason:sentence}",
    "The method of an installed plugin does not support the data in the log. The message contains the reason that the "
    "plugin reported.",
    "Use `--uq bayes`, or read the documentation of the plugin.",
)
ESTIMAND_OF_TRIALS = MessageType.refusal(
    "UQ196",
    "The metric {metric!r} has no {estimand}, because it is a function of all answers and not of the trials of one "
    "question.",
    "Estimands such as pass@k are probabilities of events in k trials of a question. A metric such as F1 or perplexity "
    "does not have a score for each trial.",
    "Omit `--estimand` to estimate this metric.",
)
ESTIMATION_FAILED = MessageType.error(
    "UQ197",
    "{what} failed with an unexpected error: {error:sentence} Please report this error.",
    "harness_uq or a plugin contains a defect. The error does not change other results.",
    "Run the command again with `harness-uq --debug` to see the traceback, and report the error.",
)
UNKNOWN_METHOD = MessageType.error(
    "UQ198",
    "Unknown method: {method!r}.{known:nearest {method}|methods} `harness-uq plugins` lists all methods.",
    "The option `--uq` accepts the name of a method of harness_uq or of an installed plugin.",
    "Use one of the methods that `harness-uq plugins` lists. It also lists the plugins that could not be loaded.",
)
QUESTION_SCORES_REQUIRED = MessageType.refusal(
    "UQ199",
    "The log contains no scores of individual questions for metric {metric!r}.",
    "The log contains only the total score for the metric, or the metric is a function of all answers (such as F1 or "
    "BLEU) and has no score per question.",
    "Log the samples, or use another metric of the same run.",
)

TYPES = message_types_in(globals())
