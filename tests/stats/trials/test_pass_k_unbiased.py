"""pass@k from unbiased estimates."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.means.bounded import bounded_posterior, clustered_bounded_posterior
from harness_uq.stats.trials.pass_k import g_pass_at_k, pass_at_k, pass_hat_k
from harness_uq.stats.trials.pass_k_unbiased_posterior import unbiased_pass_k_posterior

COUNTS = np.array([0, 1, 3, 8, 8, 5, 7, 2])


def outcomes(counts, n):
    return (np.arange(n) < np.asarray(counts)[:, None]).astype(float)


@pytest.mark.parametrize(
    ("kind", "plain"), [("at", pass_at_k), ("hat", pass_hat_k), ("g", lambda x, k: g_pass_at_k(x, k, 0.75))]
)
def test_its_posterior_is_that_of_the_questions_plain_estimates(kind, plain):
    posterior = unbiased_pass_k_posterior(COUNTS, 8, 4, kind=kind, tau=0.75 if kind == "g" else None)
    estimates = [float(plain(row[None], 4)) for row in outcomes(COUNTS, 8)]
    expected = bounded_posterior(estimates, 0, 1)
    assert (posterior.mean, posterior.sd) == pytest.approx((expected.mean, expected.sd), rel=1e-9)


def test_at_k_1_the_population_form_is_that_of_the_questions_mean_scores():
    assert repr(unbiased_pass_k_posterior(COUNTS, 8, 1)) == repr(bounded_posterior(COUNTS / 8, 0, 1))


def test_clusters_are_those_of_the_bounded_scores():
    found = unbiased_pass_k_posterior(COUNTS, 8, 1, clusters=[0, 0, 1, 1, 2, 2, 3, 3])
    totals = (COUNTS / 8).reshape(4, 2).sum(axis=1)
    assert repr(found) == repr(clustered_bounded_posterior(totals, [2, 2, 2, 2]))


def test_the_noise_of_benchmark_scope_is_the_unbiased_binomial_variance_at_k_1():
    # sum_q s (n - s) / (n^2 (n - 1)): the textbook variance of a stratified mean, strata being questions
    posterior = unbiased_pass_k_posterior(COUNTS, 8, 1, scope="benchmark")
    noise = np.sum(COUNTS * (8 - COUNTS) / (8**2 * 7))
    assert posterior.sd**2 == pytest.approx((noise + 0.75**2) / (len(COUNTS) + 1.5) ** 2)


@pytest.mark.parametrize("counts", [[16] * 20, [15] * 20, [16] * 19 + [0]])
def test_the_plain_estimate_lies_within_the_benchmark_interval(counts):
    low, high = unbiased_pass_k_posterior(counts, 16, 4, scope="benchmark").interval(0.95, "hdi")
    assert low <= float(pass_at_k(outcomes(counts, 16), 4)) <= high


def test_benchmark_scope_with_fewer_than_2k_trials_is_the_population_interval():
    pair = [unbiased_pass_k_posterior(COUNTS, 8, 5, scope=scope) for scope in ("benchmark", "population")]
    assert repr(pair[0]) == repr(pair[1])


def test_a_question_with_fewer_than_k_trials_is_refused():
    with pytest.raises(NotEstimableError, match="3 trials"):
        unbiased_pass_k_posterior([1, 2], [3, 8], 4)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["population", "benchmark"])
@pytest.mark.parametrize("kinds", [((0.5, 0.1), (0.5, 0.9)), ((0.95, 0.95), (0.05, 0.0)), ((0.7, 0.9), (0.3, 0.1))])
def test_two_kinds_of_question_are_covered_at_the_level(kinds, scope):
    rng, held, k, n = np.random.default_rng(11), 0, 4, 16
    share, rates = np.array(kinds).T
    for _ in range(400):
        pi = rng.choice(rates, 50, p=share)
        posterior = unbiased_pass_k_posterior(rng.binomial(n, pi), n, k, scope=scope)
        expected = share @ (1 - (1 - rates) ** k) if scope == "population" else np.mean(1 - (1 - pi) ** k)
        low, high = posterior.interval(0.95, "hdi")
        held += low <= expected <= high
    assert stats.binomtest(held, 400, 0.95, alternative="less").pvalue > 1e-3
