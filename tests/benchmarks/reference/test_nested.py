"""Three-level posterior: an independent reference, the two-level limits, invariances, degenerate data, ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, special, stats

from benchmarks.reference.nested import nested_posterior
from harness_uq.messages.errors import DataError, UnreliableError
from harness_uq.stats.clusters import nested_trials_posterior as nested
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.clusters.beta_expectations import HatNodes

TAILS = np.array([0.005, 0.025, 0.5, 0.975, 0.995])


def simulate(
    rng: np.random.Generator, shape: tuple[int, int, int], theta: float, d: float, e: float
) -> tuple[np.ndarray, np.ndarray]:
    """Successes and cluster of each question, from the model."""
    n_clusters, n_questions, n_trials = shape
    means = np.clip(rng.beta(d * theta, d * (1 - theta), n_clusters), 1e-9, 1 - 1e-9)[:, None]
    pi = rng.beta(e * means, e * (1 - means), (n_clusters, n_questions))
    return rng.binomial(n_trials, pi).ravel(), np.repeat(np.arange(n_clusters), n_questions)


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference of quantiles at `TAILS`, in units of the 95 % width."""
    return float(np.abs(found - expected).max() / (expected[3] - expected[1]))


def gauss_beta(a: float, b: float, size: int) -> np.ndarray:
    """Nodes and weights of Gaussian quadrature against Beta(a, b), by Golub and Welsch (1969): (2, size)."""
    n, alpha, beta = np.arange(1.0, size), b - 1, a - 1
    total = 2 * n + alpha + beta
    first = (beta - alpha) / (alpha + beta + 2)
    diagonal = np.concatenate([[first], (beta**2 - alpha**2) / (total * (total + 2))])
    # (n + alpha + beta) / (total - 1) is 1 at n = 1, also where both vanish
    ratio = np.where(n == 1, 1.0, (n + alpha + beta) / np.where(n == 1, 1.0, total - 1))
    side = 4 * n * (n + alpha) * (n + beta) * ratio / (total**2 * (total + 1))
    values, vectors = linalg.eigh_tridiagonal(diagonal, np.sqrt(side))
    return np.stack([(values + 1) / 2, vectors[0] ** 2])


def reference_moments(s: np.ndarray, n: int, clusters: np.ndarray) -> tuple[float, float, float, float]:
    """Mean and sd of theta and mean ICCs by Gauss-Legendre in (theta, ICC, ICC) and Gauss-Jacobi in theta_t.

    The likelihood of a cluster is a polynomial in theta_t of degree N_t: 12 Jacobi nodes integrate degree 23.
    """
    x, wx = np.polynomial.legendre.leggauss(48)
    x, wx = (x + 1) / 2, wx / 2
    moments = np.zeros(5)
    for icc_c, weight_c in zip(x, wx, strict=True):
        d = (1 - icc_c) / icc_c
        theta_t, share = np.stack([gauss_beta(d * t, d * (1 - t), 12) for t in x], axis=1)
        for icc_q, weight_q in zip(x, wx, strict=True):
            e = (1 - icc_q) / icc_q
            log_l = np.zeros((clusters.max() + 1, *theta_t.shape))
            for right, t in zip(s, clusters, strict=True):
                log_l[t] += special.betaln(e * theta_t + right, e * (1 - theta_t) + n - right)
                log_l[t] -= special.betaln(e * theta_t, e * (1 - theta_t))
            mass = wx * weight_c * weight_q * np.prod(np.sum(share * np.exp(log_l), axis=2), axis=0)
            moments += [mass.sum(), mass @ x, mass @ x**2, mass.sum() * icc_c, mass.sum() * icc_q]
    mean, second, icc_clusters, icc_questions = moments[1:] / moments[0]
    return float(mean), float(np.sqrt(second - mean**2)), float(icc_clusters), float(icc_questions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("successes", "n_trials", "clusters"),
    [
        ([4, 3, 4, 0, 1, 0, 2], 4, [0, 0, 0, 1, 1, 1, 2]),
        ([2, 0, 1, 2, 2, 2, 1, 0], 2, [0, 0, 1, 1, 2, 2, 3, 3]),
        ([3, 3, 2, 3, 3, 3], 3, [0, 0, 0, 1, 1, 1]),
        ([4, 3, 4, 0, 1], 4, [0, 0, 0, 0, 0]),
    ],
)
def test_mean_sd_and_iccs_are_those_of_an_independent_quadrature(
    successes: list[int], n_trials: int, clusters: list[int]
) -> None:
    posterior = nested_posterior(successes, n_trials, clusters)
    assert posterior.icc_questions is not None
    found = (posterior.mean, posterior.sd, posterior.icc_clusters, posterior.icc_questions)
    expected = reference_moments(np.array(successes), n_trials, np.array(clusters))
    np.testing.assert_allclose(found, expected, atol=4e-4)


