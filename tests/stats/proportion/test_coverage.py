"""Exact coverage of intervals for one proportion."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.stats.proportion.binomial import binomial_interval
from harness_uq.stats.proportion.coverage import coverage_at, lowest_hdi_coverage, success_probabilities


def hdi_table(n, level):
    return binomial_interval(np.arange(n + 1), n, level, "hdi")


@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.3, 1.0])
def test_chances_are_those_of_scipys_binomial(theta):
    np.testing.assert_allclose(success_probabilities(theta, 12), stats.binom.pmf(np.arange(13), 12, theta), atol=1e-14)


def test_wald_at_one_success_of_three_covers_as_worked_out_by_hand():
    # of k = 0..3 only k = 1 and 2 have intervals with a width, and both hold 1/2: 6/8
    assert coverage_at(0.5, binomial_interval(np.arange(4), 3, 0.95, "clt")) == pytest.approx(0.75)


@pytest.mark.parametrize(("n", "level"), [(1, 0.95), (4, 0.8), (10, 0.95), (15, 0.99)])
def test_no_theta_of_a_fine_grid_within_the_interval_is_covered_less_than_said(n, level):
    low, high = hdi_table(n, level)
    thetas = np.linspace(0, 1, 20001)[1:-1]
    coverage = coverage_at(thetas, (low, high))
    for k, lowest in enumerate(lowest_hdi_coverage(n, level)):
        worst = coverage[(low[k] <= thetas) & (thetas <= high[k])].min()
        assert lowest - 1e-9 <= worst <= lowest + 0.01


def test_sixteen_questions_and_more_cover_90_percent_everywhere_but_for_a_thousandth():
    assert all(min(lowest_hdi_coverage(n, 0.95)) > 0.899 for n in range(16, 60))
    assert all(min(lowest_hdi_coverage(n, 0.95)) < 0.899 for n in (3, 5, 10, 12, 14))
