"""Intervals of two proportions: published examples, likelihoods, mirror images."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special
from statsmodels.stats.proportion import confint_proportions_2indep

from benchmarks.reference.two_proportions import (
    independent_posterior,
    miettinen_nurminen_interval,
    newcombe_interval,
    tango_interval,
)
from harness_uq.messages.errors import DataError

tables = st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any)

# Newcombe (1998), Statistics in Medicine 17, table II: methods 10 (hybrid score) and 6 (Miettinen-Nurminen)
NEWCOMBE_TABLE = [
    ((56, 70, 48, 80), (0.0524, 0.3339), (0.0528, 0.3382)),
    ((9, 10, 3, 10), (0.1705, 0.8090), (0.1700, 0.8406)),
    ((6, 7, 2, 7), (0.0582, 0.8062), (0.0342, 0.8534)),
    ((5, 56, 0, 29), (-0.0381, 0.1926), (-0.0326, 0.1933)),
    ((10, 10, 0, 20), (0.6791, 1.0), (0.7156, 1.0)),
]


@pytest.mark.parametrize(("counts", "hybrid", "score"), NEWCOMBE_TABLE)
def test_frequentist_intervals_are_the_published_ones(
    counts: tuple[int, int, int, int], hybrid: tuple[float, float], score: tuple[float, float]
) -> None:
    assert newcombe_interval(*counts) == pytest.approx(hybrid, abs=5.1e-5)
    assert miettinen_nurminen_interval(*counts) == pytest.approx(score, abs=5.1e-5)


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (9, 10, 3, 10), (20, 20, 20, 20), (0, 7, 0, 9)], ids=str)
def test_newcombe_agrees_with_statsmodels(counts: tuple[int, int, int, int]) -> None:
    expected = confint_proportions_2indep(*counts, method="newcomb")
    assert newcombe_interval(*counts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (9, 10, 3, 10), (15, 40, 3, 22)], ids=str)
def test_ends_of_the_score_interval_sit_at_the_critical_value_of_the_likelihood(
    counts: tuple[int, int, int, int],
) -> None:
    # the restricted maximum likelihood from scipy's optimiser (statsmodels 0.14 has p = .0604 at .3382, not .05)
    s_a, n_a, s_b, n_b = counts
    for d in miettinen_nurminen_interval(*counts):

        def loss(p: float, d: float = d) -> float:
            return -float(
                special.xlogy(s_a, p + d)
                + special.xlogy(n_a - s_a, 1 - p - d)
                + special.xlogy(s_b, p)
                + special.xlogy(n_b - s_b, 1 - p)
            )

        ends = (max(0.0, -d) + 1e-12, min(1.0, 1 - d) - 1e-12)
        p = optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        variance = ((p + d) * (1 - p - d) / n_a + p * (1 - p) / n_b) * (n_a + n_b) / (n_a + n_b - 1)
        assert abs(s_a / n_a - s_b / n_b - d) / np.sqrt(variance) == pytest.approx(1.959964, abs=1e-4)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_frequentist_intervals_mirror_and_stay_inside(s_a: int, extra_a: int, s_b: int, extra_b: int) -> None:
    n_a, n_b = s_a + extra_a - 1 + (s_a == 0), s_b + extra_b - 1 + (s_b == 0)
    for interval in (newcombe_interval, miettinen_nurminen_interval):
        low, high = interval(s_a, n_a, s_b, n_b)
        mirrored = interval(s_b, n_b, s_a, n_a)
        assert -1 <= low < high <= 1
        assert (low, high) == pytest.approx((-mirrored[1], -mirrored[0]), abs=1e-8)


def test_published_airway_example() -> None:
    # Fagerland, Lydersen and Laake (2013, 2014): table (1, 1, 7, 12), Tango [-.517, -.026]
    assert tango_interval([1, 1, 7, 12]) == pytest.approx((-0.517, -0.026), abs=5e-4)


@given(tables)
def test_tango_mirrors_has_a_width_and_stays_inside(table: list[int]) -> None:
    low, high = tango_interval(table)
    mirrored = tango_interval([table[0], table[2], table[1], table[3]])
    assert -1 <= low < high <= 1
    assert (low, high) == pytest.approx((-mirrored[1], -mirrored[0]), abs=1e-9)


@pytest.mark.parametrize("table", [[60, 12, 5, 23], [17, 2, 0, 1], [3, 1, 2, 1]])
def test_tango_ends_sit_at_the_critical_value_of_the_likelihood(table: list[int]) -> None:
    # the restricted maximum likelihood of P(only B) by scipy's optimiser, not by the closed form
    n, only_a, only_b = sum(table), table[1], table[2]
    for d in tango_interval(table):

        def loss(q: float, d: float = d) -> float:
            tie = special.xlogy(n - only_a - only_b, 1 - 2 * q - d)
            return -float(special.xlogy(only_a, q + d) + special.xlogy(only_b, q) + tie)

        ends = (max(0.0, -d) + 1e-12, (1 - d) / 2 - 1e-12)
        q = optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        z = (only_a - only_b - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))
        assert abs(z) == pytest.approx(1.959964, abs=1e-4)


def test_counts_that_are_none_are_named() -> None:
    with pytest.raises(DataError, match="successes must not exceed trials"):
        independent_posterior(5, 4, 1, 2)
    with pytest.raises(DataError, match="at least one trial; got 0 and 2"):
        newcombe_interval(0, 0, 1, 2)
