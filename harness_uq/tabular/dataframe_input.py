"""Conversion of data frames to tables, through the methods that pandas, polars and pyarrow share, without imports."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from harness_uq.errors import DataError
from harness_uq.stats.common.validate_arrays import as_array
from harness_uq.tabular.table import Table


class Frame(Protocol):
    """A data frame: column names, and a column by its name."""

    def __getitem__(self, name: str, /) -> object: ...


Frames: TypeAlias = Frame | Mapping[str, object]


def table_from_frame(frame: Frames) -> Table:
    """Convert a data frame or a mapping of columns to a table. The index of a data frame is ignored.

    Raises
    ------
    DataError
        If the argument is not a data frame, a column name is not a string, or columns differ in length.

    Examples
    --------
    >>> len(table_from_frame({"question": [1, 2], "score": [1, 0]}))
    2
    """
    eager = frame.collect() if hasattr(frame, "collect") else frame
    names = _names(eager)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise DataError(f"the columns of a table must be called by texts; got {wrong[0]!r}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"several columns are called {twice[0]!r}")
    columns = {name: _cells(eager[name]) for name in names}
    if len(lengths := sorted({len(cells) for cells in columns.values()})) > 1:
        raise DataError(f"the columns of a table must be equally long; got {lengths[0]} and {lengths[-1]} cells")
    return Table(columns)


def _names(frame: Frames) -> list[str]:
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        raise DataError(f"a table is a path, a data frame or a mapping of columns; got {type(frame).__name__}")
    return list(names)


def _cells(column: object) -> list[object]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            cells: list[object] = getattr(column, method)()
            return cells
    return list(as_array(column).tolist())  # type: ignore[arg-type]  # anything that NumPy can convert
