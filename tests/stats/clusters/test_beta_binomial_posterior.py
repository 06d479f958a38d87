"""Clustered posterior: reference quantiles, limits, mirror images, hard shapes, calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_uq.stats.clusters.beta_binomial_likelihood import DispersionPrior
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_importance_posterior, clustered_posterior
from harness_uq.stats.common.posterior import IntervalKind
from tests.reference_values import reference_values

PRIORS: tuple[DispersionPrior, ...] = ("icc", "gamma")
KINDS: tuple[IntervalKind, ...] = ("quantile", "hdi")
TAILS = np.array([0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995])


def test_quantiles_mean_sd_and_icc_are_the_reference_ones() -> None:
    # posteriors.json: 18 data sets of 1 to 2,000 clusters, both priors, by dense grids; tolerance 1e-6
    cases = [c for c in reference_values("posteriors.json")["cases"] if c["kind"] == "clustered"]
    assert len(cases) == 18
    for case in cases:
        posterior = clustered_posterior(case["successes"], case["sizes"], case["prior"])
        found = [*posterior.quantile(case["q"]), posterior.mean, posterior.sd, posterior.icc_mean]
        expected = [*case["quantiles"], case["mean"], case["sd"], case["icc_mean"]]
        np.testing.assert_allclose(found, expected, atol=1e-7, rtol=0, err_msg=f"{case['prior']} {case['successes']}")


@pytest.mark.parametrize(
    ("successes", "sizes", "prior", "quantiles"),
    # from the same reference: 2.5, 50 and 97.5 %
    [
        ([9, 5, 10, 3, 8], [10] * 5, "gamma", [0.3849950638, 0.6604531817, 0.8628337892]),
        ([9, 5, 10, 3, 8], [10] * 5, "icc", [0.4052275612, 0.6744002873, 0.8638779957]),
        ([7], [10], "icc", [0.1566182315, 0.6009516512, 0.9165708965]),
        ([0] * 4, [3] * 4, "gamma", [0.0035018342, 0.0935992087, 0.4364626956]),
    ],
)
def test_reference_quantiles_of_small_data(
    successes: list[int], sizes: list[int], prior: DispersionPrior, quantiles: list[float]
) -> None:
    posterior = clustered_posterior(successes, sizes, prior)
    np.testing.assert_allclose(posterior.quantile([0.025, 0.5, 0.975]), quantiles, atol=1e-7)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("right", "wrong"), [(0, 1), (1, 0), (4, 2), (0, 50), (700, 300), (999_000, 1_000)])
def test_clusters_of_one_give_the_beta_posterior(right: int, wrong: int, prior: DispersionPrior) -> None:
    outcomes = np.repeat([1, 0], [right, wrong])
    posterior = clustered_posterior(outcomes, np.ones_like(outcomes), prior)
    beta = stats.beta(1 + right, 1 + wrong)
    np.testing.assert_allclose(posterior.quantile(TAILS), beta.ppf(TAILS), atol=1e-7 * beta.std() + 1e-12, rtol=1e-6)
    assert posterior.mean == pytest.approx(beta.mean(), abs=1e-7 * beta.std())
    assert posterior.sd == pytest.approx(beta.std(), rel=1e-6)


def test_clusters_of_trials_that_always_agree_give_the_beta_posterior_of_the_clusters() -> None:
    # 2,000 clusters of 20, each all right or all wrong: ICC near 1, a cluster counts as one trial
    s = np.repeat([20, 0], [1400, 600])
    posterior = clustered_posterior(s, np.full(2000, 20))
    assert posterior.icc_mean > 0.999
    beta = stats.beta(1401, 601)
    np.testing.assert_allclose(posterior.quantile(TAILS), beta.ppf(TAILS), atol=0.02 * beta.std())


def test_gamma_prior_fails_where_clusters_are_independent_and_icc_does_not() -> None:
    # 588 x 16 questions, expected counts of independent ones at .99: the pooled Beta is the truth to compare with
    expected = stats.binom(16, 0.99).pmf(np.arange(17)) * 588
    s = np.repeat(np.arange(17), np.round(expected).astype(int))
    icc, gamma = (clustered_posterior(s, np.full(len(s), 16), prior) for prior in PRIORS)
    beta = stats.beta(1 + s.sum(), 1 + 16 * len(s) - s.sum())
    assert abs(icc.mean - beta.mean()) < 0.5 * beta.std()
    assert abs(gamma.mean - beta.mean()) > 2.0 * beta.std()


@st.composite
def cluster_counts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any))
    return [draw(st.integers(0, n)) for n in sizes], sizes


@pytest.mark.parametrize("prior", PRIORS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts=cluster_counts())
def test_swapping_right_and_wrong_mirrors_the_posterior(
    prior: DispersionPrior, counts: tuple[list[int], list[int]]
) -> None:
    s, n = counts
    one = clustered_posterior(s, n, prior)
    other = clustered_posterior([b - a for a, b in zip(s, n, strict=True)], n, prior)
    np.testing.assert_allclose(one.quantile(TAILS), 1 - other.quantile(1 - TAILS), atol=1e-7)
    assert one.icc_mean == pytest.approx(other.icc_mean, abs=1e-7)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts=cluster_counts(), right=st.booleans())
def test_one_more_trial_of_its_own_moves_the_mean_towards_it(counts: tuple[list[int], list[int]], right: bool) -> None:
    s, n = counts
    before, after = clustered_posterior(s, n), clustered_posterior([*s, int(right)], [*n, 1])
    assert (after.mean > before.mean) == right


HARD = {
    "one right": ([1], [1]),
    "one wrong": ([0], [1]),
    "one cluster all right": ([10], [10]),
    "one cluster of 1e5": ([70_000], [100_000]),
    "one cluster of 1e5 all wrong": ([0], [100_000]),
    "one cluster of 1e9": ([600_000_000], [1_000_000_000]),
    "one cluster of 1e9 all right": ([1_000_000_000], [1_000_000_000]),
    "1e9 and 10": ([500_000_000, 10], [1_000_000_000, 10]),
    "three of 1e9 that agree": ([500_007_000, 500_000_000, 499_991_000], [1_000_000_000] * 3),
    "two of 1e9, opposite": ([1_000_000_000, 0], [1_000_000_000] * 2),
    "a hundred of 1e9 all wrong": ([0] * 100, [1_000_000_000] * 100),
    "all right": ([10] * 50, [10] * 50),
    "1e6 singles all right": (np.ones(10**6), np.ones(10**6)),
    "1e5 pairs that never agree": (np.ones(10**5), np.full(10**5, 2)),
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("case", HARD)
def test_hard_data_give_a_proper_posterior(case: str, prior: DispersionPrior) -> None:
    s, n = HARD[case]
    posterior = clustered_posterior(s, n, prior)
    assert 0 < posterior.mean < 1
    assert posterior.sd > 0
    assert 0 < posterior.icc_mean < 1
    assert np.all(np.diff(posterior.quantile(TAILS)) > 0)
    for kind in KINDS:
        low, high = posterior.interval(0.95, kind)
        assert 0 <= low < high <= 1
        assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(0.95, abs=1e-5)


@pytest.mark.parametrize("prior", PRIORS)
def test_highest_density_interval_is_the_narrower_one(prior: DispersionPrior) -> None:
    posterior = clustered_posterior([19, 20, 18, 20, 20, 20], [20] * 6, prior)
    widths = {kind: np.diff(posterior.interval(0.95, kind))[0] for kind in KINDS}
    assert widths["hdi"] < widths["quantile"]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    ("successes", "sizes"),
    [([9, 5, 10, 3, 8], [10] * 5), ([10] * 20, [10] * 20), ([70_000], [100_000]), ([3] * 200 + [1] * 388, [4] * 588)],
)
def test_adapted_importance_sampling_agrees_with_quadrature(
    successes: list[int], sizes: list[int], prior: DispersionPrior
) -> None:
    exact = clustered_posterior(successes, sizes, prior)
    sampled = clustered_importance_posterior(successes, sizes, prior, rng=np.random.default_rng(3))
    assert sampled.importance_ess > 4000
    assert sampled.pareto_k < 0.7
    assert abs(sampled.mean - exact.mean) < 4 * sampled.mc_error
    assert sampled.mc_error < 0.03 * exact.sd
    assert sampled.icc_mean == pytest.approx(exact.icc_mean, abs=0.02)
    np.testing.assert_allclose(sampled.cdf(exact.quantile(TAILS)), TAILS, atol=0.02)


def test_quadrature_has_no_randomness_and_sampling_follows_its_generator() -> None:
    s, n = [9, 5, 10, 3, 8], [10] * 5
    assert clustered_posterior(s, n).quantile(0.3) == clustered_posterior(s, n).quantile(0.3)
    first, again = (clustered_importance_posterior(s, n, rng=np.random.default_rng(7)).mean for _ in range(2))
    assert first == again


def draw_from_the_model(
    rng: np.random.Generator, prior: DispersionPrior, n_clusters: int
) -> tuple[float, np.ndarray, np.ndarray]:
    icc = rng.random()
    d = (1 - icc) / icc if prior == "icc" else rng.standard_exponential()
    theta = rng.random()
    sizes = rng.integers(1, 13, n_clusters)
    return theta, rng.binomial(sizes, rng.beta(d * theta, d * (1 - theta), n_clusters)), sizes


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [5, 30])
@pytest.mark.parametrize("prior", PRIORS)
def test_ranks_of_the_truth_are_uniform(prior: DispersionPrior, n_clusters: int) -> None:
    # simulation-based calibration (Talts et al. 2018): theta and d from the prior, then P(theta < truth) is uniform
    rng = np.random.default_rng([n_clusters, PRIORS.index(prior)])
    ranks = []
    for _ in range(400):
        theta, s, n = draw_from_the_model(rng, prior, n_clusters)
        ranks.append(float(clustered_posterior(s, n, prior).cdf(theta)))
    assert stats.chisquare(np.histogram(ranks, bins=20, range=(0, 1))[0]).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
def test_highest_density_interval_covers_at_its_level(prior: DispersionPrior) -> None:
    rng = np.random.default_rng([20, PRIORS.index(prior)])
    covered = 0
    for _ in range(400):
        theta, s, n = draw_from_the_model(rng, prior, 10)
        low, high = clustered_posterior(s, n, prior).interval(0.8, "hdi")
        covered += low <= theta <= high
    assert stats.binomtest(covered, 400, 0.8).pvalue > 1e-3
