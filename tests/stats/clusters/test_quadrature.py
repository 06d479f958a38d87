"""Beta-binomial likelihood and grid: against scipy's betabinom, exact sums, limits and finer grids."""

from math import fsum, log

import numpy as np
import pytest
from scipy import special, stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.beta_binomial_likelihood import BetaBinomialLogPosterior, DispersionPrior, log_prior
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.mode import find_mode

PRIORS: tuple[DispersionPrior, ...] = ("icc", "gamma")

# successes, sizes; shapes that pull a grid in every direction
SHAPES = {
    "five clusters": ([9, 5, 10, 3, 8], [10] * 5),
    "all right": ([10] * 50, [10] * 50),
    "all wrong": ([0] * 4, [3] * 4),
    "one trial": ([1], [1]),
    "one cluster": ([7], [10]),
    "one cluster of 1e5": ([70_000], [100_000]),
    "clusters of one": ([1] * 30 + [0] * 9, [1] * 39),
    "clusters of 1e5 that agree": ([50_000, 50_010, 49_990], [100_000] * 3),
    "pairs that always agree": ([2] * 500 + [0] * 500, [2] * 1000),
    "pairs that never agree": ([1] * 1000, [2] * 1000),
    "opposite clusters": ([100_000, 0], [100_000] * 2),
    "size and score related": ([18] * 10 + [1] * 30, [20] * 10 + [3] * 30),
    "one huge, one small": ([500_000, 10], [1_000_000, 10]),
}


def moments(grid: BetaBinomialGrid) -> tuple[float, float, float]:
    mass = grid.weights.sum(axis=1)
    mean = float(mass @ grid.theta)
    return mean, float(np.sqrt(mass @ (grid.theta - mean) ** 2)), grid.icc_mean


@pytest.mark.parametrize("d", [0.01, 1.0, 40.0, 3000.0])
@pytest.mark.parametrize("theta", [0.003, 0.5, 0.98])
def test_likelihood_is_that_of_scipys_betabinom(theta: float, d: float) -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(1, 3000, 40)
    s = rng.binomial(n, rng.beta(2, 1, 40))
    log_posterior = BetaBinomialLogPosterior(s, n, prior="gamma")

    def ours(theta: float, d: float) -> float:
        u, v = np.array([special.logit(theta)]), np.array([np.log(d)])
        return float((log_posterior(u, v) - log_prior(u, v, "gamma"))[0])

    def scipys(theta: float, d: float) -> float:
        return float(stats.betabinom(n, d * theta, d * (1 - theta)).logpmf(s).sum())

    expected = scipys(theta, d) - scipys(0.6, 2.0)
    assert ours(theta, d) - ours(0.6, 2.0) == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("log_d", [-20.0, 0.0, 8.0, 20.0, 33.0])
def test_likelihood_is_the_exact_sum_of_logs_where_gamma_functions_cancel(log_d: float) -> None:
    # methods: log L = sum_k n_k^S log(theta + k/d) + ..., summed here factor by factor without rounding
    s, n = [37, 5, 900, 0], [40, 5, 1000, 25]
    theta, d = 0.9, float(np.exp(log_d))

    def rising(x: float, count: int) -> float:
        return fsum(log(x + k / d) for k in range(count))

    expected = fsum(rising(theta, a) + rising(1 - theta, b - a) - rising(1.0, b) for a, b in zip(s, n, strict=True))
    u, v = np.array([np.log(9.0)]), np.array([log_d])
    ours = BetaBinomialLogPosterior(s, n)(u, v) - log_prior(u, v, "icc")
    assert float(ours[0]) == pytest.approx(expected, abs=1e-9)


