"""One system as two sides."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq.analyses.gating.gate_power import worst_logs
from harness_uq.analyses.gating.self_test import by_epochs, by_halves, has_epochs
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import AggregateScore, Classifications, SufficientStatistics
from tests.data.toy import task_log

RNG = np.random.default_rng


def test_the_trials_of_each_question_are_shared_out() -> None:
    values = np.arange(24.0).reshape(4, 6)
    values[1, :2] = np.nan
    values[2, 1:] = np.nan
    log = task_log(values)
    a, b = by_epochs(log, RNG(0))
    for row, (mine, theirs) in enumerate(zip(a.data[0].values, b.data[0].values, strict=True)):
        shared = np.concatenate([mine[~np.isnan(mine)], theirs[~np.isnan(theirs)]])
        assert sorted(shared) == sorted(values[row][~np.isnan(values[row])])
    assert a.data[0].values.shape == b.data[0].values.shape == (4, 3)
    assert [np.isfinite(side.data[0].values[1]).sum() for side in (a, b)] == [2, 2]


def test_of_an_odd_number_of_trials_one_is_left_out() -> None:
    a, b = by_epochs(task_log(np.arange(10.0).reshape(2, 5)), RNG(0))
    assert a.data[0].values.shape == b.data[0].values.shape == (2, 2)


@pytest.mark.parametrize(("values", "expected"), [([[1, 0]], True), ([[1]], False)])
def test_epochs_are_several_trials(values: list[list[int]], expected: bool) -> None:
    assert has_epochs(task_log(values)) is expected
    assert not has_epochs(replace(task_log(values), data=()))


def test_halves_hold_every_question_once_and_whole_clusters() -> None:
    units = np.repeat(np.arange(10), 3)
    log = task_log(range(30), hashes=[f"h{i}" for i in range(30)], fields={"p": units.tolist()})
    a, b = by_halves(log, units, RNG(1))
    assert sorted(a.questions.ids + b.questions.ids, key=int) == list(log.questions.ids)
    assert len(set(units[[int(i) for i in a.questions.ids]])) == 5
    assert a.questions.hashes == tuple(f"h{i}" for i in a.questions.ids)
    assert a.data[0].values[:, 0].tolist() == [float(i) for i in a.questions.ids]
    assert a.questions.fields["p"].codes.tolist() == [int(i) // 3 for i in a.questions.ids]


def test_halves_of_independent_questions_and_of_every_kind_of_data() -> None:
    log = task_log([1, 0, 1, 0])
    numbers = np.arange(4)
    kinds = (
        *log.data,
        Classifications("f1", "none", numbers % 2, numbers[:, None] % 2, ("no", "yes"), clusters=numbers),
        SufficientStatistics("ppl", "none", numbers[:, None] * 1.0, "perplexity"),
        AggregateScore("total", "none", 1.0, 4, "no questions"),
    )
    a, b = by_halves(replace(log, data=kinds), None, RNG(0))
    assert [len(side.questions) for side in (a, b)] == [2, 2]
    assert [data.metric for data in a.data] == ["acc", "f1", "ppl"]
    kept = [int(i) for i in a.questions.ids]
    assert a.data[1].targets.tolist() == [i % 2 for i in kept]
    assert a.data[2].statistics[:, 0].tolist() == kept


def test_the_worst_scores_are_at_the_worse_end_of_the_range() -> None:
    log = task_log([[1, np.nan], [0, 1]], metric="brier", higher_is_better={"brier": False})
    (worst,) = worst_logs([log], StructureOptions())
    np.testing.assert_array_equal(worst.data[0].values, [[1, np.nan], [1, 1]])
    (worst,) = worst_logs([task_log([3.0, 9.0])], StructureOptions(ranges={"acc": (1.0, 10.0)}))
    assert worst.data[0].values.tolist() == [[1.0], [1.0]]
    assert worst_logs([task_log([3.5, 9.0], metric="reward")], StructureOptions()) == []
