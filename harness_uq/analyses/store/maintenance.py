"""Maintenance of a store: summary of its contents, check for damage, removal of what is outdated."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from harness_uq.analyses.store.estimate_rows import logs_and_estimates, stored_rows
from harness_uq.analyses.store.file_batches import software_of, tag_of
from harness_uq.analyses.store.log_rows import log_from_row
from harness_uq.analyses.store.serialize import unpack
from harness_uq.analyses.store.store import Store, newest_entries
from harness_uq.io import paths as io_paths
from harness_uq.io.atomic_write import remove_temporary_files
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages import Message
from harness_uq.messages.catalogue.result_store import STORE_ROW_DAMAGED, STORE_UNUSABLE
from harness_uq.messages.errors import HarnessUqError, error_summary


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """The contents of a store of one kind and one set of options."""

    kind: str  # `logs` or `estimates`
    options: str | None  # of the estimates; None for task logs
    n_logs: int  # number of logs with such contents
    first: str  # date of the oldest of them (ISO 8601)
    last: str  # date of the newest


def summarize_store(store: Store) -> list[StoreSummary]:
    """Summarize the contents of a store, task logs first."""
    dates: dict[tuple[str, str], list[str]] = {}
    for (kind, _, options), entry in newest_entries(store.entries).items():
        dates.setdefault((kind, options or ""), []).append(entry.written.date().isoformat())
    return [
        StoreSummary(kind, options or None, len(days), min(days), max(days))
        for (kind, options), days in sorted(dates.items(), reverse=True)
    ]


def find_damage(store: Store, plugins: Plugins) -> Iterator[tuple[str, Message]]:
    """Read every file of a store completely; yield (path, message) of damaged files."""
    for kind, path in store.files():
        if (table := store.table(path, kind)) is None:
            continue
        try:
            _decode_all(kind, table, plugins)
        except Exception as error:
            yield path, STORE_ROW_DAMAGED(reason=error_summary(error))
    yield from store.unreadable_files


def remove_outdated(store: Store, plugins: Plugins) -> dict[str, int]:
    """Delete temporary and damaged files and outdated entries; return how many of each."""
    try:
        temporary = [] if io_paths.is_remote(store.folder) else remove_temporary_files([store.folder])
        damaged = list(dict.fromkeys(path for path, _ in find_damage(store, plugins)))
        for path in damaged:
            io_paths.remove(path)
        intact = Store(store.folder)
        current = set(newest_entries(intact.entries).values())
        outdated = _outdated_keys(intact, software_of(plugins))
        n_dropped = intact.drop(lambda entry: entry not in current or (entry.key.part, entry.key.state) in outdated)
    except (OSError, pa.ArrowException) as error:
        reason = error_summary(error)
        raise HarnessUqError(STORE_UNUSABLE(store=store.folder, action="cleared", reason=reason)) from error
    return {"unfinished files": len(temporary), "damaged files": len(damaged), "outdated entries": n_dropped}


def _decode_all(kind: str, table: pa.Table, plugins: Plugins) -> None:
    if kind == "logs":
        for row in table.to_pylist():
            log_from_row(row)
    else:
        for stored_row in stored_rows(table):
            for packed in logs_and_estimates([stored_row])[1]:
                unpack(packed, plugins.estimators)


def _outdated_keys(store: Store, software: str) -> set[tuple[str, str | None]]:
    """Return part and state of entries whose files are gone or changed, or that other software wrote."""
    outdated = set()
    columns = ["part", "state", "software", "files", "tags"]
    for kind, path in store.files():
        if (table := store.table(path, kind, columns)) is not None:
            for row in {(row["part"], row["state"]): row for row in table.to_pylist()}.values():
                if row["software"] != software or any(map(_has_changed, row["files"], row["tags"])):
                    outdated.add((row["part"], row["state"]))
    return outdated


def _has_changed(path: str, tag: str) -> bool:
    try:
        return tag_of(io_paths.fingerprint(path)) != tag
    except FileNotFoundError:
        return True
