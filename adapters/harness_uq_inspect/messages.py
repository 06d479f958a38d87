"""Messages of the Inspect AI adapter: IN100 to IN499."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes

ENDED_BY_LIMIT = MessageType(
    "IN101",
    "ended-by-limit",
    "note",
    "{n_ended} of {n_trials:count trial} ended early because of a limit ({limits}). The unfinished "
    "{n_ended:plural trial was|trials were} scored.",
    "A message, token or time limit ended the trial before the model did.",
    "Raise the limit if the score should not include its effect.",
)
QUESTIONS_GENERATED = MessageType(
    "IN102",
    "questions-generated",
    "note",
    "A SampleSource generated {n_generated} of the {n_questions:count question} during the run. If the choice of "
    "questions depended on scores, the intervals do not account for this selection.",
    "Adaptive selection of questions biases the mean score.",
    "Check how the SampleSource chooses questions.",
)
STOPPED_EARLY = MessageType(
    "IN103",
    "stopped-early",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial}. If the decision to stop "
    "depended on the scores, the intervals do not account for it.",
    "Stopping because of the scores biases their mean.",
    "Use `stop_when(valid='anytime')` of harness_uq.",
)
STOPPED_BY_RULE = MessageType(
    "IN104",
    "stopped-by-rule",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial} for this reason: "
    "{reason:sentence} The interval does not correct for repeated looks at the scores during the run.",
    "The effect is small if a width ended the run and larger if a comparison did.",
    "Use `stop_when(valid='anytime')` for an interval that accounts for the looks.",
)
STOPPED_ANYTIME = MessageType(
    "IN105",
    "stopped-anytime",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count planned trial} for this reason: "
    "{reason:sentence} Only method 'confidence-sequence' accounts for repeated looks at the scores; other intervals "
    "and comparisons of this run do not.",
    "An anytime-valid interval covers the score at every time at once.",
    "Use the default method for this run.",
)
TRIALS_WITHOUT_SCORE = MessageType(
    "IN106",
    "trials-without-score",
    "note",
    "Scorer {scorer!r} has no score for {n_missing} of {n_trials:count trial} ({reasons}).",
    "Trials without a score are left out of the mean.",
    "Find out why the scores are missing.",
)
ERRORS_AFTER_SCORE = MessageType(
    "IN107",
    "errors-after-score",
    "note",
    "{n_errors} of {n_trials:count trial} ended in an error after scorer {scorer!r} had computed a score, and "
    "{n_errors:plural this score is|these scores are} used.",
    "The score was computed before the error.",
    "Nothing.",
)
REDUCED_SCORES_ONLY = MessageType(
    "IN108",
    "reduced-scores-only",
    "note",
    "The log contains no samples. The scores that Inspect reduced over the epochs, one per question, are used instead.",
    "Trial-to-trial noise is unknown, and each question counts once however many of its trials were scored.",
    "Keep the samples in the log.",
)
EPOCHS_AS_QUESTIONS = MessageType(
    "IN109",
    "epochs-as-questions",
    "note",
    "Inspect's own standard error is too small, because without an epochs reducer Inspect treats the {n_epochs} "
    "epochs of a question as independent questions.",
    "Epochs of one question share its difficulty.",
    "Use the interval of harness_uq, or an epochs reducer.",
)
INSPECT_VALUE_DIFFERS = MessageType(
    "IN110",
    "inspect-value-differs",
    "note",
    "Inspect reports {function} = {reported:.6g} for metric {metric!r} (reducer: {filter}), but the estimate "
    "refers to the mean of the logged scores, {mean:.6g}.",
    "The metric of Inspect is not the mean of the scores. The interval is not written beside it.",
    "Nothing.",
)
RARE_KEYS_OMITTED = MessageType(
    "IN111",
    "rare-keys-omitted",
    "note",
    "Scorer {scorer!r} returns a dictionary of scores. "
    "{n_keys:count of its keys|of its keys} {n_keys:plural has|have} scores on at most one question and "
    "{n_keys:plural is|are} omitted.",
    "A score of one question has no uncertainty that can be estimated.",
    "Nothing.",
)
DICTIONARY_VALUES = MessageType(
    "IN112",
    "dictionary-values",
    "note",
    "Scorer {scorer!r} returns dictionaries of scores, and each key is listed as a separate score. Inspect's metrics "
    "of the whole dictionary are not meaningful.",
    "A mean of dictionaries is not defined.",
    "Nothing.",
)
TRIALS_AS_FINISHED = MessageType(
    "IN113",
    "trials-as-finished",
    "note",
    "The estimate uses {n_trials:count trial}, but the log keeps only one reduced score per question. An estimate"
    " that is computed from the log therefore treats each question as a single trial.",
    "Inspect logs one reduced score per question if `log_samples` is off.",
    "Keep the samples in the log.",
)
CHOSEN_ACTIVELY = MessageType(
    "IN114",
    "chosen-actively",
    "note",
    "The {n_questions:count question} were chosen during the run, depending on the scores so far. Only the method "
    "`active` (`estimate --scope full --reference-runs`) accounts for this; other estimates are biased.",
    "Questions whose score is uncertain are chosen more often, which biases the mean score.",
    "Pass the reference runs that chose the questions, with `--scope full`.",
)
SCORES_ENTERED = MessageType(
    "IN115",
    "scores-entered",
    "note",
    "{n_edited} of the {n_scores:count score} of {scorer!r} {n_edited:plural was|were} entered by {authors:join} "
    "(edit_score). They can correct the scores of a grader with `--labels`.",
    "People can enter labels in the log under a new name.",
    "Give the name to `--labels`.",
)
SCORES_CHANGED = MessageType(
    "IN116",
    "scores-changed",
    "note",
    "{n_edited} of the {n_scores:count score} of {scorer!r} {n_edited:plural was|were} changed by {authors:join} "
    "(edit_score). The changed scores are used.",
    "If people change only some scores of a grader, the mean combines the scores of both.",
    "Enter labels under a new name of a score, so that `--labels` can correct all scores.",
)

# ---------------------------------------------------------------- warnings

NEWER_LOG_FORMAT = MessageType(
    "IN201",
    "newer-log-format",
    "warning",
    "The log has format {version}, but this reader supports formats up to {supported}. Update harness_uq.",
    "Fields of the newer format may be misread.",
    "Update harness_uq.",
)
DAMAGED_MEMBERS = MessageType(
    "IN202",
    "damaged-members",
    "warning",
    "{n_members:count member} of the archive {n_members:plural is|are} damaged and left out, for example {first}.",
    "The samples in the damaged members are lost.",
    "Copy the file again, or run the evaluation again.",
)
REPEATED_TRIALS = MessageType(
    "IN203",
    "repeated-trials",
    "warning",
    "{n_trials:count trial is|trials are} logged more than once for the same question and epoch. Only the last "
    "record counts.",
    "A run that was resumed can log a sample twice.",
    "Nothing, unless the scores of the repeated samples differ.",
)
STALE_INTERVALS = MessageType(
    "IN204",
    "stale-intervals",
    "warning",
    "The intervals stored in the log refer to scores that have since been edited. Use `harness-uq rescore "
    "--in-place` to update the intervals.",
    "Scores can be edited after a run.",
    "Rescore the log.",
)
RUN_INCOMPLETE = MessageType(
    "IN205",
    "run-incomplete",
    "warning",
    "The run did not finish (status {status}).",
    "Questions that were not run can differ from the others.",
    "Finish the run with `inspect eval-retry`.",
)
RUN_INCOMPLETE_PART = MessageType(
    "IN206",
    "run-incomplete-part",
    "warning",
    "The run did not finish (status {status}), and the log contains only {n_logged} of {n_planned:count planned "
    "trial}. Trials that finish first may differ from the others.",
    "Easy questions often finish early, which biases the mean score.",
    "Finish the run with `inspect eval-retry`.",
)
LOG_TRIMMED = MessageType(
    "IN207",
    "log-trimmed",
    "warning",
    "The log contains only {n_logged} of the {n_planned:count trial} from which Inspect computed its results.",
    "Samples were removed from the log. Unless the totals of all questions are used, the values refer to the logged "
    "trials.",
    "Use the complete log.",
)
CONTRADICTORY_TRIALS = MessageType(
    "IN208",
    "contradictory-trials",
    "warning",
    "The log contains {n_logged:count trial}, but Inspect computed its results from {n_planned}.",
    "The log was edited or merged from several runs.",
    "Check the log.",
)
CONTRADICTORY_SCORES = MessageType(
    "IN209",
    "contradictory-scores",
    "warning",
    "For metric {metric!r}, the mean of the logged trials differs from the reduced score that Inspect logged on "
    "{n_different} of {n_questions:count question}. The estimate uses the trials.",
    "The log was edited, or the reducer is not the mean.",
    "Check the log.",
)
CONTRADICTORY_COUNTS = MessageType(
    "IN210",
    "contradictory-counts",
    "warning",
    "For metric {metric!r}, {n_scored:count question has|questions have} a score, but Inspect reports {n_reported}.",
    "The log was edited or merged from several runs.",
    "Check the log.",
)
MEAN_NOT_REPRODUCED = MessageType(
    "IN211",
    "mean-not-reproduced",
    "warning",
    "For metric {metric!r} (reducer: {filter}), Inspect reports {function} = {reported:.6g}, but the mean of the "
    "logged scores is {mean:.6g}.",
    "The log was edited, or some samples are missing from it. The interval refers to the mean of the logged scores, so "
    "it is not written beside the value of Inspect.",
    "Check the log.",
)
SUMMARIES_AND_SAMPLES_DIFFER = MessageType(
    "IN212",
    "summaries-and-samples-differ",
    "warning",
    "The log contains {n_samples:count sample} but {n_summaries:count summary|summaries} of samples. The "
    "summaries are used.",
    "Samples were removed from the log after the run.",
    "Use the complete log.",
)
UNSCORED_RUN = MessageType(
    "IN213",
    "unscored-run",
    "warning",
    "The log contains no scores, because the run was not scored or the scores were removed.",
    "Only scored samples can be analyzed.",
    "Score the log with `inspect score`.",
)

REPEATED_MEMBERS = MessageType(
    "IN214",
    "repeated-members",
    "warning",
    "{n_members:count member occurs|members occur} more than once in the archive, for example {first}. The last copy "
    "is used.",
    "The log was extended after the run.",
    "Nothing, unless another program wrote the log.",
)
MISPLACED_MEMBERS = MessageType(
    "IN215",
    "misplaced-members",
    "warning",
    "{n_members:count member of the archive has|members of the archive have} a name that points outside the archive, "
    "for example {first!r}. {n_members:plural This member is|These members are} not read.",
    "Inspect AI does not write such members.",
    "Check where the log comes from.",
)
REPEATED_JSON_KEY = MessageType(
    "IN216",
    "repeated-json-key",
    "warning",
    "The key {key!r} occurs twice in the same JSON object of {file}. The last value is used.",
    "JSON with repeated keys is ambiguous.",
    "Check what wrote or changed the log.",
)
SHARD_UNREADABLE = MessageType(
    "IN217",
    "shard-unreadable",
    "warning",
    "The shard {path} cannot be read: {reason:sentence}",
    "The samples of the shard are missing from the result.",
    "Wait until the run has finished, or run it again.",
)
SHARDS_UNMERGED = MessageType(
    "IN218",
    "shards-unmerged",
    "warning",
    "The run is still in progress, and its log consists of {n_shards:count shard that is|shards that are} not merged "
    "yet.",
    "Samples that finish first may differ from the rest.",
    "Read the log again after the run.",
)
FRAME_WITHOUT_MODEL = MessageType(
    "IN219",
    "frame-without-model",
    "warning",
    "The data frame has no column 'model', so the system is named {system!r}. Join the data frame with evals_df on "
    "eval_id.",
    "`samples_df` contains the model only if you ask for it.",
    "Use `samples_df(logs, columns=EvalInfo + EvalTask + EvalModel + SampleSummary)`.",
)

# ---------------------------------------------------------------- errors

FORMAT_TOO_OLD = MessageType(
    "IN401",
    "format-too-old",
    "error",
    "Log format {version} is not supported. Use `inspect log convert` to convert the log to a newer format.",
    "The format changed in version 2.",
    "Convert the log.",
)

FRAME_COLUMN_MISSING = MessageType(
    "IN402",
    "frame-column-missing",
    "error",
    "The data frame looks like one of inspect_ai.analysis, but it has no column {column!r}. Pass a data frame of "
    "samples_df with the columns eval_id, id, epoch and score_*. Available columns: {known}.",
    "Without this column, questions, trials or scores cannot be identified.",
    "Keep the column, or pass `samples_df(logs)` instead of a data frame of evals, messages or events.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("IN", "Inspect AI", message_types_in(globals())))
