"""Comparisons of systems of which some trials have no score."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import compare, compare_scores
from harness_uq.data.panel import failed_for_other
from harness_uq.data.selection import select_runs
from harness_uq.data.task_log import log_of_array
from harness_uq.messages.catalogue import comparison as messages
from tests.analyses.comparison.pooled import rows_with_pooled_tasks
from tests.data.toy import task_log


def runs(a: np.ndarray, b: np.ndarray):
    return [log_of_array(x, name, clusters=None, metric="score") for x, name in ((a, "A"), (b, "B"))]


def codes(row) -> tuple[str, ...]:
    return tuple(message.code for message in row.messages)


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    """A is better on 30 of 200 questions, B on 20; 16 of the questions that A answered wrong have no score for A."""
    a = np.r_[np.ones(30), np.zeros(20), np.ones(100), np.zeros(50)]
    b = np.r_[np.zeros(30), np.ones(20), np.ones(100), np.zeros(50)]
    a[[*range(30, 42), *range(150, 154)]] = np.nan
    return a, b


def test_drop_leaves_questions_out_for_both(scores) -> None:
    row = compare(*runs(*scores))[0]
    kept = np.isfinite(scores[0])
    plain = compare_scores(scores[0][kept], scores[1][kept])
    assert row.difference.interval == plain.difference.interval
    (warning,) = (message for message in row.messages if message.code == messages.VERDICT_DEPENDS_ON_MISSING.code)
    assert warning.params["n_missing"] == 16
    assert messages.FAILED_FOR_ONE_SYSTEM.code not in codes(row)  # the warning also states how many scores are missing


def test_questions_that_only_one_system_failed_are_counted() -> None:
    a, b = np.tile([1.0, 0.0, 1.0, 1.0], 50), np.tile([0.0, 0.0, 1.0, 1.0], 50)
    a[0], b[[6, 10]] = np.nan, np.nan
    (row,) = compare(*runs(a, b))
    (note,) = (message for message in row.messages if message.code == messages.FAILED_FOR_ONE_SYSTEM.code)
    assert (note.params["n_questions"], note.params["n_a"], note.params["n_b"]) == (3, 1, 2)
    assert messages.UNMATCHED_QUESTIONS.code not in codes(row)


def test_zero_compares_all_questions(scores) -> None:
    row = compare(*runs(*scores), missing="zero")[0]
    assert row.n_matched == 200
    assert row.difference.interval == compare_scores(np.nan_to_num(scores[0]), scores[1]).difference.interval


def test_bounds_contain_every_completion(scores) -> None:
    row = compare(*runs(*scores), missing="bounds")[0]
    missing = np.isnan(scores[0])
    worst, best = (np.where(missing, x, scores[0]).mean() - scores[1].mean() for x in (0.0, 1.0))
    assert row.identified_range == pytest.approx((worst, best))
    assert row.difference.interval.low < worst
    assert row.difference.interval.high > best
    assert row.verdict == "undecided"
    rng = np.random.default_rng(0)
    for _ in range(5):
        filled = np.where(missing, rng.integers(0, 2, 200), scores[0])
        inner = compare_scores(filled, scores[1], level=0.9).difference.interval
        assert row.difference.interval.low <= inner.low
        assert inner.high <= row.difference.interval.high


def test_the_order_of_the_systems_does_not_matter(scores) -> None:
    row, other = (compare(*pair, missing="bounds")[0] for pair in (runs(*scores), runs(*scores)[::-1]))
    assert row.difference.interval.low == pytest.approx(-other.difference.interval.high, abs=1e-9)
    assert row.identified_range == pytest.approx(tuple(-x for x in other.identified_range[::-1]))


def test_a_verdict_that_depends_on_missing_scores_is_reported(scores) -> None:
    row = compare(*runs(*scores))[0]
    assert row.verdict == "better"
    (warning,) = (message for message in row.messages if message.code == messages.VERDICT_DEPENDS_ON_MISSING.code)
    by_policy = {policy: compare(*runs(*scores), missing=policy)[0].verdict for policy in ("drop", "zero", "bounds")}
    shown = warning.params
    assert (shown["dropped"], shown["worst"], shown["open"]) == tuple(by_policy.values())
    assert shown["n_missing"] == 16


def test_a_verdict_that_does_not_depend_on_them_is_not_reported() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.random(300) < 0.9).astype(float), (rng.random(300) < 0.4).astype(float)
    a[:6] = np.nan
    assert messages.VERDICT_DEPENDS_ON_MISSING.code not in codes(compare(*runs(a, b))[0])


def test_questions_that_failed_are_not_a_sample_of_own_questions() -> None:
    """Questions that only one system was given may be used in addition; questions that the other failed may not."""
    rng = np.random.default_rng(2)
    a, b = (rng.random(200) < 0.7).astype(float), (rng.random(200) < 0.6).astype(float)
    b[100:] = np.nan
    failed = compare(*runs(a, b), missing="drop")[0]
    assert failed.method != "partial-overlap"
    log_a, log_b = runs(a, b)
    run_a, run_b = (next(iter(select_runs([log])[log.system].values())) for log in (log_a, log_b))
    assert failed_for_other(run_a, run_b).sum() == 100
    assert not failed_for_other(run_b, run_a).any()


def test_lower_is_better(scores) -> None:
    logs = [replace(log, higher_is_better={"score": False}) for log in runs(*scores)]
    plain, low = compare(*runs(*scores), missing="bounds")[0], compare(*logs, missing="bounds")[0]
    assert low.identified_range == pytest.approx(plain.identified_range)
    assert low.difference.interval.low == pytest.approx(plain.difference.interval.low, abs=1e-9)


def test_tasks_of_an_unknown_range_are_pooled_without_their_extreme_scores() -> None:
    rng, sides = np.random.default_rng(0), ([], [])
    for task, spread in (("narrow", 1.0), ("wide", 3.0)):
        for logs, system in zip(sides, "ab", strict=True):
            values = spread * rng.normal(size=20)
            values[rng.random(20) < 0.2] = np.nan
            logs.append(task_log(values, system=system, task=task, metric="points"))
    assert [row.task for row in rows_with_pooled_tasks(*sides)] == ["narrow", "wide", "overall"]
