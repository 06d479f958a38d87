"""Checks at the door of `stats` for arguments that are one number, a pair of them, or a source of random numbers."""

import math
from numbers import Integral, Real

import numpy as np

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import LARGEST

MOST_DRAWS = 10**7
MOST_TRIALS = 10**6
MOST_QUESTIONS = 10**9
MOST_CLASSES = 10**4
MOST_COUNT = 2**53


def check_number(
    value: object, name: str, *, lowest: float = -LARGEST, above: float = -math.inf, below: float = LARGEST
) -> None:
    """Make sure that `value` is one finite number, at least `lowest`, above `above` and below `below`.

    Raises
    ------
    DataError : if not

    >>> check_number(None, "beta", above=0)
    Traceback (most recent call last):
    ...
    harness_uq.errors.DataError: beta must be a number above 0; got None
    """
    number = _float(value) if isinstance(value, Real) else math.nan
    if not (lowest <= number < below and number > above):
        ends = {"at least": lowest, "above": above, "below": below}
        said = " and ".join(f"{word} {end:g}" for word, end in ends.items() if abs(end) < LARGEST)
        raise DataError(f"{name} must be a number{said and ' ' + said}; got {_shown(value)}")


def check_whole(value: object, name: str, lowest: int, highest: int = MOST_QUESTIONS) -> None:
    """Make sure that `value` is a whole number, `lowest` to `highest`.

    Raises
    ------
    DataError : if not

    >>> check_whole(2.5, "k", 1, 10)
    Traceback (most recent call last):
    ...
    harness_uq.errors.DataError: k must be a whole number, 1 to 10; got 2.5
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or not lowest <= int(value) <= highest:
        raise DataError(f"{name} must be a whole number, {lowest} to {highest}; got {_shown(value)}")


def check_range(low: object, high: object) -> None:
    """Make sure that the ends of a range are numbers, the first below the second.

    Raises
    ------
    DataError : if not
    """
    check_number(low, "low")
    check_number(high, "high")
    if not float(low) < float(high):  # type: ignore[arg-type]
        raise DataError(f"bounds must satisfy low < high; got {_shown(low)} and {_shown(high)}")


def check_pair(value: object, name: str) -> tuple[float, float]:
    """Return two finite numbers.

    Raises
    ------
    DataError : if `value` is something else
    """
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise DataError(f"{name} must be two numbers; got {_shown(value)}")
    first, second = value
    check_number(first, name)
    check_number(second, name)
    return first, second


def check_bounds(bounds: object) -> None:
    """Make sure that `bounds` are the lowest and the highest score.

    Raises
    ------
    DataError : if not
    """
    check_range(*check_pair(bounds, "bounds"))


def generator(rng: object) -> np.random.Generator:
    """The source of random numbers; with None one whose seed is 0.

    Raises
    ------
    DataError : if it is something else, such as a seed
    """
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise DataError(f"rng must be a numpy.random.Generator, as numpy.random.default_rng(0); got {_shown(rng)}")
    return rng


def _float(value: Real) -> float:
    """NaN for what no float holds."""
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _shown(value: object) -> str:
    return f"{value!r:.50}" if not isinstance(value, int) or abs(value) < 10**50 else "more than 50 digits"
