"""Covariates of questions from the scores of earlier systems."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats


def check_history(history: ArrayLike, n_questions: int, low: float, high: float) -> FloatArray:
    """Scores of earlier systems, shape (n_systems, n_questions), rescaled to [0, 1]; NaN if missing.

    Raises DataError if the shape does not match, a score is outside [low, high], or there is no score.
    """
    h = as_floats(history, "history")
    if h.ndim != 2 or h.shape[1] != n_questions:
        raise DataError(f"history must have shape (n_systems, {n_questions}); got {h.shape}")
    if (h < low).any() or (h > high).any() or np.isnan(h).all():
        raise DataError(f"history must have scores in [{low:g}, {high:g}], or NaN; got {np.unique(h)[:3].tolist()}, …")
    return np.asarray((h - low) / (high - low))


def rates(history: FloatArray) -> FloatArray:
    """Mean score of each question over systems, in (0, 1), with one success and one failure added."""
    return np.asarray((np.nansum(history, axis=0) + 1.0) / ((~np.isnan(history)).sum(axis=0) + 2.0))


def covariates(history: FloatArray) -> FloatArray:
    """Covariates of each question, shape (n_questions, 3).

    They are a constant, the logit of the question's mean score over all systems, and the logit of its mean score over
    the best third of the systems, which distinguishes between questions that only strong systems solve.
    """
    strength = np.nanmean(np.where(np.isnan(history), np.nan, history - np.nanmean(history, axis=0)), axis=1)
    strongest = np.argsort(-strength, kind="stable")[: -(-len(history) // 3)]
    columns = [special.logit(rates(rows)) for rows in (history, history[strongest])]
    return np.column_stack([np.ones(history.shape[1]), *columns])
