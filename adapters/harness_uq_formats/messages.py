"""Messages of the adapter for files of other tools: FM100 to FM499."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes

MISSING_COUNT_AS_ZERO = MessageType.note(
    "FM101",
    "{n_missing} of {n_trials:count trial} {n_missing:plural has|have} no {metric}: {reasons}. {n_missing:plural This "
    "trial counts|These trials count} as 0, as in the mean that {tool} computes.",
    "Like the tool that wrote the files, harness_uq counts trials without a score as failed. If these trials count as "
    "failed, the mean score is lower than the mean of the scored trials.",
    "Find out why the scores are missing. If the evaluated system did not cause the failures, run these trials again.",
)
RUNS_AS_TRIALS = MessageType.note(
    "FM102",
    "{n_runs:count run} of the same system in one folder are read as repeated trials: {runs}.",
    "Some tools have no setting for repeated trials, so users run the same benchmark several times. harness_uq reads "
    "each run of the same system as a trial of the same questions.",
    "If the runs also differ in their settings, keep the runs in separate folders, or pass one run at a time.",
)
REWARDS_AFTER_ERRORS = MessageType.note(
    "FM103",
    "{n_errors} of {n_trials:count trial} ended with an error outside the agent ({reasons}) but {n_errors:plural "
    "has|have} a reward. {n_errors:plural This reward is|These rewards are} used, as in the mean that {tool} "
    "computes.",
    "After an error of the environment or the verifier, the reward may not measure the performance of the evaluated "
    "system.",
    "Run these trials again.",
)
REDUCED_SCORE_REPEATED = MessageType.note(
    "FM104",
    "The {n_trials} trials of each question have the same score for {metric!r} and count as one trial. The converter "
    "of Inspect AI writes one score per question, reduced over the epochs, to every trial.",
    "If all trials contain copies of one score, the data contain no information about the variation between trials.",
    "Read the original log of Inspect AI instead, which contains the score of each epoch.",
)

ERRORS_COUNT_AS_ZERO = MessageType.note(
    "FM121",
    "{n_errors} of {n_trials:count trial} ended with an error. As in {tool}, {n_errors:plural this trial "
    "counts|these trials count} as failed, with score 0.",
    "If a trial ended with an error, the score 0 does not mean that the system gave a wrong answer. The system or the "
    "scorer failed before the answer could be scored.",
    "Find out why the trials failed. If the evaluated system did not cause the failures, run these trials again.",
)
FAILED_REQUESTS_SCORED = MessageType.note(
    "FM122",
    "{n_failed} of {n_requests:count request} failed. {tool} scored {n_failed:plural the failed request as an empty "
    "answer|the failed requests as empty answers}.",
    "The score of a failed request does not describe the quality of an answer, because the system gave no answer.",
    "Find out why the requests failed. If the evaluated system did not cause the failures, run these requests again.",
)
METRICS_WITHOUT_SCORES = MessageType.note(
    "FM123",
    "The files contain neither scores of individual questions nor a total score for {metrics:join}. {n_metrics:plural "
    "This metric is|These metrics are} left out.",
    "Some metrics, such as BLEU, are computed from all answers at once. The results file of the run contains the "
    "total scores of metrics such as BLEU.",
    "Keep the results file of the run in the same folder as the details files.",
)

# ---------------------------------------------------------------- warnings

TOOL_VALUE_DIFFERS = MessageType.warning(
    "FM201",
    "The mean of the scores for {metric!r} is {value:.6g}, but {tool} reports {reported:.6g}.",
    "The tool that wrote the files computed a different mean score than harness_uq. Either the scores or the summary "
    "were changed later, or the summary was computed from a different set of trials.",
    "Compare the number of trials in the files with the number of trials that the tool reports. Then compute the "
    "summary again with the tool.",
)
REPEATED_RECORDS = MessageType.warning(
    "FM202",
    "{n_repeated:count record} {n_repeated:plural repeats|repeat} the identifier of an earlier record and "
    "{n_repeated:plural is|are} left out ({examples}).",
    "Two records with the same identifier describe the same trial. If files are copied or merged, records can occur "
    "twice.",
    "Remove the repeated records from the file.",
)
PART_UNREADABLE = MessageType.warning(
    "FM203",
    "{n_parts:count file} of the run cannot be read, so trials are missing. The first unreadable file is {file}: "
    "{reason:sentence}",
    "The estimate uses the other files of the run. If the missing trials have lower scores than the other trials, the "
    "estimated score is too high.",
    "Repair the files, or run the missing trials again.",
)

LINES_UNREADABLE = MessageType.warning(
    "FM204",
    "{n_lines:count line} of the file cannot be read, so scores are missing. The first unreadable line is line "
    "{line}: {reason:sentence}",
    "The estimate uses the other lines of the file. If the program that wrote the file was stopped, the last line of "
    "the file is incomplete.",
    "Copy the file again, or run the evaluation again.",
)
CHECKSUM_DIFFERS = MessageType.warning(
    "FM205",
    "The {algorithm} checksum of the samples file differs from the checksum in the record.",
    "The samples file was changed after the record was written, or the samples file belongs to another record.",
    "Copy the record and its samples file again from their source.",
)

# ---------------------------------------------------------------- errors

VERSION_NOT_SUPPORTED = MessageType.error(
    "FM421",
    "The file looks like results of {tool}, but `{field}` is {version}. Supported versions: {known:join}.",
    "The format of a results file depends on the version of the tool that wrote the file. harness_uq supports only "
    "some versions of the tool.",
    "Export the results again with a supported version of the tool.",
)
QUESTIONS_NOT_IDENTIFIED = MessageType.error(
    "FM422",
    "{n_results:count result} of one prompt and provider have neither variables nor a description, so different "
    "questions cannot be distinguished from repeated trials. Unset PROMPTFOO_STRIP_TEST_VARS and export the "
    "evaluation again.",
    "The environment variable `PROMPTFOO_STRIP_TEST_VARS` removes the variables of the tests from the files that "
    "promptfoo exports.",
    "Unset the environment variable `PROMPTFOO_STRIP_TEST_VARS`, and export the evaluation again.",
)
RUN_WITHOUT_RESULTS = MessageType.error(
    "FM423",
    "The folder looks like a run of {tool}, but the following files are missing: {missing:join}.",
    "The tool writes the missing files only at the end of a run.",
    "Wait until the run has finished, or run the evaluation again.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("FM", "Files of other tools", message_types_in(globals())))
