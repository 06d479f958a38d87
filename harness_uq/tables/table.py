"""A table in memory: named columns of equal length, and where each row stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of cells as they were read: texts of CSV and TSV, values of JSON Lines, Parquet and data frames.

    Attributes
    ----------
    columns : by name, each with a cell a row; None where a row has none
    lines : number of the line of each row, for messages; empty where rows are numbered from 1
    """

    columns: Mapping[str, Sequence[object]]
    lines: Sequence[int] = field(default=())

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def place(self, row: int) -> str:
        """What a message calls a row."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"
