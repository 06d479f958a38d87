"""Reducers of Inspect AI, which combine the epochs of a question to one number, for a question × epoch matrix.

Each reducer takes float (n_questions, n_epochs), with NaN for missing scores, and returns float (n_questions,), with
NaN if it is undefined. A trial is correct if its score is at least 1, Inspect's default threshold.
"""

import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

Matrix = NDArray[np.float64]
Reducer = Callable[[Matrix], Matrix]

MEAN: Final = "mean"
SINGLE_TRIAL_IDENTITIES: Final = frozenset({"mean", "mode", "median", "max", "majority"})  # no effect on one epoch
_RIGHT: Final = 1.0


def reducer_named(name: str) -> Reducer | None:
    """The reducer that Inspect logs as `name`, such as `mode` or `at_least_2`; None if it is not built in."""
    if name in _REDUCERS:
        return _REDUCERS[name]
    match = re.fullmatch(r"(at_least|pass_at|pass_k)_(\d{1,9})", name)
    return partial(_REDUCERS_WITH_K[match[1]], k=int(match[2])) if match else None


def mean_of_trials(values: Matrix) -> Matrix:
    """Mean over the scored epochs of each question.

    >>> mean_of_trials(np.array([[1.0, 0.0], [1.0, np.nan]]))
    array([0.5, 1. ])
    """
    return _reduce_without_warnings(np.nanmean, values)


def _reduce_without_warnings(reduce: Callable[..., Matrix], values: Matrix) -> Matrix:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of a question without scores is NaN
        return np.asarray(reduce(values, axis=1), dtype=float)


def _mode(values: Matrix) -> Matrix:
    """The most common value; the first of several that are equally common."""
    counts = np.sum(values[:, :, None] == values[:, None, :], axis=2)
    first = np.argmax(counts, axis=1)
    return np.asarray(values[np.arange(len(values)), first])


def _majority(values: Matrix) -> Matrix:
    """The value of more than half of the epochs, else NaN."""
    mode = _mode(values)
    votes = np.sum(values == mode[:, None], axis=1)
    return np.where(votes * 2 > values.shape[1], mode, np.nan)


def _right_and_scored(values: Matrix) -> tuple[Matrix, Matrix]:
    right = np.sum(values >= _RIGHT, axis=1).astype(float)
    return right, np.sum(np.isfinite(values), axis=1).astype(float)


def _at_least(values: Matrix, *, k: int) -> Matrix:
    right, scored = _right_and_scored(values)
    return np.where(scored > 0, (right >= k).astype(float), np.nan)


def _pass_at(values: Matrix, *, k: int) -> Matrix:
    """1 - C(n - c, k) / C(n, k): at least one of k trials is correct."""
    right, scored = _right_and_scored(values)
    return 1.0 - _share_of_subsets(scored - right, scored, k)


def _pass_k(values: Matrix, *, k: int) -> Matrix:
    """C(c, k) / C(n, k): all of k trials are correct."""
    right, scored = _right_and_scored(values)
    return _share_of_subsets(right, scored, k)


def _share_of_subsets(inside: Matrix, scored: Matrix, k: int) -> Matrix:
    total = np.asarray(comb(scored, k))
    return np.where(total > 0, np.asarray(comb(inside, k)) / np.maximum(total, 1.0), np.nan)


_REDUCERS: Final[dict[str, Reducer]] = {
    MEAN: mean_of_trials,
    "median": partial(_reduce_without_warnings, np.nanmedian),
    "max": partial(_reduce_without_warnings, np.nanmax),
    "mode": _mode,
    "majority": _majority,
}
_REDUCERS_WITH_K: Final[dict[str, Callable[..., Matrix]]] = {
    "at_least": _at_least,
    "pass_at": _pass_at,
    "pass_k": _pass_k,
}
