import numpy as np
import pytest

from harness_uq import Scores, estimate
from harness_uq.data.task_log import AggregateScore, HarnessResult
from tests.adapters.inspect.logs import entry, grid, header, metric, read, sample, score_totals, write_eval, write_json
from tests.message_checks import has, names_of

NAN = float("nan")


@pytest.fixture
def log_of(tmp_path):
    """`log_of(header, samples)` reads a `.eval` log with these."""

    def make(head, samples=(), **options):
        return read(write_eval(tmp_path / "log.eval", head, samples, **options))

    return make


def table(log, name="match", filter_="mean"):
    return entry(log, name, filter_).values


# ---------------------------------------------------------------- matrix


def test_trials_make_a_question_by_epoch_matrix(log_of):
    found = entry(log_of(header(epochs=3), grid([["C", "I", "P"], ["I", "N", "C"]])), "match", "mean")
    np.testing.assert_array_equal(found.values, [[1, 0, 0.5], [0, 0, 1]])
    assert (found.levels, found.logged_trials, found.reduction) == ((0, 0.5, 1), 3, "mean")


def test_an_epoch_may_have_any_number(log_of):
    found = entry(log_of(header(epochs=2), [sample(1, 10**30, match="C"), sample(1, 7, match="I")]), "match", "mean")
    np.testing.assert_array_equal(found.values, [[0, 1]])


def test_one_epoch_has_no_filter_and_no_reduction(log_of):
    found = entry(log_of(header(), grid([["C"], ["I"]])), "match", "none")
    assert (found.levels, found.logged_trials, found.reduction) == ((0, 1), 1, None)


def test_the_order_of_completion_does_not_matter(log_of):
    samples = grid([["C", "I"], ["I", "I"], ["C", "C"]])
    head = header(epochs=2, dataset={"sample_ids": [3, 1, 2]})
    log = log_of(head, [samples[i] for i in (4, 1, 3, 0, 5, 2)])
    assert log.questions.ids == ("3", "1", "2")
    np.testing.assert_array_equal(table(log), [[1, 1], [1, 0], [0, 0]])


def test_numbers_and_texts_of_numbers_are_read_alike(log_of):
    log = log_of(header(), [sample(1, grade="10", f1=0.5, ok=True), sample(2, grade="8.5", f1=1, ok=False)])
    assert [list(data.values[:, 0]) for data in log.data] == [[10, 8.5], [0.5, 1], [1, 0]]
    assert [data.levels for data in log.data] == [None] * 3


def test_missing_scores_are_counted_by_reason(log_of):
    samples = [
        sample(1, 1, match="C"),
        sample(1, 2, match=None) | {"error": {"message": "boom"}},
        sample(2, 1, match=None),
        sample(2, 2, match=NAN),
        sample(3, 1, match="C") | {"error": "later"},
        sample(3, 2, match="I") | {"limit": {"type": "token", "limit": 10}},
    ]
    log = log_of(header(epochs=2), samples, with_summaries=False)
    np.testing.assert_array_equal(table(log), [[1, NAN], [NAN, NAN], [1, 0]])
    assert names_of(log.notes) == ["trials-without-score", "errors-after-score", "ended-by-limit"]
    reasons = "1 error, 1 not scored, 1 scored None or NaN"
    assert has(log, "trials-without-score", scorer="match", n_missing=3, n_trials=6, reasons=reasons)
    assert has(log, "errors-after-score", scorer="match", n_errors=1, n_trials=6)
    assert has(log, "ended-by-limit", n_ended=1, n_trials=6, limits="1 token")


def test_invalidated_samples_do_not_count(log_of):
    samples = grid([["C"], ["I"], ["C"]])
    samples[2]["invalidation"] = {"timestamp": "2026-01-01", "author": "a"}
    head = header(scores=[score_totals("match", 2 / 3, n=3)], total=3) | {"invalidated": True}
    log = log_of(head, samples, summaries=[{k: v for k, v in s.items() if k != "invalidation"} for s in samples])
    np.testing.assert_array_equal(table(log, filter_="none"), [[1], [0], [NAN]])
    assert names_of(log.notes) == ["trials-without-score"]
    assert has(log, "trials-without-score", scorer="match", n_missing=1, n_trials=3, reasons="1 invalidated")
    assert log.warnings == ()  # Inspect's own mean includes the sample, which is not a contradiction


