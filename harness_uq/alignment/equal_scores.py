"""Detect runs with the same score on every question."""

import numpy as np

from harness_uq.data.run_selection import SelectedRun
from harness_uq.data.task_log import Classifications, FloatArray, IntArray, Scores, SufficientStatistics, TaskData


def have_equal_scores(a: SelectedRun, b: SelectedRun) -> bool:
    """Whether two runs have the same questions and the same score on each of them; False if only totals are known."""
    of_a, of_b = values_of(a.data), values_of(b.data)
    if of_a is None or of_b is None or a.log.questions.ids != b.log.questions.ids:
        return False
    return bool(np.array_equal(of_a, of_b, equal_nan=of_a.dtype.kind == "f"))


def are_constant(data: TaskData) -> bool:
    """Whether all questions have the same score, so that it is not remarkable if two runs agree."""
    values = values_of(data)
    return values is not None and np.unique(values).size == 1


def values_of(data: TaskData) -> FloatArray | IntArray | None:
    """Return scores, predictions or statistics by question; None if only the total is known."""
    match data:
        case Scores():
            return data.values
        case Classifications():
            return data.predictions
        case SufficientStatistics():
            return data.statistics
    return None
