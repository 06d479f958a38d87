"""Early stopping: when a run stops, what the log records, and which trials are never skipped."""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness_uq import DataError, Questions, Scores, Source, TaskLog, estimate
from harness_uq.stats import confidence_sequence
from harness_uq.stats.sequential.paired_betting_e_value import log_e_value_of_differences
from harness_uq_inspect.live.stopping_rules import EpochMonitor, Rule
from harness_uq_inspect.read.samples import Log, read_log
from harness_uq_inspect.read.schema import Sample
from tests.adapters.inspect.environment import run_with_uq
from tests.message_checks import has

pytestmark = pytest.mark.harness

N, EPOCHS = 60, 8


@pytest.fixture(scope="module")
def runs(inspect_log, tmp_path_factory):
    """Location, warnings and `results.early_stopping` of each run with a rule."""
    folder = tmp_path_factory.mktemp("stopping")
    script = Path(__file__).with_name("stopping_runs.py")
    run_with_uq(sys.executable, script, folder, cwd=folder, HARNESS_UQ=None)
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def decision(run):
    return run["early_stopping"]["metadata"]


def trials_of(run):
    return np.bincount([int(question) for question, _ in read_log(run["location"]).cells])


@pytest.mark.parametrize(("case", "width", "at_least"), [("width", 0.12, 2), ("benchmark", 0.06, 3), ("slow", 0.3, 2)])
def test_epochs_end_once_the_interval_is_narrow_enough(runs, case, width, at_least):
    run, trials = runs[case], trials_of(runs[case])
    assert run["early_stopping"]["manager"] == "harness_uq.stop_when"
    assert decision(run)["decision"] == "width"
    assert decision(run)["width"] <= width
    assert trials.sum() + len(run["early_stopping"]["early_stops"]) == N * EPOCHS
    assert trials.sum() - decision(run)["n_trials_at_decision"] <= 2 * 4  # trials that were running or scheduled
    assert trials.min() >= at_least
    assert np.ptp(trials) <= 1
    assert {stop["reason"] for stop in run["early_stopping"]["early_stops"]} == {"width"}


def test_the_score_is_the_mean_of_question_means_and_the_log_records_the_decision(runs):
    cells = read_log(runs["width"]["location"]).cells
    means = [
        np.mean([cell.scores["right"].value == "C" for (question, _), cell in cells.items() if question == wanted])
        for wanted in {question for question, _ in cells}
    ]
    (row,) = estimate(runs["width"]["location"])
    assert row.value == pytest.approx(np.mean(means))
    assert has(row, "stopped-by-rule")


def test_a_look_uses_the_interval_of_the_finished_log(runs):
    log = read_log(runs["out_of_reach"]["location"])
    watch = EpochMonitor(Log(log.header), log.documents, 3, Rule(1.0, 0.95, 2))
    for (question, epoch), cell in log.cells.items():
        watch.add(Sample(id=question, epoch=epoch, scores=cell.scores))
    found, (row,) = watch.look(), estimate(runs["out_of_reach"]["location"])
    assert (found.values["low"], found.values["high"]) == (row.interval.low, row.interval.high)


def test_an_unreachable_width_runs_all_epochs_and_records_the_reason(runs):
    assert runs["out_of_reach"]["early_stopping"]["early_stops"] == []
    assert trials_of(runs["out_of_reach"]).tolist() == [3] * 12
    assert "still wider than 0.01" in decision(runs["out_of_reach"])["reason"]


def test_too_many_concurrent_trials_are_a_warning(runs):
    run = runs["at_once"]
    assert run["early_stopping"]["early_stops"] == []
    assert "set max_samples lower" in decision(run)["reason"]
    assert any("stop_when may come too late" in text for text in run["warnings"])
    assert runs["width"]["warnings"] == []


def test_a_comparison_is_decided_by_the_e_value_and_stops(runs):
    found = decision(runs["better"])
    assert found["decision"] == "comparison"
    assert found["threshold"] == pytest.approx((EPOCHS - 1) / 0.05)
    assert found["e_value"] >= found["threshold"]
    assert found["mean_difference"] > 0.4
    assert "this system is better" in found["reason"]
    assert trials_of(runs["better"]).sum() < N * EPOCHS


def test_equal_systems_are_left_undecided(runs):
    assert decision(runs["undecided"])["decision"] is None
    assert "is below the threshold" in decision(runs["undecided"])["reason"]
    assert trials_of(runs["undecided"]).sum() == 3 * N


@pytest.mark.parametrize("case", ["anytime_width", "anytime_better"])
def test_questions_end_once_an_anytime_valid_interval_decides(runs, case):
    log, found = read_log(runs[case]["location"]), decision(runs[case])
    order = [str(question) for question in log.header.eval.dataset.sample_ids]
    assert found["rule"]["valid"] == "anytime"
    assert 10 < found["n_questions"] < 240
    assert len(log.cells) + len(runs[case]["early_stopping"]["early_stops"]) == 2 * 300
    assert {question for question, _ in log.cells} == set(order[: len(log.cells)])
    assert runs[case]["warnings"] == []


