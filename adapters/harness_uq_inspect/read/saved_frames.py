"""Read data frames of `inspect_ai.analysis.samples_df` that were saved as CSV or Parquet."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from harness_uq.plugin_api import LogError, MissingDependencyError, TaskLog, check_cells, frame_columns
from harness_uq.plugin_api import paths as io_paths

_SCORE: Final = "score_"
_COLUMNS: Final = ("eval_id", "epoch")  # with a score, they identify the columns that samples_df writes
_TEXTS: Final = frozenset(
    {"id", "eval_id", "sample_id", "log", "model", "task_name", "error", "limit", "input", "target"}
)
_MAX_CELL_LENGTH: Final = 2**31 - 1  # inputs may exceed the csv module's limit of 131,072 characters
_CHECKED_ROWS: Final = 1000


def is_saved_frame(path: str) -> bool:
    """Whether a file has the columns that `samples_df` writes; a file that cannot be read has not."""
    try:
        names = _header(path)
    except (LogError, MissingDependencyError, OSError):
        return False
    return set(_COLUMNS) <= set(names) and any(name.startswith(_SCORE) for name in names)


def read_saved_frame(path: str) -> list[TaskLog]:
    """One log for each run of a task.

    Raises
    ------
    LogError : if the file cannot be read, or a column that identifies the questions is missing
    """
    from harness_uq_inspect.read.data_frames import read_columns

    if path.endswith(".parquet"):
        with _parquet(path) as file:
            check_cells(file.metadata.num_rows, len(file.schema_arrow.names))
            return read_columns(frame_columns(file.read()))
    return read_columns(_csv_columns(path))


def _header(path: str) -> Sequence[str]:
    """Names of the columns."""
    if path.endswith(".parquet"):
        with _parquet(path) as file:
            return list(file.schema_arrow.names)
    with _csv_reader(path) as rows:
        return next(rows, [])


def _csv_columns(path: str) -> dict[str, list[object]]:
    with _csv_reader(path) as rows:
        names = next(rows, [])
        columns: list[list[str]] = [[] for _ in names]
        for number, row in enumerate(rows, 1):
            if len(row) != len(names):
                raise LogError(f"row {number} has {len(row)} cells, and the header {len(names)}")
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
            if number % _CHECKED_ROWS == 0:
                check_cells(number, len(names))
    # a data frame whose index was saved has a first column without a name
    return {name: _typed(name, cells) for name, cells in zip(names, columns, strict=True) if name}


def _typed(name: str, cells: Sequence[str]) -> list[object]:
    """Cells with the types that they had in the data frame: numbers, truth values, times or texts; None if empty."""
    values: list[object] = [cell or None for cell in cells]
    if name in _TEXTS:
        return values
    if {cell for cell in cells if cell} <= {"True", "False"}:
        return [None if cell == "" else cell == "True" for cell in cells]
    convert: Callable[[str], object] = datetime.fromisoformat if name == "created" else float
    try:
        return [None if cell == "" else convert(cell) for cell in cells]
    except ValueError:
        return values


@contextmanager
def _csv_reader(path: str) -> "Iterator[Iterator[list[str]]]":
    previous_limit = csv.field_size_limit(_MAX_CELL_LENGTH)
    try:
        with io.TextIOWrapper(io_paths.open_binary(path), encoding="utf-8-sig", newline="") as stream:
            yield csv.reader(stream)
    except (csv.Error, UnicodeDecodeError) as error:
        raise LogError(f"the file is not a valid CSV file: {error}") from None
    finally:
        csv.field_size_limit(previous_limit)


@contextmanager
def _parquet(path: str):  # type: ignore[no-untyped-def]  # pyarrow has no types
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'harness-uq[tables]'") from None
    try:
        with io_paths.open_binary(path) as content, pq.ParquetFile(content) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise LogError(
            f"the file is not a Parquet file that pyarrow can read: {' '.join(str(error).split())[:200]}"
        ) from None
