"""Exact unconditional test of non-inferiority: published values, brute force, limits and the size by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.pairs.exact_noninferiority import (
    difference_limits,
    noninferiority_test,
    prob_worse,
    score_statistic,
)
from harness_uq.stats.pairs.paired import paired_posterior


def test_the_statistic_is_that_of_tangos_example() -> None:
    """Tango (1998), section 4: 43 pairs with both right, one loss, margin 0.1: Z = 1.709."""
    assert float(score_statistic(np.array(0), np.array(1), 44, 0.1)) == pytest.approx(1.709, abs=5e-4)


@pytest.mark.parametrize("table", [(20, 0, 0, 0), (50, 3, 4, 9), (100, 0, 9, 2), (9, 8, 3, 1)])
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.1])
def test_tables_are_ordered_by_the_posterior_of_the_difference(table: tuple[int, ...], margin: float) -> None:
    won, discordant = np.array([table[1]]), np.array([table[1] + table[2]])
    expected = float(paired_posterior(table, "dirichlet").cdf(-margin))
    assert prob_worse(won, discordant, sum(table), margin)[0] == pytest.approx(expected, abs=1e-7)


def brute_force(table: tuple[int, int, int, int], margin: float) -> tuple[float, float]:
    """Both p-values from the multinomial probabilities of all tables, at 2,001 values of the gain probability."""
    n = sum(table)
    cells = [(won, lost) for won in range(n + 1) for lost in range(n + 1 - won)]
    counts = np.array([(won, lost, n - won - lost) for won, lost in cells])
    worse = np.array([float(paired_posterior((n - w - x, w, x, 0), "dirichlet").cdf(-margin)) for w, x in cells])
    observed = float(paired_posterior(table, "dirichlet").cdf(-margin))
    best = np.zeros(2)
    for gain in np.linspace(0, (1 - margin) / 2, 2001):
        probability = stats.multinomial.pmf(counts, n, [gain, gain + margin, max(1 - 2 * gain - margin, 0.0)])
        ends = probability[worse <= observed + 1e-9].sum(), probability[worse >= observed - 1e-9].sum()
        best = np.maximum(best, ends)
    return best[0], best[1]


@pytest.mark.parametrize("table", [(10, 2, 1, 2), (4, 0, 0, 4), (3, 0, 5, 2), (8, 3, 0, 1)])
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_p_values_agree_with_brute_force(table: tuple[int, int, int, int], margin: float) -> None:
    test = noninferiority_test(table, margin)
    assert (test.p_noninferior, test.p_inferior) == pytest.approx(brute_force(table, margin), abs=2e-4)


@pytest.mark.slow
def test_the_score_test_replaces_the_exact_one_above_5000_questions() -> None:
    exact, normal = noninferiority_test([4490, 160, 150, 200], 0.005), noninferiority_test([4491, 160, 150, 200], 0.005)
    z = float(score_statistic(np.array(160), np.array(150), 5001, 0.005))
    assert normal.p_noninferior == pytest.approx(stats.norm.sf(z))
    assert 0 < exact.p_noninferior - normal.p_noninferior < 0.025


def test_no_discordance_does_not_pass_at_42_questions_and_a_margin_of_5_points() -> None:
    """A system with P(loss) = 0.05 and no gains shows no loss in 0.95^42 = 0.116 of runs."""
    assert noninferiority_test([42, 0, 0, 0], 0.05).p_noninferior == pytest.approx(0.95**42, rel=1e-6)
    assert noninferiority_test([59, 0, 0, 0], 0.05).p_noninferior <= 0.05


@given(st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any), st.sampled_from([0.01, 0.05, 0.1, 0.3]))
def test_a_gain_instead_of_a_loss_is_evidence_for_a(table: list[int], margin: float) -> None:
    both, won, lost, neither = table
    worse = noninferiority_test([both, won, lost + 1, neither], margin)
    better = noninferiority_test([both, won + 1, lost, neither], margin)
    assert better.p_noninferior <= worse.p_noninferior + 1e-9


@given(st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any))
def test_without_a_margin_the_two_hypotheses_are_mirrored(table: list[int]) -> None:
    both, won, lost, neither = table
    test, mirrored = noninferiority_test(table, 0.0), noninferiority_test([both, lost, won, neither], 0.0)
    assert test.p_inferior == pytest.approx(mirrored.p_noninferior, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "margin"), [(14, 0.15), (20, 0.1)])
def test_the_size_is_at_most_nominal(n: int, margin: float) -> None:
    """Probability of a wrong pass at alpha = 0.05, by enumeration, over the gain probability."""
    tables = [(n - w - loss, w, loss, 0) for w in range(n + 1) for loss in range(n + 1 - w)]
    passes = [t for t in tables if noninferiority_test(t, margin).p_noninferior <= 0.05]
    counts = np.array([(w, loss, rest) for rest, w, loss, _ in passes])
    sizes = [
        stats.multinomial.pmf(counts, n, [gain, gain + margin, max(1 - 2 * gain - margin, 0.0)]).sum()
        for gain in np.linspace(0, (1 - margin) / 2, 301)
    ]
    assert 0.02 < max(sizes) <= 0.05


@pytest.mark.parametrize(
    ("table", "margin"), [([1, 2, 3], 0.1), ([0, 0, 0, 0], 0.1), ([1, -1, 0, 0], 0.1), ([1, 0, 0, 0], 1.0)]
)
def test_bad_input_is_refused(table: list[int], margin: float) -> None:
    with pytest.raises(DataError):
        noninferiority_test(table, margin)


@pytest.mark.parametrize("table", [(30, 3, 5, 12), (20, 12, 2, 16), (3, 0, 1, 0), (50, 0, 0, 9), (5, 1, 14, 20)])
@pytest.mark.parametrize("tail", [0.05, 0.025])
def test_limits_are_the_bounds_at_which_the_test_begins_to_reject(table: tuple[int, ...], tail: float) -> None:
    """Within 3e-4, because the search stops at 2e-4 and the test rounds its quadrature otherwise."""
    low, high = difference_limits(table, tail)
    both, won, lost, neither = table
    mirrored = difference_limits((both, lost, won, neither), tail)
    assert mirrored == (-high, -low)
    assert low < (won - lost) / sum(table) < high

    def p_at_most(bound: float) -> float:
        if bound <= 0:
            return noninferiority_test(table, -bound).p_noninferior
        return noninferiority_test((both, lost, won, neither), bound).p_inferior

    assert p_at_most(low - 3e-4) <= tail < p_at_most(low + 3e-4)


def test_limits_above_5000_questions_are_those_of_the_score_test() -> None:
    low, _ = difference_limits((4000, 400, 300, 2300), 0.025)
    assert score_statistic(np.float64(400), np.float64(300), 7000, -low) == pytest.approx(1.96, abs=0.2) or low > 0
    assert 0.0 < low < 100 / 7000


def test_tables_without_information_have_no_limits() -> None:
    assert difference_limits((0, 1, 0, 0), 0.05)[1] == 1.0
    assert difference_limits((0, 0, 1, 0), 0.05)[0] == -1.0
