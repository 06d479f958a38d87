"""Logs of `model_graded_fact` with scripted graders, and labels of scripted people."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from harness_uq import assess_graders, compare, rank, read_logs
from harness_uq.data.factors import settings_of
from tests.adapters.inspect.environment import run_with_uq
from tests.adapters.inspect.live.grader_runs import N_LABELED, N, accepts, truth
from tests.message_checks import has, params_of

pytestmark = [pytest.mark.harness, pytest.mark.slow]


@pytest.fixture(scope="module")
def runs(inspect_log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graders")
    script = Path(__file__).with_name("grader_runs.py")
    run_with_uq(sys.executable, script, folder, cwd=folder, HARNESS_UQ=None)
    return folder


def shares(grader, system):
    answers = range(N_LABELED)
    return np.mean([accepts(grader, system, i) == truth(system, i) for i in answers])


def test_the_agreement_of_each_grader_is_that_of_its_script(runs):
    rows = assess_graders(str(runs / "runs"), str(runs / "labels.csv")).agreements
    for grader, name in (("model_graded_fact", "first"), ("model_graded_fact1", "second")):
        found = {row.system: row.measures[0].value for row in rows if row.grader == grader}
        for system in ("large", "small"):
            assert found[f"mockllm/{system}"] == pytest.approx(shares(name, system))
        assert found[None] == pytest.approx(np.mean([shares(name, system) for system in ("large", "small")]))


def test_the_second_grader_is_more_lenient_in_one_log_and_in_rescored_logs(runs):
    expected = np.mean([accepts("second", "small", i) - accepts("first", "small", i) for i in range(N)])
    for folder, graders in (
        ("runs", ("model_graded_fact1", "model_graded_fact")),
        ("rescored", ("model_graded_fact (2)", "model_graded_fact (1)")),
    ):
        rows = assess_graders(str(runs / folder)).grader_differences
        (row,) = (row for row in rows if row.system == "mockllm/small")
        assert (row.grader_a, row.grader_b) == graders
        assert row.value == pytest.approx(expected)
        assert (row.verdict, row.n_questions) == ("higher", N)


def test_labels_correct_the_comparison_of_the_systems(runs):
    logs = read_logs(str(runs / "runs")).logs
    sides = [[log for log in logs if log.system.endswith(name)] for name in ("large", "small")]
    (raw,) = compare(*sides, metric="model_graded_fact")
    (row,) = compare(*sides, metric="model_graded_fact", labels=str(runs / "labels.csv"))
    expected = np.mean([truth("large", i) - truth("small", i) for i in range(N)])
    assert raw.difference.value < row.difference.value
    assert row.difference.interval.low < expected < row.difference.interval.high
    assert row.verdict == "better"


def test_labels_can_be_entered_for_the_answers_of_one_system(runs, tmp_path):
    with (runs / "labels.csv").open() as source, (tmp_path / "small.csv").open("w", newline="") as target:
        rows = [row for row in csv.reader(source) if row[1] in ("system", "mockllm/small")]
        csv.writer(target).writerows(rows)
    rows = assess_graders(str(runs / "runs"), str(tmp_path / "small.csv"), metric="model_graded_fact").agreements
    assert {row.system: row.n_labels for row in rows} == {
        None: N_LABELED,
        "mockllm/large": 0,
        "mockllm/small": N_LABELED,
    }


def test_the_model_of_a_grader_is_a_setting(runs):
    (log,) = read_logs(str(runs / "rescored" / "large-second.eval")).logs
    assert settings_of(log)["scorer_model.model_graded_fact"] == "mockllm/model"


def test_labels_that_people_entered_in_the_logs_correct_the_scores(runs):
    logs = read_logs(str(runs / "edited")).logs
    sides = [[log for log in logs if log.system.endswith(name)] for name in ("large", "small")]
    (row,) = compare(*sides, metric="model_graded_fact", labels="human")
    assert (row.verdict, row.method) == ("better", "judge-corrected")
    by_table = assess_graders(str(runs / "runs"), str(runs / "labels.csv"), metric="model_graded_fact").agreements
    entered = assess_graders(str(runs / "edited"), "human").agreements
    assert {(one.system, one.n_labels) for one in entered} == {(one.system, one.n_labels) for one in by_table}
    assert {one.system: one.measures[0].value for one in entered} == {
        one.system: one.measures[0].value for one in by_table
    }


def test_the_people_who_entered_or_changed_scores_are_named(runs):
    logs = read_logs(str(runs / "edited")).logs
    assert len(logs) == 2
    for log in logs:
        entered, changed = params_of(log, "scores-entered"), params_of(log, "scores-changed")
        counts = {"n_edited": N_LABELED, "n_scores": N_LABELED}
        assert entered == {"scorer": "human", "authors": ("Ann", "Bob"), **counts}
        assert changed == {"scorer": "model_graded_fact", "authors": ("Bob",), "n_edited": 1, "n_scores": N}
    for log in read_logs(str(runs / "runs")).logs:
        assert not has(log, "scores-entered")
        assert not has(log, "scores-changed")


def test_labels_rank_the_systems(runs):
    logs = read_logs(str(runs / "runs")).logs
    (ranking,) = rank(logs, metric="model_graded_fact", labels=str(runs / "labels.csv"))
    assert [row.system for row in ranking.systems] == ["mockllm/large", "mockllm/small"]
    for row in ranking.systems:
        expected = np.mean([truth(row.system.rpartition("/")[2], i) for i in range(N)])
        assert row.interval.low < expected < row.interval.high
