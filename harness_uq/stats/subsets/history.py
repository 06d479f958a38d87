"""What earlier systems' scores say of each question: how hard it is, and how much a new score of it would tell."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, numbers


def check_history(history: ArrayLike, n_questions: int, low: float, high: float) -> FloatArray:
    """Earlier systems' scores (n_systems, n_questions) as shares of [low, high], NaN where a system has none.

    Raises
    ------
    DataError : if the shape does not fit, a score is outside [low, high], or there is no score at all
    """
    h = numbers(history, "history")
    if h.ndim != 2 or h.shape[1] != n_questions:
        raise DataError(f"history must have shape (n_systems, {n_questions}), a column a question; got {h.shape}")
    if (h < low).any() or (h > high).any() or np.isnan(h).all():
        raise DataError(f"history must hold scores in [{low:g}, {high:g}], or NaN; got {np.unique(h)[:3].tolist()}, …")
    return np.asarray((h - low) / (high - low))


def rates(history: FloatArray) -> FloatArray:
    """Mean score of each question over the systems, one right and one wrong added; in (0, 1), shape (n_questions,)."""
    return np.asarray((np.nansum(history, axis=0) + 1.0) / ((~np.isnan(history)).sum(axis=0) + 2.0))


def covariates(history: FloatArray) -> FloatArray:
    """Control variates of each question, shape (n_questions, 3).

    A constant; the logit of the question's mean score over all systems; and that over the third of them that score
    highest, which orders the questions that only strong systems solve.
    """
    strength = np.nanmean(np.where(np.isnan(history), np.nan, history - np.nanmean(history, axis=0)), axis=1)
    strongest = np.argsort(-strength, kind="stable")[: -(-len(history) // 3)]
    columns = [special.logit(rates(part)) for part in (history, history[strongest])]
    return np.column_stack([np.ones(history.shape[1]), *columns])
