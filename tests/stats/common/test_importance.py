"""Importance sampling: known effective sample sizes and tail shapes, normalising constants, refusals."""

import numpy as np
import pytest
from scipy import special, stats

from harness_uq.messages.errors import DataError, UnreliableError
from harness_uq.stats.common.importance import (
    StudentTMixture,
    adapted_proposal,
    importance_sample,
    pareto_k,
)


class Normal:
    """N(0, sd^2) in one dimension."""

    def __init__(self, sd: float) -> None:
        self.sd = sd

    def draw(self, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(scale=self.sd, size=(n_draws, 1))

    def log_density(self, points: np.ndarray) -> np.ndarray:
        return stats.norm.logpdf(points[:, 0], scale=self.sd)


def standard_normal(points: np.ndarray) -> np.ndarray:
    return -0.5 * (points**2).sum(axis=1)


@pytest.mark.parametrize("sd", [1.0, 1.5, 2.0, 4.0])
def test_effective_sample_size_is_that_of_a_normal_proposal(sd: float) -> None:
    # E_q w = 1 and E_q w^2 = sd^2 / sqrt(2 sd^2 - 1) for target N(0, 1), proposal N(0, sd^2)
    sample = importance_sample(standard_normal, Normal(sd), n_draws=200_000, rng=np.random.default_rng(1))
    assert sample.importance_ess / 200_000 == pytest.approx(np.sqrt(2 * sd**2 - 1) / sd**2, rel=0.01)
    assert sample.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [0.1, 0.3, 0.5, 0.7, 0.9, 1.5])
def test_tail_shape_of_exact_pareto_weights_is_found(k: float) -> None:
    # ranks**-k has tail P(w > x) = x^(-1/k); 3 sqrt(1e6) = 3000 tail weights, sd (1 + k)/sqrt(3000) if random
    ranks = (np.arange(1_000_000) + 0.5) / 1_000_000
    assert pareto_k(ranks**-k) == pytest.approx(k, abs=0.02)


def test_tail_shape_does_not_depend_on_scale_or_order() -> None:
    weights = np.random.default_rng(2).pareto(2.0, 5000)
    assert pareto_k(weights) == pytest.approx(pareto_k(1e-30 * weights[::-1]))


def test_bounded_weights_have_a_negative_tail_shape() -> None:
    # w = 1 - u^2 near its maximum: P(w > x) ~ (1 - x)^(1/2), a generalised Pareto tail of shape -2, drawn to 1/2
    u = (np.arange(100_000) + 0.5) / 100_000
    assert -2.1 < pareto_k(1 - u**2) < -1.5


def test_degenerate_weights_have_an_infinite_tail_shape() -> None:
    assert pareto_k([1.0] + [0.0] * 999) == np.inf
    assert pareto_k([1.0, 1e-250] + [0.0] * 998) == np.inf
    assert pareto_k([2.0] * 1000) == -np.inf


@pytest.mark.parametrize("weights", [[1.0] * 24, [0.0] * 100, [-1.0] + [1.0] * 99, [np.nan] * 100])
def test_weights_without_a_tail_are_refused(weights: list[float]) -> None:
    with pytest.raises(DataError):
        pareto_k(weights)


def test_proposal_much_narrower_than_the_target_is_refused() -> None:
    # N(0, .3^2) for N(0, 1): tail shape 1 - .09 = .91, infinite variance
    sample = importance_sample(standard_normal, Normal(0.3), rng=np.random.default_rng(3))
    assert not sample.is_reliable
    with pytest.raises(UnreliableError, match=r"Pareto k 0\.\d\d \(at most 0\.7\)"):
        sample.require_reliable()


def test_reliable_sample_passes_through() -> None:
    sample = importance_sample(standard_normal, Normal(1.2), rng=np.random.default_rng(3))
    assert sample.require_reliable() is sample


def test_target_that_vanishes_everywhere_is_named() -> None:
    with pytest.raises(DataError, match="all 50 draws"):
        importance_sample(
            lambda points: np.full(len(points), -np.inf), Normal(1.0), n_draws=50, rng=np.random.default_rng(0)
        )


def test_draws_of_the_mixture_follow_its_density() -> None:
    # mean of target/proposal is the ratio of normalising constants; a t component's is known in closed form
    factors = np.array([[[1.0, 0.0], [0.5, 0.8]], [[2.0, 0.0], [-0.3, 0.5]]])
    mixture = StudentTMixture(np.array([[0.0, 0.0], [1.0, -2.0]]), factors, np.array([0.3, 0.7]), 4.0)
    points = mixture.draw(100_000, np.random.default_rng(5))
    ratio = np.exp(
        stats.multivariate_normal([0.4, -1.0], [[1, 0.3], [0.3, 1.0]]).logpdf(points) - mixture.log_density(points)
    )
    constant = 1 / (2 * np.pi)  # Gamma(3) / (Gamma(2) 4 pi): 4 degrees of freedom in 2 dimensions
    assert ratio.mean() == pytest.approx(constant, rel=0.005)


def test_draws_of_a_single_t_component_have_its_marginals() -> None:
    mixture = StudentTMixture(np.zeros((1, 3)), np.eye(3)[None], np.ones(1), 4.0)
    points = mixture.draw(20_000, np.random.default_rng(6))
    for column in points.T:
        # the shifted lattice is more even than chance: Kolmogorov's distance stays below its random 5 % point
        assert stats.kstest(column, stats.t(4).cdf).statistic < 1.36 / np.sqrt(20_000)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_adapted_proposal_fits_a_skewed_target(dim: int) -> None:
    # logs of Gamma(2) variables, correlated by a shear: exponential left tails, means digamma(2)
    shear = np.eye(dim) + np.tril(np.full((dim, dim), 0.7), -1)

    def log_target(points: np.ndarray) -> np.ndarray:
        z = np.linalg.solve(shear, points.T).T
        return (2 * z - np.exp(z)).sum(axis=1)

    rng = np.random.default_rng(dim)
    proposal = adapted_proposal(log_target, np.full(dim, 3.0), rng=rng)
    sample = importance_sample(log_target, proposal, rng=rng).require_reliable()
    assert sample.importance_ess > 5000
    mean, sd = shear @ np.full(dim, special.digamma(2)), np.sqrt((shear**2) @ np.full(dim, special.polygamma(1, 2)))
    np.testing.assert_allclose(sample.weights @ sample.points, mean, atol=0.04 * sd.max())
