"""Posterior of the score on new tasks."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats import clustered_bounded_posterior, new_tasks_posterior

ALIKE = [0.62, 0.55, 0.58, 0.66, 0.6, 0.57]


def test_similar_tasks_have_the_interval_of_students_t():
    """Prior tasks at both bounds made it 2.4 times as wide."""
    low, high = new_tasks_posterior(ALIKE, np.ones(6), 600).interval(0.95)
    exact = stats.t.interval(0.95, 5, np.mean(ALIKE), stats.sem(ALIKE))
    assert (low, high) == pytest.approx(exact, abs=0.002)


def test_tasks_that_differ_much_have_the_interval_of_the_dirichlet_process():
    means = [1.0, 1.0, 1.0, 1.0, 0.98, 0.99, 0.1]
    posterior = new_tasks_posterior(means, np.ones(7), 700)
    assert posterior.process_weight > 0.9
    process = clustered_bounded_posterior(means, np.ones(7)).interval(0.95)
    assert posterior.interval(0.95) == pytest.approx(process, abs=0.02)


def test_limits_are_continuous_in_the_data():
    lows = [
        new_tasks_posterior([1.0, 1.0, 0.99, 0.98, y], np.ones(5), 500).interval(0.95)[0]
        for y in np.linspace(0.5, 0.99, 200)
    ]
    assert np.abs(np.diff(lows)).max() < 0.02


def test_an_interval_contains_its_score_if_all_answers_are_right():
    low, high = new_tasks_posterior([1.0, 1.0, 1.0], np.ones(3), 300).interval(0.95, "hdi")
    assert 0.3 < low < 0.99
    assert high == 1.0


def test_right_and_wrong_swapped_mirror_the_interval():
    means = np.array([0.9, 0.7, 0.95, 0.99])
    low, high = new_tasks_posterior(means, np.ones(4), 400).interval(0.95)
    assert new_tasks_posterior(1 - means, np.ones(4), 400).interval(0.95) == pytest.approx((1 - high, 1 - low))


def test_the_range_of_the_scores_scales_the_interval():
    unit = np.array(new_tasks_posterior(ALIKE, np.ones(6), 600).interval(0.95))
    percent = new_tasks_posterior(100 * np.array(ALIKE), np.ones(6), 600, 0.0, 100.0).interval(0.95)
    assert percent == pytest.approx(100 * unit)


def test_distribution_function_and_quantiles_agree():
    posterior = new_tasks_posterior([0.9, 0.7, 0.95, 0.99], [2.0, 1.0, 1.0, 1.0], 400)
    p = np.array([0.01, 0.3, 0.5, 0.9, 0.99])
    assert posterior.cdf(posterior.quantile(p)) == pytest.approx(p, abs=1e-5)
    draws = posterior.quantile((np.arange(100_000) + 0.5) / 100_000)
    assert (posterior.mean, posterior.sd) == pytest.approx((draws.mean(), draws.std()), abs=1e-4)


def test_a_task_with_most_of_the_weight_widens_the_interval():
    even = np.diff(new_tasks_posterior(ALIKE, np.ones(6), 600).interval(0.95))[0]
    uneven = np.diff(new_tasks_posterior(ALIKE, [20.0, 1, 1, 1, 1, 1], 600).interval(0.95))[0]
    assert uneven > 2 * even


@pytest.mark.parametrize("arguments", [([0.5, 1.5], [1, 1], 10), ([0.5], [1, 1], 10), ([0.5, 0.6], [1, 0], 10)])
def test_impossible_input_is_refused(arguments):
    with pytest.raises(DataError):
        new_tasks_posterior(*arguments)
