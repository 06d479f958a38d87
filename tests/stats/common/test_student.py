"""Student's t of a mean against statsmodels, its limits and symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import narrowest_interval
from harness_uq.stats.common.student import StudentPosterior, student_posterior

scores = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1)


@settings(deadline=None)  # the first example imports the other library
@given(scores)
def test_interval_is_that_of_statsmodels(x: list[int]) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    expected = weightstats.DescrStatsW(np.array(x, float)).tconfint_mean(alpha=0.1)
    assert student_posterior(x).interval(0.9) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(scores, st.integers(-50, 50), st.integers(1, 50))
def test_interval_moves_and_stretches_with_the_scores(x: list[int], shift: int, scale: int) -> None:
    low, high = student_posterior(x).interval()
    moved = student_posterior(shift + scale * np.array(x)).interval()
    assert moved == pytest.approx((shift + scale * low, shift + scale * high), rel=1e-9, abs=1e-7)


def test_many_degrees_of_freedom_give_the_normal_distribution() -> None:
    posterior = StudentPosterior(2.0, 0.5, 1e7)
    p = np.array([0.01, 0.3, 0.5, 0.975])
    assert posterior.quantile(p) == pytest.approx(2.0 + 0.5 * special.ndtri(p), abs=1e-6)
    assert posterior.sd == pytest.approx(0.5, rel=1e-6)


def test_quantile_inverts_cdf_and_both_interval_kinds_agree() -> None:
    posterior = StudentPosterior(-1.0, 3.0, 4.5)
    p = np.linspace(0.01, 0.99, 13)
    # before 1.17 scipy's stdtrit ends its search early: 2e-10 in 1.12
    assert posterior.cdf(posterior.quantile(p)) == pytest.approx(p, rel=1e-9)
    assert posterior.quantile([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert posterior.interval(0.9, "hdi") == posterior.interval(0.9)
    assert posterior.interval(0.9) == pytest.approx(narrowest_interval(posterior.quantile, 0.9), abs=1e-5)


def test_sd_is_infinite_up_to_two_degrees_of_freedom() -> None:
    assert student_posterior([0.0, 1.0]).sd == float("inf")
    assert StudentPosterior(0.0, 1.0, 4.0).sd == pytest.approx(np.sqrt(2.0))


def test_scores_that_differ_by_rounding_alone_are_all_equal() -> None:
    """Differences of .1 in floating point: .09999999999999998, .10000000000000003 and .09999999999999998."""
    with pytest.raises(NotEstimableError, match=r"all 3 scores equal 0\.1"):
        student_posterior(np.array([0.3, 0.4, 0.6]) - np.array([0.2, 0.3, 0.5]))
    assert student_posterior([1e6, 1e6 + 1e-3]).std_error == pytest.approx(5e-4, rel=1e-6)


def test_coverage_of_normal_scores_is_the_level() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(3.0, 2.0, size=(2000, 5))
    ends = np.array([student_posterior(row).interval(0.9) for row in data])
    covered = int(((ends[:, 0] <= 3.0) & (ends[:, 1] >= 3.0)).sum())
    assert binomtest(covered, 2000, 0.9).pvalue > 1e-3


@pytest.mark.parametrize(("x", "why"), [([1.0], "at least two"), ([0.7] * 9, r"all 9 scores equal 0\.7")])
def test_unknown_spread_is_not_zero(x: list[float], why: str) -> None:
    with pytest.raises(NotEstimableError, match=why):
        student_posterior(x)


def test_bad_values_are_named() -> None:
    with pytest.raises(DataError, match="position 1 is nan"):
        student_posterior([1.0, float("nan")])
    with pytest.raises(DataError, match="std_error > 0"):
        StudentPosterior(0.0, 0.0, 3.0)
    with pytest.raises(DataError, match="interval kind"):
        student_posterior([1.0, 2.0]).interval(0.9, "wald")  # type: ignore[arg-type]
