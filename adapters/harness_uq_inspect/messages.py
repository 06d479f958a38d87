"""Messages of the Inspect AI adapter: IN100 to IN499."""

from harness_uq.plugin_api import MESSAGE_REGISTRY, MessageCatalogue, MessageType, message_types_in

# ---------------------------------------------------------------- notes

ENDED_BY_LIMIT = MessageType(
    "IN101",
    "ended-by-limit",
    "note",
    "{n_ended} of {n_trials:count trial} {n_ended:plural was|were} ended by a limit ({limits}) and scored as they "
    "were.",
    "A message, token or time limit ended the trial before the model did.",
    "Raise the limit if the score should not include its effect.",
)
QUESTIONS_GENERATED = MessageType(
    "IN102",
    "questions-generated",
    "note",
    "{n_generated} of the {n_questions:count question} {n_generated:plural was|were} generated during the run (a "
    "SampleSource). If scores decided which, intervals do not account for that.",
    "Adaptive selection of questions biases the mean score.",
    "Check how the SampleSource chooses questions.",
)
STOPPED_EARLY = MessageType(
    "IN103",
    "stopped-early",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count trial}. The number of trials depends on the "
    "scores, which intervals do not account for.",
    "Stopping because of the scores biases their mean.",
    "Use `stop_when(valid='anytime')` of harness_uq.",
)
STOPPED_BY_RULE = MessageType(
    "IN104",
    "stopped-by-rule",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count trial}: {reason:sentence} The interval is that "
    "of a run of planned length, without a correction for repeated looks.",
    "The effect is small if a width ended the run and larger if a comparison did.",
    "Use `stop_when(valid='anytime')` for an interval that accounts for the looks.",
)
STOPPED_ANYTIME = MessageType(
    "IN105",
    "stopped-anytime",
    "note",
    "Early stopping ({manager}) skipped {n_skipped} of {n_planned:count trial}: {reason:sentence} The method "
    "confidence-sequence accounts for the looks; other intervals and comparisons of this run do not.",
    "An anytime-valid interval covers the score at every time at once.",
    "Use the default method for this run.",
)
TRIALS_WITHOUT_SCORE = MessageType(
    "IN106",
    "trials-without-score",
    "note",
    "{scorer}: {n_missing} of {n_trials:count trial} {n_missing:plural has|have} no score ({reasons}).",
    "Trials without a score are left out of the mean.",
    "Find out why the scores are missing.",
)
ERRORS_AFTER_SCORE = MessageType(
    "IN107",
    "errors-after-score",
    "note",
    "{scorer}: {n_errors} of {n_trials:count trial} ended in an error after this score, which counts.",
    "The score was computed before the error.",
    "Nothing.",
)
REDUCED_SCORES_ONLY = MessageType(
    "IN108",
    "reduced-scores-only",
    "note",
    "The log contains no samples. The scores are those that Inspect reduced over the epochs, one per question.",
    "Trial-to-trial noise is unknown, and each question counts once however many of its trials were scored.",
    "Keep the samples in the log.",
)
EPOCHS_AS_QUESTIONS = MessageType(
    "IN109",
    "epochs-as-questions",
    "note",
    "Inspect's own metrics treat the {n_epochs} epochs of a question as independent questions (no epochs reducer), so "
    "its stderr is too small.",
    "Epochs of one question share its difficulty.",
    "Use the interval of harness_uq, or an epochs reducer.",
)
INSPECT_VALUE_DIFFERS = MessageType(
    "IN110",
    "inspect-value-differs",
    "note",
    "{metric} ({filter}): Inspect reports {function} {reported:.6g}. The estimate refers to the mean of the logged "
    "scores, {mean:.6g}.",
    "The metric of Inspect is not the mean of the scores.",
    "Nothing.",
)
RARE_KEYS_OMITTED = MessageType(
    "IN111",
    "rare-keys-omitted",
    "note",
    "{scorer}: {n_keys:count key} of its dictionary of values {n_keys:plural is|are} scored on one question at most "
    "and {n_keys:plural is|are} not listed.",
    "A score of one question has no uncertainty that can be estimated.",
    "Nothing.",
)
DICTIONARY_VALUES = MessageType(
    "IN112",
    "dictionary-values",
    "note",
    "{scorer}: its values are dictionaries and are listed by key. Inspect's metrics of the whole dictionary are not "
    "meaningful.",
    "A mean of dictionaries is not defined.",
    "Nothing.",
)
TRIALS_AS_FINISHED = MessageType(
    "IN113",
    "trials-as-finished",
    "note",
    "The estimate uses {n_trials:count trial} as they finished. The log keeps only their reduced scores, so an "
    "estimate from the log counts each question once.",
    "Inspect logs one reduced score per question if `log_samples` is off.",
    "Keep the samples in the log.",
)

# ---------------------------------------------------------------- warnings

