"""Ratios of positive means, such as cost per solved question."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binomtest, norm

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.means.hall import hall_mean
from harness_uq.stats.means.ratio import (
    PositiveLimits,
    correlation_of_means,
    is_heavy_tailed,
    positive_mean,
    ratio_of_limits,
)


def test_moderately_skewed_costs_have_halls_interval():
    costs = np.random.default_rng(1).lognormal(0, 0.5, 60)
    assert (positive_mean(costs).low, positive_mean(costs).high) == hall_mean(costs).interval()


def test_the_lower_limit_of_a_cost_is_positive():
    costs = [0.1, 0.1, 0.1, 5.0]
    assert hall_mean(costs).interval()[0] < 0 < positive_mean(costs).low


def test_each_cluster_is_one_unit():
    costs = np.random.default_rng(2).lognormal(0, 1, 10)
    repeated, codes = np.repeat(costs, 3), np.repeat(np.arange(10), 3)
    alone, clustered = positive_mean(costs), positive_mean(repeated, codes)
    np.testing.assert_allclose(
        [clustered.value, clustered.low, clustered.high], [alone.value, alone.low, alone.high], rtol=1e-9
    )


def test_a_negative_cost_is_an_error():
    with pytest.raises(DataError):
        positive_mean([1.0, -1.0, 2.0])


def test_a_known_denominator_scales_the_numerator():
    limits = ratio_of_limits(PositiveLimits(2.0, 1.0, 5.0), PositiveLimits(0.5, 0.5, 0.5), 0.3)
    assert (limits.value, limits.low, limits.high) == pytest.approx((4.0, 2.0, 10.0))


def test_the_ratio_is_mover_on_the_log_scale():
    # Zou and Donner (2008), eq. for a difference, with log limits -1, 2 of a, -0.5, 0.25 of b and correlation 0.4
    a, b = (PositiveLimits(1.0, math.exp(low), math.exp(high)) for low, high in ((-1, 2), (-0.5, 0.25)))
    limits = ratio_of_limits(a, b, 0.4)
    assert math.log(limits.low) == pytest.approx(-math.sqrt(1 + 0.0625 - 2 * 0.4 * 1 * 0.25))
    assert math.log(limits.high) == pytest.approx(math.sqrt(4 + 0.25 - 2 * 0.4 * 2 * 0.5))


def test_the_inverse_of_the_ratio_is_the_ratio_of_the_inverses():
    a, b = PositiveLimits(2.0, 1.0, 5.0), PositiveLimits(0.3, 0.2, 0.5)
    inverse, swapped = ratio_of_limits(a, b, 0.4).inverse, ratio_of_limits(b, a, 0.4)
    assert (inverse.value, inverse.low, inverse.high) == pytest.approx((swapped.value, swapped.low, swapped.high))


def test_perfectly_correlated_estimates_of_equal_precision_have_an_exact_ratio():
    limits = ratio_of_limits(PositiveLimits(2.0, 1.0, 4.0), PositiveLimits(1.0, 0.5, 2.0), 1.0)
    np.testing.assert_allclose([limits.low, limits.high], [2.0, 2.0])


def test_the_normal_limit_is_the_delta_method():
    # for narrow intervals MOVER is the delta method for log ratios
    rng = np.random.default_rng(3)
    costs, scores = rng.gamma(50, 0.02, 20_000), rng.beta(50, 50, 20_000)
    influence = costs / costs.mean() - scores / scores.mean()
    expected = norm.ppf(0.975) * influence.std() / math.sqrt(20_000)
    limits = ratio_of_limits(positive_mean(costs), positive_mean(scores), correlation_of_means(costs, scores))
    assert math.log(limits.high / limits.value) == pytest.approx(expected, rel=0.01)
    assert math.log(limits.value / limits.low) == pytest.approx(expected, rel=0.01)


def test_without_success_there_is_no_upper_limit():
    limits = ratio_of_limits(PositiveLimits(1.0, 0.8, 1.5), PositiveLimits(0.0, 0.0, 0.2), 0.0)
    assert limits == PositiveLimits(math.inf, 4.0, math.inf)
    assert limits.inverse == PositiveLimits(0.0, 0.0, 0.25)


def test_a_free_system_has_no_ratio():
    with pytest.raises(NotEstimableError):
        ratio_of_limits(PositiveLimits(0.0, 0.0, 0.0), PositiveLimits(0.5, 0.4, 0.6), 0.0)


def test_questions_at_the_bounds_reduce_the_correlation_of_few_successes():
    costs, scores = [1.0, 1.0, 1.0, 9.0], [0.0, 0.0, 0.0, 1.0]
    assert correlation_of_means(costs, scores) == pytest.approx(1.0)
    assert 0 < correlation_of_means(costs, scores, bounds=(0.0, 1.0)) < 0.9
    assert correlation_of_means(costs, [1.0] * 4, bounds=(0.0, 1.0)) == 0.0


def test_lognormal_costs_are_heavy_tailed_from_a_sigma_between_1_and_1_5():
    rng = np.random.default_rng(4)
    assert not is_heavy_tailed(rng.lognormal(0, 1.0, 500))
    assert is_heavy_tailed(rng.lognormal(0, 1.5, 500))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "p", "sigma", "least"), [(30, 0.05, 1.0, 0.93), (30, 0.9, 1.5, 0.85), (100, 0.3, 1.0, 0.93)]
)
def test_cost_per_solved_question_is_covered(n, p, sigma, least):
    """Costs are lognormal and success is a threshold of a latent variable with correlation -0.5 with the log cost."""
    rng, n_sets = np.random.default_rng(5), 1000
    covered = 0
    for _ in range(n_sets):
        z, noise = rng.standard_normal((2, n))
        costs = np.exp(sigma * z - sigma**2 / 2)
        scores = (-0.5 * z + math.sqrt(0.75) * noise < norm.ppf(p)).astype(float)
        k = scores.sum()
        success = PositiveLimits(k / n, *map(float, beta.ppf([0.025, 0.975], k + 1, n - k + 1)))
        r = correlation_of_means(costs, scores, bounds=(0.0, 1.0))
        limits = ratio_of_limits(positive_mean(costs), success, r)
        covered += limits.low <= 1 / p <= limits.high
    assert binomtest(covered, n_sets, least, alternative="less").pvalue > 1e-3