def test_the_interval_that_ended_the_run_is_that_of_the_first_questions_in_line(runs):
    log, found = read_log(runs["anytime_width"]["location"]), decision(runs["anytime_width"])
    order = [str(question) for question in log.header.eval.dataset.sample_ids][: int(found["n_questions"])]
    scores = [log.cells[question, 1].scores["right"].value == "C" for question in order]
    sequence = confidence_sequence(scores, planned=300)
    assert (found["low"], found["high"]) == (sequence.low[-1], sequence.high[-1])
    assert found["high"] - found["low"] <= 0.2


def test_the_interval_after_an_anytime_stop_accounts_for_the_looks(runs):
    (row,) = estimate(runs["anytime_width"]["location"])
    assert row.method == "confidence-sequence"
    assert row.interval.width == pytest.approx(0.2, abs=0.02)
    assert has(row, "anytime-valid")


def test_after_a_stop_only_complete_passages_count(runs):
    run = runs["anytime_passages"]
    found = decision(run)
    assert found["decision"] == "width"
    assert found["cluster"] == "passage"
    assert len(found["clusters"]) == 300
    (row,) = estimate(run["location"])
    assert (row.method, row.cluster_key) == ("confidence-sequence", "passage")
    order = [str(question) for question in read_log(run["location"]).header.eval.dataset.sample_ids]
    cells = read_log(run["location"]).cells
    scores = [cells[question, 1].scores["right"].value == "C" for question in order[: len(cells)]]
    sequence = confidence_sequence(scores, clusters=np.repeat(np.arange(75), 4), planned=300)
    assert (row.interval.low, row.interval.high) == (sequence.low[-1], sequence.high[-1])
    # trials that were running when the rule was met may have completed another passage
    assert row.interval.width <= found["width"] <= 0.3
    assert any({len(cells) // 4, 75} <= set(note.params.values()) for note in row.notes)
    assert has(row, "stopped-anytime")


def test_an_interval_that_ignores_the_looks_has_a_note(runs):
    (row,) = estimate(runs["width"]["location"])
    assert has(row, "stopped-by-rule")


def test_questions_in_the_order_of_the_data_set_are_a_warning(runs):
    run = runs["anytime_undecided"]
    assert "still wider than 0.01" in decision(run)["reason"]
    assert any("--sample-shuffle" in text for text in run["warnings"])
    (row,) = estimate(run["location"])  # the rule was evaluated, but did not end the run
    assert row.method == "confidence-sequence"


@pytest.mark.parametrize(("case", "said"), [("nowhere", "runs all its epochs"), ("failing", "all epochs are run")])
def test_a_failing_rule_does_not_affect_the_run(runs, case, said):
    assert trials_of(runs[case]).sum() == 36
    assert decision(runs[case])["decision"] is None
    assert any(said in text for text in runs[case]["warnings"])


class NoDocument:
    """A sample that cannot be read."""

    id, input, target, metadata = "1", "Question?", "t", [1]


@pytest.mark.parametrize("model", ["mockllm/model", 5])
def test_a_failure_at_the_start_does_not_end_the_run(inspect_log, caplog, model):
    from harness_uq_inspect import stop_when

    def model_dump(**options):
        return {"task": "toy", "model": model, "config": {}}

    spec = SimpleNamespace(task="toy", config=SimpleNamespace(max_samples=None), model_dump=model_dump)
    samples = [NoDocument()] if model == "mockllm/model" else []
    assert asyncio.run(stop_when(width=0.1).start_task(spec, samples, 2)) == "harness_uq.stop_when"
    assert "toy runs all its epochs" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs a width"),
        ({"width": 0.1, "min_trials": 1}, "min_trials"),
        ({"width": -1}, "width must be above 0; got -1"),
        ({"width": float("nan")}, "width must be above 0"),
        ({"width": 0.1, "level": 5}, "level"),
        ({"width": 0.1, "valid": "always"}, "valid must be 'anytime' or None; got 'always'"),
        ({"width": 0.1, "valid": "anytime", "min_trials": 2}, "cannot be used with valid='anytime'"),
        ({"width": 0.1, "valid": "anytime", "scope": "benchmark"}, "'population' or 'full'"),
        ({"width": 0.1, "scope": "nonsense"}, "scope must be population or benchmark; got 'nonsense'"),
    ],
)
def test_invalid_rules_are_rejected(inspect_log, options, said):
    from harness_uq_inspect import stop_when

    with pytest.raises(DataError, match=said):
        stop_when(**options)


def test_clusters_count_as_one_bet_in_units_of_the_largest():
    """Ten passages of three questions, A ahead by 1, 0, 1 in each: ten bets of 2/3, not thirty."""
    from harness_uq.data.task_log import MetadataField
    from harness_uq_inspect.live.stopping_rules import Baseline, _unit_differences

    passages = MetadataField(np.repeat(np.arange(10), 3))
    questions = Questions(tuple(map(str, range(30))), fields={"passage": passages})
    scores = [Scores("m", "none", values[:, None]) for values in (np.ones(30), np.tile([0.0, 1.0, 0.0], 10))]
    ours, theirs = (TaskLog("s", "t", Source("p", "inspect"), questions, (one,)) for one in scores)
    rule = Rule(None, 0.95, 2, "p", cluster="passage")
    differences = _unit_differences(ours, scores[0], Baseline("b", theirs), rule)
    assert differences == pytest.approx(np.full(10, 2 / 3))
    assert log_e_value_of_differences(differences) > 0
