"""Any number of logs: listed, cut into batches, worked on by whatever engine, and put together in one order."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness_uq.errors import HarnessUqError, MissingDependencyError
from harness_uq.estimating.analysis import Options
from harness_uq.logs.data import Source, TaskLog
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Listing, Reading, Unread, concluded, expand_with_sizes, place_in_order
from harness_uq.results.estimate import Estimate
from harness_uq.scaling.engine import Engine, workers
from harness_uq.scaling.here import Lost
from harness_uq.scaling.parts import Batch, Part, batches_of, parts_of
from harness_uq.scaling.rows import unpack
from harness_uq.scaling.runs import RunDone, Shared
from harness_uq.scaling.work import BatchDone, Work

if TYPE_CHECKING:
    from harness_uq.scaling.memory import Memory


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is.

    Attributes
    ----------
    logs, n_logs : done, and all
    n_bytes, all_bytes : of their files
    """

    logs: int
    n_logs: int
    n_bytes: int
    all_bytes: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What some logs gave.

    Attributes
    ----------
    reading : the task logs, or their outlines where they were not asked for, and what could not be read
    rows : an estimate for each of the logs' data, where they were asked for; without posteriors
    """

    reading: Reading
    rows: tuple[Estimate, ...] = ()

    def rows_of(self, logs: Iterable[TaskLog]) -> list[Estimate]:
        """The estimates of some of these logs' data."""
        wanted = {key for log in logs for key in _keys(log)}
        keys = (key for log in self.reading.logs for key in _keys(log))
        return [row for key, row in zip(keys, self.rows, strict=True) if key in wanted]

    def renamed(self, system: str) -> "Scan":
        """The same of a system of another name."""
        logs = tuple(replace(log, system=system) for log in self.reading.logs)
        return Scan(replace(self.reading, logs=logs), tuple(replace(row, system=system) for row in self.rows))


def _keys(log: TaskLog) -> list[tuple[Source, str, str, str, str]]:
    return [(log.source, log.system, log.task, data.metric, data.filter) for data in log.data]


