"""Scores on part of a benchmark, and the probabilities with which it was drawn, as callers give them."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, numbers
from harness_uq.stats.common.scalars import check_range


def check_scores(scores: ArrayLike, low: float, high: float) -> FloatArray:
    """Scores (n_all,) in [low, high], NaN where a question was not tried.

    Raises
    ------
    DataError : if they have another shape or range
    """
    check_range(low, high)
    y = numbers(scores, "scores")
    if y.ndim != 1:
        raise DataError(f"scores must have shape (n_all,), NaN where a question was not tried; got {y.shape}")
    wrong = y[(y < low) | (y > high)]
    if wrong.size:
        raise DataError(f"scores must lie in [{low:g}, {high:g}]; got {wrong[0]:g}")
    return y


def check_probabilities(probabilities: ArrayLike | None, n_all: int, n: int) -> FloatArray:
    """Probabilities (n_all,) with which questions were drawn; n / n_all for all where none are given.

    Raises
    ------
    DataError : if there are more or fewer, or one is not in (0, 1]
    """
    if probabilities is None:
        return np.full(n_all, n / n_all)
    p = numbers(probabilities, "probabilities")
    if p.shape != (n_all,):
        raise DataError(f"probabilities must hold one value a question ({n_all}); got shape {p.shape}")
    if not ((p > 0) & (p <= 1)).all():
        bad = np.flatnonzero(~((p > 0) & (p <= 1)))[0]
        raise DataError(f"probabilities must be in (0, 1]; question {bad} has {p[bad]:g}")
    return p
