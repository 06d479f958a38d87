"""Two independent systems: references, exact sums, limits, mirror images."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binomtest, kstest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior
from harness_uq.stats.pairs import independent
from harness_uq.stats.pairs.independent import (
    IndependentPosterior,
    difference_posterior,
)
from tests.reference_values import reference_values

P = np.array([0.025, 0.5, 0.975])


def independent_posterior(s_a: float, n_a: float, s_b: float, n_b: float) -> IndependentPosterior:
    """The difference of two proportions, each with prior Beta(1, 1)."""
    return IndependentPosterior((s_a + 1, n_a - s_a + 1), (s_b + 1, n_b - s_b + 1))


def test_gives_the_reference_quantiles() -> None:
    # posteriors.json: three pairs of counts; tolerance 1e-6 (odds ratios up to 413: relative)
    cases = reference_values("posteriors.json")["cases"]
    cases = [case for case in cases if case["kind"] == "independent"]
    assert len(cases) == 3
    for case in cases:
        posterior = independent_posterior(*case["counts"])
        found = [*posterior.quantile(case["q"]), posterior.prob_positive]
        expected = [*case["quantiles"], case["prob_a_better"]]
        np.testing.assert_allclose(found, expected, atol=1e-7, rtol=0)
        np.testing.assert_allclose(posterior.odds_ratio_quantile(case["q"]), case["odds_ratio_quantiles"], rtol=1e-6)


def test_probabilities_of_nine_systems_on_twenty_questions_are_the_reference_ones() -> None:
    reference = reference_values("reference_intervals.json")
    right = {name: entry["k"] for name, entry in reference["langchain_n20"].items()}
    for a, row in reference["langchain_p_gt_indep_exact"].items():
        for b, expected in row.items():
            if expected is not None:
                found = independent_posterior(right[a], 20, right[b], 20).prob_positive
                assert found == pytest.approx(expected, abs=1e-12), (a, b)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_prob_positive_is_the_finite_sum(s_a: int, f_a: int, s_b: int, f_b: int) -> None:
    # P(theta_A > theta_B) = sum_{i <= s_a} B(s_b + 1 + i, f_a + f_b + 2) / ((f_a + 1 + i) B(1 + i, f_a + 1) B(..));
    # Miller (2015), "Formulas for Bayesian A/B testing", eq. 6
    i = np.arange(s_a + 1)
    log_terms = (
        special.betaln(s_b + 1 + i, f_a + f_b + 2)
        - np.log(f_a + 1 + i)
        - special.betaln(1 + i, f_a + 1)
        - special.betaln(s_b + 1, f_b + 1)
    )
    expected = np.exp(log_terms).sum()
    found = independent_posterior(s_a, s_a + f_a, s_b, s_b + f_b).prob_positive
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)))
def test_swapping_systems_or_right_and_wrong_mirrors_difference_and_inverts_odds(c: tuple[int, int, int, int]) -> None:
    s_a, f_a, s_b, f_b = c
    first = independent_posterior(s_a, s_a + f_a, s_b, s_b + f_b)
    for second in (
        independent_posterior(s_b, s_b + f_b, s_a, s_a + f_a),
        independent_posterior(f_a, s_a + f_a, f_b, s_b + f_b),
    ):
        np.testing.assert_allclose(first.quantile(P), -second.quantile(P)[::-1], atol=1e-8)
        np.testing.assert_allclose(first.odds_ratio_quantile(P), 1 / second.odds_ratio_quantile(P)[::-1], rtol=1e-6)


@pytest.mark.parametrize(
    "counts",
    [
        (0, 0, 0, 0),
        (1, 1, 0, 1),
        (20, 20, 20, 20),
        (10**9, 10**9, 0, 10**9),
        (10**9, 10**9, 10**9, 10**9),
        (0, 10**9, 1, 3),
    ],
    ids=str,
)
def test_hard_counts_give_a_proper_posterior(counts: tuple[int, int, int, int]) -> None:
    posterior = independent_posterior(*counts)
    low, middle, high = posterior.quantile(P)
    assert -1 <= low < middle < high <= 1
    assert 0 <= posterior.prob_positive <= 1
    odds = posterior.odds_ratio_quantile(P)
    assert 0 < odds[0] < odds[1] < odds[2] < np.inf


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (0, 4, 0, 4), (20, 20, 14, 20), (700, 1000, 5, 9)], ids=str)
def test_twice_the_nodes_move_nothing(counts: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(-0.95, 0.95, 31)
    coarse = independent_posterior(*counts).cdf(x)
    monkeypatch.setattr(independent, "_NODES", 2 * independent._NODES)
    assert independent_posterior(*counts).cdf(x) == pytest.approx(coarse, abs=2e-9)


@pytest.mark.parametrize(
    ("counts", "tolerance"),
    [((72, 100, 65, 100), 1e-12), ((3, 5, 0, 4), 1e-9), ((0, 4, 0, 4), 2e-5), ((0, 0, 0, 0), 2e-5)],
)
def test_difference_of_any_two_posteriors_agrees_on_betas(counts: tuple[int, int, int, int], tolerance: float) -> None:
    s_a, n_a, s_b, n_b = counts
    general = difference_posterior(BetaPosterior(s_a + 1, n_a - s_a + 1), BetaPosterior(s_b + 1, n_b - s_b + 1))
    special_case = independent_posterior(*counts)
    x = np.linspace(-0.9, 0.9, 37)
    assert general.cdf(x) == pytest.approx(special_case.cdf(x), abs=tolerance)
    assert (general.mean, general.sd) == pytest.approx((special_case.mean, special_case.sd), abs=1e-15)


def test_difference_of_clustered_posteriors_mirrors_and_is_wider_than_its_parts() -> None:
    a = clustered_posterior([9, 5, 10, 3, 8], [10] * 5)
    b = clustered_posterior([4, 5, 2, 3, 8, 1], [10] * 6)
    first, second = difference_posterior(a, b), difference_posterior(b, a)
    np.testing.assert_allclose(first.quantile(P), -second.quantile(P)[::-1], atol=1e-8)
    assert first.sd == pytest.approx(np.hypot(a.sd, b.sd))
    draws = DrawsPosterior(
        a.quantile(np.random.default_rng(1).random(200_000)) - b.quantile(np.random.default_rng(2).random(200_000))
    )
    assert first.quantile(P) == pytest.approx(draws.quantile(P), abs=0.005)


def test_two_posteriors_of_zero_width_are_refused() -> None:
    with pytest.raises(NotEstimableError, match="standard deviation 0"):
        difference_posterior(DrawsPosterior(np.ones(3)), DrawsPosterior(np.ones(3)))


def test_says_what_it_cannot_use() -> None:
    with pytest.raises(DataError, match="parameters of at least 1"):
        IndependentPosterior((0.5, 1), (1, 1))


@pytest.mark.slow
def test_calibrated_where_thetas_are_uniform() -> None:
    rng = np.random.default_rng(20260104)
    n, ranks = 1500, np.empty(1500)
    posterior = cache(lambda a, b: independent_posterior(a, 12, b, 30))  # 403 different data sets
    for run in range(n):
        theta = rng.random(2)
        s = rng.binomial([12, 30], theta)
        ranks[run] = float(posterior(*s).cdf(theta[0] - theta[1]))
    assert kstest(ranks, "uniform").pvalue > 1e-3
    assert binomtest(int(np.sum(np.abs(ranks - 0.5) < 0.475)), n, 0.95).pvalue > 1e-3
