"""A table in memory, and its cells as scores and labels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from harness_uq.data.field_values import is_unknown
from harness_uq.messages.errors import LogError
from harness_uq.stats.common.validate_arrays import is_missing

Name = TypeVar("Name")
_WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct", "right"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong"), 0.0),
}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of equal length. Cells are strings (CSV, TSV) or values (JSON Lines, Parquet, data frames)."""

    columns: Mapping[str, Sequence[object]]  # cells by column name; None for a missing cell
    lines: Sequence[int] = field(default=())  # number of each row in the file, for messages; empty without lines

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def place(self, row: int) -> str:
        """Name a row in a message."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"


def append_cell(columns: dict[Name, list[object]], name: Name, cell: object, row: int) -> None:
    """Append the cell of a row to a column; None for the rows before it that lack a cell."""
    column = columns.setdefault(name, [])
    column += [None] * (row - len(column))
    column.append(cell)


def filled(columns: dict[str, list[object]], n_rows: int) -> dict[str, list[object]]:
    """The columns, which get None for the last rows if these lack a cell."""
    for cells in columns.values():
        cells += [None] * (n_rows - len(cells))
    return columns


def score_of(cell: object) -> float:
    """Convert a cell to a score; an empty cell is NaN.

    Raises LogError if it is neither a finite number nor a word such as "true" or "incorrect".

    >>> [score_of(cell) for cell in ("0.5", True, "FALSE", 3)]
    [0.5, 1.0, 0.0, 3.0]
    """
    try:
        if isinstance(cell, np.complexfloating):  # float() only warns, and drops the imaginary part
            raise TypeError
        value = float(cell)  # type: ignore[arg-type]  # errors are handled below
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is not None and math.isfinite(value):
        return value
    if is_missing(cell) or (isinstance(cell, str) and is_unknown(cell)):
        return math.nan
    if isinstance(cell, str) and (word := _WORDS.get(cell.strip().lower())) is not None:
        return word
    raise LogError(f"{_shortened_repr(cell)} is not a {'number' if value is None else 'finite number'}")


def label_of(cell: object) -> str | None:
    """Convert a cell to a label; None if it is empty. Whole numbers of any type give the same label.

    Lone surrogates become visible escapes.

    >>> [label_of(cell) for cell in (1, 1.0, " a ", None, "")]
    ['1', '1', 'a', None, None]
    """
    if is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = str(cell).strip()
    # only lone surrogates, which JSON can contain, have no encoding
    return (text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()) or None


def direction_of(cell: object) -> bool:
    """Convert a cell to whether higher scores are better; raises LogError if it is neither true nor false."""
    value = score_of(cell)
    if value not in (0.0, 1.0):
        raise LogError(f"{_shortened_repr(cell)} is neither true nor false")
    return value == 1.0


def is_plain(cell: object) -> bool:
    """Whether a cell is a text, a number or empty, not a list or an object."""
    return not isinstance(cell, list | dict | tuple | set)


def _shortened_repr(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:40]}…"