# ---------------------------------------------------------------- names and kinds


def test_a_dictionary_gives_one_entry_per_key(log_of):
    """The metric is named after the key if Inspect reports it under this name, else after scorer and key."""
    samples = [sample(i, judge={"tone": i / 4, "fact": "C", "kind": "A"}) for i in (1, 2)]
    log = log_of(header(scores=[score_totals("tone", 0.375, scorer="judge", n=2)], total=2), samples)
    assert [data.metric for data in log.data] == ["tone", "judge/fact", "judge/kind"]
    np.testing.assert_array_equal(table(log, "tone", "none"), [[0.25], [0.5]])
    assert log.reported == {("tone", "none"): HarnessResult(0.375, None, 2)}
    assert "categories" in entry(log, "judge/kind").reason


def test_keys_that_two_scorers_share_keep_their_scorers_name(log_of):
    scores = [score_totals("ok", 1, scorer=name) for name in ("a", "b")]
    log = log_of(header(scores=scores, total=2), [sample(i, a={"ok": 1}, b={"ok": 1}) for i in (1, 2)])
    assert [data.metric for data in log.data] == ["a/ok", "b/ok"]
    assert set(log.reported) == {("a/ok", "none"), ("b/ok", "none")}


def test_metrics_of_whole_dictionaries_are_ignored(log_of):
    """Inspect converts a dictionary to 0 there and prints 0.000 ± 0.000."""
    samples = [sample(i, judge={"tone": 1, "fact": 1}) for i in (1, 2)]
    log = log_of(header(scores=[score_totals("judge", 0.0, stderr=0.0)], total=2), samples)
    assert log.reported == {}
    assert has(log, "dictionary-values")
    assert log.warnings == ()


def test_a_key_missing_from_some_samples_is_missing_there(log_of):
    log = log_of(
        header(), [sample(1, s={"a": 1, "b": 1}), sample(2, s={"a": 0}), sample(3, s={"b": 1}), sample(4, s=NAN)]
    )
    np.testing.assert_array_equal(table(log, "s/a", "none")[:, 0], [1, 0, NAN, NAN])
    np.testing.assert_array_equal(table(log, "s/b", "none")[:, 0], [1, NAN, 1, NAN])


def test_keys_of_single_questions_are_counted_not_listed(log_of):
    """Keys are the names of sub-steps, which differ between problems."""
    log = log_of(header(), [sample(i, s={f"step {i}": 1, "total": 1}) for i in range(3)])
    assert [data.metric for data in log.data] == ["s/total"]
    assert names_of(log.notes) == ["rare-keys-omitted"]
    assert has(log, "rare-keys-omitted", scorer="s", n_keys=3)


def test_categories_are_totals_with_the_reason_and_without_a_value(log_of):
    """Inspect counts the category C as correct, so its accuracy of 1/4 is meaningless."""
    head = header(scores=[score_totals("choice", 0.25, n=4)], total=4)
    log = log_of(head, [sample(i, choice=letter) for i, letter in enumerate("ABCD")])
    (found,) = log.data
    assert found == AggregateScore(
        "choice", "none", None, 4, "categories, not numbers (A, B, C, D); a mean is not defined"
    )
    assert log.reported["choice", "none"].value == 0.25


def test_lists_are_totals_with_the_reason(log_of):
    (found,) = log_of(header(), [sample(1, steps=[1, 0]), sample(2, steps=[1, 1])]).data
    assert (found.value, found.n) == (None, 2)
    assert "a list of values" in found.reason


# ---------------------------------------------------------------- reducers