NEWER_LOG_FORMAT = MessageType(
    "IN201",
    "newer-log-format",
    "warning",
    "Log format {version} is newer than this reader, which supports {supported}. Update harness_uq.",
    "Fields of the newer format may be misread.",
    "Update harness_uq.",
)
DAMAGED_MEMBERS = MessageType(
    "IN202",
    "damaged-members",
    "warning",
    "{n_members:count member} of the file {n_members:plural is|are} damaged and left out, first {first}.",
    "The samples in the damaged members are lost.",
    "Copy the file again, or run the evaluation again.",
)
REPEATED_TRIALS = MessageType(
    "IN203",
    "repeated-trials",
    "warning",
    "{n_trials:count trial is|trials are} logged more than once for the same question and epoch. The last one counts.",
    "A run that was resumed can log a sample twice.",
    "Nothing, unless the scores of the repeated samples differ.",
)
STALE_INTERVALS = MessageType(
    "IN204",
    "stale-intervals",
    "warning",
    "The intervals stored in the log refer to scores that were edited since. `harness-uq rescore --in-place` updates "
    "them.",
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
    "The run did not finish (status {status}): the log contains {n_logged} of {n_planned:count planned trial}. Trials "
    "that finish first may differ from the rest.",
    "Easy questions often finish early, which biases the mean score.",
    "Finish the run with `inspect eval-retry`.",
)
LOG_TRIMMED = MessageType(
    "IN207",
    "log-trimmed",
    "warning",
    "The log contains {n_logged} of the {n_planned:count trial} behind Inspect's results. Values here refer to these, "
    "Inspect's to all.",
    "Samples were removed from the log.",
    "Use the complete log.",
)
CONTRADICTORY_TRIALS = MessageType(
    "IN208",
    "contradictory-trials",
    "warning",
    "The log contains {n_logged:count trial}, but Inspect's results are of {n_planned}.",
    "The log was edited or merged from several runs.",
    "Check the log.",
)
CONTRADICTORY_SCORES = MessageType(
    "IN209",
    "contradictory-scores",
    "warning",
    "{metric}: on {n_different} of {n_questions:count question} the mean of the logged trials differs from the reduced "
    "score that Inspect logged. The trials are used.",
    "The log was edited, or the reducer is not the mean.",
    "Check the log.",
)
CONTRADICTORY_COUNTS = MessageType(
    "IN210",
    "contradictory-counts",
    "warning",
    "{metric}: {n_scored:count question has|questions have} a score, but Inspect reports {n_reported}.",
    "The log was edited or merged from several runs.",
    "Check the log.",
)
MEAN_NOT_REPRODUCED = MessageType(
    "IN211",
    "mean-not-reproduced",
    "warning",
    "{metric} ({filter}): Inspect reports {function} {reported:.6g}, but the mean of the logged scores is {mean:.6g}.",
    "The log was edited, or some samples are missing from it.",
    "Check the log.",
)
SUMMARIES_AND_SAMPLES_DIFFER = MessageType(
    "IN212",
    "summaries-and-samples-differ",
    "warning",
    "The log contains {n_summaries:count summary|summaries} for {n_samples:count sample}. The summaries are used.",
    "Samples were removed from the log after the run.",
    "Use the complete log.",
)
UNSCORED_RUN = MessageType(
    "IN213",
    "unscored-run",
    "warning",
    "The log contains no scores: the run was not scored, or the scores were removed.",
    "Only scored samples can be analyzed.",
    "Score the log with `inspect score`.",
)

REPEATED_MEMBERS = MessageType(
    "IN214",
    "repeated-members",
    "warning",
    "{n_members:count member occurs|members occur} twice in the archive, first {first}. The last one counts.",
    "The log was extended after the run.",
    "Nothing, unless another program wrote the log.",
)
MISPLACED_MEMBERS = MessageType(
    "IN215",
    "misplaced-members",
    "warning",
    "{n_members:count member is|members are} named like a path outside the archive, first {first!r}. They are not "
    "read.",
    "Inspect AI does not write such members.",
    "Check where the log comes from.",
)
REPEATED_JSON_KEY = MessageType(
    "IN216",
    "repeated-json-key",
    "warning",
    "Key {key!r} occurs twice in one object of {file}. The last value counts.",
    "JSON with repeated keys is ambiguous.",
    "Check what wrote or changed the log.",
)
SHARD_UNREADABLE = MessageType(
    "IN217",
    "shard-unreadable",
    "warning",
    "Shard {path} cannot be read: {reason:sentence}",
    "The samples of the shard are missing from the result.",
    "Wait until the run has finished, or run it again.",
)
SHARDS_UNMERGED = MessageType(
    "IN218",
    "shards-unmerged",
    "warning",
    "The run is in progress: its log consists of {n_shards:count shard} that are not merged yet.",
    "Samples that finish first may differ from the rest.",
    "Read the log again after the run.",
)

# ---------------------------------------------------------------- errors

FORMAT_TOO_OLD = MessageType(
    "IN401",
    "format-too-old",
    "error",
    "Log format {version} is not supported. `inspect log convert` writes the log in a newer format.",
    "The format changed in version 2.",
    "Convert the log.",
)

CATALOGUE = MESSAGE_REGISTRY.register(MessageCatalogue("IN", "Inspect AI", message_types_in(globals())))
