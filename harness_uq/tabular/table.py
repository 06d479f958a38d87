"""A table in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of equal length. Cells are strings (CSV, TSV) or values (JSON Lines, Parquet, data frames).

    Attributes
    ----------
    columns : mapping
        Cells by column name; None for a missing cell.
    lines : sequence of int
        Line number of each row in the file, for messages; empty if the table has no lines.
    """

    columns: Mapping[str, Sequence[object]]
    lines: Sequence[int] = field(default=())

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def place(self, row: int) -> str:
        """Name a row in a message."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"
