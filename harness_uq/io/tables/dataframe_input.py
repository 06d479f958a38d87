"""Conversion of data frames to tables: all libraries that narwhals supports, such as pandas, polars and pyarrow."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from harness_uq.io.tables.table import Table
from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import as_array, is_missing


class Frame(Protocol):
    """A data frame: column names, and a column by its name."""

    def __getitem__(self, name: str, /) -> object: ...


Frames: TypeAlias = Frame | Mapping[str, object]


def is_frame(value: object) -> bool:
    """Whether an object is a data frame; narwhals is imported only for objects that have columns.

    >>> is_frame({"question": [1, 2]})
    False
    """
    if not hasattr(type(value), "columns"):
        return False
    from narwhals.dependencies import is_into_dataframe, is_polars_lazyframe

    return is_into_dataframe(value) or is_polars_lazyframe(value)


def frame_columns(frame: object) -> dict[str, list[object]]:
    """The columns of a data frame by name; missing values of any type are None.

    Raises
    ------
    DataError : if column names repeat or are not strings
    """
    columns = table_from_frame(frame).columns  # type: ignore[arg-type]  # checked there
    return {name: [None if is_missing(cell) else cell for cell in cells] for name, cells in columns.items()}


def frame_column_names(frame: Any) -> list[object]:
    """The names of the columns of a data frame, without computing a lazy one."""
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    return list(frame.collect_schema().names() if hasattr(frame, "collect_schema") else frame.columns)


def table_from_frame(frame: Frames) -> Table:
    """Convert a data frame or a mapping of columns to a table; the index of a data frame is ignored.

    Raises DataError for any other argument, for a column name that is not a string, and if columns differ in length.

    >>> len(table_from_frame({"question": [1, 2], "score": [1, 0]}))
    2
    """
    columns = {name: _cells(column) for name, column in _columns(frame).items()}
    if len(lengths := sorted({len(cells) for cells in columns.values()})) > 1:
        raise DataError(f"the columns of a table must be equally long; got {lengths[0]} and {lengths[-1]} cells")
    return Table(columns)


def _columns(frame: Frames) -> dict[str, Any]:
    if isinstance(frame, Mapping):
        names: list[object] = list(frame)
    elif is_frame(frame):
        names = frame_column_names(frame)
    else:
        raise DataError(f"a table is a path, a data frame or a mapping of columns; got {type(frame).__name__}")
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise DataError(f"the columns of a table must be called by texts; got {wrong[0]!r}")
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise DataError(f"several columns are called {twice[0]!r}")
    if isinstance(frame, Mapping):
        return dict(frame)
    import narwhals as nw

    converted: Any = nw.from_native(frame)
    eager = converted.collect() if isinstance(converted, nw.LazyFrame) else converted
    columns: dict[str, Any] = eager.to_dict(as_series=False)
    return columns


def _cells(column: object) -> list[object]:
    if isinstance(column, list):
        return column
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            cells: list[object] = getattr(column, method)()
            return cells
    return list(as_array(column).tolist())  # type: ignore[arg-type]  # anything that NumPy can convert