def scan(
    paths: str | Path | Iterable[str | Path],
    options: Options | None = None,
    *,
    keeps_logs: bool = False,
    need_scores: bool = True,
    engine: Engine | None = None,
    store: str | None = None,
    plugins: Plugins | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Scan:
    """Read every run under `paths`, and estimate it where `options` are given; memory follows the largest log.

    What comes back does not depend on the engine, but for runs whose worker died, which are among the failures.

    Parameters
    ----------
    paths : files, folders, glob patterns, URLs
    options : how to estimate; None where no estimates are wanted
    keeps_logs : the task logs are wanted whole: scores and codes, no texts; else their outlines come back
    need_scores : as of `read_logs`
    engine : who does the work; this process, or what `joblib.parallel_config` says, by default
    store : folder that keeps what logs gave; what it knows of logs that have not changed is not read again
    plugins : the installed ones by default; workers get their readers, and have of all else what is installed there
    progress : called after each batch

    Raises
    ------
    LogError : if two harnesses claim the same file
    HarnessUqError : if the store or the cluster cannot be used
    MissingDependencyError : if a package is not installed that the store or the engine needs
    KeyboardInterrupt : whose message says how far it was
    """
    offered = plugins or load_plugins()
    listing, parts = _listed(paths, offered)
    gathered = _Gathered(listing, offered, need_scores, len(parts), sum(part.n_bytes for part in parts), progress)
    memory = None if store is None else _remember(store, parts, offered, options, keeps_logs=keeps_logs)
    if memory is not None:
        with _without_collector():
            for batch, known in memory.known():
                gathered.add(batch, known)
        parts = memory.unknown()
    try:
        with workers(engine or Engine()) as crew:
            keeping = None if memory is None else memory.keeping
            work = Work(offered.harnesses, options, keeps_logs, keeping, offered if crew.is_here else None)
            batches = iter(batches_of(parts, crew.count))
            del parts  # memory holds what was listed of a file, or what the file gave
            for batch, done in crew.each(work, batches):
                if memory is not None and isinstance(done, BatchDone):
                    memory.keep(batch, done)
                gathered.add(batch, done)
    except KeyboardInterrupt:
        where = "" if store is None else f", and {store} keeps them"
        raise KeyboardInterrupt(f"{gathered.logs:,} of {gathered.n_logs:,} logs were done{where}") from None
    trouble = list(crew.trouble) if memory is None else [*crew.trouble, *memory.settle()]
    return gathered.scan(trouble)


@contextmanager
def _without_collector() -> Iterator[None]:
    """While the block runs, no search for cycles: it makes none, and the search would go through all rows again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _remember(
    store: str, parts: Sequence[Part], plugins: Plugins, options: Options | None, *, keeps_logs: bool
) -> "Memory":
    try:
        from harness_uq.scaling.memory import Memory
    except ImportError:
        raise MissingDependencyError("--store needs pyarrow: pip install 'harness-uq[store]'") from None
    return Memory(store, parts, plugins, options, keeps_logs=keeps_logs)


def _listed(paths: str | Path | Iterable[str | Path], plugins: Plugins) -> tuple[Listing, list[Part]]:
    named = [paths] if isinstance(paths, str | Path) else list(paths)
    listed = {str(name): expand_with_sizes(str(name)) for name in named}
    files = {file.url: file for found in listed.values() for file in found}
    listing = Listing({name: [file.url for file in found] for name, found in listed.items()})
    return listing, parts_of(list(files.values()), plugins.harnesses)


_Run: TypeAlias = tuple[str, str | None, tuple[TaskLog, ...], tuple[Estimate, ...]]
"""Path and time of a run, what it is about, and its estimates."""


@dataclass(slots=True)
class _Gathered:
    """Results as they come; rows are unpacked at once, since all that they share makes them smaller than packed."""

    listing: Listing
    plugins: Plugins
    need_scores: bool
    n_logs: int
    all_bytes: int
    progress: Callable[[Progress], None]
    logs: int = 0
    n_bytes: int = 0
    runs: list[_Run] = field(default_factory=list)
    claimed: set[str] = field(default_factory=set)
    unread: Unread = field(default_factory=Unread)
    shared: Shared = field(init=False)

    def __post_init__(self) -> None:
        self.shared = Shared(self.listing.all)

    def add(self, batch: Batch, done: BatchDone | HarnessUqError | Lost) -> None:
        if isinstance(done, HarnessUqError):
            raise done
        if isinstance(done, Lost):
            self.unread.add(batch[0].urls[0], done.message)
        else:
            self.unread.add_all(done.unread)
            for run in map(self.shared.run, done.runs):
                self.claimed.update(run.files)
                if not self.need_scores or self.unread.scored(run.logs, run.files):
                    self.runs.append((run.path, run.time, run.logs, self._rows(run)))
        self.logs += len(batch)
        self.n_bytes += sum(part.n_bytes for part in batch)
        self.progress(Progress(self.logs, self.n_logs, self.n_bytes, self.all_bytes))

    def _rows(self, run: RunDone) -> tuple[Estimate, ...]:
        parts = self.shared.parts
        sources = [log.source for log in run.logs if run.rows]
        for part in (*sources, *(name for log in run.logs if run.rows for name in (log.system, log.task))):
            parts.setdefault(part, part)
        rows = tuple(unpack(row, self.plugins.estimators, parts) for row in run.rows)
        for source in sources:  # no other run has it
            parts.pop(source, None)
        return rows

    def scan(self, trouble: Sequence[str]) -> Scan:
        order = {file: position for position, file in enumerate(self.listing.all)}
        self.shared.parts.clear()
        self.runs.sort(key=lambda run: place_in_order(run[0], run[1], order))
        logs = (log for _, _, of_run, _ in self.runs for log in of_run)
        self.unread.said.sort(key=lambda entry: order.get(entry[0], len(order)))
        reading = concluded(self.listing, logs, self.claimed, self.unread, self.plugins.harnesses)
        return Scan(replace(reading, trouble=tuple(trouble)), tuple(row for *_, rows in self.runs for row in rows))
