"""Cells of a table as scores and labels."""

import math

from harness_uq.errors import LogError
from harness_uq.logs.unknown import is_unknown
from harness_uq.stats.common.arrays import is_missing

_WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct", "right"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong"), 0.0),
}


def score_of(cell: object) -> float:
    """The score that a cell holds; NaN where it is empty.

    Raises
    ------
    LogError : if it holds something else than a finite number, true or false

    >>> [score_of(cell) for cell in ("0.5", True, "FALSE", 3)]
    [0.5, 1.0, 0.0, 3.0]
    """
    if is_missing(cell) or (isinstance(cell, str) and is_unknown(cell)):
        return math.nan
    if isinstance(cell, str) and (word := _WORDS.get(cell.strip().lower())) is not None:
        return word
    try:
        value = float(cell)  # type: ignore[arg-type]  # what float refuses is told below
    except (TypeError, ValueError, OverflowError):
        raise LogError(f"{_shown(cell)} is no number") from None
    if not math.isfinite(value):
        raise LogError(f"{_shown(cell)} is no finite number")
    return value


def label_of(cell: object) -> str | None:
    """The label that a cell holds, whole numbers alike however they were stored; None where it is empty.

    >>> [label_of(cell) for cell in (1, 1.0, " a ", None, "")]
    ['1', '1', 'a', None, None]
    """
    if is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip() or None


def direction_of(cell: object) -> bool:
    """Whether a cell says that higher is better.

    Raises
    ------
    LogError : unless it says true or false
    """
    value = score_of(cell)
    if value not in (0.0, 1.0):
        raise LogError(f"{_shown(cell)} is neither true nor false")
    return value == 1.0


def is_plain(cell: object) -> bool:
    """Whether a cell holds a text, a number or nothing, not a list or an object."""
    return not isinstance(cell, list | dict | tuple | set)


def _shown(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:40]}…"
