"""Looking after a store: what it holds, whether it is sound, and what can go."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from harness_uq.errors import HarnessUqError, told
from harness_uq.logs import places
from harness_uq.logs.leftovers import remove_leftovers
from harness_uq.plugins.manager import Plugins
from harness_uq.scaling.data_columns import Row
from harness_uq.scaling.estimate_columns import held, logs_of
from harness_uq.scaling.keys import software_of, tag_of
from harness_uq.scaling.log_columns import log_of
from harness_uq.scaling.rows import unpack
from harness_uq.scaling.store import Store, newest


@dataclass(frozen=True, slots=True)
class Holding:
    """What a store holds of one kind and one set of options.

    Attributes
    ----------
    kind, options : task logs, or estimates under these options
    n_logs : logs of which it holds something
    first, last : day of the oldest and of the newest, ISO 8601
    """

    kind: str
    options: str | None
    n_logs: int
    first: str
    last: str


def holdings(store: Store) -> list[Holding]:
    """What a store holds, task logs first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for (kind, _, options), entry in newest(store.entries).items():
        groups.setdefault((kind, options or ""), []).append(entry.written.date().isoformat())
    return [
        Holding(kind, options or None, len(days), min(days), max(days))
        for (kind, options), days in sorted(groups.items(), reverse=True)
    ]


def problems(store: Store, plugins: Plugins) -> Iterator[tuple[str, str]]:
    """(place, message) of each file that cannot be read to its last byte, or holds what cannot be understood."""
    for kind, place in store.files():
        if (table := store.table(place, None)) is None:
            continue
        try:
            _understand(kind, table, plugins)
        except Exception as error:
            yield place, f"holds a row that cannot be understood: {told(error)}"
    yield from store.trouble


def collect(store: Store, plugins: Plugins) -> dict[str, int]:
    """Delete what is of no use any more; how many of each sort, by what they were.

    Raises
    ------
    HarnessUqError : if the store cannot be written to
    """
    try:
        local = [] if places.is_remote(store.folder) else remove_leftovers([store.folder])
        damaged = list(dict.fromkeys(place for place, _ in problems(store, plugins)))
        for place in damaged:
            places.remove(place)
        whole = Store(store.folder)
        kept, outdated = set(newest(whole.entries).values()), _outdated(whole, software_of(plugins))
        dropped = whole.drop(lambda entry: entry not in kept or (entry.key.part, entry.key.state) in outdated)
    except (OSError, pa.ArrowException) as error:
        raise HarnessUqError(f"the store {store.folder} cannot be cleared: {told(error)}") from error
    return {"unfinished files": len(local), "damaged files": len(damaged), "outdated entries": dropped}


def _understand(kind: str, table: pa.Table, plugins: Plugins) -> None:
    if kind == "logs":
        for row in table.to_pylist():
            log_of(row)
    else:
        for one in held(table):
            for packed in logs_of([one])[1]:
                unpack(packed, plugins.estimators)


def _outdated(store: Store, software: str) -> set[tuple[str, str | None]]:
    """Part and state of what was read of files that are gone or another now, or by other software."""
    found = set()
    columns = ["part", "state", "software", "files", "tags"]
    for _, place in store.files():
        if (table := store.table(place, columns)) is not None:
            for row in _each_once(table.to_pylist()):
                if row["software"] != software or any(map(_has_changed, row["files"], row["tags"])):
                    found.add((row["part"], row["state"]))
    return found


def _each_once(rows: Iterable[Row]) -> Iterable[Row]:
    return {(row["part"], row["state"]): row for row in rows}.values()


def _has_changed(place: str, tag: str) -> bool:
    try:
        return tag_of(places.fingerprint(place)) != tag
    except FileNotFoundError:
        return True
