"""Interval of a weighted sum of tasks from the interval of each task."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq import DataError, stats
from harness_uq.stats.effects.weighted_tasks import shared_error


def test_a_single_task_keeps_its_interval() -> None:
    assert stats.weighted_tasks_interval([0.9], [0.7], [0.95], [1.0]) == pytest.approx((0.7, 0.95))


def test_symmetric_intervals_are_those_of_mover() -> None:
    """Zou and Donner (2008), eq. 1: limits v -+ sqrt(sum w^2 h^2) for symmetric intervals."""
    values, half, weights = np.array([0.3, 0.6, 0.8]), np.array([0.1, 0.05, 0.02]), np.array([0.5, 0.3, 0.2])
    low, high = stats.weighted_tasks_interval(values, values - half, values + half, weights)
    width = np.sqrt(np.sum((weights * half) ** 2))
    assert (low, high) == pytest.approx((weights @ values - width, weights @ values + width))


def test_the_squared_half_width_of_many_equal_tasks_averages_both_distances() -> None:
    n = 10_000
    low, high = stats.weighted_tasks_interval([0.9] * n, [0.6] * n, [1.0] * n, [1 / n] * n)
    assert (high - low) / 2 == pytest.approx(np.sqrt((0.3**2 + 0.1**2) / 2 / n), rel=0.01)


@given(st.lists(st.tuples(st.floats(0.1, 0.9), st.floats(0.01, 0.1), st.floats(0.01, 0.1)), min_size=1, max_size=8))
def test_mirrored_scores_have_mirrored_limits_and_the_score_is_inside(tasks) -> None:
    p, below, above = np.array(tasks).T
    w = np.full(len(p), 1 / len(p))
    low, high = stats.weighted_tasks_interval(p, p - below, p + above, w)
    assert low <= w @ p <= high
    mirrored = stats.weighted_tasks_interval(1 - p, 1 - p - above, 1 - p + below, w)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_inflation_widens_the_interval_about_its_centre() -> None:
    low, high = stats.weighted_tasks_interval([0.5, 0.5], [0.4, 0.3], [0.6, 0.7], [0.5, 0.5])
    wide = stats.weighted_tasks_interval([0.5, 0.5], [0.4, 0.3], [0.6, 0.7], [0.5, 0.5], inflation=2.0)
    assert wide == pytest.approx((low - (high - low) / 2, high + (high - low) / 2))


@pytest.mark.parametrize(
    "arguments",
    [
        ([], [], [], []),
        ([0.5], [0.6], [0.4], [1]),
        ([0.5], [0.4], [0.6], [-1]),
        ([0.5], [0.4], [0.6], [0]),
        ([0.5, 0.5], [0.4], [0.6], [1]),
    ],
)
def test_invalid_arguments_are_errors(arguments) -> None:
    with pytest.raises(DataError):
        stats.weighted_tasks_interval(*arguments)


def test_shared_errors_and_the_errors_of_the_tasks_add_up_to_the_variance_of_item_totals() -> None:
    rng = np.random.default_rng(3)
    x, tasks, units = rng.normal(size=(2, 60)), np.repeat([0, 1, 2], 20), np.tile(np.arange(20), 3)
    shared = shared_error(x, tasks, units)
    totals = x.reshape(2, 3, 20).sum(axis=1)
    assert shared + x @ x.T == pytest.approx(totals @ totals.T)
    assert shared_error(x, tasks, np.arange(60)) == pytest.approx(np.zeros((2, 2)))
    with pytest.raises(DataError):
        shared_error(x, tasks[1:], units)
