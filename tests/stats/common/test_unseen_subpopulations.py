"""Posteriors that allow for subpopulations of units that the sample lacks."""

import numpy as np
import pytest
from scipy import integrate

from harness_uq.stats import BetaMixturePosterior, BetaPosterior, paired_difference_posterior
from harness_uq.stats.common.unseen_subpopulations import ABSENT_FROM, UnseenSubpopulations
from harness_uq.stats.units.contrasts import WidenedDifferencePosterior

P = [0.001, 0.025, 0.5, 0.975, 0.999]


def tabulated(a, b):
    return BetaMixturePosterior([a], [b], [1.0]).tabulate()


@pytest.mark.parametrize("a", [5.0, 60.0, 74.5])
def test_the_product_of_beta_variables_is_exact(a):
    """Beta(a, b) times Beta(a + b, 1) is Beta(a, b + 1) (Jambunathan 1954); 1 - e ~ Beta(75, 1) for 30 units."""
    widened = UnseenSubpopulations(30, 1.0, 0.0).widen(tabulated(a, 75.0 - a))
    exact = BetaPosterior(a, 76.0 - a)
    assert widened.cdf(exact.quantile(P)) == pytest.approx(P, abs=1e-5)
    assert (widened.mean, widened.sd) == pytest.approx((exact.mean, exact.sd), rel=1e-12)


def test_a_million_units_lack_next_to_nothing():
    units = 10**6
    narrow = tabulated(0.8 * units, 0.2 * units)
    widened = UnseenSubpopulations(units, 1.0, 0.0).widen(narrow)
    exact = BetaPosterior(0.8 * units, 0.2 * units)
    shift = np.abs(widened.quantile(P) - exact.quantile(P))
    assert (shift < 0.01 * exact.sd).all()


def test_moments_agree_with_the_tabulated_density():
    widened = UnseenSubpopulations(12, 0.7, 0.4).widen(tabulated(9.0, 4.0))
    x = np.linspace(0, 1, 20_001)
    cdf = widened.cdf(x)
    mean = 1 - integrate.trapezoid(cdf, x)
    square = 1 - integrate.trapezoid(2 * x * cdf, x)
    assert (mean, np.sqrt(square - mean**2)) == pytest.approx((widened.mean, widened.sd), abs=1e-6)


def test_right_and_wrong_swapped_mirror_the_distribution():
    widened = UnseenSubpopulations(12, 0.7, 0.4).widen(tabulated(9.0, 4.0))
    mirrored = UnseenSubpopulations(12, 0.4, 0.7).widen(tabulated(4.0, 9.0))
    assert 1 - mirrored.quantile(P) == pytest.approx(widened.quantile(P)[::-1], abs=1e-9)


def test_one_answer_per_unit_leaves_the_posterior_unchanged():
    narrow = tabulated(20.0, 1.0)
    assert UnseenSubpopulations.of(np.ones(20), 20).widen(narrow) is narrow


def test_a_unit_that_is_all_wrong_or_all_right_rules_out_that_an_unseen_one_is_added():
    unseen = UnseenSubpopulations.of(np.array([0.0, 0.5, 1.0]), 24)
    assert (unseen.lowest, unseen.highest) == (0.0, 0.0)


def test_the_probability_rises_steadily_with_the_lowest_mean():
    lowest = [UnseenSubpopulations.of(np.array([y, 1.0]), 16).lowest for y in (0.0, 0.25, 0.5, ABSENT_FROM, 1.0)]
    assert lowest == pytest.approx([0.0, 0.25 / ABSENT_FROM * 7 / 8, 0.5 / ABSENT_FROM * 7 / 8, 7 / 8, 7 / 8])


def test_swapping_the_systems_mirrors_a_widened_difference():
    means = np.array([0.25, 0.125, 0.0, 0.0, -0.125, 0.375, 0.25, 0.0, 0.5, 0.125])
    ours = WidenedDifferencePosterior(paired_difference_posterior(means, 0, 1), means, 80, 1.0)
    theirs = WidenedDifferencePosterior(paired_difference_posterior(-means, 0, 1), -means, 80, 1.0)
    assert -theirs.quantile(P) == pytest.approx(ours.quantile(P)[::-1], abs=1e-6)
    assert theirs.prob_positive == pytest.approx(1 - ours.prob_positive, abs=1e-6)
    assert (theirs.mean, theirs.sd) == pytest.approx((-ours.mean, ours.sd), rel=1e-9)


def test_a_difference_is_on_the_scale_of_the_scores():
    means = np.array([0.25, 0.125, 0.0, 0.0, -0.125, 0.375, 0.25, 0.0, 0.5, 0.125])
    unit = WidenedDifferencePosterior(paired_difference_posterior(means, 0, 1), means, 80, 1.0)
    percent = WidenedDifferencePosterior(paired_difference_posterior(100 * means, 0, 100), 100 * means, 80, 100.0)
    assert percent.quantile(P) == pytest.approx(100 * unit.quantile(P), rel=1e-6)
    assert percent.sd == pytest.approx(100 * unit.sd)


def test_the_table_of_a_difference_agrees_with_its_exact_distribution():
    means = np.array([1.0, -1.0, 0.5, 0.25, -0.5, 0.0, 0.75, 0.125])
    exact = paired_difference_posterior(means, 0, 1)
    tabulated_difference = WidenedDifferencePosterior(exact, means, 64, 1.0)
    assert tabulated_difference.quantile(P) == pytest.approx(exact.quantile(P), abs=5e-4 * exact.sd)
