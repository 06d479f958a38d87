"""Reading CSV, TSV, JSON Lines and Parquet files as tables."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from harness_uq.io.limits import check_cells
from harness_uq.io.paths import name_of, open_binary
from harness_uq.io.tables.column_roles import Columns, Layout, layout_of
from harness_uq.io.tables.table import Table, append_cell, filled, is_plain
from harness_uq.messages.errors import LogError, MissingDependencyError

if TYPE_CHECKING:
    import _csv

    import pyarrow as pa
    import pyarrow.parquet as pq

_DELIMITERS = {".csv": (",", ";", "\t"), ".tsv": ("\t",)}
_MAX_CELL_LENGTH = 2**31 - 1  # transcripts may exceed the csv module's limit of 131,072 characters
_CHECKED_ROWS = 1000  # rows between two checks of the number of cells


@dataclass(frozen=True, slots=True)
class _Kind:
    """Functions for one file format: one reads the layout from the beginning of a file, the other the whole file."""

    layout: Callable[[str, Columns], Layout]
    read: Callable[[str, Columns], tuple[Table, Layout]]


def layout_in(path: str, columns: Columns) -> Layout:
    """The role of each column, from the beginning of a file; raises LogError with the reason if it is no table of
    scores.
    """
    return _KINDS[_suffix(path)].layout(path, columns)


def read_file(path: str, columns: Columns) -> tuple[Table, Layout]:
    """A table and the roles of its columns; raises LogError if the file cannot be read or is not a table of scores."""
    return _KINDS[_suffix(path)].read(path, columns)


def _suffix(path: str) -> str:
    return PurePath(name_of(path)).suffix.lower()


def _text(path: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_binary(path), encoding="utf-8-sig", newline="")


@contextmanager
def _as_log_errors() -> Iterator[None]:
    """Turn errors of the system and of decoders into `LogError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise LogError(
            f"is not UTF-8: byte {error.object[error.start]:#04x} {error.reason}; save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise LogError(f"the file is not a valid CSV file: {error}") from None
    except OSError as error:
        raise LogError(f"cannot be read: {error.strerror or error}") from None


@contextmanager
def _long_cells() -> Iterator[None]:
    previous_limit = csv.field_size_limit(_MAX_CELL_LENGTH)
    try:
        yield
    finally:
        csv.field_size_limit(previous_limit)


@contextmanager
def _csv_reader(path: str, delimiter: str) -> "Iterator[_csv.Reader]":
    with _as_log_errors(), _long_cells(), _text(path) as stream:
        yield csv.reader(stream, delimiter=delimiter)


def _names(reader: "_csv.Reader") -> list[str]:
    return [name.strip() for name in next(reader, ())]


def _header(path: str, columns: Columns) -> tuple[Layout, str]:
    """The layout and the delimiter with which the header has all required columns."""
    reasons = []
    for delimiter in _DELIMITERS[_suffix(path)]:
        with _csv_reader(path, delimiter) as reader:
            names = _names(reader)
        try:
            check_cells(0, len(names))
            return layout_of(names, columns), delimiter
        except LogError as error:
            reasons.append((len(names), error))
    raise max(reasons, key=lambda reason: reason[0])[1]


def _read_csv(path: str, columns: Columns) -> tuple[Table, Layout]:
    layout, delimiter = _header(path, columns)
    return csv_table(path, delimiter), layout


def csv_table(path: str, delimiter: str = ",") -> Table:
    """The texts of a CSV file with a header.

    Raises
    ------
    LogError : if the file cannot be read, or a row is longer or shorter than the header
    """
    with _csv_reader(path, delimiter) as reader:
        names, rows, lines = _names(reader), [], []
        for row in reader:
            if row:
                if len(row) != len(names):
                    raise LogError(f"line {reader.line_num} has {len(row)} cells, and the header {len(names)}")
                rows.append(row)
                lines.append(reader.line_num)
                if len(rows) % _CHECKED_ROWS == 0:
                    check_cells(len(rows), len(names))
    cells = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return Table(cells, lines)


def column_names(path: str) -> list[str]:
    """The names of the columns of a CSV or Parquet file.

    Raises
    ------
    LogError : if the file cannot be read
    MissingDependencyError : if the file is Parquet and pyarrow is not installed
    """
    if _suffix(path) == ".parquet":
        with open_parquet(path) as file:
            return list(file.schema_arrow.names)
    with _csv_reader(path, ",") as reader:
        return _names(reader)


def _json_layout(path: str, columns: Columns) -> Layout:
    with _as_log_errors(), _text(path) as stream:
        first = next((line for line in stream if line.strip()), "")
    if not first:
        raise LogError("holds no line")
    row = _object(first, 1)
    nested = sorted(name for name, cell in row.items() if not is_plain(cell))
    if nested and not columns:
        raise LogError(
            f"its lines hold lists or objects ({', '.join(nested[:5])}), as other tools' records do; where it is a "
            "table of scores, name a column, such as --column score=NAME"
        )
    return layout_of(list(row), columns)


def _read_json(path: str, columns: Columns) -> tuple[Table, Layout]:
    _json_layout(path, columns)
    cells: dict[str, list[object]] = {}
    lines: list[int] = []
    for number, row in json_lines(path):
        n_columns = len(cells)
        for name, cell in row.items():
            append_cell(cells, name, cell, len(lines))
        lines.append(number)
        if len(cells) > n_columns or len(lines) % _CHECKED_ROWS == 0:
            check_cells(len(lines), len(cells))
    return Table(filled(cells, len(lines)), lines), layout_of(list(cells), columns)


def json_lines(path: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Number and content of each line of a JSON Lines file that is not empty; LogError if one is not a JSON object."""
    with _as_log_errors(), _text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, _object(line, number)


def _object(line: str, number: int) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"line {number} is not valid JSON, perhaps because it is incomplete: {error}") from None
    if not isinstance(row, dict):
        raise LogError(f"line {number} is no JSON object")
    return row


def _parquet_layout(path: str, columns: Columns) -> Layout:
    with open_parquet(path) as file:
        return layout_of(file.schema_arrow.names, columns)


def _read_parquet(path: str, columns: Columns) -> tuple[Table, Layout]:
    with open_parquet(path) as file:
        import pyarrow.types as kinds

        schema = file.schema_arrow
        layout = layout_of(schema.names, columns)
        plain = [field.name for field in schema if not kinds.is_nested(field.type) or field.name in layout.used]
        check_cells(file.metadata.num_rows, len(plain))
        content = file.read(columns=plain)
        content.validate(full=True)  # a damaged file can refer to entries that its dictionary does not have
        cells = map(_python_cells, content.columns)
        # of several unused columns with one name the last one counts, as in CSV files
        return Table(dict(zip(content.column_names, cells, strict=True))), layout


def _python_cells(column: "pa.ChunkedArray") -> list[object]:
    """The cells of a column; equal texts of a dictionary are one object."""
    import pyarrow.types as kinds

    if not kinds.is_dictionary(column.type):
        return list(column.to_pylist())
    cells: list[object] = []
    for chunk in column.chunks:
        texts = [*chunk.dictionary.to_pylist(), None]
        cells += [texts[-1 if index is None else index] for index in chunk.indices.to_pylist()]
    return cells


@contextmanager
def open_parquet(path: str) -> "Iterator[pq.ParquetFile]":
    """A Parquet file, of which texts are read as dictionaries.

    Raises
    ------
    LogError : if the file cannot be read
    MissingDependencyError : if pyarrow is not installed
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'harness-uq[tables]'") from None
    try:
        with open_binary(path) as content:
            names = [field.name for field in pq.read_schema(content) if pa.types.is_string(field.type)]
            # a dictionary of long texts would otherwise be expanded to a copy for each row
            with pq.ParquetFile(content, read_dictionary=names) as file:
                yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # also names of columns that are not UTF-8
        raise LogError(
            f"the file is not a Parquet file that pyarrow can read: {' '.join(str(error).split())[:200]}"
        ) from None


_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(_DELIMITERS, _Kind(lambda path, columns: _header(path, columns)[0], _read_csv)),
    **dict.fromkeys((".jsonl", ".ndjson"), _Kind(_json_layout, _read_json)),
    ".parquet": _Kind(_parquet_layout, _read_parquet),
}
