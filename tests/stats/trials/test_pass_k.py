"""The pass@k family: published values, every subset counted, limits, numerical references, coverage."""

import csv
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import integrate, special, stats

from harness_uq.messages.errors import DataError, NotEstimableError, UnreliableError
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.posterior import DrawsPosterior
from harness_uq.stats.trials.hierarchical_beta import benchmark_posterior
from harness_uq.stats.trials.pass_k import (
    PassScope,
    _population_posterior,
    g_pass_at_k,
    maj_at_k,
    mg_pass_at_k,
    pass_at_k,
    pass_hat_k,
    pass_k_posterior,
)
from harness_uq.stats.trials.pass_k_family import (
    PassKind,
    beta_binomial_sums,
    beta_moments,
    count_score,
    log_beta_binomial_sums,
)
from tests.reference_values import reference_values

BINARY = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
KINDS: tuple[PassKind, ...] = ("at", "hat", "g", "mg", "maj")
SCOPES: tuple[PassScope, ...] = ("population", "benchmark")

binary_matrices = npst.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.integers(0, 1))


def tau_of(kind: PassKind) -> float | None:
    return 0.6 if kind == "g" else None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # scorio 0.2.3's documented examples of Hariri et al. (2025), to the digits given
        (pass_at_k(BINARY, 2), 0.95),
        (pass_hat_k(BINARY, 2), 0.45),
        (g_pass_at_k(BINARY, 2, 0.5), 0.95),
        (g_pass_at_k(BINARY, 2, 1.0), 0.45),
        (mg_pass_at_k(BINARY, 2), 0.45),
        (mg_pass_at_k(BINARY, 3), 0.166667),
        (maj_at_k(BINARY, 3), 0.85),
    ],
)
def test_published_examples(found: float, expected: float) -> None:
    np.testing.assert_allclose(found, expected, atol=5e-7)


def test_all_systems_of_a_published_benchmark_at_once(shared: Path) -> None:
    # AIME 2025 II, 19 systems x 15 questions x 4 trials; reference computed independently
    reference = reference_values("reference_intervals.json")["aime2_pass_at_k"]
    with (shared / "data/csv/no_clt_paper/matharena_aime_II.csv").open() as file:
        names, *rows = csv.reader(file)
    outcomes = np.array(rows, float)[:, 1:].T.reshape(19, 15, 4)
    for k in (1, 2, 4):
        expected = [reference[name][f"pass@{k}"] for name in names[1:]]
        np.testing.assert_allclose(pass_at_k(outcomes, k), expected, atol=1e-12)