def test_summarised_cluster_sizes_give_the_likelihood_of_the_separate_ones() -> None:
    # more than 24 distinct sizes in a block are replaced by Chebyshev nodes; one cluster at a time they are not
    rng = np.random.default_rng(2)
    n = rng.integers(20, 40_000, 300)
    s = rng.binomial(n, 0.7)
    u, v = np.linspace(-5, 5, 7)[:, None], np.linspace(-8, 15, 9)[None, :]
    together = BetaBinomialLogPosterior(s, n)(u, v) - log_prior(u, v, "icc")
    apart = sum(BetaBinomialLogPosterior([a], [b])(u, v) - log_prior(u, v, "icc") for a, b in zip(s, n, strict=True))
    np.testing.assert_allclose(together, apart, rtol=1e-11)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_nodes_moves_nothing(shape: str, prior: DispersionPrior) -> None:
    s, n = SHAPES[shape]
    grid, finer = (moments(beta_binomial_grid(s, n, prior=prior, step=step)) for step in (0.16, 0.08))
    np.testing.assert_allclose(grid[:2], finer[:2], atol=1e-8 * finer[1], rtol=0)
    assert grid[2] == pytest.approx(finer[2], abs=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_mass_left_out_is_below_1e_9(shape: str, prior: DispersionPrior) -> None:
    # both tails fall at least as exp(-|distance|), so the mass beyond an edge is at most the density there
    grid = beta_binomial_grid(*SHAPES[shape], prior=prior)
    edges = [grid.weights[0].sum(), grid.weights[-1].sum(), grid.weights[:, 0].sum(), grid.weights[:, -1].sum()]
    widths = [np.diff(grid.logit_theta)[[0, -1]], np.diff(grid.log_dispersion)[[0, -1]]]
    assert np.all(np.array(edges) / np.concatenate(widths) < 1e-9)
    assert grid.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (grid.weights >= 0).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_clusters_of_one_say_nothing_about_the_icc(prior: DispersionPrior) -> None:
    # prior mean of 1/(1 + d): 1/2 under icc, e E1(1) = .596347 under Gamma(1, 1) (Abramowitz & Stegun 5.1.1)
    grid = beta_binomial_grid([1, 0, 1], [1, 1, 1], prior=prior)
    assert grid.icc_mean == pytest.approx(0.5 if prior == "icc" else np.e * special.exp1(1.0), abs=1e-8)


def test_marginal_of_the_icc_is_that_of_two_pairs_by_hand() -> None:
    # pairs (2 of 2), (1 of 2): P = (theta^2 + r theta(1-theta)) 2 theta(1-theta)(1-r), r uniform; theta integrates
    # to (1-r) (1/10 + r/15 ...): E over theta of theta^3(1-theta) = 1/20, of theta^2(1-theta)^2 = 1/30
    grid = beta_binomial_grid([2, 1], [2, 2])

    def moment(power: int) -> float:
        first, second = special.beta(power + 1, 2), special.beta(power + 2, 2)
        return float(first / 20 + second / 30)

    assert grid.icc_mean == pytest.approx(moment(1) / moment(0), abs=1e-9)


def test_order_empty_clusters_and_scale_of_counts_do_not_matter() -> None:
    s, n = [9, 5, 10, 3, 8], [10, 12, 10, 11, 9]
    grid = beta_binomial_grid(s, n)
    permuted = beta_binomial_grid([0, *s[::-1], 0], [0, *n[::-1], 0])
    np.testing.assert_allclose(permuted.weights, grid.weights, atol=1e-13)


@pytest.mark.parametrize(
    ("successes", "sizes", "words"),
    [
        ([1.5], [3], r"cluster 0 has successes 1\.5 of 3"),
        ([4], [3], "exceed"),
        ([-1], [3], "negative"),
        ([0, 0], [0, 0], "all 2 sizes are 0"),
        ([[1, 2]], [[3, 3]], r"\(1, 2\)"),
        ([np.nan], [3], "finite"),
    ],
)
def test_unusable_counts_are_named(successes: list[float], sizes: list[int], words: str) -> None:
    with pytest.raises(DataError, match=words):
        beta_binomial_grid(successes, sizes)


def test_unknown_prior_is_named() -> None:
    with pytest.raises(DataError, match="'gamma' or 'icc'; got 'flat'"):
        beta_binomial_grid([1], [2], prior="flat")  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("scale", [1.0, 0.01, 1e-4])
def test_mode_of_a_normal_density_is_found_from_afar_with_its_curvature(scale: float, rho: float) -> None:
    centre = np.array([3.0, -7.0])
    precision = np.linalg.inv(np.array([[1.0, rho], [rho, 1.0]])) / scale**2

    def log_density(x: np.ndarray) -> np.ndarray:
        return -0.5 * np.einsum("ni,ij,nj->n", x - centre, precision, x - centre)

    mode, curvature = find_mode(log_density, np.array([-2.0, 4.0]))
    np.testing.assert_allclose(mode, centre, atol=0.05 * scale)
    np.testing.assert_allclose(curvature, -precision, rtol=1e-6, atol=1e-6 * precision[0, 0])
