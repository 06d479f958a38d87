"""Arrays of any make as scores and labels: lists, numpy, masked arrays, columns of pandas and polars."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.logs.data import FloatArray, IntArray
from harness_uq.logs.unknown import is_unknown
from harness_uq.stats.common.arrays import as_array, numbers


def score_table(values: ArrayLike, name: str = "values") -> FloatArray:
    """Scores as float (n_questions, n_trials); what is missing, masked or None is NaN.

    Raises
    ------
    DataError : if there are no questions, more than two dimensions, or a score that is no finite number

    >>> score_table([True, None, 1]).tolist()
    [[1.0], [nan], [1.0]]
    """
    table = numbers(values, name)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.size:
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, n_trials); got {table.shape}")
    if np.isinf(table).any():
        raise DataError(f"{name} must be finite, or NaN where a trial is missing; got {table[np.isinf(table)][0]}")
    return table


def label_codes(labels: ArrayLike, n_questions: int, name: str = "clusters") -> IntArray:
    """Codes of labels of any kind in the order in which they come, int (n_questions,); -1 where a label is missing.

    Raises
    ------
    DataError : if there is not one label a question

    >>> label_codes(["a", None, "a", "b"], 4).tolist()
    [0, -1, 0, 1]
    """
    given = as_array(labels)
    if np.shape(given) != (n_questions,):
        raise DataError(f"{name} must be one label a question, shape ({n_questions},); got {np.shape(given)}")
    if isinstance(given, np.ndarray) and not isinstance(given, np.ma.MaskedArray) and given.dtype.kind in "biuU":
        different, first, inverse = np.unique(given, return_index=True, return_inverse=True)
        codes = np.empty(len(different), np.int64)
        codes[np.argsort(first)] = _codes(different[np.argsort(first)].tolist(), name)
        return codes[inverse]
    return _codes(given.tolist(), name)


def _codes(labels: list[object], name: str) -> IntArray:
    known: dict[object, int] = {}
    return np.array([-1 if is_unknown(x) else known.setdefault(_key(x, name), len(known)) for x in labels], np.int64)


def _key(label: object, name: str) -> object:
    try:
        hash(label)
    except TypeError:
        raise DataError(f"{name} must be texts, numbers or other plain labels; got {label!r}") from None
    return label