@given(binary_matrices, st.data())
def test_estimates_are_the_means_over_all_subsets_of_trials(outcomes: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, outcomes.shape[1]))
    tau = data.draw(st.sampled_from([0.01, 0.3, 0.5, 2 / 3, 0.7, 1.0]))
    right = np.array([outcomes[:, list(subset)].sum(axis=1) for subset in combinations(range(outcomes.shape[1]), k)])
    needed = min(j for j in range(k + 1) if j + 1e-9 >= tau * k)
    steps = [np.mean(right >= i) for i in range(-(-k // 2) + 1, k + 1)]  # eq. 24: i = ceil(k/2) + 1..k
    np.testing.assert_allclose(pass_at_k(outcomes, k), np.mean(right >= 1), atol=1e-12)
    np.testing.assert_allclose(pass_hat_k(outcomes, k), np.mean(right == k), atol=1e-12)
    np.testing.assert_allclose(g_pass_at_k(outcomes, k, tau), np.mean(right >= needed), atol=1e-12)
    np.testing.assert_allclose(mg_pass_at_k(outcomes, k), 2 / k * np.sum(steps), atol=1e-12)
    np.testing.assert_allclose(maj_at_k(outcomes, k), np.mean(right > k / 2), atol=1e-12)


@given(binary_matrices)
def test_one_trial_gives_the_plain_mean(outcomes: np.ndarray) -> None:
    for estimate in (pass_at_k, pass_hat_k, maj_at_k):
        assert estimate(outcomes, 1) == pytest.approx(outcomes.mean(), abs=1e-12)
    for found in (g_pass_at_k(outcomes, 1, 0.4), g_pass_at_k(outcomes, 1, 1.0)):
        assert found == pytest.approx(outcomes.mean(), abs=1e-12)


@given(binary_matrices, st.data())
def test_all_right_is_not_one_wrong(outcomes: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, outcomes.shape[1]))
    assert pass_hat_k(1 - outcomes, k) == pytest.approx(1 - pass_at_k(outcomes, k), abs=1e-12)


def test_certain_scores_are_exact() -> None:
    all_right = np.ones((3, 40))
    assert pass_at_k(all_right, 17) == pass_hat_k(all_right, 17) == maj_at_k(all_right, 17) == 1.0
    assert pass_at_k(0 * all_right, 17) == pass_hat_k(0 * all_right, 17) == mg_pass_at_k(0 * all_right, 17) == 0.0
    assert mg_pass_at_k(all_right, 1) == 0.0  # the sum of eq. 24 is empty


def test_a_share_that_floating_point_puts_above_a_whole_number() -> None:
    # 0.7 * 10 = 7.000000000000001: 7 of 10 right is a share of 0.7
    assert g_pass_at_k([[1] * 7 + [0] * 3], 10, 0.7) == 1.0


@given(binary_matrices, st.integers(1, 3))
def test_missing_trials_leave_both_counts(outcomes: np.ndarray, n_missing: int) -> None:
    padded = np.hstack([outcomes, np.full((len(outcomes), n_missing), np.nan)])
    k = outcomes.shape[1]
    assert pass_at_k(padded, k) == pass_at_k(outcomes, k)
    assert pass_hat_k(padded, k) == pass_hat_k(outcomes, k)


def test_questions_with_different_numbers_of_trials_count_equally() -> None:
    ragged = np.array([[1, 0, np.nan, np.nan], [1, 1, 0, 0]])
    assert pass_at_k(ragged, 2) == pytest.approx((1 + 5 / 6) / 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("right", "trials", "k"), [(0, 1, 2), (3, 3, 4), (2, 9, 3), (40, 50, 5)])
def test_moments_under_a_beta_are_integrals(kind: PassKind, right: int, trials: int, k: int) -> None:
    score, density = count_score(kind, k, tau_of(kind)), stats.beta(1 + right, 1 + trials - right).pdf

    def g(p: float) -> float:
        return sum(float(v) * comb(k, j) * p**j * (1 - p) ** (k - j) for j, v in enumerate(score))

    mean = integrate.quad(lambda p: g(p) * density(p), 0, 1, epsabs=1e-13)[0]
    variance = integrate.quad(lambda p: (g(p) - mean) ** 2 * density(p), 0, 1, epsabs=1e-13)[0]
    found = beta_moments(score, np.array([1.0 + right]), np.array([1.0 + trials - right]))
    np.testing.assert_allclose(np.ravel(found), (mean, 1 - mean, variance), rtol=1e-8)


def test_moments_keep_their_digits_where_the_score_is_nearly_certain() -> None:
    # pi ~ Beta(1, 1e12): pass@2 has mean 2/(1e12 + 1) - 2/((1e12 + 1)(1e12 + 2)) and nearly the sd of 2 pi
    mean, complement, variance = beta_moments(count_score("at", 2), np.array(1.0), np.array(1e12))
    assert mean == pytest.approx(2e-12, rel=1e-9)
    assert variance == pytest.approx(4e-24, rel=1e-9)
    mirrored = beta_moments(count_score("hat", 2), np.array(1e12), np.array(1.0))
    np.testing.assert_allclose(mirrored, (complement, mean, variance), rtol=1e-9)


def test_scores_of_fresh_trials_are_beta_binomial_at_every_dispersion() -> None:
    scores = np.stack([count_score("maj", 7), count_score("mg", 7)])
    for d in (1e-6, 0.3, 40.0, 1e5):
        expected = scores @ stats.betabinom(7, 0.3 * d, 0.7 * d).pmf(np.arange(8))
        found = beta_binomial_sums(scores, np.array(0.3 * d), np.array(0.7 * d))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    binomial = scores @ stats.binom(7, 0.3).pmf(np.arange(8))
    np.testing.assert_allclose(beta_binomial_sums(scores, np.array(0.3e20), np.array(0.7e20)), binomial, rtol=1e-9)


def test_logs_of_scores_survive_where_the_scores_underflow() -> None:
    a, b = np.array([0.5, 3.0]), np.array([2.0, 1e-6])
    scores = np.stack([count_score("at", 9), 1 - count_score("at", 9)])
    np.testing.assert_allclose(np.exp(log_beta_binomial_sums(scores, a, b)), beta_binomial_sums(scores, a, b))
    # b = 1e-30, d = 1: (1 - pi)^1000 has mean b times the product of i / (1 + i), i = 1..999
    log_complement = log_beta_binomial_sums(1 - count_score("at", 1000)[None], np.array(1.0), np.array(1e-30))
    assert log_complement == pytest.approx(np.log(1e-30 / 1000), rel=1e-12)


@pytest.mark.parametrize(("scope", "kind"), [("population", "at"), ("population", "hat"), ("benchmark", "mg")])
def test_many_fresh_trials_give_a_proper_posterior(scope: PassScope, kind: PassKind) -> None:
    for successes in ([7, 8, 8, 1, 0, 8, 2, 7] * 4, [8] * 20, [0] * 20):
        posterior = pass_k_posterior(successes, 8, 400, scope=scope, kind=kind, extrapolate=True)
        low, high = posterior.interval(0.95)
        assert 0 <= low < high <= 1


@pytest.mark.parametrize(
    ("successes", "trials"), [([4, 4, 3, 0, 1, 2], 4), ([8] * 30, 8), ([3, 0, 1, 9], [4, 1, 9, 12]), ([1, 0], 1)]
)
def test_one_fresh_trial_has_the_posterior_of_the_mean(successes: list[int], trials: int | list[int]) -> None:
    p = [0.005, 0.025, 0.5, 0.975, 0.995]
    s, n = np.broadcast_arrays(successes, trials)
    for kind in ("at", "hat", "maj"):
        population = pass_k_posterior(s, n, 1, kind=kind, extrapolate=True)
        clustered = clustered_posterior(s, n)
        np.testing.assert_allclose(population.quantile(p), clustered.quantile(p), atol=1e-6)
        assert population.mean == pytest.approx(clustered.mean, abs=1e-7)
        benchmark = pass_k_posterior(s, n, 1, kind=kind, scope="benchmark", extrapolate=True)
        mean = benchmark_posterior(s, n, model="hierarchical")
        assert (benchmark.mean, benchmark.sd) == pytest.approx((mean.mean, mean.sd), abs=1e-5)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=30), st.integers(1, 8), st.sampled_from(KINDS))