def reductions(scorer, reducer, values):
    return {
        "scorer": scorer,
        "reducer": reducer,
        "samples": [{"sample_id": i + 1, "value": v} for i, v in enumerate(values)],
    }


REDUCED_HEADER = {
    "epochs": 3,
    "reducer": ["mean", "mode", "pass_at_2", "at_least_1"],
    "total": 6,
    "scores": [
        score_totals("match", 0.5, reducer="mean", n=2, stderr=1 / 6),
        score_totals("match", 0.5, reducer="mode", n=2, stderr=0.5),
        score_totals("match", 5 / 6, reducer="pass_at_2", n=2),
        score_totals("match", 1.0, reducer="at_least_1", n=2),
    ],
}
CELLS = [["C", "C", "I"], ["I", "I", "C"]]


@pytest.mark.parametrize("with_reductions", [True, False])
def test_every_reducer_has_an_entry_and_the_matrix_exists_once(log_of, with_reductions):
    logged = [reductions("match", "mode", ["C", "I"]), reductions("match", "pass_at_2", [1, 2 / 3])]
    logged += [reductions("match", "mean", [2 / 3, 1 / 3]), reductions("match", "at_least_1", [1, 1])]
    log = log_of(header(**REDUCED_HEADER), grid(CELLS), reductions=logged if with_reductions else None)
    assert [(d.filter, d.values.shape, d.reduction, d.logged_trials) for d in log.data] == [
        ("mean", (2, 3), "mean", 3),
        ("mode", (2, 1), "mode", 3),
        ("pass_at_2", (2, 1), "pass_at_2", 3),
        ("at_least_1", (2, 1), "at_least_1", 3),
    ]
    assert [d.levels for d in log.data] == [(0, 1), (0, 1), None, (0, 1)]
    np.testing.assert_allclose(table(log, filter_="pass_at_2")[:, 0], [1, 2 / 3])
    assert log.reported["match", "mode"] == HarnessResult(0.5, 0.5, 2)
    assert log.warnings == ()


def test_scores_of_an_unknown_reducer_are_read_from_the_log(log_of):
    head = header(epochs=2, reducer=["mine"], scores=[score_totals("match", 0.7, reducer="mine")], total=4)
    cells = grid([["C", "I"], ["C", "C"]])
    log = log_of(head, cells, reductions=[reductions("match", "mine", [0.5, 0.9])])
    np.testing.assert_array_equal(table(log, filter_="mine")[:, 0], [0.5, 0.9])
    without = log_of(head, cells)
    assert isinstance(entry(without, "match", "mean"), Scores)
    assert "reduced by 'mine'" in entry(without, "match", "mine").reason


def test_collected_values_are_no_scores(log_of):
    head = header(epochs=2, reducer=["collect"], scores=[score_totals("match", 0.0, reducer="collect")], total=4)
    log = log_of(head, grid([["C", "I"], ["C", "C"]]), reductions=[reductions("match", "collect", [[1, 0], [1, 1]])])
    assert "a list of values" in entry(log, "match", "collect").reason


def test_invalidation_recomputes_what_inspect_had_reduced(log_of):
    samples = grid([["C", "C"], ["C", "I"]])
    samples[3]["invalidation"] = {"author": "a"}
    head = header(epochs=2, reducer=["max"], scores=[score_totals("match", 1.0, reducer="max")], total=4)
    log = log_of(head | {"invalidated": True}, samples, reductions=[reductions("match", "max", ["C", "I"])])
    np.testing.assert_array_equal(table(log, filter_="max")[:, 0], [1, 1])


def test_the_reducer_mode_has_no_effect_on_one_epoch(log_of):
    log = log_of(
        header(reducer=["mode"], scores=[score_totals("match", 0.5, reducer="mode", n=2)], total=2),
        grid([["C"], ["I"]]),
    )
    assert [(data.filter, data.reduction) for data in log.data] == [("none", None)]
    assert log.reported == {("match", "none"): HarnessResult(0.5, None, 2)}


