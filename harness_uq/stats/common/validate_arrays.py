"""Validation of array arguments. Public functions of `stats` validate once and then only compute.

Accepted are lists, numpy arrays, masked arrays, and columns of pandas and polars (their index is ignored).
"""

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MAX_EXACT_COUNT = 2.0**53  # larger integers are not exact as floats
LARGEST = 1e75  # the fourth power is still finite


def check_level(level: float) -> float:
    """Return `level` as a float; DataError if it is not a number strictly between 0 and 1."""
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {level!r}")
    return float(level)


def as_floats(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as a float array of any shape, with NaN for missing, masked and None entries.

    Raises DataError if an entry is not a number or is too large, or if rows differ in length.

    >>> as_floats([True, None, 2], "scores").tolist()
    [1.0, nan, 2.0]
    """
    array = _floats(values, name)
    if not (np.abs(array) <= LARGEST).all():  # true also if entries are missing
        large = np.isfinite(array) & (np.abs(array) > LARGEST)
        if large.any():
            raise DataError(
                f"{name} must lie within ±{LARGEST:g}, where their moments are finite; got {array[large][0]:g}"
            )
    return array


def _floats(values: ArrayLike, name: str) -> FloatArray:
    given = as_array(values)
    if given.dtype == object:
        items = [np.nan if is_missing(item) else item for item in given.ravel()]
        given = np.fromiter(items, np.dtype(object), len(items)).reshape(given.shape)
        texts = [item for item in items if isinstance(item, str | bytes)]
        if texts:
            raise DataError(f"{name} must be numbers; got {texts[0]!r}")
    elif given.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers; got {given.ravel()[:1].tolist()} of type {given.dtype}")
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} must be numbers in rows of equal length: {error}") from None


def broadcast_floats(**values: ArrayLike) -> tuple[FloatArray, ...]:
    """Return the named values as float arrays, broadcast together; DataError if that is impossible."""
    arrays = list(map(as_floats, values.values(), values))
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise DataError(f"{', '.join(values)} must have shapes that fit together; got {shapes}") from None


def validated_codes(labels: ArrayLike, shape: tuple[int, ...], name: str = "clusters") -> IntArray:
    """Integer codes 0, ..., C - 1 of labels, in the order of the labels.

    Labels that cannot be ordered are coded in the order in which they first appear. `labels` of any type have this
    shape; otherwise, or if a label is missing or not hashable, a DataError names the argument.

    >>> validated_codes(["b", "a", "b"], (3,)).tolist()
    [1, 0, 1]
    """
    given = as_array(labels)
    if given.shape != shape:
        raise DataError(f"{name} must have one label per question, shape {shape}; got {given.shape}")
    missing = _missing(given.ravel())
    if missing.any():
        place = int(missing.argmax())
        item = given.ravel()[place : place + 1].tolist()[0]
        raise DataError(f"{name} must have a label for every question; position {place} is {item}")
    try:
        return np.asarray(np.unique(given, return_inverse=True)[1], np.int64).reshape(shape)
    except (TypeError, ValueError):
        return _in_order_of_appearance(given, name)


def check_counts(successes: ArrayLike, trials: ArrayLike, name: str = "trials") -> tuple[FloatArray, FloatArray]:
    """Return two counts as float arrays, broadcast together.

    Raises DataError with the first entry that violates 0 <= successes <= trials <= 2**53; `name` is that of `trials`.
    """
    s, n = broadcast_floats(**{"successes": successes, name: trials})
    _require(np.isfinite(s) & np.isfinite(n), "counts must be finite", s, n, name)
    _require((s >= 0) & (n >= 0), "counts must not be negative", s, n, name)
    _require(s <= n, f"successes must not exceed {name}", s, n, name)
    _require(n <= MAX_EXACT_COUNT, "counts beyond 2^53 are not exact", s, n, name)
    return s, n


def check_finite(values: ArrayLike, name: str, ndim: int) -> FloatArray:
    """Return `values` as a float array; DataError if it has not `ndim` dimensions or an entry is not finite."""
    array = as_floats(values, name)
    if array.ndim != ndim:
        raise DataError(f"{name} must have {ndim} dimension(s); got shape {array.shape}")
    if not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array))[0]
        raise DataError(f"{name} must be finite; position {bad} is {array.flat[bad]}")
    return array


def as_array(values: ArrayLike) -> NDArray[np.generic]:
    """Return a numpy array; a masked array becomes an array of objects with None for masked entries."""
    if isinstance(values, np.ma.MaskedArray):
        items = np.array(np.ma.getdata(values), object)
        items[np.ma.getmaskarray(values)] = None
        return items
    array: Any = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(array, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in array):
        array = [as_array(row) for row in array]
    try:
        return np.asarray(array)
    except ValueError:  # rows that differ in length
        rows: list[Any] = list(array)
        ragged: NDArray[Any] = np.fromiter(rows, np.dtype(object), len(rows))
        return ragged


def is_missing(item: object) -> bool:
    """Whether an entry is None, NaN, the NA or NaT of pandas or numpy, or the text NaT."""
    if isinstance(item, str):
        return item == "NaT"
    if isinstance(item, float | np.floating):
        return bool(np.isnan(item))
    return item is None or type(item).__name__ in ("NAType", "NaTType") or str(item) == "NaT"


def _missing(labels: NDArray[np.generic]) -> NDArray[np.bool_]:
    if labels.dtype.kind in "fcmM":
        return np.asarray(np.isnan(labels), bool)
    if labels.dtype.kind == "O":
        return np.fromiter(map(is_missing, labels.tolist()), bool, len(labels))
    return np.zeros(len(labels), bool)


def _in_order_of_appearance(labels: NDArray[np.generic], name: str) -> IntArray:
    code_of_label: dict[object, int] = {}
    try:
        codes = [code_of_label.setdefault(label, len(code_of_label)) for label in labels.ravel().tolist()]
    except TypeError:
        raise DataError(f"{name} must be texts, numbers or other plain labels; got {labels.ravel()[0]!r}") from None
    return np.array(codes, np.int64).reshape(labels.shape)


def _require(good: NDArray[np.bool_], rule: str, successes: FloatArray, trials: FloatArray, name: str) -> None:
    if not np.all(good):
        bad: Any = np.flatnonzero(~np.atleast_1d(good))[0]
        raise DataError(f"{rule}; entry {bad} has successes {successes.flat[bad]} of {name} {trials.flat[bad]}")


def check_weights(weights: ArrayLike | None, n_questions: int) -> FloatArray:
    """Positive weights, one per question; ones if `weights` is None.

    Raises DataError if the length differs from `n_questions` or a weight is not positive and finite.
    """
    if weights is None:
        return np.ones(n_questions)
    w = check_finite(weights, "weights", 1)
    if len(w) != n_questions:
        raise DataError(f"weights must have one value per question ({n_questions}); got {len(w)}")
    if not (w > 0).all():
        bad = np.flatnonzero(w <= 0)[0]
        raise DataError(f"weights must be positive; position {bad} is {w[bad]}. Leave such questions out")
    return w
