"""A gate that learns from further runs of the baseline's system which questions are flaky."""

import numpy as np
import pytest

from harness_uq import DataError, gate
from harness_uq.data.task_log import Source, TaskLog
from tests.analyses.comparison.test_questions import BROKEN, FLAKY, IDS, baseline, new
from tests.data.toy import task_log
from tests.message_checks import params_of

NEW = task_log(new(), system="new", ids=IDS, source=Source("new.json", "lm-eval", time="2026-12-01"))


def run(night: int, values: np.ndarray | None = None, *, n: int = 100, system: str = "old") -> TaskLog:
    source = Source(f"night-{night:02d}.json", "lm-eval", time=f"2026-11-{night:02d}")
    given = baseline(night) if values is None else values
    return task_log(given[:n], system=system, ids=IDS[:n], source=source)


def test_a_history_separates_regressions_from_flaky_questions_without_changing_the_decision() -> None:
    alone = gate(NEW, run(20), margin=0.02)
    found = gate(NEW, run(20), margin=0.02, history=[run(night) for night in range(10, 20)])
    assert (found.decision, found.rows[0].adjusted_p) == (alone.decision, alone.rows[0].adjusted_p)
    assert {one.probability for one in alone.flipped[0].worse} == {None}
    (flipped,) = found.flipped
    assert {one.question for one in flipped.worse} == {f"q{i}" for i in BROKEN}
    assert {one.question for one in flipped.flaky} == {f"q{i}" for i in FLAKY}
    assert params_of(found, "UQ262") == {"n_runs": 10, "omitted": ""}


def test_the_answers_of_a_history_count_like_those_of_baseline_runs() -> None:
    nights = [run(night) for night in range(10, 16)]
    (from_runs,) = gate(NEW, nights, margin=0.02).flipped
    (from_history,) = gate(NEW, nights[-1], margin=0.02, history=nights).flipped
    assert from_history == from_runs


def test_a_history_may_contain_a_part_of_the_questions() -> None:
    parts = [run(night, n=60) for night in range(10, 20)]
    (flipped,) = gate(NEW, run(20), margin=0.02, history=parts).flipped
    assert {one.question for one in flipped.flaky} == {f"q{i}" for i in FLAKY}


def test_runs_that_a_change_separates_from_the_baseline_are_omitted() -> None:
    worse = [run(night, np.where(np.arange(100) < 35, 0.0, baseline(night))) for night in range(1, 10)]
    nights = [run(night) for night in range(10, 21)]
    found = gate(NEW, nights[-1], margin=0.02, history=[*worse, *nights])
    assert params_of(found, "UQ262")["n_runs"] == 10
    assert "9 other runs are omitted" in params_of(found, "UQ262")["omitted"]
    assert {one.question for one in found.flipped[0].worse} == {f"q{i}" for i in BROKEN}
    early = gate(NEW, worse[-1], margin=0.02, history=[*worse, *nights])  # a baseline before the change
    assert params_of(early, "UQ262")["n_runs"] == 8


def test_a_history_has_runs_of_the_baseline_besides_those_that_are_compared() -> None:
    for history in ([run(20), NEW], [run(19, system="other")]):
        with pytest.raises(DataError) as error:
            gate(NEW, run(20), margin=0.02, history=history)
        assert error.value.message.code == "UQ263"
    with pytest.raises(DataError, match="baseline"):
        gate(NEW, at_least=0.5, history=[run(20)])