def test_reduced_metrics_take_precedence_over_unreduced_ones(log_of):
    """Metrics of reduced and of unreduced scores make two entries with the same name."""
    scores = [score_totals("match", 0.6, n=3), score_totals("match", 0.5, reducer="mean", n=2)]
    log = log_of(
        header(epochs=2, scores=scores, total=4),
        [*grid([["C", "I"]]), sample(2, 1, match="I"), sample(2, 2, match="C")],
    )
    assert log.reported["match", "mean"] == HarnessResult(0.5, None, 2)


def test_without_an_epochs_reducer_inspects_stderr_is_called_too_small(log_of):
    """Inspect then computes metrics on trials: 3 of 4 here, the mean of question means if epochs are equal."""
    cells = [sample(1, 1, match=1), sample(1, 2, match=1), sample(2, 1, match=0)]
    head = header(epochs=2, reducer=[], scores=[score_totals("match", 2 / 3, n=3, stderr=1 / 3)], total=3)
    log = log_of(head, cells)
    assert log.reported["match", "mean"] == HarnessResult(2 / 3, 1 / 3, None)
    assert has(log, "epochs-as-questions")
    assert log.warnings == ()


def test_metrics_on_unreduced_scores_alone_are_those_of_the_cells(log_of):
    """A metric registered for unreduced scores names no reducer, but counts more scores than there are questions."""
    cells = [sample(1, 1, match=1), sample(1, 2, match=1), sample(2, 1, match=0)]
    head = header(epochs=2, scores=[score_totals("match", 2 / 3, n=3)], total=3, dataset={"sample_ids": [1, 2]})
    log = log_of(head, cells)
    assert log.reported["match", "mean"] == HarnessResult(2 / 3, None, None)
    assert log.warnings == ()


# ---------------------------------------------------------------- what Inspect printed


@pytest.mark.parametrize(
    ("names", "value"),
    [(["std", "mean", "accuracy"], 3), (["std", "mean"], 2), (["var", "stderr", "f1"], 3), (["stderr", "std"], None)],
)
def test_the_value_is_accuracy_then_mean_then_the_first_that_is_not_a_spread(log_of, names, value):
    metrics = {f"pkg/{name}": metric(f"pkg/{name}", i + 1) for i, name in enumerate(names)}
    score = {"name": "match", "scorer": "match", "metrics": metrics}
    log = log_of(header(scores=[score], total=1), grid([["C"]]))
    assert log.reported["match", "none"].value == value


def test_grouped_metrics_do_not_represent_the_score(log_of):
    metrics = {"lower": metric("lower", 0.1) | {"group": "ci"}, "upper": metric("upper", 0.9) | {"group": "ci"}}
    score = {"name": "match", "scorer": "match", "metrics": metrics}
    assert log_of(header(scores=[score], total=1), grid([["C"]])).reported["match", "none"] == HarnessResult(
        None, None, 1
    )


def test_nan_in_the_results_is_a_missing_value(log_of):
    log = log_of(header(scores=[score_totals("match", NAN, stderr=NAN)], total=1), grid([[NAN]]))
    assert log.reported["match", "none"] == HarnessResult(None, None, 1)


def test_a_value_that_the_samples_contradict_is_a_warning(log_of):
    log = log_of(header(scores=[score_totals("match", 0.75)], total=2), grid([["C"], ["I"]]))
    assert names_of(log.warnings) == ["mean-not-reproduced"]
    assert has(log, "mean-not-reproduced", metric="match", function="accuracy", reported=0.75, mean=0.5)


def test_a_value_that_is_not_a_mean_is_a_note(log_of):
    log = log_of(header(scores=[score_totals("match", 0.75, metric_name="f1")], total=2), grid([["C"], ["I"]]))
    assert log.warnings == ()
    assert has(log, "mean-not-reported", metric="match", filter="none", reported=("f1 = 0.75",), mean=0.5)


