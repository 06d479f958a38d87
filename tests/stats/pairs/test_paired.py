"""Paired posteriors of one table: references, limits, mirror images, hard data, calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special
from scipy.stats import binomtest, kstest

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.paired import (
    PairedModel,
    paired_posterior,
)
from harness_uq.stats.units.contrasts import DirichletCellsPosterior, paired_difference_posterior
from harness_uq.stats.units.priors import PRIORS, UnitScores
from tests.reference_values import reference_values

MODELS: tuple[PairedModel, ...] = ("latent_normal", "dirichlet")
P = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
HARD_TABLES = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 0, 1],
    [20, 0, 0, 0],
    [0, 20, 0, 0],
    [1_000_000_000, 0, 0, 0],
    [1_000_000_000, 1, 0, 0],
    [1_000_000_000, 3, 5, 1_000_000_000],
    [0, 500_000_000, 500_000_000, 0],
    [500_000_000, 200_000_000, 200_000_000, 100_000_000],
]
cells = st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any)


def test_dirichlet_gives_the_reference_quantiles() -> None:
    # posteriors.json: six tables, one of them without a discordant question; tolerance 1e-6
    cases = reference_values("posteriors.json")["cases"]
    cases = [case for case in cases if case["kind"] == "paired_dirichlet"]
    assert len(cases) == 6
    for case in cases:
        posterior = paired_posterior(case["table"], "dirichlet")
        found = [*posterior.quantile(case["q"]), posterior.mean, posterior.prob_positive]
        expected = [*case["quantiles"], case["mean"], case["prob_a_better"]]
        np.testing.assert_allclose(found, expected, atol=1e-9, rtol=0, err_msg=str(case["table"]))


@pytest.mark.parametrize("table", [[17, 2, 0, 1], [20, 0, 0, 0], [3, 1, 2, 1], [0, 7, 3, 0]])
def test_dirichlet_is_the_product_of_its_two_betas(table: list[int]) -> None:
    # D = s (2 r - 1): P(D <= x) integrated over s with scipy.integrate, in pieces around the corner at s = |x|
    both, only_a, only_b, neither = table
    s = (only_a + only_b + 1, both + neither + 1)
    for x in (-0.3, -0.02, 0.05, 0.4):

        def integrand(v: float, x: float = x) -> float:
            below = special.betainc(only_a + 0.5, only_b + 0.5, np.clip((1 + x / v) / 2, 0, 1))
            return float(below * np.exp((s[0] - 1) * np.log(v) + (s[1] - 1) * np.log1p(-v) - special.betaln(*s)))

        expected = sum(integrate.quad(integrand, *ends, epsabs=1e-11)[0] for ends in ((0, abs(x)), (abs(x), 1)))
        assert float(paired_posterior(table, "dirichlet").cdf(x)) == pytest.approx(expected, abs=1e-8)


@given(cells)
def test_dirichlet_prob_positive_is_the_closed_form_and_agrees_with_the_cdf(table: list[int]) -> None:
    posterior = paired_posterior(table, "dirichlet")
    closed = special.betainc(table[2] + 0.5, table[1] + 0.5, 0.5)
    assert posterior.prob_positive == pytest.approx(closed, abs=1e-15)
    assert 1 - float(posterior.cdf(0.0)) == pytest.approx(closed, abs=1e-12)


def test_dirichlet_odds_ratio_is_that_of_the_discordant_questions() -> None:
    posterior = DirichletCellsPosterior([60, 12, 5, 23])
    r = special.betaincinv(12.5, 5.5, [0.025, 0.5, 0.975])
    assert posterior.odds_ratio_quantile([0.025, 0.5, 0.975]) == pytest.approx(r / (1 - r), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=25, deadline=None)
@given(table=cells)
def test_swapping_the_systems_or_right_and_wrong_mirrors_the_difference(model: PairedModel, table: list[int]) -> None:
    both, only_a, only_b, neither = table
    first = paired_posterior(table, model)
    for other in ([both, only_b, only_a, neither], [neither, only_b, only_a, both]):
        second = paired_posterior(other, model)
        np.testing.assert_allclose(first.quantile(P), -second.quantile(P)[::-1], atol=1e-9)
        assert first.prob_positive == pytest.approx(1 - second.prob_positive, abs=1e-9)
        assert first.mean == pytest.approx(-second.mean, abs=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("table", HARD_TABLES, ids=str)
def test_hard_tables_give_a_proper_posterior(table: list[int], model: PairedModel) -> None:
    posterior = paired_posterior(table, model)
    low, middle, high = posterior.quantile([0.025, 0.5, 0.975])
    assert -1 <= low < middle < high <= 1
    assert 0 < posterior.sd < 1
    assert low <= posterior.mean <= high
    assert 0 <= posterior.prob_positive <= 1
    narrow_low, narrow_high = posterior.interval(0.95, "hdi")
    assert 0 < narrow_high - narrow_low <= (high - low) * (1 + 1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_equal_discordant_counts_of_a_billion_leave_an_even_chance(model: PairedModel) -> None:
    posterior = paired_posterior([500_000_000, 200_000_000, 200_000_000, 100_000_000], model)
    assert posterior.prob_positive == pytest.approx(0.5, abs=1e-7)
    # sd of c10/n - c01/n: sqrt(0.4 / 1e9)
    assert posterior.sd == pytest.approx(2e-5, rel=1e-6)


@pytest.mark.parametrize(
    ("table", "message"),
    [([1, 2, 3], "four counts"), ([0, 0, 0, 0], "at least one question"), ([1, -1, 0, 2], "four counts")],
)
def test_says_what_a_table_is(table: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        paired_posterior(table)


def test_says_which_models_there_are() -> None:
    with pytest.raises(DataError, match="'dirichlet' or 'latent_normal'; got 'probit'"):
        paired_posterior([1, 0, 0, 0], "probit")  # type: ignore[arg-type]


def test_three_atom_posterior_of_binary_differences_is_the_conjugate_one() -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [12, 5, 83])
    found = paired_difference_posterior(differences, 0, 1)
    expected = paired_posterior([60, 12, 5, 23], "dirichlet")
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=1e-13)
    assert (found.mean, found.sd) == pytest.approx((expected.mean, expected.sd), abs=1e-15)
    assert found.prob_positive == pytest.approx(expected.prob_positive, abs=1e-12)


def test_rounding_of_means_over_trials_moves_no_difference_off_the_ends() -> None:
    """The mean of three trials of .1 is .10000000000000002."""
    for low, high in ((0.0, 0.1), (0.4, 0.7), (-0.1, 0.2)):
        difference = np.mean([[high] * 3] * 2, axis=1) - np.mean([[low] * 3, [high] * 3], axis=1)
        width = high - low
        found = paired_difference_posterior(difference, low, high)
        exact = paired_difference_posterior([width, 0.0], low, high)
        assert (found.low, found.high) == (-width, width)
        assert found.interval() == pytest.approx(exact.interval(), abs=1e-12)


def test_a_wider_score_stretches_the_difference() -> None:
    d = np.array([0.2, -0.1, 0.0, 0.55, 0.3])
    unit, percent = paired_difference_posterior(d, 0, 1), paired_difference_posterior(100 * d, -50, 50)
    np.testing.assert_allclose(percent.quantile(P), 100 * unit.quantile(P), rtol=1e-9)


def test_repeated_scores_agree_with_dirichlet_weights_drawn() -> None:
    rng = np.random.default_rng(5)
    d = rng.uniform(-0.2, 0.5, 14)
    points = PRIORS["pair"].positions(UnitScores.of(d, np.ones(14), 14.0))
    draws = rng.dirichlet([*np.ones(14), 0.5, 1.0, 0.5], 400_000) @ [*d, *points]
    posterior = paired_difference_posterior(d, 0, 1)
    assert posterior.cdf(np.quantile(draws, P)) == pytest.approx(P, abs=0.002)
    assert (posterior.mean, posterior.sd) == pytest.approx((draws.mean(), draws.std()), abs=0.001)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_swapping_the_systems_mirrors_repeated_scores(differences: list[float]) -> None:
    first = paired_difference_posterior(differences, 0, 1)
    second = paired_difference_posterior([-d for d in differences], 0, 1)
    np.testing.assert_allclose(first.quantile(P), -second.quantile(P)[::-1], atol=1e-9)
    assert -1 <= float(first.quantile(0.025)) < float(first.quantile(0.975)) <= 1


def test_equal_scores_on_every_question_leave_a_width() -> None:
    posterior = paired_difference_posterior(np.zeros(50), 0, 1)
    low, high = posterior.interval()
    assert low == pytest.approx(-high, abs=1e-12)
    assert 0.01 < high < 0.1
    assert posterior.prob_positive == pytest.approx(0.5, abs=1e-12)


def test_unmatched_questions_are_left_out() -> None:
    posterior = paired_difference_posterior([0.0, 2 / 3, float("nan")], 0, 1)
    assert posterior.interval() == paired_difference_posterior([0.0, 2 / 3], 0, 1).interval()


def test_non_inferiority_is_read_from_the_distribution_function() -> None:
    # P(D > -0.1) of a Beta(1, 1)-like three-atom posterior against its draws' closed form r, s
    rng = np.random.default_rng(3)
    s, r = rng.beta(4, 18, 400_000), rng.beta(2.5, 1.5, 400_000)
    posterior = paired_posterior([12, 2, 1, 5], "dirichlet")
    assert 1 - float(posterior.cdf(-0.1)) == pytest.approx(np.mean(s * (2 * r - 1) > -0.1), abs=0.002)


@pytest.mark.parametrize(
    ("differences", "message"),
    [([1.5], "exceeds the bounds"), ([float("nan")], "no matched question"), ([], "no matched question")],
)
def test_says_which_differences_it_cannot_use(differences: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        paired_difference_posterior(differences, 0, 1)


@pytest.mark.slow
def test_dirichlet_is_calibrated_where_cells_come_from_its_prior() -> None:
    rng = np.random.default_rng(20260102)
    n, ranks = 3000, np.empty(3000)
    for run in range(n):
        p = rng.dirichlet([0.5] * 4)
        posterior = paired_posterior(rng.multinomial(15, p), "dirichlet")
        ranks[run] = float(posterior.cdf(p[1] - p[2]))
    assert kstest(ranks, "uniform").pvalue > 1e-3
    assert binomtest(int(np.sum(np.abs(ranks - 0.5) < 0.475)), n, 0.95).pvalue > 1e-3
