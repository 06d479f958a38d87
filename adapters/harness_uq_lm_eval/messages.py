"""Messages of the lm-eval adapter: LM100 to LM599."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes on what was read

SYSTEM_NAMED_AFTER_FOLDER = MessageType.note(
    "LM101",
    "{reason:sentence} The system is therefore named after the folder.",
    "lm-eval writes the name of the model to the results file (`results_*.json`). Without the results file, the name "
    "of the model is unknown.",
    "Keep the results file in the same folder as the samples files.",
)
UNLISTED_COLUMNS = MessageType.note(
    "LM102",
    "The following columns are ignored, because the samples file does not list them as metrics: {columns}.",
    "A samples file of lm-eval lists the names of the metrics for each question. Columns that are not listed as "
    "metrics are not scores, even if they contain numbers.",
)
BYPASSED_METRICS = MessageType.note(
    "LM103",
    "The following metrics are left out, because lm-eval did not compute them and logged the placeholder 999: "
    "{metrics}.",
    "The placeholder `bypass` means that lm-eval did not score the answers. For example, lm-eval replaces all metrics "
    "with `bypass` if you use the option `--predict_only`.",
    "Run the task without `--predict_only`.",
)
TRIALS_SCORED_SEPARATELY = MessageType.note(
    "LM104",
    "The log contains {n_trials:count trial} per question. The score of each trial is listed under the filter "
    "{filter!r}.",
    "lm-eval scores only the answers that a filter selects, so harness_uq scored each trial again with the scoring "
    "code of the task.",
)
TRIALS_NOT_SCORED = MessageType.note(
    "LM105",
    "The log contains {n_trials:count trial} per question, but lm-eval scored only one filtered answer per question.",
    "Without a score for each trial, the trial-to-trial noise is unknown.",
    "Look for the note `trials-not-replayed` about the same task, which states why harness_uq could not score each "
    "trial. If this note is absent, run the evaluation with `--uq-trials on`.",
)
TRIALS_NOT_REPLAYED = MessageType.note(
    "LM106",
    "The trials could not be scored individually: {reason:sentence}",
    "To score each trial, harness_uq runs the filters and the scoring code of the task again.",
    "If you allow the scoring code of the task to run once per trial, use `--uq-trials on` in a live run. Scoring "
    "each trial takes additional time and may call external services several times.",
)
SCORED_ON_PART = MessageType.note(
    "LM107",
    "Metric {label!r} has scores for {n_scored} of {n_questions:count question}.",
    "The metric applies only to some questions of the task. The estimate uses only the questions that have a score "
    "for the metric.",
)
OTHER_CONTEXT_LENGTH = MessageType.note(
    "LM108",
    "For metric {label!r}, questions of other context lengths have the score -1. These questions are left out.",
    "RULER and similar tasks report one metric for each context length. In the metric for one context length, "
    "questions with any other context length have the score -1.",
)
ANSWER_ROWS_COMBINED = MessageType.note(
    "LM109",
    "Metric {label!r} has {n_rows:count row} for {n_questions:count question}, one row per candidate answer. A "
    "question counts as correct if all of its rows are correct.",
    "For some tasks, lm-eval logs one row for each candidate answer instead of one row for each question.",
)
ROUNDED_PROBABILITIES = MessageType.note(
    "LM110",
    "Metric {label!r} is computed from probabilities that were logged with only eight digits.",
    "The logged probabilities are rounded, so the estimate and the value that lm-eval reports may differ in the "
    "eighth digit.",
)
FUNCTION_INFERRED = MessageType.note(
    "LM111",
    "lm-eval computed metric {label!r} with the aggregation function {aggregation!r}, whose code is not in the log. "
    "harness_uq uses its own function {function!r}, which gives the same value.",
    "The log does not contain the code of the aggregation function, so harness_uq searched for a known function that "
    "returns the same value.",
)
FLAGS_PER_QUESTION = MessageType.note(
    "LM112",
    "Metric {label!r} has {n_flags:count binary score} for {n_questions:count question}. The interval treats "
    "questions, not scores, as independent, because the scores of one question are correlated.",
    "If one question has several scores, such as one score per instruction in a prompt, these scores are correlated.",
)
RESAMPLED = MessageType.note(
    "LM113",
    "The interval is a percentile interval from {n_draws:count bootstrap resample} of the {unit}.",
    "The task defines its own aggregation function, which computes the metric from all scores. To compute an "
    "interval, harness_uq calls the aggregation function on many random resamples of the questions.",
)

SPARE_SAMPLES = MessageType.note(
    "LM114",
    "The file {file} is not read, because {used} contains the samples of the same task.",
    "The folder contains the samples of the task twice, for example with and without compression.",
)
UNPARSED_ANSWERS = MessageType.note(
    "LM115",
    "No filter of the task could extract an answer from {n_unparsed} of {n_questions:count response}. lm-eval usually "
    "scores such responses as wrong.",
    "If an answer does not match the pattern of a filter, the filter replaces the answer with the text `[invalid]`, "
    "and lm-eval scores this text.",
    "Check the format of the answers. To leave out answers that the filters could not extract, use `--treat "
    "unparsed=drop`.",
)
CHOSEN_IN_ROUNDS = MessageType.note(
    "LM116",
    "The {n_questions:count question} were chosen in rounds, based on scores from earlier rounds (`--uq-questions`). "
    "Only the method `active` (`--scope full --reference-runs`) gives correct values, intervals and comparisons for "
    "this run.",
    "An active evaluation is more likely to choose questions whose scores are uncertain, so the unweighted mean score "
    "is biased.",
    "Use `--scope full --reference-runs LOGS`, where LOGS are the logs of earlier systems that the run used to choose "
    "the questions.",
)
INTERVAL_OF_LIVE_RUN = MessageType.note(
    "LM117",
    "The interval was computed during the run and is read from the results file, because the score cannot be computed "
    "again from the log.",
    "During the run, harness_uq computed the interval with the aggregation function of the task. The log contains the "
    "interval, but not the code of the aggregation function that computes the score.",
)

# ---------------------------------------------------------------- warnings on what was read

BROKEN_LINES = MessageType.warning(
    "LM201",
    "{n_lines:count line} of {file} {n_lines:plural is|are} incomplete or {n_lines:plural does|do} not contain a "
    "sample (line {lines}: {reason:clause}). The other {n_kept:count question is|questions are} used.",
    "If an evaluation is stopped, the last line of the samples file can be incomplete. Questions whose samples are "
    "missing can be easier or harder than the other questions.",
    "Run the task again.",
)
SHARED_IDENTIFIERS = MessageType.warning(
    "LM202",
    "{n_rows:count row of the samples file has|rows of the samples file have} the same doc_id as an earlier, "
    "different document. {n_rows:plural This row counts as a separate question|These rows count as separate "
    "questions}.",
    "The documents of the task do not have unique identifiers.",
    "Check the identifiers in the data set of the task.",
)
REPEATED_KEYS = MessageType.warning(
    "LM203",
    "{n_rows:count row of the samples file contains|rows of the samples file contain} the same key twice (line "
    "{line}: {keys}). The last value of the key is used.",
    "If a JSON object contains a key twice, it is not clear which value is correct.",
    "Check the program that wrote the samples file.",
)
REPEATED_ROWS = MessageType.warning(
    "LM204",
    "{n_rows:count row of the samples file has|rows of the samples file have} the same question and filter as an "
    "earlier row. Only the first row is used.",
    "A samples file should contain only one row for each question and filter.",
    "Check that the samples file does not contain the samples of two runs.",
)
SAMPLES_MISSING = MessageType.warning(
    "LM205",
    "The samples file contains only {n_logged} of the {n_scored:count question} that lm-eval scored.",
    "The questions that are missing from the samples file can be easier or harder than the other questions. If the "
    "samples file contains less than 95 % of the samples, harness_uq uses the total scores of all questions.",
    "Log all samples, or use the samples in the file with `--use-samples`.",
)
SAMPLES_OF_ANOTHER_RUN = MessageType.warning(
    "LM206",
    "The hashes of the samples (task_hashes) show that the samples file and the results file belong to different "
    "runs. Use the samples file of the same run.",
    "lm-eval writes a hash of the samples to the results file. The hash in the results file differs from the hash of "
    "the samples in the samples file.",
    "Keep the files of each run in a separate folder.",
)
MORE_SAMPLES_THAN_SCORED = MessageType.warning(
    "LM207",
    "The samples file contains {n_logged:count question}, but the results file reports {n_scored}.",
    "The samples file and the results file may belong to different runs.",
    "Keep the files of each run in a separate folder.",
)
FILTERS_UNNAMED = MessageType.warning(
    "LM208",
    "The rows of the samples file do not name the filters of the task, so harness_uq numbers the filters.",
    "Old versions of lm-eval do not log the names of filters.",
    "Run the evaluation with a newer version of lm-eval.",
)
RESULTS_KEYS_REPEATED = MessageType.warning(
    "LM209",
    "The results file contains the following keys more than once: {keys}. The last value of each key is used.",
    "If a JSON object contains a key twice, it is not clear which value is correct.",
    "Check the program that wrote the results file.",
)
UNUSABLE_SCORES = MessageType.warning(
    "LM210",
    "{n_left_out} of {n_questions:count question} {n_left_out:plural has|have} {problem} for metric {label!r} and"
    " {n_left_out:plural is|are} left out.",
    "If scores of hard questions are missing more often, the mean of the remaining scores is too high.",
    "Find out why the scores are missing, and run the questions again.",
)
INFINITE_SCORES = MessageType.warning(
    "LM211",
    "For metric {label!r}, {n_infinite} of {n_questions:count question} {n_infinite:plural has|have} no finite score "
    "or log-likelihood, so the value that lm-eval computes from all questions is not finite either. {others:sentence}",
    "A mean or a perplexity with an infinite term is infinite, and a value without this term measures something else.",
    "Check the log-likelihoods that the model returned for the affected questions.",
)
VALUE_NOT_REPRODUCED = MessageType.warning(
    "LM212",
    "For metric {label!r}, the value computed from the samples is {value:.10g}, but the results file reports "
    "{reported:.10g}. The estimate uses the samples.",
    "The samples file and the results file may belong to different runs, or a file was edited.",
    "Check that the samples file and the results file belong to the same run.",
)
FEW_RESAMPLED_UNITS = MessageType.warning(
    "LM213",
    "A bootstrap interval from only {n_units:count {unit}} tends to be too narrow. Add questions.",
    "With only a few questions or clusters, a bootstrap underestimates how much scores vary in the population of "
    "questions.",
    "Add questions to the evaluation.",
)
NOT_RESAMPLED = MessageType.refusal(
    "LM214",
    "The score has no bootstrap interval. {reason:sentence}",
    "The task defines its own aggregation function, which computes the metric from all scores. To compute an "
    "interval, harness_uq calls the aggregation function on many random resamples of the questions.",
    "Change the aggregation function of the task so that it is fast, returns a number, and does not depend on the "
    "order of the questions. If the aggregation function is a mean, no bootstrap is needed.",
)
SAMPLES_UNREADABLE = MessageType.warning(
    "LM215",
    "The samples file {file} cannot be used: {reason:sentence}",
    "The samples file is damaged or has an unknown format, so only the total scores of the task are used.",
    "Decompress or replace the samples file, or run the task again.",
)

# ---------------------------------------------------------------- refusals

AGGREGATION_NOT_REPRODUCED = MessageType.refusal(
    "LM301",
    "The aggregation function of the task cannot be used for a bootstrap: {reason:sentence}",
    "A bootstrap interval is possible only if the aggregation function of the task reproduces the reported value and "
    "does not depend on the order of the questions.",
    "Change the aggregation function of the task so that it is fast, returns a number, and does not depend on the "
    "order of the questions. If the aggregation function is a mean, no bootstrap is needed.",
)
STATISTICS_UNAVAILABLE = MessageType.refusal(
    "LM302",
    "The counts that are required for metric {function!r} cannot be computed: {reason:sentence}",
    "BLEU, chrF and TER are functions of counts that the package sacrebleu computes for each question.",
    "Install a supported version of sacrebleu.",
)
QUESTIONS_AND_ROWS_DIFFER = MessageType.refusal(
    "LM303",
    "The number of logged rows differs from the number of questions, so the clusters are unknown.",
    "harness_uq can assign the rows of a samples file to clusters only if each row belongs to one question.",
    "After the run, add intervals to the log with `harness-uq rescore`.",
)

# ---------------------------------------------------------------- errors

PREDATES_VERSION_4 = MessageType.error(
    "LM401",
    "Results of lm-eval before version 0.4 are not supported.",
    "Version 0.4 of lm-eval changed the format of results files, and harness_uq does not read the older format.",
    "Run the evaluation with a newer version of lm-eval.",
)
NO_RESULTS = MessageType.error(
    "LM402",
    "The file contains no lm-eval results.",
    "A results file of lm-eval is a JSON object with the members `results` and `configs`.",
    "Check the path of the file.",
)

UNCERTAINTY_NOT_SAVED = MessageType.error(
    "LM403",
    "The results with intervals could not be saved in {path}. The folder contains the results file of lm-eval "
    "without intervals.",
    "The results file could not be written completely, for example because the disk is full.",
    "Delete files to free disk space. If the samples were logged, add the intervals with `harness-uq rescore`. "
    "Otherwise, run the evaluation again.",
)
RESULTS_NOT_SAVED = MessageType.error(
    "LM404",
    "The results could not be saved in {path}, neither with intervals nor without.",
    "The results file could not be written completely, for example because the disk is full. The output of lm-eval "
    "states why the results could not be saved.",
    "Delete files to free disk space, or choose another folder with `--output_path`. Then run the evaluation again.",
)
SAMPLES_NOT_JSON = MessageType.error(
    "LM405",
    "The file has the name of an lm-eval samples file, but does not contain JSON.",
    "The file is damaged, or another program wrote the file.",
    "Replace or remove the file.",
)
SAMPLES_FORMAT_UNKNOWN = MessageType.error(
    "LM406",
    "The file has the name of an lm-eval samples file, but files that end in {suffix} are not supported.",
    "Samples files may be compressed with gzip (`.gz`), bzip2 (`.bz2`) or Zstandard (`.zst`).",
    "Decompress the file.",
)

SAMPLES_NOT_SAVED = MessageType.error(
    "LM407",
    "The samples could not be saved completely in {path}. No truncated file of samples is left.",
    "A file of samples could not be written completely, for example because the disk is full. The output of lm-eval "
    "states why the samples could not be saved.",
    "Delete files to free disk space, or choose another folder with `--output_path`. Then run the evaluation again.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("LM", "lm-eval", message_types_in(globals())))