@pytest.mark.parametrize(
    ("n_clusters", "size", "theta", "d"),
    [
        (30, 6, 0.7, 2.0),
        (588, 16, 0.95, 20.0),
        (588, 16, 0.95, 1e6),
        (250, 10, 0.99, 50.0),
        (10, 100, 0.5, 1.0),
        (2000, 4, 0.8, 5.0),
        (2, 50, 0.9, 0.3),
        (1, 10, 0.5, 1e6),
        (5, 1000, 0.9, 1e6),
    ],
)
def test_one_trial_a_question_is_the_two_level_posterior(n_clusters: int, size: int, theta: float, d: float) -> None:
    rng = np.random.default_rng(n_clusters)
    totals = rng.binomial(size, rng.beta(d * theta, d * (1 - theta), n_clusters))
    correct = (np.arange(size) < totals[:, None]).astype(int).ravel()
    posterior = nested_posterior(correct, 1, np.repeat(np.arange(n_clusters), size))
    expected = clustered_posterior(totals, np.full(n_clusters, size))
    assert off(posterior.quantile(TAILS), expected.quantile(TAILS)) < 1e-3
    assert posterior.icc_clusters == pytest.approx(expected.icc_mean, abs=1e-3)
    assert posterior.icc_questions is None


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6)), min_size=1, max_size=8))
def test_one_question_a_cluster_is_the_two_level_posterior_of_its_trials(pairs: list[tuple[int, int]]) -> None:
    s, n = np.minimum(*np.array(pairs).T), np.array(pairs)[:, 1]
    posterior, expected = nested_posterior(s, n, np.arange(len(s))), clustered_posterior(s, n)
    np.testing.assert_allclose(posterior.quantile(TAILS), expected.quantile(TAILS), atol=1e-12)
    assert posterior.icc_clusters == pytest.approx(expected.icc_mean, abs=1e-9)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=12))
def test_swapping_right_and_wrong_mirrors_the_quantiles(rows: list[tuple[int, int]]) -> None:
    s, clusters = np.array(rows).T
    posterior, mirrored = nested_posterior(s, 4, clusters), nested_posterior(4 - s, 4, clusters)
    np.testing.assert_allclose(posterior.quantile(TAILS), 1 - mirrored.quantile(TAILS[::-1]), atol=3e-4)


def test_order_labels_and_untried_questions_do_not_matter() -> None:
    s, n, clusters = [4, 3, 0, 1, 2, 4], [4, 4, 4, 4, 2, 4], [0, 0, 1, 1, 2, 2]
    expected = nested_posterior(s, n, clusters).quantile(TAILS)
    relabelled = nested_posterior([*s[::-1], 0], [*n[::-1], 0], ["c", "c", "a", "a", "b", "b", "d"])
    np.testing.assert_allclose(relabelled.quantile(TAILS), expected, atol=1e-9)


