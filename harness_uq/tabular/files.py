"""Reading CSV, TSV, JSON Lines and Parquet files as tables."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from harness_uq.errors import LogError, MissingDependencyError
from harness_uq.io.paths import name_of, open_binary
from harness_uq.tabular.column_roles import Columns, Layout, layout_of
from harness_uq.tabular.parse_cells import is_plain
from harness_uq.tabular.table import Table

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_DELIMITERS = {".csv": (",", ";", "\t"), ".tsv": ("\t",)}
_MAX_CELL_LENGTH = 2**31 - 1  # transcripts may exceed the csv module's limit of 131,072 characters


@dataclass(frozen=True, slots=True)
class _Kind:
    """Functions for one file format: one reads the layout from the beginning of a file, the other the whole file."""

    layout: Callable[[str, Columns], Layout]
    read: Callable[[str, Columns], tuple[Table, Layout]]


def layout_in(path: str, columns: Columns) -> Layout:
    """Determine the role of each column from the beginning of a file.

    Raises
    ------
    LogError
        If the file is not a table of scores. The message says why.
    MissingDependencyError
        If the file is Parquet and pyarrow is not installed.
    """
    return _KINDS[_suffix(path)].layout(path, columns)


def read_file(path: str, columns: Columns) -> tuple[Table, Layout]:
    """Read a table and determine the roles of its columns.

    Raises
    ------
    LogError
        If the file cannot be read or is not a table of scores.
    MissingDependencyError
        If the file is Parquet and pyarrow is not installed.
    """
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
        raise LogError(f"is no CSV: {error}") from None
    except OSError as error:
        raise LogError(f"cannot be read: {error.strerror or error}") from None


@contextmanager
def _long_cells() -> Iterator[None]:
    previous_limit = csv.field_size_limit(_MAX_CELL_LENGTH)
    try:
        yield
    finally:
        csv.field_size_limit(previous_limit)


def _header(path: str, columns: Columns) -> tuple[Layout, str, list[str]]:
    """Find the delimiter with which the header has all required columns; return layout, delimiter and column names."""
    reasons = []
    for delimiter in _DELIMITERS[_suffix(path)]:
        with _as_log_errors(), _long_cells(), _text(path) as stream:
            names = [name.strip() for name in next(csv.reader(stream, delimiter=delimiter), ())]
        try:
            return layout_of(names, columns), delimiter, names
        except LogError as error:
            reasons.append((len(names), error))
    raise max(reasons, key=lambda reason: reason[0])[1]


def _read_csv(path: str, columns: Columns) -> tuple[Table, Layout]:
    layout, delimiter, names = _header(path, columns)
    with _as_log_errors(), _long_cells(), _text(path) as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        next(reader)
        rows, lines = [], []
        for row in reader:
            if row:
                if len(row) != len(names):
                    raise LogError(f"line {reader.line_num} has {len(row)} cells, and the header {len(names)}")
                rows.append(row)
                lines.append(reader.line_num)
    cells = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return Table(cells, lines), layout


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
    rows: list[Mapping[str, object]] = []
    lines: list[int] = []
    with _as_log_errors(), _text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                rows.append(_object(line, number))
                lines.append(number)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table({name: [row.get(name) for row in rows] for name in names}, lines), layout_of(names, columns)


def _object(line: str, number: int) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"line {number} is no JSON, or cut off: {error}") from None
    if not isinstance(row, dict):
        raise LogError(f"line {number} is no JSON object")
    return row


def _parquet_layout(path: str, columns: Columns) -> Layout:
    with _parquet(path) as file:
        return layout_of(file.schema_arrow.names, columns)


def _read_parquet(path: str, columns: Columns) -> tuple[Table, Layout]:
    with _parquet(path) as file:
        import pyarrow.types as kinds

        schema = file.schema_arrow
        layout = layout_of(schema.names, columns)
        plain = [field.name for field in schema if not kinds.is_nested(field.type) or field.name in layout.used]
        content = file.read(columns=plain)
        return Table({name: content.column(name).to_pylist() for name in plain}), layout


@contextmanager
def _parquet(path: str) -> "Iterator[pq.ParquetFile]":
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'harness-uq[tables]'") from None
    try:
        with open_binary(path) as content, pq.ParquetFile(content) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"is no Parquet file that pyarrow reads: {' '.join(str(error).split())[:200]}") from None


_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(_DELIMITERS, _Kind(lambda path, columns: _header(path, columns)[0], _read_csv)),
    **dict.fromkeys((".jsonl", ".ndjson"), _Kind(_json_layout, _read_json)),
    ".parquet": _Kind(_parquet_layout, _read_parquet),
}
