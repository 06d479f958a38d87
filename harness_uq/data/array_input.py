"""Conversion of lists, NumPy arrays, masked arrays and columns of pandas and polars to scores and label codes."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.data.null_labels import is_unknown
from harness_uq.data.task_log import FloatArray, IntArray, Questions, Scores, Source, TaskLog
from harness_uq.errors import DataError
from harness_uq.stats.common.validate_arrays import as_array, as_floats

# columns of a data frame that a user would otherwise average as scores
_NEVER_SCORES = {"question", "question_id", "item_id", "doc_id", "sample_id", "id", "system", "model", "task", "trial"}


def score_table(values: ArrayLike, name: str = "values") -> FloatArray:
    """Convert scores to a float array of shape (n_questions, n_trials). Missing and masked values and None become NaN.

    Raises
    ------
    DataError
        If there are no questions or more than two dimensions, if a score is not a finite number, or if a column of a
        data frame is named like an identifier.

    Examples
    --------
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


def log_of_array(values: ArrayLike, system: str, *, clusters: ArrayLike | None, metric: str) -> TaskLog:
    """Build the task log of an array of scores; its rows are the questions "0", "1" and so on.

    Raises
    ------
    DataError
        If values or clusters have a different shape, or a value is not a finite number.
    """
    table = score_table(values)
    codes = None if clusters is None else label_codes(clusters, len(table))
    codes = None if codes is None or (codes < 0).all() else codes
    return TaskLog(
        system=system,
        task="array",
        source=Source(system, "array"),
        questions=Questions(tuple(str(i) for i in range(len(table)))),
        data=(Scores(metric, "none", table, codes),),
    )


def label_codes(labels: ArrayLike, n_questions: int, name: str = "clusters") -> IntArray:
    """Number labels in the order of their first appearance; int (n_questions,), -1 for a missing label.

    Raises
    ------
    DataError
        If there is not one label per question.

    Examples
    --------
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
