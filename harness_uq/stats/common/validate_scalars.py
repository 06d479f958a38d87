"""Validation of arguments that are a number, a pair of numbers, or a random generator."""

import math
from numbers import Integral, Real

import numpy as np

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import LARGEST

MAX_DRAWS = 10**7
MAX_TRIALS = 10**6
MAX_QUESTIONS = 10**9
MAX_CLASSES = 10**4
MAX_COUNT = 2**53


def check_number(
    value: object, name: str, *, lowest: float = -LARGEST, above: float = -math.inf, below: float = LARGEST
) -> None:
    """Raise DataError unless `value` is a finite number, at least `lowest`, greater than `above` and less than `below`.

    >>> check_number(None, "beta", above=0)
    Traceback (most recent call last):
    ...
    harness_uq.messages.errors.DataError: beta must be a number above 0; got None
    """
    number = _float(value) if isinstance(value, Real) else math.nan
    if not (lowest <= number < below and number > above):
        ends = {"at least": lowest, "above": above, "below": below}
        requirement = " and ".join(f"{word} {end:g}" for word, end in ends.items() if abs(end) < LARGEST)
        raise DataError(f"{name} must be a number{requirement and ' ' + requirement}; got {_describe(value)}")


def check_whole(value: object, name: str, lowest: int, highest: int = MAX_QUESTIONS) -> None:
    """Raise DataError unless `value` is an integer from `lowest` to `highest`.

    >>> check_whole(2.5, "k", 1, 10)
    Traceback (most recent call last):
    ...
    harness_uq.messages.errors.DataError: k must be a whole number, 1 to 10; got 2.5
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or not lowest <= int(value) <= highest:
        raise DataError(f"{name} must be a whole number, {lowest} to {highest}; got {_describe(value)}")


def check_range(low: object, high: object) -> None:
    """Raise DataError unless `low` and `high` are numbers with ``low < high``."""
    check_number(low, "low")
    check_number(high, "high")
    if not float(low) < float(high):  # type: ignore[arg-type]
        raise DataError(f"bounds must satisfy low < high; got {_describe(low)} and {_describe(high)}")


def check_pair(value: object, name: str) -> tuple[float, float]:
    """Return the two finite numbers in `value`; DataError if it is not a tuple, list or array of them."""
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise DataError(f"{name} must be two numbers; got {_describe(value)}")
    first, second = value
    check_number(first, name)
    check_number(second, name)
    return first, second


def check_bounds(bounds: object) -> None:
    """Raise DataError unless `bounds` are the lowest and the highest possible score, in increasing order."""
    check_range(*check_pair(bounds, "bounds"))


def check_rng(rng: object) -> np.random.Generator:
    """Return `rng`, or a generator with seed 0 if it is None; DataError if it is anything else, such as a seed."""
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise DataError(f"rng must be a numpy.random.Generator, as numpy.random.default_rng(0); got {_describe(rng)}")
    return rng


def _float(value: Real) -> float:
    """Return `value` as a float, or NaN if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _describe(value: object) -> str:
    return f"{value!r:.50}" if not isinstance(value, int) or abs(value) < 10**50 else "more than 50 digits"
