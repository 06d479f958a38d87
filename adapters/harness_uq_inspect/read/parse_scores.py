"""Convert the scores that Inspect logs to numbers, or give the reason why that is not possible.

Single values are converted as by Inspect (`inspect_ai.scorer.value_to_float`), with two exceptions: a value that cannot
be converted does not become 0, and labels such as A, B, C, D are not numbers although C stands for 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq_inspect.read.schema import Value

LETTERS: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_SHOWN_LABELS: Final = 6
_LONGEST_LABEL: Final = 40


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Values of a numeric score.

    `values`: float (n,); NaN for samples without a score. `levels`: numbers that C, I, P and N stand for; None if the
    scorer does not use these letters.
    """

    values: NDArray[np.float64]
    levels: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class NoNumbers:
    """The reason why the values of a score are not numbers."""

    reason: str


def to_number(value: Value) -> float | None:
    """The number that Inspect's metrics use for this value; None if it is not a number.

    >>> to_number("P"), to_number("yes"), to_number("8.5"), to_number("B")
    (0.5, 1.0, 8.5, None)
    """
    if isinstance(value, str):
        return LETTERS[value] if value in LETTERS else _WORDS.get(value.lower(), _parsed(value))
    if isinstance(value, float):
        return value
    return _parsed(value) if isinstance(value, int) else None


def _parsed(value: str | int) -> float | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):  # an integer of 400 digits
        return None
    return number if math.isfinite(number) else None


def numbers(values: Sequence[Value]) -> Numbers | NoNumbers:
    """The values of a score as numbers, or the reason why they are not numbers.

    None and NaN mean that a sample has no score. If one value is a label that is not a number, none is a number.
    """
    kinds = set(map(type, values))
    if list in kinds:
        return NoNumbers("a list of values per sample, which Inspect's metrics read as 0; a mean is not defined")
    if dict in kinds:
        return NoNumbers("a dictionary inside a dictionary of values; a mean is not defined")
    distinct = list(dict.fromkeys(values))  # there are few distinct values
    number_of = {value: to_number(value) for value in distinct}
    if any(number is None and value is not None for value, number in number_of.items()):
        return NoNumbers(_categories(distinct))
    converted = np.array([number_of[value] for value in values], dtype=float)  # None becomes NaN
    converted[~np.isfinite(converted)] = math.nan
    return Numbers(converted, _levels(distinct))


def _categories(values: Sequence[Value]) -> str:
    names = {str(value) for value in values if value is not None}
    labels = sorted({name if len(name) <= _LONGEST_LABEL else f"{name[:_LONGEST_LABEL]}…" for name in names})
    shown = ", ".join(labels[:_SHOWN_LABELS]) + (", …" if len(labels) > _SHOWN_LABELS else "")
    return f"categories, not numbers ({shown}); a mean is not defined"


def _levels(values: Sequence[Value]) -> tuple[float, ...] | None:
    scored = {value for value in values if not is_unscored(value)}
    if not scored or not scored <= LETTERS.keys():
        return None
    return (0.0, 0.5, 1.0) if "P" in scored else (0.0, 1.0)


def is_unscored(value: Value) -> bool:
    """Whether the value means that a sample has no score."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))