@pytest.mark.slow
def test_twice_the_nodes_move_less_than_half_a_thousandth_of_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    samples = [
        (simulate(rng, (30, 6, 4), 0.8, 5, 3), 4),
        (simulate(rng, (5, 20, 8), 0.95, 2, 0.5), 8),
        (simulate(rng, (100, 5, 16), 0.7, 10, 10), 16),
    ]
    before = [nested_posterior(s, n, clusters) for (s, clusters), n in samples]
    spaced = HatNodes.spaced
    monkeypatch.setattr(nested, "_FINE", tuple(2 * size - 1 for size in nested._FINE))
    monkeypatch.setattr(HatNodes, "spaced", lambda largest, fineness: spaced(largest, fineness / 2))
    for ((s, clusters), n), coarse in zip(samples, before, strict=True):
        fine = nested_posterior(s, n, clusters)
        assert off(coarse.quantile(TAILS), fine.quantile(TAILS)) < 5e-4
        assert coarse.icc_clusters == pytest.approx(fine.icc_clusters, abs=2e-4)
        assert coarse.icc_questions == pytest.approx(fine.icc_questions, abs=2e-4)


def test_the_levels_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    between_clusters = nested_posterior(*_with_trials(simulate(rng, (60, 8, 8), 0.6, 2, 1e4), 8))
    between_questions = nested_posterior(*_with_trials(simulate(rng, (60, 8, 8), 0.6, 1e4, 2), 8))
    assert between_clusters.icc_questions is not None
    assert between_questions.icc_questions is not None
    assert between_clusters.icc_clusters > 0.2 > 0.02 > between_clusters.icc_questions
    assert between_questions.icc_questions > 0.2 > 0.05 > between_questions.icc_clusters
    assert between_clusters.sd > 2 * between_questions.sd


def _with_trials(sample: tuple[np.ndarray, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return sample[0], np.full(len(sample[0]), n), sample[1]


@pytest.mark.parametrize(
    ("successes", "trials", "clusters"),
    [
        ([0] * 4, 1, [0, 0, 1, 1]),
        ([1] * 4, 1, [0, 0, 0, 0]),
        ([4] * 6, 4, [0, 0, 0, 1, 1, 1]),
        ([0] * 60, 4, np.repeat(np.arange(10), 6)),
        ([3], 4, [0]),
        ([0, 1], 1, [0, 0]),
        ([4, 0] * 3, 4, [0] * 6),
        ([4, 3, 4, 0, 1, 0], 4, [0] * 6),
        ([4, 0] * 3, 4, list("aabbcc")),
        ([90_000, 91_000, 89_000, 40_000], 10**5, [0, 0, 1, 1]),
        ([10**9, 5 * 10**8, 3 * 10**8, 0], 10**9, [0, 0, 1, 1]),
    ],
)
def test_degenerate_data_give_a_proper_posterior(successes: list[int], trials: int, clusters: list[int]) -> None:
    posterior = nested_posterior(successes, trials, clusters)
    for kind in ("quantile", "hdi"):
        low, high = posterior.interval(0.95, kind)
        assert 0 <= low < high <= 1
    assert 0 < posterior.mean < 1
    assert posterior.sd > 0
    assert 0 < posterior.icc_clusters < 1


def test_clusters_too_sharp_for_the_nodes_are_refused() -> None:
    with pytest.raises(UnreliableError, match="two-level model"):
        nested_posterior([10**9] * 4, 10**9, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("successes", "trials", "clusters", "message"),
    [
        ([2], [1], [0], "exceed"),
        ([1, 0], [1, 1], [0], "one label per question"),
        ([0, 0], [0, 0], [0, 1], "at least one question must have a trial"),
        ([np.nan], [1], [0], "finite"),
    ],
)
def test_unusable_input_is_named(successes: list[float], trials: list[int], clusters: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        nested_posterior(successes, trials, clusters)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(8, 4, 3), (25, 2, 2)])
def test_ranks_of_the_truth_are_uniform(shape: tuple[int, int, int]) -> None:
    # simulation-based calibration: theta and both ICCs from the prior, then P(theta < truth) is uniform
    rng = np.random.default_rng(shape[0])
    ranks = []
    for _ in range(200):
        theta, icc_clusters, icc_questions = rng.random(3)
        s, clusters = simulate(rng, shape, theta, 1 / icc_clusters - 1, 1 / icc_questions - 1)
        ranks.append(float(nested_posterior(s, shape[2], clusters).cdf(theta)))
    assert stats.chisquare(np.histogram(ranks, bins=10, range=(0, 1))[0]).pvalue > 1e-3