def totals_with(*names, **groups):
    metrics = {name: metric(name, 0.5) for name in names}
    metrics |= {name: metric(name, 0.5) | {"group": group} for name, group in groups.items()}
    return score_totals("match", 0.5) | {"metrics": metrics}


def test_all_metrics_beside_a_mean_are_named_as_metrics_without_interval(log_of):
    """Measures of spread and the metrics of harness_uq describe the mean, too."""
    totals = totals_with("accuracy", "stderr", "median_score", "pkg/f1", ci_lower="ci", easy="grouped", all="grouped")
    totals["metrics"] |= {"uq_lower": metric("lower", 0.1) | {"group": "uq", "metadata": {"harness_uq": {}}}}
    log = log_of(header(scores=[totals], total=2), grid([["C"], ["I"]]))
    assert has(log, "metrics-without-interval", reported=("median_score = 0.5", "f1 = 0.5", "grouped"), mean=0.5)
    assert not has(log, "mean-not-reported")


def test_a_median_that_happens_to_equal_the_mean_is_no_mean(log_of):
    log = log_of(header(scores=[totals_with("median_score", "stderr")], total=2), grid([["C"], ["I"]]))
    assert has(log, "mean-not-reported", reported=("median_score = 0.5",))


def test_a_scorer_with_means_and_spreads_has_no_note_on_other_metrics(log_of):
    log = log_of(header(scores=[totals_with("accuracy", "mean", "stderr", "std")], total=2), grid([["C"], ["I"]]))
    assert not has(log, "mean-not-reported")
    assert not has(log, "metrics-without-interval")


def test_questions_scored_are_counted_from_trials_where_old_logs_say_no_more(log_of):
    log = log_of(header(epochs=2, scores=[score_totals("match", 0.5)], total=4), grid([["C", "I"], ["I", "C"]]))
    assert log.reported["match", "mean"].n == 2


# ---------------------------------------------------------------- incomplete logs


def test_a_trimmed_log_is_a_warning_but_not_a_contradiction(log_of):
    log = log_of(header(scores=[score_totals("match", 0.4, n=2340)], total=2340), grid([["C"]]))
    assert names_of(log.warnings) == ["log-trimmed"]
    assert has(log, "log-trimmed", n_logged=1, n_planned=2340)
    assert log.reported["match", "none"] == HarnessResult(0.4, None, 2340)


def test_an_early_stop_is_a_note_and_not_trimming(log_of):
    stops = {"manager": "width", "early_stops": [{"id": 2, "epoch": 2}], "metadata": {}}
    head = header(epochs=2, total=4, scores=[score_totals("match", 0.75)], results_early_stopping=stops)
    log = log_of(head, [*grid([["C", "I"]]), sample(2, 1, match="C")])
    np.testing.assert_array_equal(table(log), [[1, 0], [1, NAN]])
    assert log.warnings == ()
    assert has(log, "stopped-early", manager="width", n_skipped=1, n_planned=4)


@pytest.mark.parametrize(("score", "codes"), [(1.0, []), (None, ["UQ125"])], ids=["all scored", "one without score"])
def test_trials_that_a_rule_skipped_are_not_missing_scores(log_of, score, codes):
    stops = {"manager": "harness_uq.stop_when", "early_stops": [{"id": 3, "epoch": 2}]}
    head = header(epochs=2, total=6, results_early_stopping=stops)
    log = log_of(head, [*grid([[1.0, 0.0], [score, 1.0]]), sample(3, 1, match=0.0)])
    [row] = estimate(log)
    assert [message.code for message in row.messages if message.code in ("UQ125", "UQ135")] == codes


def test_questions_that_a_sample_source_added_are_counted_by_their_identifiers(log_of):
    head = header(total=4, dataset={"name": "toy", "sample_ids": [1, 2]})
    log = log_of(head, grid([[1.0], [0.0], [1.0], [1.0]]))
    [note] = [message for message in log.messages if message.code == "IN102"]
    assert note.params == {"n_generated": 2, "n_listed": 2, "n_questions": 4}


