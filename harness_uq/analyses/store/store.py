"""A store: a local or remote folder of Parquet files with task logs and estimates.

    STORE/logs/*.parquet        one row per task log: scores and codes, no texts
    STORE/estimates/*.parquet   one row per estimate

Files are written atomically and never modified in place. If a log has changed, its new rows are written to a new file
before the old rows are dropped. So every file is readable at any time, and of several rows of a log the newest counts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pyarrow as pa

from harness_uq.analyses.store.estimate_rows import StoredRow, logs_and_estimates, stored_rows
from harness_uq.analyses.store.file_batches import CacheKey
from harness_uq.analyses.store.parquet import SCHEMAS, Kind, read_columns, to_bytes
from harness_uq.analyses.store.run_result import RunResult
from harness_uq.io import paths as io_paths
from harness_uq.messages import Message
from harness_uq.messages.catalogue.result_store import STORE_FILE_DAMAGED, STORE_UNUSABLE
from harness_uq.messages.errors import HarnessUqError, error_summary

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INDEX = ["part", "state", "options", "written"]


@dataclass(frozen=True, slots=True)
class Entry:
    """The results of one group of files in one file of a store."""

    path: str  # or URL of the store's file
    kind: Kind
    key: CacheKey  # the group of files and its state when it was read
    options: str | None  # of the estimates; None for task logs
    written: datetime  # time of writing


class Store:
    """A snapshot of a store at the time when it was opened. Its files are read when they are first needed.

    A local folder is created if it does not exist. Files that cannot be read are ignored, and `unreadable_files` has
    the path and message of each. Raises HarnessUqError if the folder can be neither listed nor created.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.unreadable_files: list[tuple[str, Message]] = []
        try:
            for kind in SCHEMAS:
                io_paths.make_folder(io_paths.join(folder, kind))
            self._files = list(self.files())
        except OSError as error:
            raise HarnessUqError(
                STORE_UNUSABLE(store=folder, action="used", reason=str(error.strerror or error))
            ) from error
        self._entries: dict[Kind, list[Entry]] = {}
        self._newest: dict[tuple[Kind, str, str | None], Entry] = {}

    @property
    def entries(self) -> list[Entry]:
        """All entries of the store."""
        return [entry for kind in SCHEMAS for entry in self._entries_of(kind)]

    def path_of_logs(self, key: CacheKey) -> str | None:
        """Return the file that contains the task logs with this key, or None."""
        entry = self._newest_entry("logs", key.part, None)
        return entry.path if entry is not None and entry.key == key else None

    def estimates(
        self, keys: Iterable[CacheKey], options: str
    ) -> Iterator[tuple[str, dict[CacheKey, list[RunResult]]]]:
        """Yield one file of the store at a time: its path, and its runs with estimates and log outlines by key."""
        keys_in: dict[str, set[CacheKey]] = defaultdict(set)
        for key in keys:
            entry = self._newest_entry("estimates", key.part, options)
            if entry is not None and entry.key == key:
                keys_in[entry.path].add(key)
        for path, keys_in_file in keys_in.items():
            if (table := self.table(path, "estimates", StoredRow._fields)) is not None:
                try:
                    runs = _runs_in(table, keys_in_file, options)
                except Exception as error:
                    self.report_damage(path, error)
                else:
                    yield path, runs

    def add(self, kind: Kind, content: bytes) -> None:
        """Write a new file; raises HarnessUqError if that fails."""
        path = io_paths.join(self.folder, kind, f"{uuid4().hex}.parquet")
        try:
            io_paths.write_bytes(path, content)
        except OSError as error:
            raise HarnessUqError(
                STORE_UNUSABLE(store=self.folder, action="written", reason=str(error.strerror or error))
            ) from error

    def drop(self, is_stale: Callable[[Entry], bool]) -> int:
        """Rewrite files without their stale entries; return the number of entries dropped."""
        stale: dict[tuple[str, Kind], list[Entry]] = defaultdict(list)
        for entry in filter(is_stale, self.entries):
            stale[entry.path, entry.kind].append(entry)
        for (path, kind), entries in stale.items():
            dropped = {(entry.key.part, entry.key.state, entry.options) for entry in entries}
            if (table := self.table(path, kind)) is None:
                continue
            if rows := [row for row in table.to_pylist() if (row["part"], row["state"], row["options"]) not in dropped]:
                io_paths.write_bytes(path, to_bytes(kind, rows))
            else:
                io_paths.remove(path)
        return sum(map(len, stale.values()))

    def files(self) -> Iterator[tuple[Kind, str]]:
        """Yield kind and path of each Parquet file of the store."""
        for kind in SCHEMAS:
            with suppress(FileNotFoundError):  # object storage has no empty folders
                for path in io_paths.files_in(io_paths.join(self.folder, kind)):
                    if path.endswith(".parquet"):
                        yield kind, path

    def _newest_entry(self, kind: Kind, part: str, options: str | None) -> Entry | None:
        self._entries_of(kind)
        return self._newest.get((kind, part, options))

    def _entries_of(self, kind: Kind) -> list[Entry]:
        if kind not in self._entries:
            self._entries[kind] = list(self._read_entries(kind))
            self._newest |= newest_entries(self._entries[kind])
        return self._entries[kind]

    def _read_entries(self, kind: Kind) -> Iterator[Entry]:
        for file_kind, path in self._files:
            if file_kind != kind or (table := self.table(path, kind, _INDEX)) is None:
                continue
            try:
                yield from _entries_in(table, path, kind)
            except OverflowError as error:  # a date after the year 9999
                self.report_damage(path, error)

    def table(self, path: str, kind: Kind, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Read columns of a file, or all if None. If that fails, add it to `unreadable_files` and return None."""
        try:
            return read_columns(path, kind, columns)
        except (OSError, pa.ArrowException) as error:
            self.report_damage(path, error)
            return None

    def report_damage(self, path: str, error: Exception) -> None:
        """Add a file to `unreadable_files`."""
        self.unreadable_files.append((path, STORE_FILE_DAMAGED(reason=error_summary(error))))


def _entries_in(table: pa.Table, path: str, kind: Kind) -> list[Entry]:
    last_written: dict[tuple[str, str, str | None], int] = {}
    *identities, written = (table[name] for name in _INDEX)
    written = written.cast(pa.int64())  # converting timestamps to Python objects would import pandas
    for *identity, microseconds in zip(*(column.to_pylist() for column in (*identities, written)), strict=True):
        part, state, options = identity
        known = last_written.get((part, state, options), microseconds)
        last_written[part, state, options] = max(microseconds, known)
    return [
        Entry(path, kind, CacheKey(part, state), options, _EPOCH + timedelta(microseconds=microseconds))
        for (part, state, options), microseconds in last_written.items()
    ]


def newest_entries(entries: Iterable[Entry]) -> dict[tuple[Kind, str, str | None], Entry]:
    """Return the newest entry for each kind, group of files and set of options."""
    newest: dict[tuple[Kind, str, str | None], Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.written, entry.path)):
        newest[entry.kind, entry.key.part, entry.options] = entry
    return newest


def drop_replaced(store: Store) -> int:
    """Drop entries of files that were read or written again later; return the number of entries dropped."""
    last_state = {entry.key.part: entry.key.state for entry in sorted(store.entries, key=lambda entry: entry.written)}
    newest = set(newest_entries(store.entries).values())
    return store.drop(lambda entry: entry not in newest or entry.key.state != last_state[entry.key.part])


def _runs_in(table: pa.Table, keys: set[CacheKey], options: str) -> dict[CacheKey, list[RunResult]]:
    rows: dict[tuple[str, str, str], list[StoredRow]] = defaultdict(list)
    for row in stored_rows(table):
        if row.options == options:
            rows[row.part, row.state, row.run].append(row)
    runs: dict[CacheKey, list[RunResult]] = defaultdict(list)
    for (part, state, _), rows_of_run in rows.items():
        if (key := CacheKey(part, state)) in keys:
            runs[key].append(_run(rows_of_run))
    return runs


def _run(rows: list[StoredRow]) -> RunResult:
    logs, packed_estimates = logs_and_estimates(rows)
    return RunResult(rows[0].run, rows[0].run_time, tuple(rows[0].run_files), logs, packed_estimates)
