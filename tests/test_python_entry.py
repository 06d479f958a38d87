"""What a user of Python sees first: the documentation of the package, logs that were read, and printed results."""

import numpy as np
import pytest

import harness_uq
from harness_uq import stats
from tests.data.toy import task_log


def logs_of_two_systems() -> list[object]:
    return [
        task_log([1, 0, 1, 1, 0, 1] * 8, task=task, system=system, fields={"passage": [i // 4 for i in range(48)]})
        for system in ("a", "b")
        for task in ("t", "u")
    ]


def test_a_reading_is_a_sequence_of_logs_that_analyses_accept() -> None:
    reading = harness_uq.read_logs(logs_of_two_systems())
    assert len(reading) == 4
    assert list(reading) == list(reading.logs)
    assert reading[0].task == "t"
    assert [log.task for log in reading[1:3]] == ["u", "t"]
    assert len(harness_uq.estimate(reading)) == 4
    assert {row.task for row in harness_uq.compare(reading)} >= {"t", "u"}
    assert harness_uq.rank(reading)
    assert len(repr(reading)) < 100


def test_reading_selects_tasks_and_systems() -> None:
    logs = logs_of_two_systems()
    assert [log.system for log in harness_uq.read_logs(logs, task="t")] == ["a", "b"]
    assert [log.task for log in harness_uq.read_logs(logs, model=["b"])] == ["t", "u"]
    with pytest.raises(harness_uq.DataError, match=r"Available tasks: t(,| and) u"):
        harness_uq.read_logs(logs, task="v")


def test_an_own_function_gets_an_interval_with_the_detected_clusters() -> None:
    """The lines in the documentation of the package."""
    (found,) = harness_uq.detect_structure(logs_of_two_systems(), task="t", model="a", cluster="passage")
    values = np.nanmean(found.log.data[0].values, axis=1)
    posterior = stats.resampled(len(values), lambda rows: float(values[rows].mean()), clusters=found.clusters.codes)
    low, high = posterior.interval(0.95)
    assert len(np.unique(found.clusters.codes)) == 12
    assert low < values.mean() < high
    documentation = str(harness_uq.__doc__)
    assert "clusters=found.clusters.codes" in documentation
    names = (
        "estimate(",
        "compare(",
        "rank(",
        "gate(",
        "plan(",
        "read_logs(",
        "`stats`",
        "`plugin_api`",
        "harness-uq lm-eval",
    )
    assert [name for name in names if name not in documentation] == []


def test_printed_results_name_attributes_and_arguments_of_python() -> None:
    rows = harness_uq.estimate(logs_of_two_systems()[0], cluster="passage")
    assert "(.messages)" in str(rows)
    assert "--" not in str(rows)
    assert "--" not in str(rows[0])


def test_an_overall_result_that_cannot_be_computed_prints_why() -> None:
    logs = [task_log([0.2, 0.5, 0.9], metric=metric, task=metric) for metric in ("acc", "perplexity")]
    overall = harness_uq.estimate(logs, overall=True).overall
    assert overall is not None
    assert not overall.systems
    assert "There is no overall result, because" in str(overall)
