"""Messages about alignment, comparison, ranking and gating: UQ200 to UQ289."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- alignment: warnings


QUESTION_CONTENT_DIFFERS = MessageType(
    "UQ201",
    "question-content-differs",
    "warning",
    "{n_different} of {n_common:count question} {n_different:plural has|have} the same identifier but different "
    "content in the runs, perhaps because answer choices were shuffled. The questions are still matched by identifier.",
    "If the identifiers refer to different questions, the comparison is not paired and its interval is wrong.",
    "Check that both runs used the same version of the data set.",
)
IDENTIFIERS_MOVED = MessageType(
    "UQ202",
    "identifiers-moved",
    "warning",
    "{n_identifiers:count identifier refers|identifiers refer} to different questions in different runs. The "
    "questions are therefore matched by content.",
    "The data set was reordered or changed between the runs.",
    "Check that both runs used the same version of the data set.",
)
MATCHED_BY_IDENTIFIER_ONLY = MessageType(
    "UQ203",
    "matched-by-identifier-only",
    "warning",
    "The questions of {harnesses:join} are matched by identifier alone. Check that these harnesses number the "
    "questions in the same way.",
    "Each harness hashes questions in its own way, so the content cannot be compared.",
    "Compare a few questions of both logs.",
)
PROMPTS_DIFFER = MessageType(
    "UQ204",
    "prompts-differ",
    "warning",
    "The prompts of {n_different} of {n_questions:count question} differ between the runs{settings}, which may "
    "change the scores.",
    "A difference in score can come from the prompt (examples, chat template, system prompt) instead of the model.",
    "Run both systems with the same prompt.",
)
PARTIAL_SAMPLES = MessageType(
    "UQ205",
    "partial-samples",
    "warning",
    "The log of system {system!r} contains samples of only {n_logged} of {n_questions:count question}, and only "
    "these questions are used{total}.",
    "The option `--use-samples` was given. The logged part may differ from the whole.",
    "Log all samples, or omit `--use-samples` to use the totals.",
)
TOTALS_USED = MessageType(
    "UQ206",
    "totals-used",
    "warning",
    "The log of system {system!r} contains samples of only {n_samples:,} of {n_questions:count question}, so the "
    "totals of all questions are used.",
    "A few samples can differ from the whole, so they never decide against totals. Samples are used if at least 95 % "
    "of them are present and their mean is within half a standard error of the total.",
    "Log all samples, or use those that are present with `--use-samples`.",
)
VERDICT_DEPENDS_ON_MISSING = MessageType(
    "UQ207",
    "verdict-depends-on-missing",
    "warning",
    "The verdict depends on the {n_missing:count trial} without a score. It is {dropped!r} without "
    "them, {worst!r} if they count as the worst possible score, and {open!r} if their scores may be anything.",
    "Trials that failed are left out by default. If they would have been scored differently from the others, the "
    "verdict may be wrong.",
    "Choose a policy with `--missing`, and report it with the verdict.",
)
GATE_DEPENDS_ON_MISSING = MessageType(
    "UQ208",
    "gate-depends-on-missing",
    "warning",
    "The decision depends on the {n_missing:count trial} without a score. It is {dropped!r} without "
    "them, {worst!r} if they count as the worst possible score, and {open!r} if their scores may be anything.",
    "Trials that failed are left out by default. A new system that fails more often on hard questions then looks "
    "better than it is.",
    "Choose a policy with `--missing`; `zero` is the strictest for the new system.",
)
RANKS_DEPEND_ON_MISSING = MessageType(
    "UQ209",
    "ranks-depend-on-missing",
    "warning",
    "The {n_missing:count trial} without a score {n_missing:plural decides|decide} which systems may be the best: "
    "{dropped:quote} without them, {worst:quote} if they have the worst possible score, {open:quote} with any score.",
    "Trials that failed are left out by default. A system that fails more often on hard questions then ranks higher "
    "than it should.",
    "Choose a policy with `--missing`, and report it with the ranking.",
)

# ---------------------------------------------------------------- alignment: notes

UNMATCHED_QUESTIONS = MessageType(
    "UQ210",
    "unmatched-questions",
    "note",
    "The {n_systems} systems are compared on the {n_common:count question} that all of them answered. Up to "
    "{n_unmatched:count other question} per system {n_unmatched:plural is|are} left out.",
    "Only questions that all systems answered are compared.",
    "Run the missing questions if many are left out.",
)
SYSTEM_WITH_FEW_SHARED_QUESTIONS = MessageType(
    "UQ211",
    "system-with-few-shared-questions",
    "note",
    "System {system!r} is left out because it answered only {n_shared} of the {n_core:count question} that most "
    "systems answered.",
    "Including it would reduce the comparison of the other systems to the questions that it answered.",
    "Run the system on the other questions.",
)
SYSTEM_WITHOUT_QUESTION_SCORES = MessageType(
    "UQ212",
    "system-without-question-scores",
    "note",
    "System {system!r} is left out because its log contains no scores of individual questions.",
    "Systems are compared question by question.",
    "Log the samples of this system.",
)
SYSTEM_WITH_CONSTANT_SCORES = MessageType(
    "UQ213",
    "system-with-constant-scores",
    "note",
    "System {system!r} is left out because all of its scores equal {value:g} and the range of the scores is unknown. "
    "Declare the range with --range {metric}=LO,HI.",
    "Without variation and without a range, the uncertainty of the score cannot be estimated.",
    "Declare the range of the metric.",
)
SYSTEM_NOT_ESTIMABLE = MessageType(
    "UQ214",
    "system-not-estimable",
    "note",
    "System {system!r} is left out because its score has no interval (see {reason_code}).",
    "Only systems with an interval are ranked.",
    "See the reason with `harness-uq estimate`.",
)
SEVERAL_RUNS = MessageType(
    "UQ215",
    "several-runs",
    "note",
    "System {system!r} has {n_runs:count run}, and the newest {kind} is used: {path}{time}.",
    "One run represents a system: the newest finished run, without a limit if there is one.",
    "Pass only the run you want to use.",
)
RUN_VARIATION_IGNORED = MessageType(
    "UQ216",
    "run-variation-ignored",
    "note",
    "The {n_runs} runs of system {system!r} differ ({evidence}), and this interval ignores the variation between "
    "runs. Use `harness-uq effects` to measure the variation.",
    "Seeds, prompts and other settings change scores. An interval of one run does not include that variation.",
    "Run `harness-uq effects` on all runs.",
)
RUNS_MERGED = MessageType(
    "UQ217",
    "runs-merged",
    "note",
    "These {n_runs:count log|logs} cover different questions of the same task and are combined into a single run: "
    "{paths:join}.",
    "Runs of one system that share no question are parts of one run.",
    "Pass the runs separately if they are not.",
)
FAILED_FOR_ONE_SYSTEM = MessageType(
    "UQ218",
    "failed-for-one-system",
    "note",
    "{n_questions:count question} {n_questions:plural has|have} a score for only one of the two systems and "
    "{n_questions:plural is|are} left out for both. {n_a} lack a score of {system_a!r}, {n_b} of {system_b!r}.",
    "A question that one system failed to complete may be a hard question, so leaving it out may favor that system.",
    "Compare with `--missing zero` or `--missing bounds`, too.",
)
IDENTIFIED_DIFFERENCE = MessageType(
    "UQ219",
    "identified-difference",
    "note",
    "Depending on the scores of the missing trials, the difference on these questions lies between {low:.4f} and "
    "{high:.4f}. The interval also includes the uncertainty of these two limits.",
    "With the policy `bounds` the data determine the difference only up to a range. The interval contains the "
    "difference with its nominal probability wherever it lies in the range (Imbens and Manski 2004).",
    "Find out the missing scores if the range is wider than you can accept.",
)

# ---------------------------------------------------------------- comparison

INDEPENDENT_COMPARISON = MessageType(
    "UQ220",
    "independent-comparison",
    "note",
    "The questions could not be matched, so the scores are compared as independent samples, which is less "
    "precise. The reason is: {reason:sentence}",
    "Comparing the same questions removes the variation between questions from the difference.",
    "Run both systems on the same questions, and log the samples.",
)
POOLED_TASKS = MessageType(
    "UQ221",
    "pooled-tasks",
    "note",
    "The overall difference pools {n_tasks:count task} and gives every question the same weight.",
    "The overall difference is the mean over all matched questions.",
    "Nothing.",
)
POOLED_TASKS_INCOMPLETE = MessageType(
    "UQ222",
    "pooled-tasks-incomplete",
    "note",
    "The overall difference pools {n_tasks:count task} and gives every question the same weight. {n_left_out:count "
    "other task} without matched questions {n_left_out:plural is|are} left out.",
    "The overall difference is the mean over all matched questions.",
    "Log the samples of all tasks.",
)
POOLED_GROUP = MessageType(
    "UQ223",
    "pooled-group",
    "note",
    "The overall difference combines {n_tasks:count task} with the weights that the harness uses.",
    "The weights reproduce the value that the harness reports for the group.",
    "Nothing.",
)
POOLED_UNITS = MessageType(
    "UQ224",
    "pooled-units",
    "note",
    "The interval treats each cluster (defined by {units:join}) and each question outside the clusters as an "
    "independent unit.",
    "Questions that share material, and items that recur across tasks, are not independent.",
    "Nothing.",
)
DIFFERENT_TASKS_COMPARED = MessageType(
    "UQ225",
    "different-tasks-compared",
    "note",
    "The systems have no task and metric in common, so {key_a} of system {system_a!r} is compared with {key_b} of "
    "system {system_b!r}.",
    "The runs have no task and metric in common, but each has only one, so these are compared.",
    "Check that both measure the same ability.",
)
UNSHARED_SCORES = MessageType(
    "UQ226",
    "unshared-scores",
    "note",
    "The {n_keys:plural score|scores} for {keys} {n_keys:plural is|are} left out because only system {system!r} has "
    "{n_keys:plural this score|these scores}.",
    "A comparison requires the same task, metric and filter on both sides.",
    "Run the other system on the same tasks.",
)
STUDENT_DIFFERENCE = MessageType(
    "UQ227",
    "student-difference",
    "note",
    "The range of the scores is unknown, so the interval for the difference is based on Student's t distribution.",
    "The default posterior requires the lowest and highest possible score.",
    "Declare the range with `--range METRIC=LO,HI`.",
)
LATENT_NORMAL_REPLACED = MessageType(
    "UQ228",
    "latent-normal-replaced",
    "note",
    "Method 'latent-normal' requires independent questions with one right-or-wrong answer each. Method 'dirichlet' "
    "is used instead.",
    "The latent normal model describes a 2 × 2 table of single answers.",
    "Nothing, or use `--method dirichlet` explicitly.",
)
MONTE_CARLO_ERROR = MessageType(
    "UQ229",
    "monte-carlo-error",
    "note",
    "The posterior of the difference is computed from {n_draws:,} random draws. The Monte Carlo error of its mean"
    " is {mc_error:.2g}.",
    "The posterior has no closed form and is sampled with a fixed seed.",
    "Nothing, unless the error is of the order of the difference.",
)
OWN_QUESTIONS_USED = MessageType(
    "UQ230",
    "own-questions-used",
    "note",
    "Besides {n_shared:count shared question}, the comparison uses {n_own_a:count question} that only A answered and "
    "{n_own_b:count question} that only B answered.",
    "The scores of A and B are the best linear combinations of their means on shared and own questions. This assumes "
    "that the own questions are from the same population.",
    "Run both systems on the same questions if they differ in kind.",
)
GRADER_DIFFERENCE = MessageType(
    "UQ231",
    "grader-difference",
    "note",
    "The difference is {raw:+.4f} according to the grader and {labeled:+.4f} according to the {n_labels:count "
    "question} with human labels for both systems. The estimate from both is {corrected:+.4f}.",
    "The labels correct the difference of the grader's scores on all questions (prediction-powered inference). The "
    "values of A and B are corrected in the same way.",
    "Nothing.",
)
LABELS_OF_DIFFERENT_QUESTIONS = MessageType(
    "UQ232",
    "labels-of-different-questions",
    "note",
    "Hardly any question has human labels for both systems ({n_a} for A, {n_b} for B), so the corrected scores are "
    "compared as independent samples.",
    "Labels for both systems' answers to the same questions give a more precise difference.",
    "Label the answers of both systems to the same questions.",
)
GRADER_ERRORS = MessageType(
    "UQ233",
    "grader-errors",
    "note",
    "According to the human labels, the grader's J (sensitivity + specificity − 1) is {j_a:.2f} for {system_a} and "
    "{j_b:.2f} for {system_b}. The difference of J is {shift:+.2f} [{low:+.2f}, {high:+.2f}].",
    "A grader that makes different errors for the two systems shifts the difference of their scores. Labels for both "
    "systems correct this.",
    "Nothing.",
)
GRADER_SHIFTS_DIFFERENCE = MessageType(
    "UQ234",
    "grader-shifts-difference",
    "warning",
    "According to the human labels, the grader overrates {overrated!r} by {value:.4f} [{low:.4f}, {high:.4f}] more "
    "than {other!r}.",
    "The interval of the difference between the grader's mean errors on the two systems does not contain 0. The grader "
    "may be more lenient with one of them, such as a model of its own family, or too inaccurate to show a difference.",
    "Report scores that are corrected with labels of each system.",
)
GRADER_ERRORS_ASSUMED_EQUAL = MessageType(
    "UQ235",
    "grader-errors-assumed-equal",
    "warning",
    "Only answers of {labeled} have human labels. The comparison assumes that the grader's sensitivity, specificity "
    "and their sum differ by at most {shift:g} for {unlabeled}; if they are equal, the interval is [{low:+.4f}, "
    "{high:+.4f}].",
    "The interval contains the intervals for all such differences of the grader's errors.",
    "Label answers of both systems, or justify another limit with `--grader-shift`.",
)
GRADER_UNINFORMATIVE = MessageType(
    "UQ236",
    "grader-uninformative",
    "refusal",
    "Only answers of {labeled} have human labels, and the grader's J (sensitivity + specificity − 1) on them, {j:.2f} "
    "[{low:.2f}, {high:.2f}], is not clearly above the assumed shift of {shift:g}.",
    "For the other system J could be 0. Its grades would then be unrelated to the truth.",
    "Label answers of both systems.",
)
LABELS_OF_ONE_SYSTEM = MessageType(
    "UQ237",
    "labels-of-one-system",
    "refusal",
    "Only answers of {labeled} have human labels, which suffices only if all grades and the labels of each person are "
    "0 or 1.",
    "For other scores no limit on the grader's errors for the second system is defined.",
    "Label answers of both systems.",
)
LABELS_WITHOUT_SYSTEM = MessageType(
    "UQ238",
    "labels-without-system",
    "error",
    "{n_labels:count human label does|human labels do} not say which system's answer was graded. Add a column 'system' "
    "with the names {systems:join} to the labels.",
    "A label grades one answer, and the answers of two systems to the same question differ.",
    "Add the names of the systems as `harness-uq compare` prints them.",
)
ONE_BASELINE_RUN = MessageType(
    "UQ239",
    "one-baseline-run",
    "warning",
    "The decision ignores the variation between runs, because it uses one run of the baseline. Pass several runs, "
    "such as `--baseline RUN1 RUN2 RUN3`.",
    "If the scores of identical runs differ, for example because of sampling or another back end, equal systems fail "
    "more often than the stated error rate. The intervals of one run contain the noise of single answers, but no "
    "differences between whole runs.",
    "Repeat the baseline two to four times and pass all runs. If your runs are deterministic, ignore this warning with "
    "`--ignore one-baseline-run`.",
)

# ---------------------------------------------------------------- comparison: refusals and errors

NO_COMMON_QUESTIONS = MessageType(
    "UQ240",
    "no-common-questions",
    "refusal",
    "The systems {systems:quote} have no questions in common.",
    "Questions are matched by content, or by identifier if the content is not logged.",
    "Run the systems on the same questions.",
)
FEW_COMMON_QUESTIONS = MessageType(
    "UQ241",
    "few-common-questions",
    "refusal",
    "Only {n_common} of {n_questions:count question} could be matched between the runs.",
    "If fewer than half of the questions match, the matching is probably wrong.",
    "Check that the runs used the same version of the data set.",
)
IDENTIFIERS_DIFFER = MessageType(
    "UQ242",
    "identifiers-differ",
    "refusal",
    "The questions cannot be matched, because {harnesses:join} identify questions in different ways.",
    "Matching by identifier could pair each question with another one.",
    "Use logs of one harness, or a table with common identifiers.",
)
DUPLICATE_IDENTIFIER = MessageType(
    "UQ243",
    "duplicate-identifier",
    "refusal",
    "In the log of system {system!r}, {n_questions:count question} have the same identifier {identifier!r} and "
    "cannot be matched. Give each question its own identifier.",
    "Questions are matched by identifier if their content is not logged.",
    "Give each question a unique identifier in the data set.",
)
QUESTION_SCORES_MISSING = MessageType(
    "UQ244",
    "question-scores-missing",
    "refusal",
    "The log of system {system!r} contains no scores of individual questions.",
    "A paired comparison requires a score for each question in both logs.",
    "Log the samples.",
)
GROUP_NOT_PAIRED = MessageType(
    "UQ245",
    "group-not-paired",
    "refusal",
    "The group cannot be compared question by question, because the questions of {tasks:quote} cannot be matched.",
    "A group is compared only if all of its tasks are.",
    "See the reasons of the tasks named.",
)
NO_BENCHMARK_SCOPE_POOLING = MessageType(
    "UQ246",
    "no-benchmark-scope-pooling",
    "refusal",
    "Scores of several tasks cannot be pooled with --scope benchmark. Use --scope population, or compare the tasks "
    "one by one.",
    "With this scope only trial-to-trial noise counts, and it is estimated for each task separately.",
    "Use `--scope population`, or compare the tasks one by one.",
)
ONE_HARNESS_REQUIRED = MessageType(
    "UQ247",
    "one-harness-required",
    "refusal",
    "Metrics that are not means can only be compared between logs of the same harness.",
    "Harnesses log different intermediate data for such metrics.",
    "Compare logs of one harness.",
)
DIFFERENT_DATA = MessageType(
    "UQ248",
    "different-data",
    "refusal",
    "The logs contain different data for metric {metric!r}: {difference:sentence}",
    "A paired comparison requires the same statistic of the same questions in both logs.",
    "Run both systems with the same version of the task.",
)
NO_PAIRED_FORM = MessageType(
    "UQ249",
    "no-paired-form",
    "refusal",
    "A paired comparison of metric {function!r} is not available{condition}.",
    "The joint distribution of two systems is known for some metrics only.",
    "Compare another metric of the same run.",
)
NO_COMMON_SCORES = MessageType(
    "UQ250",
    "no-common-scores",
    "refusal",
    "The systems have no task and metric in common. System {system_a!r} has scores for {keys_a}, and system "
    "{system_b!r} has scores for {keys_b}.",
    "A comparison requires the same task, metric and filter on both sides.",
    "Run both systems on the same tasks.",
)
ZERO_WIDTH_DIFFERENCE = MessageType(
    "UQ251",
    "zero-width-difference",
    "refusal",
    "The data are insufficient to estimate the uncertainty of the difference: the interval would have zero width. "
    "Add questions or trials.",
    "An interval of zero width would claim certainty that the data do not support.",
    "Add questions or trials.",
)
TOO_FEW_UNITS = MessageType(
    "UQ252",
    "too-few-units",
    "refusal",
    "System {system!r} has only {n_units:count independent question or cluster|independent questions or clusters}, "
    "which {n_units:plural is|are} too few to estimate the uncertainty of a score with an unknown range.",
    "Student's t with fewer than 3 degrees of freedom is not informative.",
    "Add questions or clusters, or declare the range with `--range METRIC=LO,HI`.",
)
SYSTEM_WITHOUT_INTERVAL = MessageType(
    "UQ253",
    "system-without-interval",
    "refusal",
    "The score of system {system!r} has no interval for the following reason: {reason:sentence}",
    "The score of this system has no interval, so it cannot be compared.",
    "See the reason with `harness-uq estimate`.",
)
IDENTICAL_RUNS = MessageType(
    "UQ254",
    "identical-runs",
    "note",
    "Both sides of the comparison have identical scores on all {n_questions:count question}, {explanation}.",
    "Two different systems rarely agree on every question. The two sides may be copies of one run.",
    "Check that the paths refer to different systems.",
)
MARGIN_EXCEEDS_RANGE = MessageType(
    "UQ255",
    "margin-exceeds-range",
    "error",
    "The margin {margin:g} for metric {metric!r} of task {task!r} exceeds every possible difference, because the "
    "scores lie in [{low:g}, {high:g}]. Did you mean {suggestion:g}?",
    "Margins have the units of the score. A margin of 1 on scores from 0 to 1 makes everything equivalent.",
    "Give the margin in units of the score, such as 0.01 for one point of accuracy.",
)
ONE_SYSTEM_REQUIRED = MessageType(
    "UQ256",
    "one-system-required",
    "error",
    "Each side of a comparison must be a single system, but {side} contains these systems: {systems}. Pass the runs "
    "of one system, or select a system with --model.",
    "Each side of a comparison is one system.",
    "Name the runs of one system, or select one with `--model`.",
)
UNKNOWN_MARGIN_METRIC = MessageType(
    "UQ257",
    "unknown-margin-metric",
    "error",
    "A margin is set for metric {metric!r}, which is not compared.{known:nearest {metric}} Compared metrics: "
    "{known:join}.",
    "A margin applies to one metric.",
    "Use one of the metrics listed.",
)
TOO_FEW_QUESTIONS_COMPARED = MessageType(
    "UQ258",
    "too-few-questions-compared",
    "refusal",
    "A comparison requires at least 2 questions on each side, but one side has only {n_questions}.",
    "The variation between questions cannot be estimated from one question.",
    "Run both systems on more questions, if possible on the same ones.",
)

# ---------------------------------------------------------------- ranking

MIXED_PRIORS = MessageType(
    "UQ270",
    "mixed-priors",
    "note",
    "Some systems have graded scores and others have right-or-wrong scores, so the prior for right-or-wrong "
    "scores is used for all of them. Graded systems are therefore separated slightly less often than in a "
    "comparison of two systems.",
    "A joint posterior of all systems requires one prior.",
    "Use `harness-uq compare` for two systems with graded scores.",
)
RANK_LONG_TAIL = MessageType(
    "UQ271",
    "rank-long-tail",
    "warning",
    "The range of the scores is unknown and some scores are extreme, so the rank sets may be too narrow: in "
    "simulations, the coverage of 95 % sets was about 92 %. If the metric has a range, declare it with --range "
    "{metric}=LO,HI.",
    "Rank sets assume approximately normal mean scores.",
    "Declare the range, or add questions.",
)
RANK_CLUSTERS = MessageType(
    "UQ272",
    "rank-clusters",
    "note",
    "The questions are grouped by {key} into {n_clusters:count cluster}.",
    "Questions of a cluster share material and are not independent.",
    "Use `--cluster` if the clusters are wrong.",
)
RANK_STUDENT = MessageType(
    "UQ273",
    "rank-student",
    "note",
    "The range of the scores is unknown, so the ranking is based on a joint Student's t distribution.",
    "The default posterior requires the lowest and highest possible score.",
    "Declare the range with `--range METRIC=LO,HI`.",
)
UNTESTED_PAIRS = MessageType(
    "UQ274",
    "untested-pairs",
    "note",
    "No paired test was possible for {n_untested} of {n_pairs:count pair of systems|pairs of systems}, because the "
    "difference between the systems is the same on every question.",
    "A t test requires differences that vary between questions.",
    "Nothing.",
)
SEPARATE_POSTERIORS = MessageType(
    "UQ275",
    "separate-posteriors",
    "note",
    "Each system has its own posterior, because trial-to-trial noise, the only source of uncertainty with --scope"
    " benchmark, is independent between systems.",
    "Differences between questions do not count with this scope, so that matching questions has no effect.",
    "Nothing.",
)
IDENTICAL_SYSTEMS = MessageType(
    "UQ276",
    "identical-systems",
    "warning",
    "The systems {systems:quote} have the same score on each of the {n_questions:count question}.",
    "Two different systems rarely agree on every question. The logs may be copies of one run.",
    "Check that the paths refer to different systems.",
)
RANKED_WITH_LABELS = MessageType(
    "UQ277",
    "ranked-with-labels",
    "note",
    "The scores are those that people would give. They combine the grader's scores with human labels of the answers of "
    "{n_systems:count system} (at least {n_labels} each).",
    "Each system is corrected with labels of its own answers, because the errors of a grader differ between systems.",
    "Nothing.",
)
LABELS_OF_SEVERAL_RATERS = MessageType(
    "UQ278",
    "labels-of-several-raters",
    "note",
    "{n_answers:count answer} of {system} {n_answers:plural was|were} labeled by several of {n_raters:count rater}, "
    "with an agreement of {agreement:.2f}{variance}. The mean of the labels of an answer counts.",
    "The interval contains the disagreement of raters about single answers. It does not contain an error that all "
    "raters have in common.",
    "If raters disagree often, discuss the criteria, or let more people label each answer.",
)
OVERALL_WITHOUT_BOUNDS = MessageType(
    "UQ279",
    "overall-without-bounds",
    "refusal",
    "There is no overall result, because the policy `bounds` for missing scores applies to single tasks only.",
    "The ranges of several tasks cannot be combined like independent errors.",
    "Use `--missing drop` and `--missing zero` to see how much the overall result depends on missing scores.",
)
TOO_FEW_SYSTEMS = MessageType(
    "UQ280",
    "too-few-systems",
    "refusal",
    "A ranking requires at least two systems with {what}.",
    "A ranking requires at least two systems with scores on the same task and metric.",
    "Add the logs of another system.",
)
CONSTANT_DIFFERENCE = MessageType(
    "UQ281",
    "constant-difference",
    "refusal",
    "The systems {system_a!r} and {system_b!r} differ by the same amount on every question, so the uncertainty of "
    "the difference cannot be estimated.",
    "Without variation of the difference its uncertainty cannot be estimated.",
    "Declare the range with `--range METRIC=LO,HI`.",
)
RANKING_UNAVAILABLE = MessageType(
    "UQ282",
    "ranking-unavailable",
    "refusal",
    "No ranking is possible for {reasons:sentence}",
    "Each reason names the task and metric.",
    "Add questions or systems, as the reasons suggest.",
)
SINGLE_SYSTEM = MessageType(
    "UQ283",
    "single-system",
    "refusal",
    "All logs belong to one system, {system!r}, so there is nothing to rank.",
    "A ranking requires at least two systems.",
    "Add the logs of another system, or name the systems: `harness-uq rank first=RUN second=RUN`.",
)

TYPES = message_types_in(globals())