def test_twice_the_nodes_move_nothing(successes: list[int], k: int, kind: PassKind) -> None:
    score = count_score(kind, max(k, 2), tau_of(kind))
    trials = np.full(len(successes), 8)
    coarse, fine = (
        _population_posterior(score / score[-1], beta_binomial_grid(successes, trials, step=step))
        for step in (0.2, 0.1)
    )
    p = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    width = np.ptp(fine.quantile([0.025, 0.975]))
    np.testing.assert_allclose(coarse.quantile(p), fine.quantile(p), atol=2e-5 * width)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("successes", "trials", "k"),
    [
        ([4, 4, 3, 4, 0, 1, 4, 4, 2, 4], 4, 3),
        ([0] * 12 + [1] * 3, 8, 8),
        ([16] * 400 + [0] * 300 + [5] * 300, 16, 12),
        ([50] * 300, 100, 20),
    ],
)
def test_the_population_posterior_is_the_mass_of_theta_and_d_carried_over(
    kind: PassKind, successes: list[int], trials: int, k: int
) -> None:
    grid = beta_binomial_grid(successes, [trials] * len(successes), step=0.025)
    a, b = grid.dispersion * grid.theta[:, None], grid.dispersion * special.expit(-grid.logit_theta)[:, None]
    score = count_score(kind, k, tau_of(kind))
    values = beta_binomial_sums(score[None], a, b)[0]
    reference = DrawsPosterior(values.ravel(), grid.weights.ravel())
    posterior = pass_k_posterior(successes, trials, k, kind=kind, tau=tau_of(kind))
    p = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    width = np.ptp(reference.quantile([0.025, 0.975]))
    # the reference is a step function of 2 x 10^5 nodes: 3e-3 of the width is its own coarseness
    np.testing.assert_allclose(posterior.quantile(p), reference.quantile(p), atol=3e-3 * width)
    assert posterior.mean == pytest.approx(reference.mean, abs=1e-4 * width)
    assert posterior.sd == pytest.approx(reference.sd, rel=2e-4)
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(p)), p, atol=1e-9)


