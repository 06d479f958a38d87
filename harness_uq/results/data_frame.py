"""Flat records of results as data frames of any library that narwhals supports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness_uq.errors import DataError, MissingDependencyError, unknown_name

if TYPE_CHECKING:
    from harness_uq.results.declaration import Record

_BACKENDS = ("modin", "pandas", "polars", "pyarrow")


def frame_of(records: "Sequence[Record]", backend: str) -> Any:
    """Data frame with a row for each record; all records have the same columns.

    Raises
    ------
    DataError : if there is no such library
    MissingDependencyError : if the library is not installed
    """
    import narwhals as nw

    if backend not in _BACKENDS:
        raise DataError(unknown_name("backend", backend, _BACKENDS))
    columns = {name: [record[name] for record in records] for name in (records[0] if records else ())}
    try:
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]  # checked above
    except ImportError as error:
        raise MissingDependencyError(f"{backend} is not installed: pip install {backend}") from error
