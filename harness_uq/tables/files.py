"""CSV, TSV, JSON Lines and Parquet files as tables."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from harness_uq.errors import LogError, MissingDependencyError
from harness_uq.logs.places import name_of, open_binary
from harness_uq.tables.cells import is_plain
from harness_uq.tables.columns import Columns, Layout, layout_of
from harness_uq.tables.table import Table

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_DELIMITERS = {".csv": (",", ";", "\t"), ".tsv": ("\t",)}
_LONGEST_CELL = 2**31 - 1  # the csv module stops at 131,072 characters, and a transcript may be longer


@dataclass(frozen=True, slots=True)
class _Kind:
    """How to read a kind of file: its layout from its head, and all of it."""

    layout: Callable[[str, Columns], Layout]
    read: Callable[[str, Columns], tuple[Table, Layout]]


def is_table_name(place: str) -> bool:
    """Whether a file is called like a table."""
    return _suffix(place) in _KINDS


def stem_of(place: str) -> str:
    """The file's name without its ending."""
    return PurePath(name_of(place)).stem


def layout_in(place: str, asked: Columns) -> Layout:
    """The part of each column, from the head of the file.

    Raises
    ------
    LogError : if the file is no table of scores; the message says why
    MissingDependencyError : for Parquet without pyarrow
    """
    return _KINDS[_suffix(place)].layout(place, asked)


def read_file(place: str, asked: Columns) -> tuple[Table, Layout]:
    """The table and the part of each of its columns.

    Raises
    ------
    LogError : if the file cannot be read or is no table of scores
    MissingDependencyError : for Parquet without pyarrow
    """
    return _KINDS[_suffix(place)].read(place, asked)


def _suffix(place: str) -> str:
    return PurePath(name_of(place)).suffix.lower()


def _text(place: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_binary(place), encoding="utf-8-sig", newline="")


@contextmanager
def _refusing() -> Iterator[None]:
    """What the system or a decoder refuses becomes an error of the log."""
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
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_layout(place: str, asked: Columns) -> Layout:
    return _header(place, asked)[0]


def _header(place: str, asked: Columns) -> tuple[Layout, str, list[str]]:
    """Layout, delimiter and names, by the first delimiter whose columns have every part that is needed."""
    reasons = []
    for delimiter in _DELIMITERS[_suffix(place)]:
        with _refusing(), _long_cells(), _text(place) as stream:
            names = [name.strip() for name in next(csv.reader(stream, delimiter=delimiter), ())]
        try:
            return layout_of(names, asked), delimiter, names
        except LogError as error:
            reasons.append((len(names), error))
    raise max(reasons, key=lambda reason: reason[0])[1]


def _read_csv(place: str, asked: Columns) -> tuple[Table, Layout]:
    layout, delimiter, names = _header(place, asked)
    with _refusing(), _long_cells(), _text(place) as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        next(reader)
        rows, lines = [], []
        for row in reader:
            if row:
                if len(row) != len(names):
                    raise LogError(f"line {reader.line_num} has {len(row)} cells, and the header {len(names)}")
                rows.append(row)
                lines.append(reader.line_num)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return Table(columns, lines), layout


def _json_layout(place: str, asked: Columns) -> Layout:
    with _refusing(), _text(place) as stream:
        first = next((line for line in stream if line.strip()), "")
    if not first:
        raise LogError("holds no line")
    row = _object(first, 1)
    nested = sorted(name for name, cell in row.items() if not is_plain(cell))
    if nested and not asked:
        raise LogError(
            f"its lines hold lists or objects ({', '.join(nested[:5])}), as other tools' records do; where it is a "
            "table of scores, name a column, such as --column score=NAME"
        )
    return layout_of(list(row), asked)


def _read_json(place: str, asked: Columns) -> tuple[Table, Layout]:
    _json_layout(place, asked)
    rows: list[Mapping[str, object]] = []
    lines: list[int] = []
    with _refusing(), _text(place) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                rows.append(_object(line, number))
                lines.append(number)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table({name: [row.get(name) for row in rows] for name in names}, lines), layout_of(names, asked)


def _object(line: str, number: int) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"line {number} is no JSON, or cut off: {error}") from None
    if not isinstance(row, dict):
        raise LogError(f"line {number} is no JSON object")
    return row


def _parquet_layout(place: str, asked: Columns) -> Layout:
    with _parquet(place) as file:
        return layout_of(file.schema_arrow.names, asked)


def _read_parquet(place: str, asked: Columns) -> tuple[Table, Layout]:
    with _parquet(place) as file:
        import pyarrow.types as kinds

        schema = file.schema_arrow
        layout = layout_of(schema.names, asked)
        plain = [field.name for field in schema if not kinds.is_nested(field.type) or field.name in layout.used]
        content = file.read(columns=plain)
        return Table({name: content.column(name).to_pylist() for name in plain}), layout


@contextmanager
def _parquet(place: str) -> "Iterator[pq.ParquetFile]":
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'harness-uq[tables]'") from None
    try:
        with open_binary(place) as content, pq.ParquetFile(content) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"is no Parquet file that pyarrow reads: {' '.join(str(error).split())[:200]}") from None


_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(_DELIMITERS, _Kind(_csv_layout, _read_csv)),
    **dict.fromkeys((".jsonl", ".ndjson"), _Kind(_json_layout, _read_json)),
    ".parquet": _Kind(_parquet_layout, _read_parquet),
}
SUFFIXES: Sequence[str] = tuple(_KINDS)