@pytest.mark.parametrize(
    "kind", ["at", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "at")]
)
def test_the_benchmark_posterior_has_the_moments_of_draws(kind: PassKind) -> None:
    s, n, k = np.array([4, 3, 0, 1, 4, 2, 4, 4]), 4, 3
    rng = np.random.default_rng(8)
    grid = beta_binomial_grid(s, np.full(8, n))
    i, j = np.divmod(rng.choice(grid.weights.size, 100_000, p=grid.weights.ravel()), grid.weights.shape[1])
    d, theta = grid.dispersion[j][:, None], grid.theta[i][:, None]
    pi = rng.beta(d * theta + s, d * (1 - theta) + n - s)
    scores = stats.binom(k, pi[..., None]).pmf(np.arange(k + 1)) @ count_score(kind, k, tau_of(kind))
    draws = scores.mean(axis=1)
    posterior = pass_k_posterior(s, n, k, scope="benchmark", kind=kind, tau=tau_of(kind))
    assert posterior.mean == pytest.approx(draws.mean(), abs=4 * draws.std() / np.sqrt(len(draws)))
    assert posterior.sd == pytest.approx(draws.std(), rel=0.015)
    # the matched Beta is less skewed than the posterior: its ends are up to 8 % of the width off, its content is not
    low, high = posterior.interval(0.95)
    assert np.mean((draws >= low) & (draws <= high)) == pytest.approx(0.95, abs=0.025)
    ends = np.quantile(draws, [0.025, 0.975])
    np.testing.assert_allclose((low, high), ends, atol=0.1 * np.ptp(ends))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(1, 6), st.sampled_from(SCOPES))
def test_pass_hat_of_wrong_mirrors_pass_at_of_right(successes: list[int], k: int, scope: PassScope) -> None:
    s = np.array(successes)
    at, hat = pass_k_posterior(s, 6, k, scope=scope), pass_k_posterior(6 - s, 6, k, scope=scope, kind="hat")
    p = np.array([0.025, 0.3, 0.975])
    np.testing.assert_allclose(hat.quantile(1 - p), 1 - at.quantile(p), atol=2e-6)


@pytest.mark.slow
@given(st.lists(st.integers(0, 6), min_size=2, max_size=8), st.sampled_from(SCOPES))
@settings(deadline=None, max_examples=10)
def test_more_trials_pass_more_often(successes: list[int], scope: PassScope) -> None:
    means = [pass_k_posterior(successes, 6, k, scope=scope).mean for k in (1, 2, 4, 6)]
    assert means == sorted(means)
    hats = [pass_k_posterior(successes, 6, k, scope=scope, kind="hat").mean for k in (1, 2, 4, 6)]
    assert hats == sorted(hats, reverse=True)


def test_the_largest_value_of_an_odd_mg_pass_bounds_its_posterior() -> None:
    posterior = pass_k_posterior([8] * 30, 8, 5, kind="mg")
    assert posterior.interval(0.99, "hdi")[1] <= 0.8
    assert posterior.cdf(0.8) == pytest.approx(1.0, abs=1e-9)


def test_k_up_to_the_trials_is_answered_and_beyond_refused_or_labelled() -> None:
    assert pass_k_posterior([1, 2, 3], 4, 3).reach == "within"
    assert pass_k_posterior([1, 2, 3], 4, 4).reach == "all_trials"
    assert pass_k_posterior([1, 2, 3], 4, 9, extrapolate=True).reach == "extrapolated"
    with pytest.raises(NotEstimableError, match="k = 5 exceeds the 4 trials"):
        pass_k_posterior([1, 2, 3], 4, 5)
    # a few questions cut short do not change what the others can tell
    assert pass_k_posterior([1, 2, 3, 0], [8, 8, 8, 1], 5).reach == "within"


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("successes", "trials"), [([0], 4), ([4], 4), ([0] * 20, 4), ([4] * 500, 4), ([2], 4), ([0, 4] * 3, 4)]
)
def test_degenerate_data_give_a_proper_posterior(
    successes: list[int], trials: int, kind: PassKind, scope: PassScope
) -> None:
    posterior = pass_k_posterior(successes, trials, 3, kind=kind, tau=tau_of(kind), scope=scope)
    for interval in ("quantile", "hdi"):
        low, high = posterior.interval(0.95, interval)
        assert 0 <= low < high <= 1
    assert 0 < posterior.mean < 1
    assert posterior.sd > 0


