"""The expected width of the interval of an active evaluation."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.active.expected_width import WidthSimulation, evaluate, questions_for
from harness_uq.stats.active.predictor import fit_predictor
from harness_uq.stats.active.rounds import round_sizes
from tests.stats.test_active import leaderboard


@pytest.mark.parametrize(
    ("n", "n_rounds", "sizes"), [(100, 5, [20] * 5), (12, 5, [6, 6]), (4, 5, [4]), (23, 3, [8, 7, 8])]
)
def test_rounds_are_of_equal_size_and_not_too_small(n: int, n_rounds: int, sizes: list[int]) -> None:
    assert round_sizes(n, n_rounds) == sizes


@pytest.mark.slow
def test_the_expected_width_is_that_of_new_systems() -> None:
    scores = leaderboard(60, 300, 2, 30)
    expected = WidthSimulation(scores[:40], n_systems=15).width(60)
    predictor, rng = fit_predictor(scores[:40]), np.random.default_rng(31)
    intervals = [evaluate(predictor, new, round_sizes(60, 5), rng).interval() for new in scores[40:]]
    assert expected.width == pytest.approx(np.mean([high - low for low, high in intervals]), rel=0.1)


def test_the_width_of_random_questions_is_that_of_their_mean() -> None:
    history = np.tile([1.0, 0.0], (10, 50))
    expected = WidthSimulation(history).width(20)
    standard_error = np.sqrt(25 / 99 * (1 / 20 - 1 / 100))  # Cochran, eq. 2.20
    assert expected.width_uniform == pytest.approx(2 * stats.norm.ppf(0.975) * standard_error, rel=0.03)
    assert expected.width < 0.7 * expected.width_uniform  # the systems answer alike


@pytest.mark.slow
def test_more_questions_and_a_lower_level_give_narrower_intervals_and_the_range_is_their_unit() -> None:
    history = leaderboard(20, 200, 1, 32)
    simulation = WidthSimulation(history, n_systems=5)
    few, many = simulation.width(30), simulation.width(90)
    assert (few.n_questions, many.n_questions) == (30, 90)
    assert many.width < few.width
    assert 0 < few.std_error < 0.1 * few.width
    assert WidthSimulation(history, n_systems=5, level=0.8).width(30).width < few.width
    percent = WidthSimulation(100 * history, n_systems=5, high=100).width(30)
    assert percent.width == pytest.approx(100 * few.width)


def test_systems_with_missing_scores_are_only_part_of_the_history() -> None:
    history = leaderboard(12, 100, 1, 33)
    history[2:, 0] = np.nan
    assert WidthSimulation(history).n_evaluated == 2
    history[:, 0] = np.nan
    with pytest.raises(NotEstimableError):
        WidthSimulation(history)


@pytest.mark.parametrize(("n_questions", "options"), [(1, {}), (100, {}), (20, {"level": 95}), (20, {"n_systems": 0})])
def test_invalid_arguments_are_refused(n_questions: int, options: dict[str, float]) -> None:
    with pytest.raises(DataError):
        WidthSimulation(leaderboard(12, 100, 1, 34), **options).width(n_questions)


def test_the_number_of_questions_for_a_width_is_found() -> None:
    simulation = WidthSimulation(leaderboard(12, 150, 1, 35), n_systems=4)
    *_, reached = simulation.reach(0.15)
    assert reached.width == pytest.approx(0.15, abs=max(0.003, reached.std_error))
    assert reached == simulation.width(reached.n_questions)
    with pytest.raises(DataError):
        simulation.reach(0.0)


def test_a_width_that_no_part_reaches_needs_nearly_all_questions() -> None:
    *_, reached = WidthSimulation(leaderboard(12, 60, 1, 36), n_systems=4).reach(1e-6)
    assert reached.n_questions == 59


def test_the_number_of_questions_for_a_width_follows_the_finite_population_correction() -> None:
    # Cochran (1977), section 4.6: n0 = 400 questions without the correction are 400 / (1 + 399 / 1000) with it, nearly
    width = 2 * np.sqrt(0.25 * (1 / 100 - 1 / 1000))
    assert questions_for(100, width, 2 * np.sqrt(0.25 / 400), 1000) == np.ceil(400 / (1 + 400 / 1000))