def test_a_log_that_lists_fewer_questions_than_its_results_is_not_from_a_sample_source(log_of):
    head = header(total=4, dataset={"name": "toy", "sample_ids": [1, 2]})
    log = log_of(head, grid([[1.0], [0.0]]))
    assert "IN102" not in [message.code for message in log.messages]


@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_an_unfinished_run_is_read_with_a_warning(log_of, status):
    head = header(epochs=2, status=status, results=False, dataset={"sample_ids": [1, 2, 3]})
    log = log_of(head, grid([["C", "I"]]), finished=status != "started")
    assert names_of(log.warnings) == ["run-incomplete-part"]
    assert has(log, "run-incomplete-part", status=status, n_logged=2, n_planned=6)
    np.testing.assert_array_equal(table(log), [[1, 0]])
    assert log.facts.settings["status"] == status


def test_a_run_that_was_not_scored_has_no_data_and_a_warning(log_of):
    log = log_of(header(total=2), [sample(1), sample(2)])
    assert log.data == ()
    assert names_of(log.warnings) == ["unscored-run"]
    assert len(log.questions) == 2


# ---------------------------------------------------------------- logs without samples


def test_without_samples_the_reductions_give_the_questions(tmp_path):
    logged = [reductions("match", "mean", [0.5, 1]), reductions("match", "mode", ["I", "C"])]
    scores = [score_totals("match", 0.75, reducer="mean", n=2), score_totals("match", 0.5, reducer="mode", n=2)]
    head = header(epochs=4, reducer=["mean", "mode"], scores=scores, total=8)
    log = read(write_eval(tmp_path / "log.eval", head, reductions=logged))
    assert [(d.filter, d.logged_trials, d.reduction) for d in log.data] == [("mean", 4, "mean"), ("mode", 4, "mode")]
    np.testing.assert_array_equal(table(log), [[0.5], [1]])
    assert log.questions.ids == ("1", "2")
    assert has(log, "reduced-scores-only")
    assert log.warnings == ()


def test_without_samples_dictionaries_of_reduced_values_are_split(tmp_path):
    logged = [reductions("judge", None, [{"a": 0.5, "b": 1}, {"a": 1, "b": 0}])]
    scores = [score_totals(key, 0.75, scorer="judge") for key in "ab"]
    log = read(write_json(tmp_path / "log.json", header(epochs=2, scores=scores, total=4), reductions=logged))
    assert [(d.metric, list(d.values[:, 0])) for d in log.data] == [("a", [0.5, 1]), ("b", [1, 0])]


def test_without_samples_and_reductions_only_totals_are_left(tmp_path):
    scores = [score_totals("match", 0.5, stderr=0.1), score_totals("other", 0.7, n=3)]
    log = read(write_json(tmp_path / "log.json", header(epochs=2, scores=scores, total=8)))
    reason = "The log contains no samples with this score"
    assert log.data == (
        AggregateScore("match", "mean", 0.5, 4, reason),
        AggregateScore("other", "mean", 0.7, 3, reason),
    )
    assert log.reported["match", "mean"] == HarnessResult(0.5, 0.1, 4)


def test_the_number_of_questions_is_never_invented(tmp_path):
    score = [score_totals("match", 0.5)]
    unknown = read(write_json(tmp_path / "a.json", header(scores=score), []))
    uneven = read(write_json(tmp_path / "b.json", header(scores=score, epochs=2, total=7), []))
    assert [log.data[0].n for log in (unknown, uneven)] == [None, None]


# ---------------------------------------------------------------- identity and structure


def test_source_names_file_harness_version_and_time(tmp_path):
    path = write_eval(tmp_path / "log.eval", header(), grid([["C"]]))
    source = read(path).source
    assert (source.path, source.harness, source.version) == (str(path), "inspect", "0.3.285")
    assert source.time == "2026-01-02T03:04:05+00:00"


OPTION = {"name": "inspect_ai/stderr", "options": {"cluster": "passage"}}


