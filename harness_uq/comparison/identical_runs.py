"""Detect a comparison of a system with itself."""

from collections.abc import Sequence

import numpy as np

from harness_uq.comparison.sides import Side
from harness_uq.data.run_selection import ScoreKey
from harness_uq.data.task_log import Classifications, FloatArray, IntArray, Scores, SufficientStatistics, TaskData
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import IDENTICAL_RUNS


def sameness(a: Side, b: Side, matched: Sequence[tuple[ScoreKey, ScoreKey]]) -> Message | None:
    """Return the message that both sides contain identical runs; None if they differ.

    Parameters
    ----------
    matched : keys of A and B that are compared
    """
    pairs = [(a.chosen[key_a], b.chosen[key_b]) for key_a, key_b in matched]
    task_pairs = [(one, other) for one, other in pairs if not one.log.subtasks]
    same = [
        one.log.questions.ids == other.log.questions.ids and _are_equal(one.data, other.data)
        for one, other in task_pairs
    ]
    if not (same and all(same)):
        return None
    n = sum({one.log.task: len(one.log.questions) for one, _ in task_pairs}.values())
    explanation = "perhaps because they are the same samples under two names"
    if all(_is_constant(one.data) for one, _ in task_pairs):
        explanation = "which are all equal"
    if all(one.log.source.path == other.log.source.path for one, other in task_pairs):
        explanation = "because both are one log"
    return IDENTICAL_RUNS(n_questions=n, explanation=explanation)


def _are_equal(a: TaskData, b: TaskData) -> bool:
    of_a, of_b = _values(a), _values(b)
    return of_a is not None and of_b is not None and np.array_equal(of_a, of_b, equal_nan=of_a.dtype.kind == "f")


def _is_constant(data: TaskData) -> bool:
    values = _values(data)
    return values is not None and np.unique(values).size == 1


def _values(data: TaskData) -> FloatArray | IntArray | None:
    match data:
        case Scores():
            return data.values
        case Classifications():
            return data.predictions
        case SufficientStatistics():
            return data.statistics
    return None
