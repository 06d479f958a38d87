"""Messages of the adapter for files of other tools: FM100 to FM499."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes

MISSING_COUNT_AS_ZERO = MessageType(
    "FM101",
    "missing-count-as-zero",
    "note",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no {metric}: {reasons}. As in the mean that "
    "{tool} computes, {n_missing:plural it counts|they count} as 0.",
    "The tool treats trials without a score as failed. The score is lower than the mean of the scored trials.",
    "Find out why the scores are missing. If the cause was not the system, run these trials again.",
)
RUNS_AS_TRIALS = MessageType(
    "FM102",
    "runs-as-trials",
    "note",
    "{n_runs:count run} of the same system in one folder are read as repeated trials: {runs}.",
    "The tool repeats a benchmark by running it several times, and each run is a trial of the same questions.",
    "If the runs differ in more than their random numbers, give them separate folders, or pass one run at a time.",
)
REWARDS_AFTER_ERRORS = MessageType(
    "FM103",
    "rewards-after-errors",
    "note",
    "{n_errors} of {n_trials:count trial} {n_errors:plural has|have} a reward although {n_errors:plural it|they} ended "
    "with an error that is not the agent's own ({reasons}). {n_errors:plural This reward is|These rewards are} used, "
    "as in the mean that {tool} computes.",
    "After an error of the environment or of the verifier, the reward may not measure the system.",
    "Run these trials again.",
)
REDUCED_SCORE_REPEATED = MessageType(
    "FM104",
    "reduced-score-repeated",
    "note",
    "The {n_trials} trials of each question have the same {metric!r} and are read as one trial. The converter of "
    "Inspect AI writes the score that was reduced over the epochs to each of them.",
    "Trials with copies of one score say nothing about the variation between trials.",
    "Read the log of Inspect AI instead, which contains the score of each epoch.",
)

ERRORS_COUNT_AS_ZERO = MessageType(
    "FM121",
    "errors-count-as-zero",
    "note",
    "{n_errors} of {n_trials:count trial} ended with an error and {n_errors:plural counts|count} as failed, with score "
    "0, as in {tool}.",
    "The score of 0 is not a judgment of an answer, because the system or an assertion failed before.",
    "Find out why the trials failed. If the cause was not the system, run them again.",
)
FAILED_REQUESTS_SCORED = MessageType(
    "FM122",
    "failed-requests-scored",
    "note",
    "{n_failed} of {n_requests:count request} failed. {tool} scored {n_failed:plural it as an empty answer|them as "
    "empty answers}.",
    "The score of such a request is not a judgment of an answer of the system.",
    "Find out why the requests failed. If the cause was not the system, run them again.",
)
METRICS_WITHOUT_SCORES = MessageType(
    "FM123",
    "metrics-without-scores",
    "note",
    "The details contain no score per question for {metrics:join}, and the results no total. {n_metrics:plural This "
    "metric is|These metrics are} left out.",
    "The details of a corpus metric contain parts from which the tool computes one value for all questions.",
    "Keep the results file of the run with the details.",
)

# ---------------------------------------------------------------- warnings

TOOL_VALUE_DIFFERS = MessageType(
    "FM201",
    "tool-value-differs",
    "warning",
    "The mean of the scores for {metric!r} is {value:.6g}, but {tool} reports {reported:.6g}.",
    "The scores and the summary of the tool disagree. One of them was changed, or belongs to other trials.",
    "Compare the number of trials with that of the tool, and let the tool compute its summary again.",
)
REPEATED_RECORDS = MessageType(
    "FM202",
    "repeated-records",
    "warning",
    "{n_repeated:count record} {n_repeated:plural repeats|repeat} the identifier of an earlier record and "
    "{n_repeated:plural is|are} left out ({examples}).",
    "Two records with one identifier describe the same trial, for example after a copy or a merge of files.",
    "Remove the copies.",
)
PART_UNREADABLE = MessageType(
    "FM203",
    "part-unreadable",
    "warning",
    "{n_parts:count file} of the run cannot be read, and {n_parts:plural its trials are|their trials are} missing. "
    "The first is {file}: {reason:sentence}",
    "The other files of the run are not affected.",
    "Repair or remove the files. If their trials failed, the score is too high without them.",
)

LINES_UNREADABLE = MessageType(
    "FM204",
    "lines-unreadable",
    "warning",
    "{n_lines:count line} of the file cannot be read, and {n_lines:plural its score is|their scores are} missing. The "
    "first is line {line}: {reason:sentence}",
    "The other lines are not affected.",
    "Copy the file again. The last line of a file is incomplete if the program that wrote it was stopped.",
)
CHECKSUM_DIFFERS = MessageType(
    "FM205",
    "checksum-differs",
    "warning",
    "The {algorithm} checksum of the samples is not the one in the record.",
    "The file of the samples was changed after the record was written, or belongs to another record.",
    "Copy both files again.",
)

# ---------------------------------------------------------------- errors

VERSION_NOT_SUPPORTED = MessageType(
    "FM421",
    "version-not-supported",
    "error",
    "The file looks like results of {tool}, but `{field}` is {version}. Supported versions: {known:join}.",
    "The layout of the results depends on the version.",
    "Export the results again with another version of the tool, or in another form.",
)
QUESTIONS_NOT_IDENTIFIED = MessageType(
    "FM422",
    "questions-not-identified",
    "error",
    "{n_results:count result} of one prompt and provider have neither variables nor a description, so that different "
    "questions cannot be distinguished from repeats. Unset PROMPTFOO_STRIP_TEST_VARS and export the evaluation again.",
    "This setting of promptfoo removes the variables of the tests from exported files.",
    "Unset the variable and export the evaluation again.",
)
RUN_WITHOUT_RESULTS = MessageType(
    "FM423",
    "run-without-results",
    "error",
    "The folder looks like a run of {tool}, but {missing:join} are missing.",
    "The tool writes these files when a run has ended.",
    "Wait until the run has finished, or run it again.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("FM", "Files of other tools", message_types_in(globals())))