@pytest.mark.parametrize(
    "more",
    [
        {"scorers": [{"name": "s", "metrics": [{"name": "inspect_ai/accuracy", "options": {}}, OPTION]}]},
        {"scorers": [{"name": "s", "metrics": {"*": [OPTION]}}]},
        {"scorers": [{"name": "r", "metrics": None}, {"name": "s", "metrics": [{"key": [OPTION]}]}]},
        {"metrics": [OPTION]},
        {"scores": [{"name": "s", "scorer": "s", "metrics": {"stderr": metric("stderr", 0.1, cluster="passage")}}]},
        {
            "scores": [
                {
                    "name": "s",
                    "scorer": "s",
                    "metrics": {"e": {"name": "stderr", "value": 0, "options": OPTION["options"]}},
                }
            ]
        },
    ],
)
def test_the_cluster_option_of_a_logged_metric_is_a_declaration(tmp_path, more):
    declared = read(write_json(tmp_path / "log.json", header(**more))).declared
    assert (declared.cluster, declared.origin) == ("passage", "stderr(cluster=passage)")


def test_the_tasks_own_metadata_come_first(tmp_path):
    head = header(metadata={"uq": {"cluster": "none"}}, metrics=[OPTION])
    declared = read(write_json(tmp_path / "log.json", head)).declared
    assert (declared.cluster, declared.origin) == ("none", "metadata.uq.cluster")


@pytest.mark.parametrize("metadata", [None, {}, {"uq": "passage"}, {"uq": {"cluster": 3}}])
def test_without_a_named_field_nothing_is_declared(tmp_path, metadata):
    assert read(write_json(tmp_path / "log.json", header(metadata=metadata))).declared is None


# ---------------------------------------------------------------- metrics with parameters


def inverted_totals(value, **parameters):
    totals = score_totals("match", value, reducer="mean", n=3, stderr=0.2)
    return totals | {"metrics": totals["metrics"] | {"accuracy": metric("accuracy", value, **parameters)}}


@pytest.mark.parametrize(("name", "epochs"), [("none", 1), ("mean", 2)])
def test_a_mean_whose_parameters_change_it_has_its_value_and_no_interval(log_of, name, epochs):
    """`accuracy(to_float=...)` is recorded with the name of the function, from which no score can be computed."""
    head = header(scores=[inverted_totals(1 / 3, to_float="<lambda>")], total=3 * epochs, epochs=epochs)
    log = log_of(head, grid([["C"] * epochs, ["I"] * epochs, ["C"] * epochs]))
    found = entry(log, "match", name)
    assert (found.value, found.n, found.is_contradicted) == (1 / 3, 3, True)
    [row] = estimate(log)
    assert (row.value, row.interval) == (1 / 3, None)
    assert not has(log.messages, "mean-not-reproduced")


def test_a_mean_whose_parameters_do_not_change_it_has_an_interval(log_of):
    head = header(scores=[inverted_totals(2 / 3, to_float="value_to_float")], total=3)
    log = log_of(head, grid([["C"], ["I"], ["C"]]))
    assert estimate(log)[0].interval is not None


def test_without_parameters_a_value_that_is_not_the_mean_is_reported(log_of):
    log = log_of(header(scores=[inverted_totals(1 / 3)], total=3), grid([["C"], ["I"], ["C"]]))
    assert isinstance(entry(log, "match"), Scores)
    assert has(log.messages, "mean-not-reproduced")


def test_a_log_without_some_of_its_samples_does_not_contradict_its_reductions(log_of):
    """The mean over the trials that remain may differ from that over all trials, which Inspect logged."""
    reductions = [{"scorer": "match", "reducer": "mean", "samples": [{"sample_id": "1", "value": 0.5}]}]
    head = header(scores=[score_totals("match", 0.5, reducer="mean")], total=2, epochs=2)
    log = log_of(head, [sample(1, 1, match="C")], reductions=reductions)
    assert has(log.messages, "log-trimmed")
    assert not has(log.messages, "contradictory-scores")
