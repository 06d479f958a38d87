"""Parquet files of a store: conversion of the results of a batch to bytes, and reading them."""

import io
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness_uq.analyses.store import estimate_rows, log_rows
from harness_uq.analyses.store.file_batches import CacheKey, FileGroup, cache_key, tags_of
from harness_uq.analyses.store.log_rows import Row
from harness_uq.analyses.store.run_result import RunResult
from harness_uq.io import paths as io_paths
from harness_uq.io.paths import is_remote, local_path
from harness_uq.io.plugins.protocols import Estimator

Kind = Literal["logs", "estimates"]

KEYS: Final[Mapping[str, pa.DataType]] = {
    "part": pa.string(),
    "state": pa.string(),
    "options": pa.string(),
    "written": pa.timestamp("us", "UTC"),
    "software": pa.string(),
    "files": pa.list_(pa.string()),
    "tags": pa.list_(pa.string()),
    "run": pa.string(),
    "run_files": pa.list_(pa.string()),
    "run_time": pa.string(),
    "position": pa.int64(),
}
SCHEMAS: Final[Mapping[Kind, pa.Schema]] = {
    "logs": pa.schema({**KEYS, **log_rows.COLUMNS}.items()),
    "estimates": pa.schema({**KEYS, **estimate_rows.COLUMNS}.items()),
}
NULLABLE: Final[Mapping[Kind, Set[str]]] = {
    "logs": {"options", "run_time", *log_rows.NULLABLE},
    "estimates": {"run_time", *estimate_rows.NULLABLE},
}
"""Columns, and fields within them, whose values may be missing."""


@dataclass(frozen=True, slots=True)
class StoreWriter:
    """Converts results of workers to rows of a store."""

    software: str  # names and versions of the packages that read and estimate
    options: str | None  # of the estimates as JSON; None if there are none

    def log_rows(self, group: FileGroup, runs: Sequence[RunResult]) -> list[Row]:
        """Return the rows of the task logs of a group of files."""
        return [
            self._key_columns(group, run, index) | log_rows.log_to_row(log)
            for run in runs
            for index, log in enumerate(run.logs)
        ]

    def estimate_rows(
        self, group: FileGroup, runs: Sequence[RunResult], estimators: Mapping[str, Estimator]
    ) -> list[Row]:
        """Return the rows of the estimates of a group of files."""
        return [
            self._key_columns(group, run, index) | {"options": self.options} | row
            for run in runs
            for index, row in estimate_rows.estimates_to_rows(run.logs, run.packed_estimates, estimators)
        ]

    def _key_columns(self, group: FileGroup, run: RunResult, position: int) -> Row:
        key = cache_key(group, self.software)
        # absolute paths do not depend on the working directory
        files = [url if is_remote(url) else str(Path(local_path(url)).resolve()) for url in group.urls]
        return {
            "part": key.part,
            "state": key.state,
            "written": datetime.now(UTC),
            "software": self.software,
            "files": files,
            "tags": list(tags_of(group) or ()),
            "run": run.path,
            "run_files": list(run.files),
            "run_time": run.time,
            "position": position,
        }


def to_bytes(kind: Kind, rows: Sequence[Row]) -> bytes:
    """Convert rows to a Parquet file with a checksum for each page."""
    target = io.BytesIO()
    table = pa.Table.from_pylist(rows, SCHEMAS[kind])
    # without dictionaries, estimates are smaller and read in half the time, but logs are larger
    pq.write_table(table, target, compression="zstd", use_dictionary=kind == "logs", write_page_checksum=True)
    return target.getvalue()


def read_columns(path: str, kind: Kind, columns: Sequence[str] | None = None) -> pa.Table:
    """Read columns of a file, or all if None; verify checksums and types, and that no required value is missing.

    Raises OSError or pyarrow.ArrowException if the file
    cannot be read, or does not have the columns of its kind.
    """
    content = pa.BufferReader(io_paths.read_bytes(path))
    names = list(SCHEMAS[kind].names if columns is None else columns)
    try:
        table = pq.ParquetFile(content, page_checksum_verification=True).read(names, use_threads=False)
    except UnicodeDecodeError as error:  # the name of a column is damaged
        raise pa.ArrowInvalid(f"the name of a column is not UTF-8: {error}") from error
    if absent := sorted(set(names) - set(table.column_names)):
        raise pa.ArrowInvalid(f"column {absent[0]} is missing")
    for name in names:
        expected = SCHEMAS[kind].field(name).type
        if table[name].type != expected:
            raise pa.ArrowInvalid(f"column {name} has the type {table[name].type}, not {expected}")
    table.validate(full=True)
    for name in names:
        for chunk in table[name].chunks:
            _check_nulls(chunk, name, NULLABLE[kind])
    return table


def _check_nulls(values: pa.Array, path: str, nullable: Set[str]) -> None:
    """Raise pyarrow.ArrowInvalid if a value is missing whose path is not nullable, also inside lists and structures."""
    if values.null_count and path not in nullable:
        raise pa.ArrowInvalid(f"column {path} lacks {values.null_count} of {len(values)} values")
    if pa.types.is_list(values.type):
        _check_nulls(values.drop_null().flatten(), f"{path}[]", nullable)
    elif pa.types.is_struct(values.type):
        for field, part in zip(values.type, values.drop_null().flatten(), strict=True):
            _check_nulls(part, f"{path}.{field.name}", nullable)


def read_runs(path: str, keys: Set[CacheKey]) -> dict[CacheKey, list[RunResult]]:
    """Read the runs with these keys from a file of task logs, with the errors of `read_columns` and `log_from_row`."""
    table = read_columns(path, "logs")
    is_requested = pc.is_in(table["part"], pa.array([key.part for key in keys]))
    rows_of: dict[CacheKey, dict[str, list[Row]]] = {}
    for row in table.filter(is_requested).to_pylist():
        key = CacheKey(row["part"], row["state"])
        if key in keys:
            rows_of.setdefault(key, {}).setdefault(row["run"], []).append(row)
    return {key: [_run(rows) for rows in runs.values()] for key, runs in rows_of.items()}


def _run(rows: Sequence[Row]) -> RunResult:
    first, logs = rows[0], tuple(map(log_rows.log_from_row, rows))
    return RunResult(first["run"], first["run_time"], tuple(first["run_files"]), logs)
