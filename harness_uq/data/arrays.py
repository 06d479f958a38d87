"""Read-only arrays, and conversion of lists, arrays and columns of pandas and polars to scores and label codes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.data.field_values import is_unknown
from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import as_array, as_floats

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def read_only(owner: object, name: str, values: ArrayLike, dtype: type, ndim: int) -> NDArray[Any]:
    """Store a read-only copy of `values` as attribute `name` of a frozen dataclass, and return it. Raises DataError if
    the array does not have `ndim` dimensions.
    """
    array: NDArray[Any] = np.array(values, dtype=dtype)
    if array.ndim != ndim:
        raise DataError(f"{type(owner).__name__}.{name} must have {ndim} dimension(s); got shape {array.shape}")
    array.setflags(write=False)
    object.__setattr__(owner, name, array)
    return array


# columns of a data frame that a user would otherwise average as scores
_NEVER_SCORES = {"question", "question_id", "item_id", "doc_id", "sample_id", "id", "system", "model", "task", "trial"}


def score_table(values: ArrayLike, name: str = "values") -> FloatArray:
    """Convert scores to a float array of shape (n_questions, n_trials). Missing and masked values and None become NaN.

    Raises DataError if there are no questions or more than two dimensions, if a score is not a finite number, or if a
    column of a data frame is named like an identifier.

    >>> score_table([True, None, 1]).tolist()
    [[1.0], [nan], [1.0]]
    """
    for column in getattr(values, "columns", ()):
        if str(column).lower() in _NEVER_SCORES:
            raise DataError(
                f"{name} must contain only scores, with one column for each trial; got the column {column!r}. Analyze "
                "a data frame with one row for each score with the functions estimate, compare and rank"
            )
    table = as_floats(values, name)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.size:
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, n_trials); got {table.shape}")
    if np.isinf(table).any():
        raise DataError(f"{name} must be finite, or NaN where a trial is missing; got {table[np.isinf(table)][0]}")
    return table


def label_codes(labels: ArrayLike, n_questions: int, name: str = "clusters") -> IntArray:
    """Number labels in the order of their first appearance; int (n_questions,), -1 for a missing label.

    Raises DataError if there is not one label per question.

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
