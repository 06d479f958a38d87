"""Checks at the door for matrices of outcomes: questions in rows, trials in columns, categories as values."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray, as_array, check_counts, numbers

Mask = NDArray[np.bool_]

_MOST_TRIALS = 2e9  # pairs of counts are told apart by one whole number of 64 bits


def check_outcomes(
    outcomes: ArrayLike, highest: int, name: str = "outcomes"
) -> tuple[NDArray[np.generic], Mask | None]:
    """Return the categories 0..highest, 0 where missing, and the mask of missing trials (None if all are there).

    `outcomes` has shape (..., n_questions, n_trials); NaN is a missing trial. DataError names the first bad entry.
    """
    given = as_array(outcomes)
    codes: NDArray[Any] = given if given.dtype.kind in "biu" else numbers(given, name)
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
    """Return the number of trials seen of each question, shape (..., n_questions)."""
    if missing is None:
        return np.full(codes.shape[:-1], float(codes.shape[-1]))
    return np.asarray(codes.shape[-1] - missing @ np.ones(codes.shape[-1]))


def count_right(outcomes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return successes and trials of each question from outcomes 0 (wrong), 1 (right) or NaN (missing)."""
    codes, missing = check_outcomes(outcomes, 1)
    return codes.astype(float, copy=False) @ np.ones(codes.shape[-1]), count_trials(codes, missing)


def check_question_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return successes and trials as float arrays of shape (M,), at least one of them tried."""
    s, n = check_counts(successes, trials)
    if n.ndim != 1:
        raise DataError(f"successes and trials must have shape (n_questions,); got {n.shape}")
    if n.size and n.max() > _MOST_TRIALS:
        raise DataError(f"trials of one question must be at most {_MOST_TRIALS:g}; got {n.max():g}")
    if not n.any():
        raise DataError(f"at least one question must have a trial; all {len(n)} have none")
    return s, n


def distinct_counts(successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Return the distinct pairs (successes, trials), where each question finds its own, and how often each occurs.

    Two flat arrays, an index of the shape of `trials` into them, and a flat array of frequencies.
    """
    base = int(trials.max()) + 1
    key = successes.astype(np.int64) + base * trials.astype(np.int64)
    if base * (base + 1) > 4 * key.size + 1000:
        keys, which, counts = np.unique(key, return_inverse=True, return_counts=True)
    else:  # sorting 10,000 questions costs more than all the rest
        frequency = np.bincount(key.ravel())
        keys = np.flatnonzero(frequency)
        which, counts = (np.cumsum(frequency > 0) - 1)[key], frequency[keys]
    return (keys % base).astype(float), (keys // base).astype(float), which.reshape(trials.shape), counts


def _require(good: Mask, codes: NDArray[np.generic], highest: int, name: str) -> None:
    if not good.all():
        place = np.argwhere(~good)[0].tolist()
        raise DataError(
            f"{name} must hold categories 0..{highest} (0 is wrong and 1 right unless there are weights, one per "
            f"category) or NaN for a missing trial; entry {place} is {codes[tuple(place)].item()}"
        )
