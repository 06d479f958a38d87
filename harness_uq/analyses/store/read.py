"""Task logs of a store, read without the files from which they were made."""

import re
from collections import defaultdict
from contextlib import suppress

from harness_uq.analyses.store.file_batches import CacheKey
from harness_uq.analyses.store.run_result import RunResult
from harness_uq.data.task_log import TaskLog
from harness_uq.io import paths as io_paths
from harness_uq.io.run_search import run_order
from harness_uq.messages.catalogue.result_store import STORE_EMPTY, STORE_UNUSABLE
from harness_uq.messages.errors import HarnessUqError, MissingDependencyError, error_summary

_FILE_NAME = re.compile(r"[0-9a-f]{32}\.parquet")


def is_store(path: str) -> bool:
    """Whether a folder or URL is a store that is not empty, judged by the names of its files."""
    with suppress(OSError, MissingDependencyError):
        for kind in ("logs", "estimates"):
            with suppress(FileNotFoundError):  # object storage has no empty folders
                files = io_paths.files_in(io_paths.join(path, kind))
                if any(_FILE_NAME.fullmatch(io_paths.name_of(file)) for file in files):
                    return True
    return False


def stored_logs(store: str) -> tuple[TaskLog, ...]:
    """The newest task logs of every run in a store, ordered by folder and time. Raises HarnessUqError if the store
    contains no task logs, or a file cannot be read.
    """
    runs = sorted(_runs(store), key=lambda run: run_order(run.path, run.time, {}))
    if not runs:
        raise HarnessUqError(STORE_EMPTY(store=store))
    return tuple(log for run in runs for log in run.logs)


def _runs(folder: str) -> list[RunResult]:
    try:
        from harness_uq.analyses.store.parquet import read_runs
        from harness_uq.analyses.store.store import Store, newest_entries
    except ImportError:
        raise MissingDependencyError("a store needs pyarrow: pip install 'harness-uq[store]'") from None
    store = Store(folder)
    keys_in: dict[str, set[CacheKey]] = defaultdict(set)
    for (kind, _, _), entry in newest_entries(store.entries).items():
        if kind == "logs":
            keys_in[entry.path].add(entry.key)
    for path, message in store.unreadable_files:
        raise HarnessUqError(STORE_UNUSABLE(store=folder, action="read", reason=f"{path}: {message.params['reason']}"))
    try:
        return [run for path, keys in keys_in.items() for runs in read_runs(path, keys).values() for run in runs]
    except Exception as error:  # also of rows that do not describe a task log
        reason = error_summary(error)
        raise HarnessUqError(STORE_UNUSABLE(store=folder, action="read", reason=reason)) from error
