"""Checks at the door of `stats`: every public function validates here, once, and then only computes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def check_level(level: float) -> float:
    """Return `level` as a float in (0, 1)."""
    if not 0.0 < level < 1.0:
        raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {level!r}")
    return float(level)


def check_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the two counts as broadcast float arrays with 0 <= successes <= trials."""
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    _require(np.isfinite(s) & np.isfinite(n), "counts must be finite", s, n)
    _require((s >= 0) & (n >= 0), "counts must not be negative", s, n)
    _require(s <= n, "successes must not exceed trials", s, n)
    return s, n


def check_finite(values: ArrayLike, name: str, ndim: int) -> FloatArray:
    """Return `values` as a finite float array of `ndim` dimensions."""
    array = np.asarray(values, float)
    if array.ndim != ndim:
        raise DataError(f"{name} must have {ndim} dimension(s); got shape {array.shape}")
    if not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array))[0]
        raise DataError(f"{name} must be finite; position {bad} holds {array.flat[bad]}")
    return array


def _require(good: NDArray[np.bool_], rule: str, successes: FloatArray, trials: FloatArray) -> None:
    if not np.all(good):
        bad: Any = np.flatnonzero(~np.atleast_1d(good))[0]
        raise DataError(f"{rule}; entry {bad} has successes {successes.flat[bad]} of trials {trials.flat[bad]}")
