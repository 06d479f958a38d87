"""Shrunk draws of systems' scores: an independent computation, limits and symmetry."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.shrunk_scores import shrunk_draws


def normal_draws(means: list[float], sd: float, n: int = 20_000, correlation: float = 0.0) -> np.ndarray:
    k = len(means)
    covariance = sd**2 * ((1 - correlation) * np.eye(k) + correlation)
    return np.random.default_rng(1).multivariate_normal(means, covariance, n).T


def test_the_posterior_means_agree_with_an_integral_over_the_spread() -> None:
    """Three systems with independent errors: E[theta_k] = mean + E[B] (x_k - mean), B = tau^2 / (tau^2 + sd^2)."""
    x, sd = np.array([0.5, 0.53, 0.59]), 0.02
    tau = np.linspace(1e-5, 2.0, 400_000)
    prior = stats.halfcauchy.pdf(tau, scale=0.5 * np.sqrt(2) * sd)
    total = tau**2 + sd**2
    weights = prior * total**-1.0 * np.exp(-((x - x.mean()) ** 2).sum() / (2 * total))
    share = (weights * tau**2 / total).sum() / weights.sum()
    means = shrunk_draws(normal_draws(list(x), sd, 200_000)).mean(axis=1)
    assert means == pytest.approx(x.mean() + share * (x - x.mean()), abs=0.0006)


def test_systems_that_differ_widely_hardly_change() -> None:
    draws = normal_draws([0.2, 0.5, 0.8, 0.9], 0.005)
    assert shrunk_draws(draws).mean(axis=1) == pytest.approx(draws.mean(axis=1), abs=1e-3)
    assert shrunk_draws(draws).std(axis=1) == pytest.approx(draws.std(axis=1), rel=0.03)


def test_systems_with_equal_means_are_best_with_equal_probability() -> None:
    best = np.bincount(shrunk_draws(normal_draws([0.5] * 4, 0.02, 50_000)).argmax(axis=0)) / 50_000
    assert best == pytest.approx([0.25] * 4, abs=0.012)


def test_only_contrasts_matter() -> None:
    """A common error of all systems, and a common shift, do not change the ranks."""
    free, tied = (normal_draws([0.5, 0.51, 0.53], sd, correlation=c) for sd, c in ((0.02, 0.0), (0.04, 0.75)))
    probabilities = [np.bincount(shrunk_draws(d).argmax(axis=0), minlength=3) / d.shape[1] for d in (free, tied)]
    assert probabilities[0] == pytest.approx(probabilities[1], abs=0.02)
    assert shrunk_draws(free + 3.0) == pytest.approx(shrunk_draws(free) + 3.0)


def test_a_small_lead_is_less_certain_and_identical_systems_stay_identical() -> None:
    draws = normal_draws([0.6, 0.6, 0.6, 0.6, 0.63], 0.02)
    flat, shrunk = ((d.argmax(axis=0) == 4).mean() for d in (draws, shrunk_draws(draws)))
    assert 0.2 < shrunk < flat - 0.1
    twins = np.vstack([draws[:3], draws[2]])
    assert np.isfinite(shrunk_draws(twins)).all()


def test_two_systems_and_constant_differences_are_left_alone() -> None:
    draws = normal_draws([0.5, 0.6], 0.02, 100)
    assert np.array_equal(shrunk_draws(draws), draws)
    shifted = draws[0] + np.array([[0.0], [0.1], [0.2]])
    assert np.array_equal(shrunk_draws(shifted), shifted)


def test_bad_draws_are_refused() -> None:
    with pytest.raises(DataError):
        shrunk_draws([[0.5], [0.6], [0.7]])
    with pytest.raises(DataError):
        shrunk_draws([[0.5, np.nan], [0.6, 0.1], [0.7, 0.2]])
