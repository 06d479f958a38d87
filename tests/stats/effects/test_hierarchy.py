"""Partially pooled tables: limits, shrinkage, empty cells, coverage."""

import numpy as np
import pytest

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats import hierarchical_table


def answers(rng: np.random.Generator, shape: tuple[int, int, int], sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Right answers (systems, tasks, questions) and the true scores of the cells."""
    systems, tasks, n = shape
    logit = 0.8 + 0.6 * rng.normal(size=(systems, 1)) + 0.6 * rng.normal(size=tasks) + sd * rng.normal(size=shape[:2])
    questions = rng.normal(size=(tasks, n))
    others = rng.normal(size=2000)
    right = rng.random(shape) < 1 / (1 + np.exp(-logit[:, :, None] - questions))
    return right.astype(float), (1 / (1 + np.exp(-logit[:, :, None] - others))).mean(axis=2)


def build_crossed_table(right: np.ndarray):
    system, task, question = np.indices(right.shape)
    return hierarchical_table(right.ravel(), system.ravel(), task.ravel(), question.ravel())


def test_many_questions_leave_the_raw_scores_alone() -> None:
    right, _ = answers(np.random.default_rng(0), (4, 5, 4000), 0.8)
    table = build_crossed_table(right)
    np.testing.assert_allclose(table.raw, right.mean(axis=2))
    np.testing.assert_allclose(table.mean, table.raw, atol=0.01)


@pytest.mark.slow
def test_scores_without_interaction_are_pooled_and_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(1)
    errors = np.zeros(2)
    for _ in range(6):
        right, truth = answers(rng, (6, 8, 20), 0.0)
        table = build_crossed_table(right)
        errors += [np.sum((table.raw - truth) ** 2), np.sum((table.mean - truth) ** 2)]
    assert errors[1] < 0.75 * errors[0]


def test_a_cell_without_scores_goes_by_its_system_and_task() -> None:
    right, truth = answers(np.random.default_rng(2), (5, 6, 60), 0.2)
    system, task, question = (index.ravel() for index in np.indices(right.shape))
    kept = (system != 1) | (task != 2)
    table = hierarchical_table(right.ravel()[kept], system[kept], task[kept], question[kept])
    assert np.isnan(table.raw[1, 2])
    assert table.pooling[1, 2] == 1
    assert abs(table.mean[1, 2] - truth[1, 2]) < 3 * table.sd[1, 2]
    assert table.sd[1, 2] > np.delete(table.sd.ravel(), 8).max()


def test_scaling_the_scores_scales_the_answer() -> None:
    rng = np.random.default_rng(3)
    y, system, task = rng.normal(size=240), np.repeat([0, 1, 2], 80), np.tile([0, 1, 2, 3], 60)
    one, other = hierarchical_table(y, system, task), hierarchical_table(10 * y, system, task)
    np.testing.assert_allclose(other.mean, 10 * one.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(other.interval()[0], 10 * one.interval()[0], rtol=1e-6)


@pytest.mark.slow
def test_nineteen_of_twenty_cells_are_covered() -> None:
    """Real scores with shared questions; cells of a table count as one."""
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(20):
        system, task = rng.normal(size=(5, 1)), rng.normal(size=6)
        truth = system + task + rng.choice([0.0, 0.5]) * rng.normal(size=(5, 6))
        y = truth[:, :, None] + 0.8 * rng.normal(size=(6, 30)) + rng.normal(size=(5, 6, 30))
        low, high = build_crossed_table(y).interval()
        shares.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(shares) > 0.95 - 3 * np.std(shares) / np.sqrt(20)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.3, 0.8])
def test_cells_of_right_and_wrong_answers_are_covered(sd: float) -> None:
    """Logits of systems, tasks and questions, which the intervals know by their raw means alone."""
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(20):
        right, truth = answers(rng, (5, 6, 100), sd)
        low, high = build_crossed_table(right).interval()
        shares.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(shares) > 0.95 - 3 * np.std(shares) / np.sqrt(20)


def test_what_cannot_be_pooled_says_why() -> None:
    with pytest.raises(NotEstimableError, match="two systems"):
        hierarchical_table([1, 0], [1, 1], [1, 2])
    with pytest.raises(NotEstimableError, match="no cell"):
        hierarchical_table([1, 1, 1, 1], [1, 1, 2, 2], [1, 2, 1, 2])
    with pytest.raises(DataError, match="one label per question"):
        hierarchical_table([1, 0, 1], [1, 2], [1, 2])
    with pytest.raises(DataError, match="questions"):
        hierarchical_table([1, 0, 1, 1, 0], [1, 1, 2, 2, 1], [1, 2, 1, 2, 1], [1])
