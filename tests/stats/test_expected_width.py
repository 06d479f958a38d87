"""The expected width of the interval of an active evaluation."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.active.expected_width import evaluate, expected_widths
from harness_uq.stats.active.predictor import fit_predictor
from harness_uq.stats.active.rounds import round_sizes
from tests.stats.test_active import leaderboard


@pytest.mark.parametrize(
    ("n", "n_rounds", "sizes"), [(100, 5, [20] * 5), (12, 5, [6, 6]), (4, 5, [4]), (23, 3, [8, 7, 8])]
)
def test_rounds_are_of_equal_size_and_not_too_small(n: int, n_rounds: int, sizes: list[int]) -> None:
    assert round_sizes(n, n_rounds) == sizes


def test_the_expected_width_is_that_of_new_systems() -> None:
    scores = leaderboard(60, 300, 2, 30)
    (expected,) = expected_widths(scores[:40], [60], n_systems=15)
    predictor, rng = fit_predictor(scores[:40]), np.random.default_rng(31)
    intervals = [evaluate(predictor, new, round_sizes(60, 5), rng).interval() for new in scores[40:]]
    assert expected.width == pytest.approx(np.mean([high - low for low, high in intervals]), rel=0.1)


def test_the_width_of_random_questions_is_that_of_their_mean() -> None:
    history = np.tile([1.0, 0.0], (10, 50))
    (expected,) = expected_widths(history, [20])
    standard_error = np.sqrt(25 / 99 * (1 / 20 - 1 / 100))  # Cochran, eq. 2.20
    assert expected.width_uniform == pytest.approx(2 * stats.norm.ppf(0.975) * standard_error, rel=0.03)
    assert expected.width < 0.7 * expected.width_uniform  # the systems answer alike


def test_more_questions_and_a_lower_level_give_narrower_intervals_and_the_range_is_their_unit() -> None:
    history = leaderboard(20, 200, 1, 32)
    few, many = expected_widths(history, [30, 90], n_systems=5)
    assert (few.n_questions, many.n_questions) == (30, 90)
    assert many.width < few.width
    assert expected_widths(history, [30], n_systems=5, level=0.8)[0].width < few.width
    percent = expected_widths(100 * history, [30, 90], n_systems=5, high=100)
    assert percent[0].width == pytest.approx(100 * few.width)


def test_systems_with_missing_scores_are_only_part_of_the_history() -> None:
    history = leaderboard(12, 100, 1, 33)
    history[2:, 0] = np.nan
    assert len(expected_widths(history, [20])) == 1
    history[:, 0] = np.nan
    with pytest.raises(NotEstimableError):
        expected_widths(history, [20])


@pytest.mark.parametrize(
    ("n_questions", "options"), [([1], {}), ([100], {}), ([20], {"level": 95}), ([20], {"n_systems": 0})]
)
def test_invalid_arguments_are_refused(n_questions: list[int], options: dict[str, float]) -> None:
    with pytest.raises(DataError):
        expected_widths(leaderboard(12, 100, 1, 34), n_questions, **options)
