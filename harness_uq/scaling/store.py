"""A folder, here or on a store, that keeps what logs gave, so that a log that has not changed is not opened again.

    STORE/logs/*.parquet        a row for each task log: scores and codes, no texts
    STORE/estimates/*.parquet   a row for each estimate

A file is written whole under another name and then renamed; none is changed in place. Where a log has changed, its new
rows come first, in a file of their own, and then the old ones go: at every moment each file can be read, and of several
rows of a log the newest count.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pyarrow as pa

from harness_uq.errors import HarnessUqError, told
from harness_uq.logs import places
from harness_uq.scaling.estimate_columns import Held, held, logs_of
from harness_uq.scaling.kept import SCHEMAS, Kind, read_columns, to_bytes
from harness_uq.scaling.parts import Key
from harness_uq.scaling.runs import RunDone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INDEX = ["part", "state", "options", "written"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file of a store holds of one part.

    Attributes
    ----------
    place, kind : of the file
    key : the part and the state in which it was read
    options : of the estimates; None for task logs
    written : when
    """

    place: str
    kind: Kind
    key: Key
    options: str | None
    written: datetime


class Store:
    """A store, as it was when it was opened; of its files those are read whose kind is asked for.

    Parameters
    ----------
    folder : path or URL; a path is made where it is not there

    Attributes
    ----------
    trouble : (place, message) of files that cannot be read; they are as if they were not there

    Raises
    ------
    HarnessUqError : if it can neither be listed nor made
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.trouble: list[tuple[str, str]] = []
        try:
            for kind in SCHEMAS:
                places.make_folder(places.join(folder, kind))
            self._files = list(self.files())
        except OSError as error:
            raise HarnessUqError(f"the store {folder} cannot be used: {error.strerror or error}") from error
        self._entries: dict[Kind, list[Entry]] = {}
        self._newest: dict[tuple[Kind, str, str | None], Entry] = {}

    @property
    def entries(self) -> list[Entry]:
        """What its files hold."""
        return [entry for kind in SCHEMAS for entry in self._known(kind)]

    def logs_at(self, key: Key) -> str | None:
        """The file that holds the task logs of a part, None where none does."""
        entry = self._last("logs", key.part, None)
        return entry.place if entry is not None and entry.key == key else None

    def estimates(self, keys: Iterable[Key], options: str) -> Iterator[dict[Key, list[RunDone]]]:
        """The runs of those parts whose estimates are kept, with outlines of their logs, a file at a time."""
        wanted: dict[str, set[Key]] = defaultdict(set)
        for key in keys:
            entry = self._last("estimates", key.part, options)
            if entry is not None and entry.key == key:
                wanted[entry.place].add(key)
        for place, asked in wanted.items():
            if (table := self.table(place, list(Held._fields))) is not None:
                yield _runs_in(table, asked, options)

    def add(self, kind: Kind, content: bytes) -> None:
        """Keep a file.

        Raises
        ------
        HarnessUqError : if it cannot be written
        """
        place = places.join(self.folder, kind, f"{uuid4().hex}.parquet")
        try:
            places.write_whole(place, content)
        except OSError as error:
            raise HarnessUqError(f"the store {self.folder} cannot be written: {error.strerror or error}") from error

    def drop(self, is_stale: Callable[[Entry], bool]) -> int:
        """Write the files anew that hold stale entries, without them; the number of entries dropped."""
        stale: dict[tuple[str, Kind], list[Entry]] = defaultdict(list)
        for entry in filter(is_stale, self.entries):
            stale[entry.place, entry.kind].append(entry)
        for (place, kind), entries in stale.items():
            gone = {(entry.key.part, entry.key.state, entry.options) for entry in entries}
            if (table := self.table(place, None)) is None:
                continue
            if rows := [row for row in table.to_pylist() if _identity(row) not in gone]:
                places.write_whole(place, to_bytes(kind, rows))
            else:
                places.remove(place)
        return sum(map(len, stale.values()))

    def files(self) -> Iterator[tuple[Kind, str]]:
        """Parquet files of the store."""
        for kind in SCHEMAS:
            with suppress(FileNotFoundError):  # a store of objects knows no empty folder
                for place in places.files_in(places.join(self.folder, kind)):
                    if place.endswith(".parquet"):
                        yield kind, place

    def _last(self, kind: Kind, part: str, options: str | None) -> Entry | None:
        self._known(kind)
        return self._newest.get((kind, part, options))

    def _known(self, kind: Kind) -> list[Entry]:
        if kind not in self._entries:
            self._entries[kind] = list(self._read(kind))
            self._newest |= newest(self._entries[kind])
        return self._entries[kind]

    def _read(self, kind: Kind) -> Iterator[Entry]:
        for of_kind, place in self._files:
            if of_kind != kind or (table := self.table(place, _INDEX)) is None:
                continue
            last: dict[tuple[str, str, str | None], int] = {}
            *identities, written = (table[name] for name in _INDEX)
            written = written.cast(pa.int64())  # a timestamp as an object of Python costs an import of pandas
            for *identity, moment in zip(*(column.to_pylist() for column in (*identities, written)), strict=True):
                part, state, options = identity
                last[part, state, options] = max(moment, last.get((part, state, options), moment))
            for (part, state, options), moment in last.items():
                yield Entry(place, kind, Key(part, state), options, _EPOCH + timedelta(microseconds=moment))

    def table(self, place: str, columns: list[str] | None) -> pa.Table | None:
        """Columns of a file, all where None; None where it cannot be read, which is noted."""
        try:
            return read_columns(place, columns)
        except (OSError, pa.ArrowException) as error:
            self.trouble.append((place, f"cannot be read, so its logs are read again: {told(error)}"))
            return None


def newest(entries: Iterable[Entry]) -> dict[tuple[Kind, str, str | None], Entry]:
    """Of each part, kind and options the entry that was written last."""
    found: dict[tuple[Kind, str, str | None], Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.written, entry.place)):
        found[entry.kind, entry.key.part, entry.options] = entry
    return found


def drop_replaced(store: Store) -> int:
    """Drop entries of parts that were read again in another state, or written again; how many."""
    last = {entry.key.part: entry for entry in sorted(store.entries, key=lambda entry: entry.written)}
    kept = set(newest(store.entries).values())
    return store.drop(lambda entry: entry not in kept or entry.key.state != last[entry.key.part].key.state)


def _identity(row: Mapping[str, object]) -> tuple[object, ...]:
    return row["part"], row["state"], row["options"]


def _runs_in(table: pa.Table, wanted: set[Key], options: str) -> dict[Key, list[RunDone]]:
    rows: dict[tuple[str, str, str], list[Held]] = defaultdict(list)
    for row in held(table):
        if row.options == options:
            rows[row.part, row.state, row.run].append(row)
    runs: dict[Key, list[RunDone]] = defaultdict(list)
    for (part, state, _), of_run in rows.items():
        if (key := Key(part, state)) in wanted:
            runs[key].append(_run(of_run))
    return runs


def _run(rows: list[Held]) -> RunDone:
    logs, packed = logs_of(rows)
    return RunDone(rows[0].run, rows[0].run_time, tuple(rows[0].run_files), logs, packed)
