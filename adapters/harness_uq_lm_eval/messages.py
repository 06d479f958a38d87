"""Messages of the lm-eval adapter: LM100 to LM599."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes on what was read

SYSTEM_NAMED_AFTER_FOLDER = MessageType(
    "LM101",
    "system-named-after-folder",
    "note",
    "{reason:sentence} The system is therefore named after the folder.",
    "The name of the model is in the results file.",
    "Keep the results file beside the samples files.",
)
UNLISTED_COLUMNS = MessageType(
    "LM102",
    "unlisted-columns",
    "note",
    "These columns are ignored because the samples file does not list them as metrics: {columns}.",
    "The samples file lists the metrics of each question.",
    "Nothing.",
)
BYPASSED_METRICS = MessageType(
    "LM103",
    "bypassed-metrics",
    "note",
    "The following metrics are left out because lm-eval did not compute them and logged the placeholder 999: "
    "{metrics}.",
    "A task with the metric `bypass` is not scored.",
    "Run the task without `--predict_only`.",
)
TRIALS_SCORED_SEPARATELY = MessageType(
    "LM104",
    "trials-scored-separately",
    "note",
    "The log contains {n_trials:count trial} per question, and filter {filter!r} lists the score of each of them.",
    "lm-eval scores only what a filter selects from the trials. The trials were scored again with the task's own code.",
    "Nothing.",
)
TRIALS_NOT_SCORED = MessageType(
    "LM105",
    "trials-not-scored",
    "note",
    "The log contains {n_trials:count trial} per question, but lm-eval scored only one filtered answer per question.",
    "Trial-to-trial noise is unknown if the trials are not scored one by one.",
    "See `trials-not-replayed` for the reason.",
)
TRIALS_NOT_REPLAYED = MessageType(
    "LM106",
    "trials-not-replayed",
    "note",
    "The single trials could not be scored for the following reason: {reason:sentence}",
    "Scoring the trials again requires the task's own code.",
    "Use `--uq_trials on` in a live run if it is safe to score each trial.",
)
SCORED_ON_PART = MessageType(
    "LM107",
    "scored-on-part",
    "note",
    "Metric {label!r} has scores for {n_scored} of {n_questions:count question}.",
    "The metric applies to part of the questions.",
    "Nothing.",
)
OTHER_CONTEXT_LENGTH = MessageType(
    "LM108",
    "other-context-length",
    "note",
    "Metric {label!r} has a score of -1 for questions of other context lengths. These questions are left out.",
    "RULER and similar tasks report one metric for each context length.",
    "Nothing.",
)
ANSWER_ROWS_COMBINED = MessageType(
    "LM109",
    "answer-rows-combined",
    "note",
    "Metric {label!r} has {n_rows:count answer row} for {n_questions:count question}. A question counts as correct "
    "if all of its rows are correct.",
    "lm-eval logs one row for each candidate answer.",
    "Nothing.",
)
ROUNDED_PROBABILITIES = MessageType(
    "LM110",
    "rounded-probabilities",
    "note",
    "Metric {label!r} is computed from probabilities that were logged with only eight digits.",
    "The value can differ from lm-eval's in the eighth digit.",
    "Nothing.",
)
FUNCTION_INFERRED = MessageType(
    "LM111",
    "function-inferred",
    "note",
    "lm-eval computed metric {label!r} with the aggregation function {aggregation!r}, whose code is not in the log. "
    "The function {function!r} gives the same value and is used instead.",
    "The log does not contain the code of the aggregation.",
    "Nothing.",
)
FLAGS_PER_QUESTION = MessageType(
    "LM112",
    "flags-per-question",
    "note",
    "Metric {label!r} has {n_flags:count right-or-wrong score} for {n_questions:count question}. The scores of a "
    "question are not independent, so the interval treats questions as the independent units.",
    "Flags of one question, such as instructions of one prompt, are not independent.",
    "Nothing.",
)
RESAMPLED = MessageType(
    "LM113",
    "resampled",
    "note",
    "The interval is a percentile interval from {n_draws:count bootstrap resample} of the {unit}.",
    "Only the task's own aggregation computes this metric, so it is called on resampled questions.",
    "Nothing.",
)

SPARE_SAMPLES = MessageType(
    "LM114",
    "spare-samples",
    "note",
    "{file} is not read, because {used} contains the samples of the same task.",
    "The folder contains the samples of the task twice, for example with and without compression.",
    "Nothing.",
)
UNPARSED_ANSWERS = MessageType(
    "LM115",
    "unparsed-answers",
    "note",
    "No filter of the task could extract an answer from {n_unparsed} of {n_questions:count response}. lm-eval usually "
    "scores such responses as wrong.",
    "A filter replaces an answer that does not match its pattern by [invalid], and the metric scores this text.",
    "Check the format of the answers. `--treat unparsed=drop` shows the score without them.",
)
CHOSEN_IN_ROUNDS = MessageType(
    "LM116",
    "chosen-in-rounds",
    "note",
    "The {n_questions:count question} were chosen in rounds because of earlier scores (`--uq_questions`). Only the "
    "method `active` accounts for this (`--scope full --reference-runs`); other values, intervals and comparisons of "
    "this run do not.",
    "Questions whose score is uncertain are chosen more often, which biases the mean score.",
    "Pass the reference runs that chose the questions, with `--scope full`.",
)

# ---------------------------------------------------------------- warnings on what was read

BROKEN_LINES = MessageType(
    "LM201",
    "broken-lines",
    "warning",
    "{n_lines:count line} of {file} {n_lines:plural is|are} incomplete or not a sample (line {lines}: "
    "{reason:clause}). The remaining {n_kept:count question is|questions are} used.",
    "A run that was killed leaves an incomplete last line. The questions that were lost can differ from the rest.",
    "Run the task again.",
)
SHARED_IDENTIFIERS = MessageType(
    "LM202",
    "shared-identifiers",
    "warning",
    "{n_rows:count row has|rows have} the same doc_id as an earlier, different document. {n_rows:plural It counts"
    " as a separate question|They count as separate questions}.",
    "The identifiers of the documents are not unique.",
    "Check the data set of the task.",
)
REPEATED_KEYS = MessageType(
    "LM203",
    "repeated-keys",
    "warning",
    "{n_rows:count row contains|rows contain} the same key twice (line {line}: {keys}). The last value of the key is "
    "used.",
    "JSON with repeated keys is ambiguous.",
    "Check what wrote the samples file.",
)
REPEATED_ROWS = MessageType(
    "LM204",
    "repeated-rows",
    "warning",
    "{n_rows:count row has|rows have} the same question and filter as an earlier row. Only the first row is used.",
    "Each question has one row per filter.",
    "Check that the file does not contain two runs.",
)
SAMPLES_MISSING = MessageType(
    "LM205",
    "samples-missing",
    "warning",
    "The samples file contains only {n_logged} of the {n_scored:count question} that lm-eval scored.",
    "The missing samples can differ from the others, so the totals of all questions are used unless at least 95 % of "
    "the samples are present.",
    "Log all samples, or use those that are present with `--use-samples`.",
)
SAMPLES_OF_ANOTHER_RUN = MessageType(
    "LM206",
    "samples-of-another-run",
    "warning",
    "The samples do not belong to the results file, because their hashes (task_hashes) differ. Use the samples of "
    "the same run.",
    "lm-eval records a hash of all samples in the results file.",
    "Keep the files of each run in a folder of its own.",
)
MORE_SAMPLES_THAN_SCORED = MessageType(
    "LM207",
    "more-samples-than-scored",
    "warning",
    "The samples contain {n_logged:count question}, but the results file reports {n_scored}.",
    "The two files may belong to different runs.",
    "Keep the files of each run in a folder of its own.",
)
FILTERS_UNNAMED = MessageType(
    "LM208",
    "filters-unnamed",
    "warning",
    "The rows of the samples file do not name their filters, so the filters are numbered.",
    "Old versions of lm-eval do not log the names of filters.",
    "Use a newer version of lm-eval.",
)
RESULTS_KEYS_REPEATED = MessageType(
    "LM209",
    "results-keys-repeated",
    "warning",
    "The results file contains these keys more than once: {keys}. The last value of each key is used.",
    "JSON with repeated keys is ambiguous.",
    "Check what wrote the results file.",
)
UNUSABLE_SCORES = MessageType(
    "LM210",
    "unusable-scores",
    "warning",
    "{n_left_out} of {n_questions:count question} {n_left_out:plural has|have} {problem} for metric {label!r} and"
    " {n_left_out:plural is|are} left out.",
    "If scores are missing for a reason, the estimate is biased.",
    "Find out why the scores are missing.",
)
INFINITE_LOG_LIKELIHOODS = MessageType(
    "LM211",
    "infinite-log-likelihoods",
    "warning",
    "For metric {label!r}, {n_left_out:count document has|documents have} no finite log-likelihood and "
    "{n_left_out:plural is|are} left out.",
    "lm-eval's own value includes these documents and is not finite.",
    "Check the model's log-likelihoods.",
)
VALUE_NOT_REPRODUCED = MessageType(
    "LM212",
    "value-not-reproduced",
    "warning",
    "The samples give a value of {value:.10g} for metric {label!r}, but the results file reports {reported:.10g}. "
    "The estimate is based on the samples.",
    "The samples and the results may belong to different runs, or the log was edited.",
    "Check that both files belong to the same run.",
)
FEW_RESAMPLED_UNITS = MessageType(
    "LM213",
    "few-resampled-units",
    "warning",
    "An interval from resampling only {n_units:count {unit}} tends to be too narrow. Add questions.",
    "The bootstrap understates the variation of few units.",
    "Add questions.",
)
NOT_RESAMPLED = MessageType(
    "LM214",
    "not-resampled",
    "note",
    "The bootstrap interval of the task's own aggregation could not be computed. {reason:sentence}",
    "Only the task's own aggregation computes this metric. Calling it on resampled questions would give an interval.",
    "See the reason.",
)
SAMPLES_UNREADABLE = MessageType(
    "LM215",
    "samples-unreadable",
    "warning",
    "The samples file {file} cannot be used for the following reason: {reason:sentence}",
    "The samples file is damaged or in an unknown format, so that only totals are known.",
    "Decompress or replace the file, or run the task again.",
)

# ---------------------------------------------------------------- refusals

AGGREGATION_NOT_REPRODUCED = MessageType(
    "LM301",
    "aggregation-not-reproduced",
    "refusal",
    "The questions cannot be resampled for the following reason: {reason:sentence}",
    "The aggregation must give the printed value again, independently of the order of the questions.",
    "Use a registered aggregation of harness_uq in the task file.",
)
STATISTICS_UNAVAILABLE = MessageType(
    "LM302",
    "statistics-unavailable",
    "refusal",
    "The statistics of metric {function!r} cannot be computed for the following reason: {reason:sentence}",
    "BLEU, chrF and TER are functions of counts that sacrebleu computes for each question.",
    "Install a supported version of sacrebleu.",
)
QUESTIONS_AND_ROWS_DIFFER = MessageType(
    "LM303",
    "questions-and-rows-differ",
    "refusal",
    "The number of logged rows differs from the number of questions, so the clusters are unknown.",
    "Each row must belong to one question.",
    "Rescore the log with `harness-uq rescore` after the run.",
)

# ---------------------------------------------------------------- errors

PREDATES_VERSION_4 = MessageType(
    "LM401",
    "predates-version-4",
    "error",
    "The file was written by a version of lm-eval before 0.4, which is not supported.",
    "The format of the results changed in version 0.4.",
    "Run the evaluation with a newer version of lm-eval.",
)
NO_RESULTS = MessageType(
    "LM402",
    "no-results",
    "error",
    "The file contains no lm-eval results.",
    "A results file is a JSON object with `results` and `versions`.",
    "Check the path.",
)

UNCERTAINTY_NOT_SAVED = MessageType(
    "LM403",
    "uncertainty-not-saved",
    "error",
    "The results with uncertainty could not be saved in {path}. The folder contains lm-eval's own results file, "
    "without uncertainty.",
    "The file could not be written completely, for example because the disk is full.",
    "Free space, then use `harness-uq rescore` if the samples were logged. Otherwise run the evaluation again.",
)
RESULTS_NOT_SAVED = MessageType(
    "LM404",
    "results-not-saved",
    "error",
    "The results could not be saved in {path}, not even without uncertainty.",
    "The file could not be written completely, for example because the disk is full. lm-eval's log has the reason.",
    "Free space or choose another `--output_path`, and run the evaluation again.",
)

SAMPLES_NOT_JSON = MessageType(
    "LM405",
    "samples-not-json",
    "error",
    "The file is named like a samples file, but it is not JSON.",
    "The file is damaged, or another program wrote it.",
    "Replace the file, or remove it.",
)
SAMPLES_FORMAT_UNKNOWN = MessageType(
    "LM406",
    "samples-format-unknown",
    "error",
    "The file is named like a samples file, but files ending in {suffix} are not read.",
    "Samples files may be compressed with gzip (`.gz`), bzip2 (`.bz2`) or Zstandard (`.zst`).",
    "Decompress the file.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("LM", "lm-eval", message_types_in(globals())))
