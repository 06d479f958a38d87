"""Exact unconditional test of non-inferiority: published values, brute force, limits and the size by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness_uq.errors import DataError
from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test, score_statistic


def test_the_statistic_is_that_of_tangos_example() -> None:
    """Tango (1998), section 4: 43 pairs with both right, one loss, margin 0.1: Z = 1.709, p = 0.044."""
    assert noninferiority_test([43, 0, 1, 0], 0.1).statistic == pytest.approx(1.709, abs=5e-4)


def brute_force(table: tuple[int, int, int, int], margin: float) -> tuple[float, float]:
    """Both p-values from the multinomial probabilities of all tables, at 2,001 values of the gain probability."""
    _, won, lost, _ = table
    n = sum(table)
    cells = np.array([(w, loss) for w in range(n + 1) for loss in range(n + 1 - w)])
    z = score_statistic(cells[:, 0], cells[:, 1], n, margin)
    observed = score_statistic(np.array(won), np.array(lost), n, margin)
    counts = np.column_stack([cells, n - cells.sum(axis=1)])
    best = np.zeros(2)
    for gain in np.linspace(0, (1 - margin) / 2, 2001):
        probability = stats.multinomial.pmf(counts, n, [gain, gain + margin, max(1 - 2 * gain - margin, 0.0)])
        ends = probability[z >= observed - 1e-9].sum(), probability[z <= observed + 1e-9].sum()
        best = np.maximum(best, ends)
    return best[0], best[1]


@pytest.mark.parametrize("table", [(10, 2, 1, 2), (4, 0, 0, 4), (3, 0, 5, 2), (8, 3, 0, 1)])
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_p_values_agree_with_brute_force(table: tuple[int, int, int, int], margin: float) -> None:
    test = noninferiority_test(table, margin)
    assert (test.p_noninferior, test.p_inferior) == pytest.approx(brute_force(table, margin), abs=2e-4)


def test_many_questions_tend_to_the_score_test() -> None:
    """900 questions with a discordance of 0.4: the normal approximation is close; above 1,000 it is used."""
    exact, normal = noninferiority_test([440, 190, 170, 100], 0.02), noninferiority_test([880, 380, 340, 200], 0.02)
    assert exact.p_noninferior == pytest.approx(stats.norm.sf(exact.statistic), rel=0.05)
    assert normal.p_noninferior == pytest.approx(stats.norm.sf(normal.statistic))


def test_no_discordance_does_not_pass_at_42_questions_and_a_margin_of_5_points() -> None:
    """A system with P(loss) = 0.05 and no gains shows no loss in 0.95^42 = 0.116 of runs."""
    assert noninferiority_test([42, 0, 0, 0], 0.05).p_noninferior == pytest.approx(0.95**42, rel=1e-6)
    assert noninferiority_test([59, 0, 0, 0], 0.05).p_noninferior <= 0.05


@given(st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any), st.sampled_from([0.01, 0.05, 0.1, 0.3]))
def test_a_gain_instead_of_a_loss_is_evidence_for_a(table: list[int], margin: float) -> None:
    both, won, lost, neither = table
    worse = noninferiority_test([both, won, lost + 1, neither], margin)
    better = noninferiority_test([both, won + 1, lost, neither], margin)
    assert better.statistic >= worse.statistic
    assert better.p_noninferior <= worse.p_noninferior + 1e-9


@given(st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any))
def test_without_a_margin_the_two_hypotheses_are_mirrored(table: list[int]) -> None:
    both, won, lost, neither = table
    test, mirrored = noninferiority_test(table, 0.0), noninferiority_test([both, lost, won, neither], 0.0)
    assert test.p_inferior == pytest.approx(mirrored.p_noninferior, abs=1e-9)


@pytest.mark.parametrize(("n", "margin"), [(20, 0.1), (31, 0.05)])
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