@pytest.mark.parametrize("scope", SCOPES)
def test_huge_counts_give_a_proper_posterior_or_say_why_not(scope: PassScope) -> None:
    posterior = pass_k_posterior([10**9, 5 * 10**8, 3 * 10**8], 10**9, 4, scope=scope)
    low, high = posterior.interval(0.95)
    assert 0 < low < high <= 1
    if scope == "benchmark":
        with pytest.raises(UnreliableError, match="rounding error"):
            pass_k_posterior([10**9] * 3, 10**9, 40, scope=scope)


def test_questions_too_short_for_k_are_named() -> None:
    ragged = np.array([[1, 0, 1], [1, np.nan, 0]])
    for estimate in (pass_at_k, pass_hat_k, mg_pass_at_k, maj_at_k):
        with pytest.raises(NotEstimableError, match=r"1 of 2 questions have fewer than k = 3 trials; .* is 2"):
            estimate(ragged, 3)


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_a_k_that_counts_nothing_is_named(k: int) -> None:
    with pytest.raises(DataError, match="k must be a whole number"):
        pass_at_k(BINARY, k)
    with pytest.raises(DataError, match="k must be a whole number"):
        pass_k_posterior([1, 2], 4, k)


@pytest.mark.parametrize("tau", [None, 0.0, 1.1, np.nan])
def test_a_share_out_of_range_is_named(tau: float | None) -> None:
    with pytest.raises(DataError, match="share tau"):
        pass_k_posterior([1, 2], 4, 2, kind="g", tau=tau)


def test_other_unusable_input_is_named() -> None:
    with pytest.raises(DataError, match=r"entry \[0, 1\] is 2"):
        pass_at_k([[0, 2]], 1)
    with pytest.raises(DataError, match="kind must be"):
        pass_k_posterior([1], 2, 1, kind="max")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="scope must be"):
        pass_k_posterior([1], 2, 1, scope="world")  # type: ignore[arg-type]
    with pytest.raises(NotEstimableError, match="mG-pass@1 is 0 by definition"):
        pass_k_posterior([1], 2, 1, kind="mg")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "k"), [("at", 3), ("hat", 4), ("mg", 4)])
def test_ranks_of_the_population_truth_are_uniform(kind: PassKind, k: int) -> None:
    # simulation-based calibration: theta and the ICC from the prior, then P(score < truth) is uniform
    rng = np.random.default_rng(3)
    posterior = cache(lambda s: pass_k_posterior(s, 4, k, kind=kind))  # a third of the data sets repeat
    ranks = []
    for _ in range(400):
        theta, icc = rng.random(2)
        d = (1 - icc) / icc
        s = rng.binomial(4, rng.beta(d * theta, d * (1 - theta), 12))
        truth = beta_binomial_sums(count_score(kind, k)[None], np.array(d * theta), np.array(d * (1 - theta)))[0]
        ranks.append(float(posterior(tuple(sorted(s))).cdf(truth)))
    assert stats.chisquare(np.histogram(ranks, bins=20, range=(0, 1))[0]).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "k"), [("at", 2), ("hat", 3)])
def test_coverage_of_the_benchmark_score_is_the_level_under_the_prior(kind: PassKind, k: int) -> None:
    rng = np.random.default_rng(4)
    posterior = cache(lambda s: pass_k_posterior(s, 4, k, scope="benchmark", kind=kind))
    covered = 0
    for _ in range(800):
        theta, icc = rng.random(2)
        d = (1 - icc) / icc
        pi = rng.beta(d * theta, d * (1 - theta), 20)
        truth = (1 - (1 - pi) ** k if kind == "at" else pi**k).mean()
        low, high = posterior(tuple(sorted(rng.binomial(4, pi)))).interval(0.9)
        covered += low <= truth <= high
    assert stats.binomtest(covered, 800, 0.9).pvalue > 1e-3
