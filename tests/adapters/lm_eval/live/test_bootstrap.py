"""Bootstrap intervals with a task's own aggregation."""

import numpy as np
import pytest
from scipy import stats

from harness_uq import Estimate, NotEstimableError, Source
from harness_uq.data.task_log import HarnessResult
from harness_uq_lm_eval.live.bootstrap import METHOD, bootstrap_estimate

LEVEL = 0.95


def row(printed):
    """An estimate without an interval, whose value lm-eval printed."""
    return Estimate(
        system="s",
        task="t",
        metric="m",
        filter="none",
        estimand="mean",
        scope="population",
        method="not estimable",
        value=printed,
        std_error=None,
        interval=None,
        source=Source("run", "lm-eval"),
        harness=HarnessResult(printed, None, 4),
    )


def percent(items):
    return 100 * sum(items) / len(items)


def found(values, function=percent, units=None, seconds=30.0, printed=None, seed=0):
    known = row(function(values) if printed is None else printed)
    return bootstrap_estimate(known, values, function, units, level=LEVEL, seconds=seconds, seed=seed)


def test_the_bootstrap_standard_error_of_a_mean_agrees_with_the_formula():
    values = [0, 1, 1, 0, 1] * 20
    ours = found(values)
    assert (ours.method, ours.value, ours.warnings) == (METHOD, 60.0, ())
    # with 1,000 draws the relative Monte Carlo error of the standard error is 1 / sqrt(2,000); tolerance: four
    assert ours.std_error == pytest.approx(100 * np.std(values) / 10, rel=0.09)


def test_clusters_are_resampled_as_a_whole():
    values, units = np.repeat([0, 1, 1, 0], 25).tolist(), np.repeat(np.arange(4), 25)
    ours = found(values, units=units)
    assert ours.std_error == pytest.approx(100 * 0.5 / 2, rel=0.09)
    assert (ours.n_clusters, len(ours.warnings)) == (4, 1)


def test_the_interval_narrows_with_more_questions():
    widths = [found([0, 1, 1] * n).interval.width for n in (20, 80, 320)]
    assert widths[0] > 1.8 * widths[1] > 3.2 * widths[2]


@pytest.mark.parametrize("function", [max, min])
def test_an_extreme_has_no_interval(function):
    values = np.random.default_rng(0).normal(size=100).tolist()
    with pytest.raises(NotEstimableError, match="lies at the end"):
        found(values, function)


def test_a_constant_function_has_no_interval():
    with pytest.raises(NotEstimableError, match=r"returns 0\.25 for every"):
        found([0, 1, 0], lambda items: 0.25)


def test_a_function_that_depends_on_the_order_has_no_interval():
    values = [0, 1, 2, 3, 1, 2] * 7
    with pytest.raises(NotEstimableError, match="depends on the order"):
        found(values, lambda items: items[len(items) // 2])  # lm-eval's median up to 0.4.11


def test_a_value_that_is_not_reproduced_is_not_used():
    with pytest.raises(NotEstimableError, match="does not reproduce the reported value"):
        found([0, 1, 0], printed=50.0)


@pytest.mark.parametrize("raised", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_a_function_that_fails_or_stops_the_program_costs_only_the_interval(raised):
    calls = []

    def fails(items):
        calls.append(1)
        if len(calls) > 3:
            raise raised
        return percent(items)

    with pytest.raises(NotEstimableError, match=raised.__name__):
        found([0, 1, 1, 0], fails)


def test_a_slow_function_is_abandoned():
    with pytest.raises(NotEstimableError, match=r"too slow \(0 of the 200"):
        found([0, 1, 1], seconds=0.0)


def test_the_function_receives_a_copy():
    values = [[0], [1], [1]]

    def changes(items):
        mean = sum(item[0] for item in items) / len(items)
        items.sort()
        items[0].append("changed")
        return mean

    found(values, changes, printed=2 / 3)
    assert values == [[0], [1], [1]]


@pytest.mark.slow
def test_intervals_have_their_nominal_coverage():
    """Data sets of 150 skewed scores; the function is their mean in per cent."""
    rng = np.random.default_rng(20)
    truth, covered, n = 100 * 2 / 7, 0, 150
    for seed in range(n):
        values = rng.beta(2, 5, 150)
        ours = found(values.tolist(), seed=seed)
        covered += ours.interval.low <= truth <= ours.interval.high
    assert stats.binomtest(covered, n, LEVEL).pvalue > 1e-3
