"""The task logs that a store holds, without a look at the files that they were read from."""

import re
from collections import defaultdict
from contextlib import suppress

from harness_uq.errors import HarnessUqError, MissingDependencyError, told
from harness_uq.logs import places
from harness_uq.logs.data import TaskLog
from harness_uq.plugins.reading import place_in_order
from harness_uq.scaling.parts import Key
from harness_uq.scaling.runs import RunDone

_FILE = re.compile(r"[0-9a-f]{32}\.parquet")


def is_store(place: str) -> bool:
    """Whether a folder or URL is a store that holds something, told by the names of its files."""
    with suppress(OSError, MissingDependencyError):
        files = [file for kind in ("logs", "estimates") for file in _files(places.join(place, kind))]
        return any(_FILE.fullmatch(places.name_of(file)) for file in files)
    return False


def held_logs(store: str) -> tuple[TaskLog, ...]:
    """The task logs of every run that a store holds, in the order of its folder and time; of a run read twice the last.

    Raises
    ------
    HarnessUqError : if the store holds none, or a file of it cannot be read
    MissingDependencyError : if pyarrow is not installed
    """
    runs = sorted(_runs(store), key=lambda run: place_in_order(run.path, run.time, {}))
    if not runs:
        raise HarnessUqError(f"the store {store} holds no task logs: harness-uq estimate LOGS --store {store} fills it")
    return tuple(log for run in runs for log in run.logs)


def _runs(folder: str) -> list[RunDone]:
    try:
        import pyarrow as pa

        from harness_uq.scaling.kept import logs_in
        from harness_uq.scaling.store import Store, newest
    except ImportError:
        raise MissingDependencyError("a store needs pyarrow: pip install 'harness-uq[store]'") from None
    store = Store(folder)
    wanted: dict[str, set[Key]] = defaultdict(set)
    for (kind, _, _), entry in newest(store.entries).items():
        if kind == "logs":
            wanted[entry.place].add(entry.key)
    for place, message in store.trouble:
        raise HarnessUqError(f"the store {folder} is damaged: {place} {message}")
    try:
        return [run for place, keys in wanted.items() for runs in logs_in(place, keys).values() for run in runs]
    except (OSError, pa.ArrowException) as error:
        raise HarnessUqError(f"the store {folder} cannot be read: {told(error)}") from error


def _files(folder: str) -> list[str]:
    with suppress(FileNotFoundError):  # a store of objects knows no empty folder
        return places.files_in(folder)
    return []
