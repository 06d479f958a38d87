"""Messages of the Inspect AI adapter: IN100 to IN499."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes

ENDED_BY_LIMIT = MessageType.note(
    "IN101",
    "{n_ended} of {n_trials:count trial} ended early because of a limit ({limits}). The unfinished "
    "{n_ended:plural trial was|trials were} scored.",
    "A limit on messages, tokens or time ended the trials before the model finished. If a limit ended a trial, the "
    "score of the trial may be lower than without the limit.",
    "If the score should not include the effect of the limit, raise the limit on messages, tokens or time, and run "
    "the affected trials again.",
)
UNLISTED_QUESTIONS = MessageType.note(
    "IN102",
    "The header of the log lists {n_listed:count sample id}, and {n_generated} of the {n_questions:count question} in "
    "the log {n_generated:plural is|are} not among them. The log does not state the reason.",
    "A SampleSource can add questions during a run, and other programs can edit logs or rename samples. If earlier "
    "scores determine which questions are chosen next, the mean score is biased, and its interval is wrong.",
    "Check where the questions come from that the header does not list.",
)
STOPPED_EARLY = MessageType.note(
    "IN103",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial}. If the decision to stop "
    "depended on the scores, the intervals are wrong.",
    "If a run stops because of its scores, the mean score is biased.",
    "Use `stop_when(valid='anytime')` of harness_uq, whose intervals account for the decision to stop.",
)
STOPPED_BY_RULE = MessageType.note(
    "IN104",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial}. Reason: {reason:sentence} The "
    "interval does not account for the repeated checks of the scores during the run.",
    "If a run stops because its interval is narrow enough, the bias of the estimate is small. If a run stops because "
    "the data show a difference between two systems, the bias of the estimate is larger than for a narrow interval.",
    "For an interval that accounts for the repeated checks of the scores, use `stop_when(valid='anytime')`.",
)
STOPPED_ANYTIME = MessageType.note(
    "IN105",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial}. Reason: {reason:sentence} Of "
    "the intervals and comparisons of this run, only the interval of method 'confidence-sequence' accounts for the "
    "repeated checks of the scores.",
    "With the nominal probability, an anytime-valid interval contains the true score simultaneously at all times of "
    "the run.",
    "Use the default method for this run.",
)
TRIALS_WITHOUT_SCORE = MessageType.note(
    "IN106",
    "Scorer {scorer!r} has no score for {n_missing} of {n_trials:count trial} ({reasons}).",
    "The mean score does not include trials without a score. If trials of hard questions fail more often, the mean "
    "score is too high.",
    "Find out why the scores are missing, and run these trials again.",
)
ERRORS_AFTER_SCORE = MessageType.note(
    "IN107",
    "{n_errors} of {n_trials:count trial} ended in an error after scorer {scorer!r} had computed a score, and "
    "{n_errors:plural this score is|these scores are} used.",
    "The scorer had already computed the score of the trial when the error occurred.",
)
REDUCED_SCORES_ONLY = MessageType.note(
    "IN108",
    "The log contains no samples. The estimate uses the reduced scores of Inspect, which combine the scores of all "
    "epochs of a question into one score.",
    "Without the score of each epoch, the trial-to-trial noise is unknown. Each question counts once, regardless of "
    "its number of epochs.",
    "Keep the samples in the log (`log_samples`).",
)
EPOCHS_AS_QUESTIONS = MessageType.note(
    "IN109",
    "The standard error that Inspect reports is too small, because without an epochs reducer Inspect treats the "
    "{n_epochs} epochs of a question as independent questions.",
    "All epochs of a question share the difficulty of the question, so their scores are not independent.",
    "Use the interval of harness_uq, or set an epochs reducer in Inspect.",
)
MEAN_NOT_REPORTED = MessageType.note(
    "IN110",
    "For metric {metric!r} (reducer: {filter}), Inspect reports {reported:join}, which {n_reported:plural has|have} "
    "no interval. harness_uq estimates the mean of the logged scores, {mean:.6g}, but does not add its interval to "
    "the metrics in the log.",
    "harness_uq computes intervals only for mean scores. If Inspect reports neither `accuracy` nor `mean` for a "
    "scorer, the metrics in the log do not contain the mean that the interval describes.",
    "Use `harness-uq estimate` to see the interval of the mean score. To see the interval in Inspect as well, add the "
    "metric `mean()` to the scorer.",
)
RARE_KEYS_OMITTED = MessageType.note(
    "IN111",
    "Scorer {scorer!r} returns a dictionary of scores. {n_keys:count key|keys} with scores on at most one question "
    "{n_keys:plural is|are} left out.",
    "The uncertainty of a score cannot be estimated from one question.",
)
DICTIONARY_VALUES = MessageType.note(
    "IN112",
    "Scorer {scorer!r} returns dictionaries of scores, and each key is listed as a separate score. Metrics that "
    "Inspect computes from whole dictionaries are not meaningful.",
    "The mean of several dictionaries is not defined, so harness_uq computes the mean of the scores with the same key.",
)
TRIALS_AS_FINISHED = MessageType.note(
    "IN113",
    "The estimate uses {n_trials:count trial}, but the log keeps only one reduced score per question. A later "
    "estimate that is computed from the log therefore counts one trial per question.",
    "If `log_samples` is off, Inspect logs only one reduced score per question.",
    "Keep the samples in the log (`log_samples`).",
)
CHOSEN_ACTIVELY = MessageType.note(
    "IN114",
    "The {n_questions:count question} were chosen during the run, based on earlier scores. Only the method `active` "
    "(`estimate --scope full --reference-runs`) gives correct estimates for this run.",
    "An active evaluation is more likely to choose questions whose scores are uncertain, so the unweighted mean score "
    "is biased.",
    "Use `--scope full --reference-runs LOGS`, where LOGS are the logs of earlier systems that the run used to choose "
    "the questions.",
)
SCORES_ENTERED = MessageType.note(
    "IN115",
    "{n_edited} of the {n_scores:count score} of {scorer!r} {n_edited:plural was|were} entered by {authors:join} "
    "(edit_score). These scores can be used as human labels with `--labels`.",
    "People can enter human labels in a log of Inspect AI as scores with a new name.",
    "To correct the scores of a grader, pass the name of the human scores to `--labels`.",
)
SCORES_CHANGED = MessageType.note(
    "IN116",
    "{n_edited} of the {n_scores:count score} of {scorer!r} {n_edited:plural was|were} changed by {authors:join} "
    "(edit_score). The changed scores are used.",
    "If people change only some scores of a grader, the mean score mixes human scores with scores of the grader.",
    "Instead of changing the scores of a grader, enter human labels as scores with a new name NAME. With `--labels "
    "NAME`, the human labels correct all scores of the grader.",
)
METRICS_WITHOUT_INTERVAL = MessageType.note(
    "IN117",
    "For metric {metric!r} (reducer: {filter}), the interval describes the mean score, {mean:.6g}. Inspect also "
    "reports {reported:join}, which {n_reported:plural has|have} no interval.",
    "harness_uq computes intervals only for mean scores. An interval of the mean can exclude the value of another "
    "metric, such as a median.",
    "Do not use the interval of the mean for other metrics, such as a median.",
)

# ---------------------------------------------------------------- warnings

NEWER_LOG_FORMAT = MessageType.warning(
    "IN201",
    "The log has format version {version}, but this version of harness_uq supports formats up to {supported}. Update "
    "harness_uq.",
    "harness_uq may misread the log, because its format is newer than the supported formats.",
    "Update harness_uq.",
)
DAMAGED_MEMBERS = MessageType.warning(
    "IN202",
    "{n_members:count file|files} inside the log {n_members:plural is|are} damaged and left out, for example {first}.",
    "A log of Inspect AI is an archive of files. The samples in the damaged files are missing from the result.",
    "Copy the log again, or run the evaluation again.",
)
REPEATED_TRIALS = MessageType.warning(
    "IN203",
    "{n_trials:count trial is|trials are} logged more than once for the same question and epoch. Only the last "
    "record counts.",
    "If a run is resumed, Inspect AI can log a sample twice. Records of the same question and epoch count as one "
    "sample, unless the run had several epochs and all records have the same epoch.",
    "No action is required, unless the scores of the repeated samples differ.",
)
STALE_INTERVALS = MessageType.warning(
    "IN204",
    "The intervals stored in the log belong to scores that have since been edited. Update the intervals with "
    "`harness-uq rescore --in-place`.",
    "Someone edited scores in the log after harness_uq had computed the intervals, for example with `edit_score`.",
    "Run `harness-uq rescore --in-place` on the log.",
)
RUN_INCOMPLETE = MessageType.warning(
    "IN205",
    "The run did not finish (status {status}).",
    "The questions that were not run can be easier or harder than the questions in the log.",
    "Finish the run with `inspect eval-retry`.",
)
RUN_INCOMPLETE_PART = MessageType.warning(
    "IN206",
    "The run did not finish (status {status}), and the log contains only {n_logged} of {n_planned:count planned "
    "trial}. Trials that finish first may differ from the others.",
    "Easy questions often finish first, so the mean score of an unfinished run can be too high.",
    "Finish the run with `inspect eval-retry`.",
)
LOG_TRIMMED = MessageType.warning(
    "IN207",
    "The log contains only {n_logged} of the {n_planned:count trial} from which Inspect computed its results.",
    "Samples were removed from the log after the run. Estimates that are computed from samples describe only the "
    "samples that remain in the log.",
    "Use the complete log.",
)
CONTRADICTORY_TRIALS = MessageType.warning(
    "IN208",
    "The log contains {n_logged:count trial}, but Inspect computed its results from {n_planned:count trial}.",
    "The log was edited, or logs of several runs were merged.",
    "Check where the additional trials in the log come from.",
)
CONTRADICTORY_SCORES = MessageType.warning(
    "IN209",
    "For {n_different} of {n_questions:count question}, the mean of the logged trials (metric {metric!r}) differs "
    "from the reduced score that Inspect logged. The estimate uses the trials.",
    "The log was edited, or the reducer over the epochs is not the mean.",
    "Check which scores in the log were edited.",
)
CONTRADICTORY_COUNTS = MessageType.warning(
    "IN210",
    "For metric {metric!r}, {n_scored:count question has|questions have} a score, but Inspect reports scores for "
    "{n_reported:count question}.",
    "The log was edited, or logs of several runs were merged.",
    "Check whether the log contains the samples of exactly one run.",
)
MEAN_NOT_REPRODUCED = MessageType.warning(
    "IN211",
    "For metric {metric!r} (reducer: {filter}), Inspect reports {function} = {reported:.6g}, but the mean of the "
    "logged scores is {mean:.6g}.",
    "The log was edited, or samples are missing from the log. harness_uq computes the interval from the logged "
    "scores. The value that Inspect reports differs from the mean of the logged scores, so harness_uq does not add "
    "the interval to the metric in the log.",
    "Check whether the log is complete, and which scores were edited.",
)
SUMMARIES_AND_SAMPLES_DIFFER = MessageType.warning(
    "IN212",
    "The log contains {n_samples:count sample} but {n_summaries:count sample summary|sample summaries}. The estimate "
    "uses the summaries.",
    "Samples were removed from the log after the run, but their summaries are still in the log.",
    "Use the complete log.",
)
UNSCORED_RUN = MessageType.warning(
    "IN213",
    "The log contains no scores, because the run was not scored or the scores were removed.",
    "harness_uq can analyze only samples that have a score.",
    "Score the log with `inspect score`.",
)

REPEATED_MEMBERS = MessageType.warning(
    "IN214",
    "{n_members:count file occurs|files occur} more than once inside the log, for example {first}. The last copy is "
    "used.",
    "A log of Inspect AI is an archive of files. Another program or a later run added files under names that the "
    "archive already contained.",
    "No action is required, unless a program other than Inspect AI wrote the log.",
)
MISPLACED_MEMBERS = MessageType.warning(
    "IN215",
    "{n_members:count file inside the log has|files inside the log have} a path that points outside the log, for "
    "example {first!r}. {n_members:plural This file is|These files are} not read.",
    "Inspect AI does not write paths that point outside the log, so the log may come from an untrusted source.",
    "Check the origin of the log.",
)
REPEATED_JSON_KEY = MessageType.warning(
    "IN216",
    "The key {key!r} occurs twice in the same JSON object of {file}. The last value is used.",
    "If a JSON object contains a key twice, it is not clear which value is correct.",
    "Check the program that wrote or changed the log.",
)
SHARD_UNREADABLE = MessageType.warning(
    "IN217",
    "The buffer file {path} of a running evaluation cannot be read: {reason:sentence}",
    "Inspect AI writes the samples of a running evaluation to several buffer files. The samples in a file that cannot "
    "be read are missing from the result.",
    "Wait until the run has finished and read the log again, or run the evaluation again.",
)
SHARDS_UNMERGED = MessageType.warning(
    "IN218",
    "The run is still in progress. The samples are in {n_shards:count buffer file that Inspect has|buffer files that "
    "Inspect has} not merged into the log yet.",
    "Easy questions often finish first, so the mean score of an unfinished run can be too high.",
    "Run the command again after the evaluation has finished.",
)
FRAME_WITHOUT_MODEL = MessageType.warning(
    "IN219",
    "The data frame does not name the evaluated model, so the system is named {system!r}. Join the data frame with "
    "evals_df on eval_id.",
    "The function `samples_df` of Inspect AI returns the model only if you request the columns of the model.",
    "Use `samples_df(logs, columns=EvalInfo + EvalTask + EvalModel + SampleSummary)`.",
)

# ---------------------------------------------------------------- errors

FORMAT_TOO_OLD = MessageType.error(
    "IN401",
    "Log format {version} is not supported. Use `inspect log convert` to convert the log to a newer format.",
    "Version 2 of the log format is the oldest version that harness_uq reads.",
    "Convert the log with `inspect log convert`.",
)

FRAME_COLUMN_MISSING = MessageType.error(
    "IN402",
    "The data frame looks like a data frame of inspect_ai.analysis, but has no column {column!r}. Pass a data frame "
    "of samples_df with the columns eval_id, id, epoch and score_*. Available columns: {known}.",
    "Without the column that the message names, harness_uq cannot identify the questions, trials or scores.",
    "Keep the column in the data frame, or pass `samples_df(logs)` instead of a data frame of evals, messages or "
    "events.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("IN", "Inspect AI", message_types_in(globals())))
