"""Validation of scores on a subset of a benchmark, and of inclusion probabilities."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats
from harness_uq.stats.common.validate_scalars import check_range


def check_scores(scores: ArrayLike, low: float, high: float) -> FloatArray:
    """Return scores of shape (n_all,) in [low, high], NaN for questions that were not tried; DataError for others."""
    check_range(low, high)
    y = as_floats(scores, "scores")
    if y.ndim != 1:
        raise DataError(f"scores must have shape (n_all,), with NaN for questions not tried; got {y.shape}")
    wrong = y[(y < low) | (y > high)]
    if wrong.size:
        raise DataError(f"scores must lie in [{low:g}, {high:g}]; got {wrong[0]:g}")
    return y


def check_probabilities(probabilities: ArrayLike | None, n_all: int, n: int) -> FloatArray:
    """Return inclusion probabilities of shape (n_all,); n / n_all for all questions if they are None.

    Raises DataError if the shape is wrong or a probability is not in (0, 1].
    """
    if probabilities is None:
        return np.full(n_all, n / n_all)
    p = as_floats(probabilities, "probabilities")
    if p.shape != (n_all,):
        raise DataError(f"probabilities must have one value per question ({n_all}); got shape {p.shape}")
    if not ((p > 0) & (p <= 1)).all():
        bad = np.flatnonzero(~((p > 0) & (p <= 1)))[0]
        raise DataError(f"probabilities must be in (0, 1]; question {bad} has {p[bad]:g}")
    return p
