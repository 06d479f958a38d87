"""Validation of outcome matrices: questions in rows, trials in columns, categories as values."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_array, as_floats, check_counts

Mask = NDArray[np.bool_]

_MAX_TRIALS = 2e9  # a pair of counts is encoded in one 64-bit integer


def check_outcomes(
    outcomes: ArrayLike, highest: int, name: str = "outcomes"
) -> tuple[NDArray[np.generic], Mask | None]:
    """Validate a matrix of outcomes.

    `outcomes` (..., n_questions, n_trials) are categories 0, ..., `highest`, NaN for a missing trial. Returns the
    categories, 0 for missing trials, and the mask of missing trials, None if there are none. DataError names the first
    invalid entry.
    """
    given = as_array(outcomes)
    codes: NDArray[Any] = given if given.dtype.kind in "biu" else as_floats(given, name)
    if codes.ndim < 2 or codes.shape[-2] == 0:
        raise DataError(f"{name} must have shape (..., n_questions, n_trials), n_questions >= 1; got {codes.shape}")
    missing: Mask | None = None
    if codes.dtype.kind not in "biu":
        absent = np.isnan(codes)
        if absent.any():
            missing, codes = absent, np.where(absent, 0.0, codes)
        _require(codes == np.rint(codes), codes, highest, name)
    if codes.size and not (codes.min() >= 0 and codes.max() <= highest):
        _require((codes >= 0) & (codes <= highest), codes, highest, name)
    return codes, missing


def count_trials(codes: NDArray[np.generic], missing: Mask | None) -> FloatArray:
    """Number of observed trials of each question, shape (..., n_questions)."""
    if missing is None:
        return np.full(codes.shape[:-1], float(codes.shape[-1]))
    return np.asarray(codes.shape[-1] - missing @ np.ones(codes.shape[-1]))


def count_successes(outcomes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Successes and trials of each question from outcomes 0 (wrong), 1 (right) or NaN (missing)."""
    codes, missing = check_outcomes(outcomes, 1)
    return codes.astype(float, copy=False) @ np.ones(codes.shape[-1]), count_trials(codes, missing)


def check_question_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return successes and trials as float arrays of shape (n_questions,).

    Raises DataError if the counts are invalid, not one-dimensional, or no question has a trial.
    """
    s, n = check_counts(successes, trials)
    if n.ndim != 1:
        raise DataError(f"successes and trials must have shape (n_questions,); got {n.shape}")
    if n.size and n.max() > _MAX_TRIALS:
        raise DataError(f"trials per question must be at most {_MAX_TRIALS:g}; got {n.max():g}")
    if not n.any():
        raise DataError(f"at least one question must have a trial; all {len(n)} have none")
    return s, n


def distinct_counts(successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Distinct pairs (successes, trials) with their frequencies.

    `index` is the position of each question's pair among the distinct pairs, with the shape of the argument `trials`.
    The result is (successes, trials, index, frequency).
    """
    base = int(trials.max()) + 1
    key = successes.astype(np.int64) + base * trials.astype(np.int64)
    if base * (base + 1) > 4 * key.size + 1000:
        keys, index, counts = np.unique(key, return_inverse=True, return_counts=True)
    else:  # sorting 10,000 questions would take longer than everything else
        frequency = np.bincount(key.ravel())
        keys = np.flatnonzero(frequency)
        index, counts = (np.cumsum(frequency > 0) - 1)[key], frequency[keys]
    return (keys % base).astype(float), (keys // base).astype(float), index.reshape(trials.shape), counts


def _require(good: Mask, codes: NDArray[np.generic], highest: int, name: str) -> None:
    if not good.all():
        place = np.argwhere(~good)[0].tolist()
        raise DataError(
            f"{name} must be categories 0 to {highest} (0 is wrong and 1 is right unless there are weights, one per "
            f"category) or NaN for a missing trial; entry {place} is {codes[tuple(place)].item()}"
        )
