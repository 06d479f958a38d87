"""Data frames of pandas, polars and pyarrow, and plain columns, as tables: by their methods, none is imported."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import as_array
from harness_uq.tables.table import Table


class Frame(Protocol):
    """What a data frame offers: names of columns, and a column by its name."""

    def __getitem__(self, name: str, /) -> object: ...


Frames: TypeAlias = Frame | Mapping[str, object]


def table_of(frame: Frames) -> Table:
    """The frame's columns; its index says nothing.

    Raises
    ------
    DataError : if it is no frame, its columns have no plain names, or differ in length

    >>> len(table_of({"question": [1, 2], "score": [1, 0]}))
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
    return list(as_array(column).tolist())  # type: ignore[arg-type]  # whatever numpy takes
