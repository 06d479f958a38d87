"""Messages about alignment, comparison, ranking and gating: UQ200 to UQ286."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- alignment: warnings


QUESTION_CONTENT_DIFFERS = MessageType.warning(
    "UQ201",
    "{n_different} of {n_common:count question} {n_different:plural has|have} the same identifier but different "
    "content in the runs, perhaps because answer choices were shuffled. The questions are still matched by identifier.",
    "If one identifier belongs to different questions in the two runs, the comparison is not paired and the interval "
    "for the difference is wrong.",
    "Check that all runs used the same version of the data set.",
)
IDENTIFIERS_MOVED = MessageType.warning(
    "UQ202",
    "{n_identifiers:count identifier refers|identifiers refer} to different questions in different runs. The "
    "questions are therefore matched by content.",
    "The data set was reordered or changed between the runs, so the same identifier belongs to different questions.",
    "Check that all runs used the same version of the data set.",
)
MATCHED_BY_IDENTIFIER_ONLY = MessageType.warning(
    "UQ203",
    "The questions of {harnesses:join} are matched by identifier alone. Check that these harnesses number the "
    "questions in the same way.",
    "Different harnesses log the same question in different forms, so harness_uq cannot compare the content of the "
    "questions.",
    "Compare the identifiers and the content of a few questions in the logs of each harness.",
)
PROMPTS_DIFFER = MessageType.warning(
    "UQ204",
    "The prompts of {n_different} of {n_questions:count question} differ between the runs{settings}, which may "
    "change the scores.",
    "Different prompts (examples, chat template or system prompt) can change the scores, so the difference between "
    "the scores does not show the effect of the models alone.",
    "Run all systems with the same prompt.",
)
PARTIAL_SAMPLES = MessageType.warning(
    "UQ205",
    "The log of system {system!r} contains samples of only {n_logged} of {n_questions:count question}, and only "
    "these questions are used{total}.",
    "With the option `--use-samples`, harness_uq uses the samples in the log instead of the total score that the "
    "harness reports for all questions. Questions with logged samples can be easier or harder than the other "
    "questions of the task.",
    "Log all samples, or omit `--use-samples` to use the total score of all questions.",
    is_prominent=True,
)
TOTALS_USED = MessageType.warning(
    "UQ206",
    "The log of system {system!r} contains samples of only {n_samples:,} of {n_questions:count question}, so the "
    "total score of all questions is used.",
    "Questions with logged samples can be easier or harder than the other questions of the task. harness_uq uses the "
    "logged samples only if at least 95 % of the samples are in the log and the mean of these samples is within half "
    "a standard error of the total score.",
    "Log all samples, or use the option `--use-samples` to compute the score from the samples in the log.",
    is_prominent=True,
)
VERDICT_DEPENDS_ON_MISSING = MessageType.warning(
    "UQ207",
    "The {conclusion} depends on the {n_missing:count trial} without a score. The {conclusion} is {dropped!r} without "
    "these trials, {worst!r} if they count as the worst possible score, and {open!r} if their scores may have any "
    "value.",
    "By default, trials that failed are not part of the score. If a system fails on more hard questions than the other "
    "system, it seems better than it is.",
    "Use `--missing` to choose how trials without a score are counted, and report this choice with the result. With "
    "`--missing drop`, trials without a score are left out. With `--missing zero`, trials without a score count as the "
    "worst possible score. With `--missing bounds`, the verdict of a comparison, or the decision of a gate, accounts "
    "for every possible value of the missing scores.",
    is_prominent=True,
)
RANKS_DEPEND_ON_MISSING = MessageType.warning(
    "UQ209",
    "Which systems may be the best depends on the {n_missing:count trial} without a score. The set of possible best "
    "systems is {dropped:quote} without these trials, {worst:quote} if they count as the worst possible score, and "
    "{open:quote} if their scores may have any value.",
    "By default, trials that failed are not part of the score. If failed trials are left out, a system that fails on "
    "many hard questions ranks higher than it should.",
    "Use `--missing` to choose how trials without a score are counted, and report this choice with the ranking. With "
    "`--missing drop`, trials without a score are left out. With `--missing zero`, trials without a score count as "
    "the worst possible score. With `--missing bounds`, the ranking accounts for every possible value of the missing "
    "scores.",
    is_prominent=True,
)

# ---------------------------------------------------------------- alignment: notes

UNMATCHED_QUESTIONS = MessageType.note(
    "UQ210",
    "The {n_systems} systems are compared on the {n_common:count question} that all of them answered. For the score of "
    "a single system, `estimate` uses up to {n_own:count question}, of which up to {n_unmatched} "
    "{n_unmatched:plural is|are} left out here.",
    "A paired comparison requires questions that all systems answered.",
    "If many questions are left out, run the systems on the questions that they have not answered.",
)
SYSTEM_WITH_FEW_SHARED_QUESTIONS = MessageType.note(
    "UQ211",
    "System {system!r} is left out because it answered only {n_shared} of the {n_core:count question} that most "
    "systems answered.",
    "Systems are compared on the questions that all systems answered. If harness_uq included a system that answered "
    "few questions, all systems would be compared on only these few questions.",
    "Run the system on the remaining questions.",
)
SYSTEM_WITHOUT_QUESTION_SCORES = MessageType.note(
    "UQ212",
    "System {system!r} is left out, because no scores of its individual questions are used. {reason:sentence}",
    "Systems are compared question by question, so each system needs a score for each question.",
    "Repeat the run of the system that the message names, and log the samples.",
)
SYSTEM_WITH_CONSTANT_SCORES = MessageType.note(
    "UQ213",
    "System {system!r} is left out because all of its scores equal {value:g} and the range of the scores is unknown. "
    "Declare the range with --range {metric}=LO,HI.",
    "If all scores are equal and the range of the metric is unknown, the data do not show how uncertain the score is.",
    "Declare the range of the metric with `--range METRIC=LO,HI`.",
)
SYSTEM_NOT_ESTIMABLE = MessageType.note(
    "UQ214",
    "System {system!r} is left out because its score has no interval (see {reason_code}).",
    "A ranking contains only systems whose score has an interval.",
    "Run `harness-uq estimate` on the logs of the system to see why its score has no interval and what you can do.",
)
SEVERAL_RUNS = MessageType.note(
    "UQ215",
    "System {system!r} has {n_runs:count run}. The newest {kind} is used: {path}{time}.",
    "For each system, harness_uq uses the newest finished run. A run of all questions takes precedence over a newer "
    "run with a sample limit (`--limit`).",
    "To use another run, pass only the log of that run.",
)
RUN_VARIATION_IGNORED = MessageType.note(
    "UQ216",
    "The {n_runs} runs of system {system!r} differ ({evidence}), and this interval ignores the variation between "
    "runs. Use `harness-uq effects` to measure the variation.",
    "Scores vary with the seed, the prompt and other settings. The interval of one run does not include the variation "
    "between runs with different settings.",
    "To measure the variation between runs, pass the logs of all runs to `harness-uq effects`.",
)
RUNS_MERGED = MessageType.note(
    "UQ217",
    "These {n_runs:count log|logs} cover different questions of the same task and are combined into a single run: "
    "{paths:join}.",
    "If the runs of one system have no question in common, harness_uq treats these runs as parts of a single run.",
    "If the logs are not parts of one run, analyze each log separately.",
)
FAILED_FOR_ONE_SYSTEM = MessageType.note(
    "UQ218",
    "{n_questions:count question} {n_questions:plural has|have} a score for only one of the two systems and "
    "{n_questions:plural is|are} not compared. Of these questions, {n_a} have no score of {system_a!r}, and {n_b} "
    "have no score of {system_b!r}.",
    "If a system fails on hard questions, leaving out these questions favors the system.",
    "Run the failed trials again, or repeat the comparison with `--missing zero` or `--missing bounds`.",
)

# ---------------------------------------------------------------- comparison

INDEPENDENT_COMPARISON = MessageType.note(
    "UQ220",
    "The questions of the two systems could not be matched, so the scores are compared as independent samples, which "
    "is less precise. The reason is: {reason:sentence}",
    "A paired comparison on the same questions is more precise than a comparison of independent samples, because easy "
    "and hard questions affect both systems alike.",
    "Run both systems on the same questions, and log the samples.",
)
POOLED_TASKS = MessageType.note(
    "UQ221",
    "The overall difference pools {n_tasks:count task} and gives every question the same weight.",
    "The overall difference is the mean of the differences over all matched questions of all tasks.",
)
POOLED_TASKS_INCOMPLETE = MessageType.note(
    "UQ222",
    "The overall difference pools {n_tasks:count task} and gives every question the same weight. {n_left_out:count "
    "other task} without matched questions {n_left_out:plural is|are} left out.",
    "The overall difference is the mean of the differences over all matched questions of all tasks. Tasks without "
    "matched questions do not contribute to the overall difference.",
    "Log the samples of all tasks for both systems.",
)
POOLED_GROUP = MessageType.note(
    "UQ223",
    "The overall difference combines {n_tasks:count task} with the weights that the harness uses.",
    "With the weights of the harness, the overall score of each system equals the value that the harness reports for "
    "the group of tasks.",
)
POOLED_UNITS = MessageType.note(
    "UQ224",
    "The interval treats each cluster (defined by {units:join}) and each question outside the clusters as an "
    "independent unit.",
    "Answers to questions about the same material, and answers to items that occur in several tasks, are not "
    "independent.",
)
DIFFERENT_TASKS_COMPARED = MessageType.note(
    "UQ225",
    "The systems have no task and metric in common, so {key_a} of system {system_a!r} is compared with {key_b} of "
    "system {system_b!r}.",
    "harness_uq compares scores of the same task and metric. If two runs have no task and metric in common, but each "
    "run has only one score, harness_uq compares the scores of the two runs.",
    "Check that the two compared scores measure the same ability.",
)
UNSHARED_SCORES = MessageType.note(
    "UQ226",
    "The {n_keys:plural score|scores} for {keys} {n_keys:plural is|are} not compared, because only system {system!r} "
    "has {n_keys:plural this score|these scores}.",
    "A comparison requires scores of both systems for the same task, metric and filter.",
    "Run the other system on the same tasks.",
)
STUDENT_DISTRIBUTION = MessageType.note(
    "UQ227",
    "The range of the scores is unknown, so the {result} is based on Student's t distribution.",
    "The default methods for comparisons and rankings require the lowest and the highest possible score of the metric.",
    "Declare the range of the metric with `--range METRIC=LO,HI`.",
)
LATENT_NORMAL_REPLACED = MessageType.note(
    "UQ228",
    "Method 'latent-normal' requires independent questions with one right-or-wrong answer each. Method 'dirichlet' "
    "is used instead.",
    "The method 'latent-normal' models how often both systems, only one system or neither system is right. A latent "
    "normal model requires one right-or-wrong answer per question.",
    "No action is required. To avoid this note, use `--method dirichlet`.",
)
MONTE_CARLO_ERROR = MessageType.note(
    "UQ229",
    "The posterior of the difference is computed from {n_draws:,} random draws. The Monte Carlo error of the "
    "posterior mean is {mc_error:.2g}.",
    "The posterior distribution of the difference has no closed form, so harness_uq approximates it with random "
    "draws. The random draws use a fixed seed.",
    "No action is required, unless the Monte Carlo error is as large as the difference.",
)
OWN_QUESTIONS_USED = MessageType.note(
    "UQ230",
    "Besides {n_shared:count shared question}, the comparison uses {n_own_a:count question} that only A answered and "
    "{n_own_b:count question} that only B answered.",
    "The score of each system combines the mean on shared questions with the mean on questions that only this system "
    "answered. The comparison assumes that shared questions and other questions come from the same population.",
    "If the questions of the two systems differ in kind, run both systems on the same questions.",
)
GRADER_DIFFERENCE = MessageType.note(
    "UQ231",
    "The difference is {raw:+.4f} according to the grader and {labeled:+.4f} according to the {n_labels:count "
    "question} with human labels for both systems. The combined estimate is {corrected:+.4f}.",
    "Human labels correct the difference between the grader's mean scores of the two systems (prediction-powered "
    "inference). The human labels also correct the grader's mean score of each system.",
)
LABELS_OF_DIFFERENT_QUESTIONS = MessageType.note(
    "UQ232",
    "Almost no question has human labels for both systems ({n_a} labels for A, {n_b} for B), so the corrected scores "
    "are compared as independent samples.",
    "The estimated difference between two systems is more precise if the answers of both systems to the same "
    "questions have human labels.",
    "Label the answers of both systems to the same questions.",
)
GRADER_ERRORS = MessageType.note(
    "UQ233",
    "According to the human labels, the grader's J (sensitivity + specificity − 1) is {j_a:.2f} for {system_a} and "
    "{j_b:.2f} for {system_b}. The difference between the two values of J is {shift:+.2f} [{low:+.2f}, {high:+.2f}].",
    "If a grader makes different errors for the two systems, the difference between the grader's mean scores is "
    "biased. Human labels for both systems correct this bias.",
)
GRADER_SHIFTS_DIFFERENCE = MessageType.warning(
    "UQ234",
    "According to the human labels, the grader overrates {overrated!r} by {value:.4f} [{low:.4f}, {high:.4f}] more "
    "than {other!r}. The corrected difference accounts for this.",
    "The grader's mean error differs between the two systems, and the interval of the difference between these errors "
    "does not contain 0. The grader may favor one system, such as a model of its own family. The grader's scores may "
    "also be too inaccurate to show a true difference between the systems.",
    "Report scores that are corrected with human labels for the answers of each system (`--labels`).",
)
GRADER_ERRORS_ASSUMED_EQUAL = MessageType.warning(
    "UQ235",
    "Only answers of {labeled} have human labels. For {unlabeled}, the grader's sensitivity, specificity and their "
    "sum are assumed to be within {shift:g} of the values for {labeled}; with equal values, the interval would be "
    "[{low:+.4f}, {high:+.4f}].",
    "The reported interval accounts for all error rates of the grader that differ between the two systems by no more "
    "than the assumed limit.",
    "Label answers of both systems. If you can justify another limit for the difference between the grader's error "
    "rates, set the limit with `--grader-shift`.",
)
GRADER_UNINFORMATIVE = MessageType.refusal(
    "UQ236",
    "Only answers of {labeled} have human labels. On these answers the grader's J (sensitivity + specificity − 1) of "
    "{j:.2f} [{low:.2f}, {high:.2f}] is not clearly above the assumed limit of {shift:g}.",
    "Youden's J of a grader is its sensitivity plus its specificity minus 1. If J is 0 for the answers of a system, "
    "the grader's scores of these answers are unrelated to the correct scores.",
    "Label answers of both systems.",
)
LABELS_OF_ONE_SYSTEM = MessageType.refusal(
    "UQ237",
    "Only answers of {labeled} have human labels. Labels of one system are sufficient only if all grades and the "
    "labels of each person are 0 or 1.",
    "If only one system has human labels, the grader's errors on the other system are unknown. `harness-uq compare` "
    "can assume limits for unknown errors of a grader only if all scores and labels are 0 or 1.",
    "Label answers of both systems.",
)
LABELS_WITHOUT_SYSTEM = MessageType.error(
    "UQ238",
    "{n_labels:count human label does|human labels do} not name the system whose answer was labeled. Add a column "
    "'system' with the names {systems:join} to the file of labels.",
    "A human label belongs to one answer, and systems give different answers to the same question.",
    "Add a column `system` to the file of labels, with the names of systems that harness_uq prints, or select one "
    "system with `--model`.",
)
ONE_BASELINE_RUN = MessageType.warning(
    "UQ239",
    "The decision ignores the variation between runs, because it uses one run of the baseline. Pass several runs, "
    "such as `--baseline RUN1 RUN2 RUN3`.",
    "If the scores of repeated runs differ, for example because of sampling, a system that equals the baseline fails "
    "the gate more often than the stated error rate. The interval of one run includes the noise of single answers, "
    "but not differences between whole runs.",
    "Repeat the run of the baseline two to four times, and pass all runs to `--baseline`. If your runs are "
    "deterministic, hide this warning with `--ignore one-baseline-run`.",
)

# ---------------------------------------------------------------- comparison: refusals and errors

NO_COMMON_QUESTIONS = MessageType.refusal(
    "UQ240",
    "The systems {systems:quote} have no questions in common.",
    "harness_uq matches questions by content. If the logs do not contain the content of the questions, harness_uq "
    "matches the questions by identifier.",
    "Run the systems on the same questions.",
)
FEW_COMMON_QUESTIONS = MessageType.refusal(
    "UQ241",
    "Only {n_common} of {n_questions:count question} could be matched between the runs.",
    "If fewer than half of the questions match, the runs probably used different data sets or different identifiers.",
    "Check that the runs used the same version of the data set.",
)
IDENTIFIERS_DIFFER = MessageType.refusal(
    "UQ242",
    "The questions cannot be matched, because {harnesses:join} identify questions in different ways.",
    "If two harnesses number questions differently, matching by identifier would pair different questions.",
    "Use logs of one harness, or a table in which the questions have common identifiers.",
)
DUPLICATE_IDENTIFIER = MessageType.refusal(
    "UQ243",
    "In the log of system {system!r}, {n_questions:count question} have the same identifier {identifier!r} and "
    "cannot be matched. Give each question its own identifier.",
    "If the log does not contain the content of the questions, questions are matched by identifier, so identifiers "
    "must be unique.",
    "Give each question in the data set a unique identifier, and run the evaluation again.",
)
QUESTION_SCORES_MISSING = MessageType.refusal(
    "UQ244",
    "No scores of individual questions are used for system {system!r}. {reason:sentence}",
    "A paired comparison requires a score for each question in the logs of both systems.",
    "Repeat the run of the system that the message names, and log the samples.",
)
GROUP_NOT_PAIRED = MessageType.refusal(
    "UQ245",
    "The group cannot be compared question by question, because the questions of {tasks:quote} cannot be matched.",
    "harness_uq compares a group of tasks question by question only if the questions of all tasks in the group can be "
    "matched.",
    "Compare the tasks separately. The comparison of a single task contains a message that states why the questions "
    "of the task cannot be matched.",
)
NO_BENCHMARK_SCOPE_POOLING = MessageType.refusal(
    "UQ246",
    "Scores of several tasks cannot be pooled with --scope benchmark. Use --scope population, or compare the tasks "
    "one by one.",
    "With `--scope benchmark`, trial-to-trial noise is the only source of uncertainty, and harness_uq estimates this "
    "noise for each task separately.",
    "Use `--scope population`, or compare the tasks one by one.",
)
ONE_HARNESS_REQUIRED = MessageType.refusal(
    "UQ247",
    "Metrics that are not means can only be compared between logs of the same harness.",
    "For metrics that are not means, such as F1, different harnesses log different data.",
    "Compare logs of the same harness.",
)
DIFFERENT_DATA = MessageType.refusal(
    "UQ248",
    "The logs contain different data for metric {metric!r}: {difference:sentence}",
    "A paired comparison requires that both logs contain data of the same kind, such as scores, counts or classes, "
    "for the same questions.",
    "Run both systems with the same version of the task.",
)
NO_PAIRED_FORM = MessageType.refusal(
    "UQ249",
    "A paired comparison of metric {function!r} is not available{condition}.",
    "harness_uq supports paired comparisons for means and for some other metrics, but not for the requested metric.",
    "Compare another metric of the same runs.",
)
NO_COMMON_SCORES = MessageType.refusal(
    "UQ250",
    "The systems have no task and metric in common. System {system_a!r} has scores for {keys_a}, and system "
    "{system_b!r} has scores for {keys_b}.",
    "A comparison requires scores of both systems for the same task, metric and filter.",
    "Run both systems on the same tasks.",
)
TOO_FEW_UNITS = MessageType.refusal(
    "UQ252",
    "System {system!r} has only {n_units:count independent question or cluster|independent questions or clusters}, "
    "which {n_units:plural is|are} too few to estimate the uncertainty of a score with an unknown range.",
    "If the range of the scores is unknown, the interval is based on Student's t distribution. With fewer than 3 "
    "degrees of freedom, a Student's t interval is too wide to be useful.",
    "Add questions or clusters, or declare the range of the metric with `--range METRIC=LO,HI`.",
)
SYSTEM_WITHOUT_INTERVAL = MessageType.refusal(
    "UQ253",
    "The score of system {system!r} cannot be compared: {reason:sentence}",
    "Two systems can be compared only if harness_uq can compute the uncertainty of both scores from the logs. If a "
    "task has its own aggregation function, the interval that the run stored in the log is not sufficient for a "
    "comparison.",
    "Run `harness-uq estimate` on the logs of the system. If the score has no interval, the output contains the "
    "reason and a remedy. If the task has its own aggregation function, see the guide *Intervals for your own metric*.",
)
IDENTICAL_RUNS = MessageType.note(
    "UQ254",
    "Both sides of the comparison have identical scores on all {n_questions:count question}, {explanation}.",
    "Two different systems rarely have the same score on every question, so the two sides of the comparison may be "
    "copies of one run.",
    "Check that the two paths contain runs of different systems.",
)
MARGIN_EXCEEDS_RANGE = MessageType.error(
    "UQ255",
    "The {kind} {margin:g} for metric {metric!r} of task {task!r} exceeds every possible difference, because the "
    "scores lie in [{low:g}, {high:g}]. Did you mean {suggestion:g}?",
    "A margin or a required improvement has the same unit as the score. For scores from 0 to 1, a margin of 1 would "
    "make all systems equivalent, and no system could improve by more than 1.",
    "Specify the margin or the improvement in the unit of the score, such as 0.01 for one percentage point of "
    "accuracy. If the scores have another range, declare the range with `--range METRIC=LO,HI`.",
)
ONE_SYSTEM_REQUIRED = MessageType.error(
    "UQ256",
    "Each side of a comparison must be a single system, but side {side} contains these systems: {systems}. Pass the "
    "runs of one system, or select a system with --model.",
    "A comparison has two sides, A and B, and each side contains the runs of one system.",
    "Pass the runs of one system for each side, or select one system with `--model`.",
)
UNKNOWN_MARGIN_METRIC = MessageType.error(
    "UQ257",
    "A margin is set for metric {metric!r}, which is not compared.{known:nearest {metric}|metrics}",
    "The option `--margin METRIC=D` sets the margin of one metric, but the logs do not contain the metric that the "
    "option names.",
    "Use one of the metrics that the message lists.",
)
TOO_FEW_QUESTIONS_COMPARED = MessageType.refusal(
    "UQ258",
    "A comparison requires at least 2 questions on each side, but one side has only {n_questions:count question}.",
    "The variation between questions cannot be estimated from one question.",
    "Run both systems on more questions, if possible on the same questions.",
)
BOUND_OUTSIDE_RANGE = MessageType.error(
    "UQ259",
    "The bound {bound:g} for metric {metric!r} of task {task!r} lies outside the range of its scores.{suggestion} The "
    "scores lie in [{low:g}, {high:g}].",
    "A bound of `--at-least` or `--at-most` has the same unit as the score. A bound outside the range of the scores "
    "is met by every score or by no score, so it probably has the wrong unit.",
    "Specify the bound in the unit of the score, such as 0.6 for an accuracy of 60 %. If the scores have another "
    "range, declare the range with `--range METRIC=LO,HI`.",
)
REQUIREMENT_NOT_SELECTED = MessageType.error(
    "UQ260",
    "{option} names task {task!r}, but the selection of tasks (--task) contains only {selected:join}. Select "
    "task {task!r} too, or remove its requirement.",
    "`harness-uq gate` checks only the tasks that `--task` selects. A bound, margin or improvement for a task that is "
    "not selected is an error.",
    "Select the task with `--task NAME`, or remove the bound, margin or improvement for the task from the command "
    "line or the settings file.",
)
MIXED_SCALES = MessageType.warning(
    "UQ261",
    "The {kind} {size:g} applies to metrics of different scales, such as {scales:join}. Set the {kind} of one metric "
    "with `{option} {metric}=D`.",
    "A margin or a required improvement has the same unit as the score. With a margin of 0.02, an accuracy from 0 to "
    "1 may drop by 2 % of its range, but a score from 0 to 100 only by 0.02 % of its range.",
    "Set a separate value for a metric or a task, such as `--margin 0.02 --margin rating=2`.",
)
HISTORY_RUNS_USED = MessageType.note(
    "UQ262",
    "The lists of changed and flaky questions use {n_runs:count run} of the history{omitted}.",
    "Further runs of the baseline's system show how often answers vary although the system did not change. The runs "
    "of the history do not affect the decision of the gate. A run of the history is omitted if `harness-uq history` "
    "finds a change of the score between this run and the baseline.",
)
NO_HISTORY_RUNS = MessageType.error(
    "UQ263",
    "The history contains no run of the baseline {system!r} besides the runs that the gate compares. The history "
    "contains runs of {systems:join}.",
    "With the option `--history`, `harness-uq gate` reads further runs of the baseline's system.",
    "If the baseline's system has another name in the history, assign the same name to both, such as `--baseline "
    "main=RUN --history main=STORE`.",
)
OTHER_ORDER_ON_OWN_QUESTIONS = MessageType.note(
    "UQ264",
    "On the common questions, the order of the systems {systems:quote} is not the order of the scores that `estimate` "
    "reports, which use all questions that each system answered.",
    "A ranking uses the questions that all systems answered, so that all scores refer to the same questions. The other "
    "questions of a system may be easier or harder.",
    "Do not compare scores of different questions. Run the systems on the questions that they have not answered.",
)
RANKED_WITH_OWN_QUESTIONS = MessageType.note(
    "UQ265",
    "P(best) and the group letters also use {n_own_a:count question} that only {system_a!r} answered and "
    "{n_own_b:count question} that only {system_b!r} answered. The scores refer to the {n_shared:count shared "
    "question} only.",
    "Two systems are ranked by their difference, which `compare` computes from shared questions and from questions "
    "that only one system answered if this makes the difference more precise.",
    "If the questions of the two systems differ in kind, run both systems on the same questions.",
)

# ---------------------------------------------------------------- rare losses that a sample lacks

_MAY_MISS = (
    "A sample of {n_units:count {unit}} may miss rare {quantity}s of {end:.4g}, and the mean would then be {direction} "
    "by {shift:.2g}"
)
_WHEN_MISSED = (
    "If their share is {share:percent.2}, half of all samples of this size contain none of them; no {quantity} here is "
    "more than {largest:.2g} from the mean in that direction."
)
POSSIBLE_RARE_LOSSES = MessageType.note(
    "UQ266",
    f"{_MAY_MISS} (half-width of the interval: {{half_width:.2g}}). {_WHEN_MISSED}",
    "The interval follows the observed scores if none of them is more than half of the way from the mean to an end of "
    "the range. It does not allow for rare scores at that end. Half of all samples of n questions contain none of "
    "them if their share is 1 - 0.5^(1/n), about 0.69/n.",
    "If such scores are possible, use `--method robust`, whose interval allows for them, or add questions.",
)
RARE_LOSSES = MessageType.warning(
    "UQ267",
    f"{_MAY_MISS}, more than the half-width of the interval ({{half_width:.2g}}). {_WHEN_MISSED}",
    POSSIBLE_RARE_LOSSES.meaning,
    POSSIBLE_RARE_LOSSES.action,
    is_prominent=True,
)

# ---------------------------------------------------------------- ranking

RANK_LONG_TAIL = MessageType.warning(
    "UQ271",
    "The range of the scores is unknown and some scores are extreme, so the rank sets may be too narrow: in "
    "simulations, the coverage of 95 % sets was about 92 %. If the metric has a range, declare it with --range "
    "{metric}=LO,HI.",
    "A rank set contains the ranks of a system that are compatible with the data. The computation of rank sets "
    "assumes that mean scores are approximately normally distributed, which is not the case with few questions and "
    "extreme scores.",
    "Declare the range of the metric with `--range METRIC=LO,HI`, or add questions.",
)
RANK_CLUSTERS = MessageType.note(
    "UQ272",
    "The questions are grouped by {key} into {n_clusters:count cluster}.",
    "Questions of one cluster share material, so the answers to these questions are not independent.",
    "If another field identifies the clusters, name the field with `--cluster TASK=FIELD`.",
)
UNTESTED_PAIRS = MessageType.note(
    "UQ274",
    "No paired test was possible for {n_untested} of {n_pairs:count pair of systems|pairs of systems}, because the "
    "difference between the systems is the same on every question.",
    "A paired t test requires differences that vary between questions.",
)
SEPARATE_POSTERIORS = MessageType.note(
    "UQ275",
    "Each system has its own posterior distribution, because trial-to-trial noise is independent between systems. "
    "With --scope benchmark, trial-to-trial noise is the only source of uncertainty.",
    "With `--scope benchmark`, differences between questions are not a source of uncertainty, so matching the "
    "questions of the systems has no effect.",
)
IDENTICAL_SYSTEMS = MessageType.warning(
    "UQ276",
    "The systems {systems:quote} have the same score on each of the {n_questions:count question}.",
    "Two different systems rarely have the same score on every question, so the logs may be copies of one run.",
    "Check that the paths contain runs of different systems.",
)
RANKED_WITH_LABELS = MessageType.note(
    "UQ277",
    "The ranked scores estimate the scores that people would assign. The estimates combine the grader's scores with "
    "human labels of the answers of {n_systems:count system} (at least {n_labels} labels each).",
    "The score of each system is corrected with human labels of its own answers, because the grader's errors differ "
    "between systems.",
)
LABELS_OF_SEVERAL_RATERS = MessageType.note(
    "UQ278",
    "{n_answers:count answer} of {system} {n_answers:plural has|have} labels from several of the {n_raters:count "
    "rater}, and the mean of these labels is used. Two labels of the same answer agree in {agreement:percent} of the "
    "cases{variance}.",
    "The interval accounts for the disagreement between raters about single answers. The interval does not account "
    "for errors that all raters share.",
    "If raters disagree often, make the labeling criteria clearer, or let more people label each answer.",
)
OVERALL_WITHOUT_BOUNDS = MessageType.refusal(
    "UQ279",
    "There is no overall result, because the policy 'bounds' for missing scores applies to single tasks only.",
    "With `--missing bounds`, each task has a range of possible scores, and harness_uq cannot combine these ranges "
    "into one overall score.",
    "Run the command with `--missing drop` and with `--missing zero` to see how much the overall result depends on "
    "missing scores.",
)
TOO_FEW_SYSTEMS = MessageType.refusal(
    "UQ280",
    "A ranking requires at least two systems with {what}.",
    "A ranking compares at least two systems that have scores for the same task and metric.",
    "Add the logs of another system.",
)
CONSTANT_DIFFERENCE = MessageType.refusal(
    "UQ281",
    "The systems {system_a!r} and {system_b!r} differ by the same amount on every question, so the uncertainty of "
    "the difference cannot be estimated.",
    "If the difference between two systems does not vary between questions, the data do not show how uncertain the "
    "difference is.",
    "Declare the range of the metric with `--range METRIC=LO,HI`.",
)
RANKING_UNAVAILABLE = MessageType.refusal(
    "UQ282",
    "No ranking is possible for {reasons:sentence}",
    "For each task and metric, the message states why the systems cannot be ranked.",
    "Add questions or systems, depending on the reasons that the message states.",
)
SINGLE_SYSTEM = MessageType.refusal(
    "UQ283",
    "All logs belong to one system, {system!r}, so there is no second system to compare it with.",
    "A comparison or ranking requires at least two systems.",
    "Add the logs of another system. If the logs belong to different systems, name each system, as in `harness-uq "
    "rank first=RUN second=RUN`.",
)
LABELS_DRAWN_SEPARATELY = MessageType.note(
    "UQ284",
    "Some answers of A and B to the same question had different probabilities of being labeled, so each score is "
    "corrected with labels of the system's own answers ({n_a} labels for A, {n_b} for B).",
    "If the answers of both systems to a question are always labeled together, harness_uq uses the difference between "
    "the two labels of each question.",
    "Draw the questions to label once, and label the answers of both systems to each of these questions.",
)

TYPES = message_types_in(globals())
