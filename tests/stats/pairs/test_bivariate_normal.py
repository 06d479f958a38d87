import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from harness_uq.stats.pairs.bivariate_normal import quadrant_log_likelihood, quadrant_probabilities

reals = st.floats(-6, 6)


def both_below(h: float, k: float, rho: float) -> float:
    """P(X <= h, Y <= k) for standard normal X and Y with correlation rho."""
    return float(quadrant_probabilities(h, k, np.arctanh(rho))[0])


@pytest.mark.parametrize("rho", [-0.99, -0.4, 0.0, 0.3, 0.9, 0.9999])
def test_at_the_origin_it_is_sheppards_arcsine(rho: float) -> None:
    assert both_below(0, 0, rho) == pytest.approx(0.25 + np.arcsin(rho) / (2 * np.pi), abs=1e-15)


def test_agrees_with_scipys_integral() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        h, k = 2 * rng.normal(size=2)
        rho = np.tanh(1.5 * rng.normal())
        covariance = [[1, rho], [rho, 1]]
        expected = stats.multivariate_normal.cdf([h, k], cov=covariance, abseps=1e-12, releps=1e-12)
        assert both_below(h, k, rho) == pytest.approx(float(expected), abs=1e-10)


@given(reals, reals)
def test_independent_variables_multiply(h: float, k: float) -> None:
    assert both_below(h, k, 0.0) == pytest.approx(special.ndtr(h) * special.ndtr(k), abs=1e-15)


@given(reals, reals, st.floats(-3, 18))
def test_quadrants_sum_to_one_and_to_their_margins(a: float, b: float, z: float) -> None:
    both, only_a, only_b, neither = quadrant_probabilities(a, b, z)
    assert both + only_a + only_b + neither == pytest.approx(1, abs=1e-14)
    assert both + only_a == pytest.approx(special.ndtr(a), abs=1e-14)
    assert both + only_b == pytest.approx(special.ndtr(b), abs=1e-14)


@given(reals, reals, st.floats(-3, 6))
def test_log_likelihood_is_the_counts_times_the_logs(a: float, b: float, z: float) -> None:
    counts = np.array([3.0, 1.0, 2.0, 5.0])
    expected = sum(c * np.log(p) for c, p in zip(counts, quadrant_probabilities(a, b, z), strict=True))
    value = quadrant_log_likelihood(counts, np.array(a), np.array(b), np.array(z))
    assert float(value) == pytest.approx(float(expected), rel=1e-14)


def test_small_quadrants_keep_their_digits() -> None:
    # perfectly correlated but for 2e-13: P(X <= 6, Y > 5.5) = P(Y > 5.5) - P(X > 6), both near 1e-9
    _, only_a, _, neither = quadrant_probabilities(6.0, 5.5, 15.0)
    assert float(only_a) == pytest.approx(special.ndtr(-5.5) - special.ndtr(-6), rel=1e-6)
    assert float(neither) == pytest.approx(special.ndtr(-6.0), rel=1e-6)
