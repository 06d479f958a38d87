"""Read and estimate any number of logs: list files, process them in batches, and order the results."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness_uq.analyses.scan.backends import WorkerFailure
from harness_uq.analyses.scan.engine import Engine, open_backend
from harness_uq.analyses.scan.worker import BatchWorker
from harness_uq.analyses.store.file_batches import Batch, FileGroup, group_files, make_batches
from harness_uq.analyses.store.run_result import BatchResult, Interner, RunResult
from harness_uq.analyses.store.serialize import unpack
from harness_uq.data.task_log import Source, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import ReadErrors, Reading, make_reading, with_system
from harness_uq.io.run_search import Listing, list_files, run_order
from harness_uq.messages.errors import HarnessUqError, MissingDependencyError
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import DistinctNames
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.analyses.store.cache import ResultCache


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a scan: logs that are done of all logs, and the sizes of their files."""

    logs: int
    n_logs: int
    n_bytes: int
    all_bytes: int


@dataclass(frozen=True, slots=True)
class Scan:
    """Results of a scan: what was read, and on request an estimate without posterior for each of the logs' data."""

    reading: Reading  # with outlines of logs if complete ones were not requested
    rows: tuple[Estimate, ...] = ()

    def rows_of(self, logs: Iterable[TaskLog]) -> list[Estimate]:
        """Return the estimates of some of these logs."""
        selected = {key for log in logs for key in _keys(log)}
        keys = (key for log in self.reading.logs for key in _keys(log))
        return [row for key, row in zip(keys, self.rows, strict=True) if key in selected]

    def renamed(self, system: str) -> "Scan":
        """Return a copy with another name of the system; if one of several systems has this name, only its results."""
        own = tuple(row for row in self.rows if row.system == system)
        return Scan(self.reading.renamed(system), own or tuple(replace(row, system=system) for row in self.rows))


def _keys(log: TaskLog) -> list[tuple[Source, str, str, str, str]]:
    return [(log.source, log.system, log.task, data.metric, data.filter) for data in log.data]


def scan(
    paths: str | Path | Iterable[str | Path],
    options: Options | None = None,
    *,
    full_logs: bool = False,
    need_scores: bool = True,
    engine: Engine | None = None,
    store: str | None = None,
    plugins: Plugins | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Scan:
    """Read all runs under files, folders, glob patterns or URLs and estimate their scores, if there are options for it.

    Memory grows with the largest log, not with their number. The result does not depend on the engine, except that runs
    whose worker died are failures; by default the work is done in this process, or as `joblib.parallel_config` says.
    The task logs are outlines or, with `full_logs`, complete (scores and codes, no texts). Runs and tasks without
    scores are left out with `need_scores`, with a warning. Logs that have not changed since they were stored in the
    folder or URL `store` are not read again. Workers in other processes receive the readers of `plugins` and load all
    other plugins. `progress` is called after each batch. Raises LogError if two harnesses claim the same file,
    HarnessUqError if the store or the cluster cannot be used, and KeyboardInterrupt with the number of logs that were
    done.
    """
    plugins = plugins or load_plugins()
    listing, groups = _list_files(paths, plugins)
    n_bytes = sum(group.n_bytes for group in groups)
    collector = _Collector(listing, plugins, need_scores, len(groups), n_bytes, progress)
    cache = None if store is None else _open_cache(store, groups, plugins, options, full_logs=full_logs)
    if cache is not None:
        with _garbage_collection_paused():
            for path, batch, cached in cache.cached_results():
                try:
                    collector.add(batch, cached)
                except Exception as error:
                    cache.reject(path, batch, error)
        groups = cache.remaining_groups()
    try:
        with open_backend(engine or Engine()) as backend:
            writer = None if cache is None else cache.writer
            own_plugins = plugins if backend.is_in_process else None
            work = BatchWorker(plugins.harnesses, options, full_logs, writer, own_plugins)
            batches = iter(make_batches(groups, backend.n_workers))
            del groups  # so that memory holds either the listing of a file or its results
            for batch, result in backend.each(work, batches):
                if cache is not None and isinstance(result, BatchResult):
                    cache.write(batch, result)
                collector.add(batch, result)
    except KeyboardInterrupt:
        where = "" if store is None else f", and {store} keeps them"
        raise KeyboardInterrupt(f"{collector.logs:,} of {collector.n_logs:,} logs were done{where}") from None
    return collector.scan([*backend.worker_errors, *(() if cache is None else cache.finish(collector.damaged_files))])


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Pause the search for reference cycles, which would repeatedly traverse all results and find none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _open_cache(
    store: str, groups: Sequence[FileGroup], plugins: Plugins, options: Options | None, *, full_logs: bool
) -> "ResultCache":
    try:
        from harness_uq.analyses.store.cache import ResultCache
    except ImportError:
        raise MissingDependencyError("--store needs pyarrow: pip install 'harness-uq[store]'") from None
    return ResultCache(store, groups, plugins, options, full_logs=full_logs)


def _list_files(paths: str | Path | Iterable[str | Path], plugins: Plugins) -> tuple[Listing, list[FileGroup]]:
    names = [paths] if isinstance(paths, str | Path) else list(paths)
    files_of = {str(name): list_files(str(name)) for name in names}
    unique_files = {file.url: file for files in files_of.values() for file in files}
    listing = Listing({name: [file.url for file in files] for name, files in files_of.items()})
    return listing, group_files(list(unique_files.values()), plugins.harnesses)


_Run: TypeAlias = tuple[str, str | None, tuple[TaskLog, ...], tuple[Estimate, ...]]
"""Path and time of a run, its logs and its estimates."""


def _with_distinct_names(run: _Run, name_of: DistinctNames) -> _Run:
    path, time, logs, estimates = run
    names = [name_of(log.system) for log in logs]
    if all(name is log.system for name, log in zip(names, logs, strict=True)):
        return run
    named = tuple(map(with_system, logs, names))
    systems = (log.system for log in named for _ in log.data)
    return path, time, named, tuple(map(lambda row, system: replace(row, system=system), estimates, systems))


@dataclass(slots=True)
class _Collector:
    """Collects results of batches. Estimates are unpacked at once: with shared parts they are smaller than packed."""

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
    read_errors: ReadErrors = field(default_factory=ReadErrors)
    damaged_files: dict[str, Message] = field(default_factory=dict)
    interner: Interner = field(init=False)

    def __post_init__(self) -> None:
        self.interner = Interner(self.listing.files)

    def add(self, batch: Batch, result: BatchResult | HarnessUqError | WorkerFailure) -> None:
        if isinstance(result, HarnessUqError):
            raise result
        if isinstance(result, WorkerFailure):
            self.read_errors.record(batch[0].urls[0], result.message)
        else:
            # damaged estimates of a store raise here, before anything is added
            runs = [(run, self._estimates(run)) for run in map(self.interner.run, result.runs)]
            self.read_errors.merge(result.read_errors)
            self.damaged_files |= result.damaged_files
            for run, estimates in runs:
                self.claimed.update(run.files)
                if not self.need_scores or self.read_errors.without_unscored_run(run.logs, run.files):
                    self.runs.append((run.path, run.time, run.logs, estimates))
        self.logs += len(batch)
        self.n_bytes += sum(group.n_bytes for group in batch)
        self.progress(Progress(self.logs, self.n_logs, self.n_bytes, self.all_bytes))

    def _estimates(self, run: RunResult) -> tuple[Estimate, ...]:
        if not run.packed_estimates:
            return ()
        shared = self.interner.objects
        for log in run.logs:
            for value in (log.source, log.system, log.task):
                shared.setdefault(value, value)
        estimates = tuple(unpack(packed, self.plugins.estimators, shared) for packed in run.packed_estimates)
        for log in run.logs:  # no other run has the same source
            shared.pop(log.source, None)
        return estimates

    def scan(self, other_errors: Sequence[Message]) -> Scan:
        order = {file: position for position, file in enumerate(self.listing.files)}
        self.interner.objects.clear()
        self.runs.sort(key=lambda run: run_order(run[0], run[1], order))
        name_of = DistinctNames()
        self.runs = [_with_distinct_names(run, name_of) for run in self.runs]
        logs = (log for _, _, logs_of_run, _ in self.runs for log in logs_of_run)
        self.read_errors.messages.sort(key=lambda entry: order.get(entry[0], len(order)))
        reading = make_reading(self.listing, logs, self.claimed, self.read_errors, self.plugins.harnesses)
        reading = reading.with_each_run_once()
        remaining = {log.source for log in reading.logs}
        runs = (run for run in self.runs if any(log.source in remaining for log in run[2]))
        estimates = tuple(estimate for *_, estimates in runs for estimate in estimates)
        return Scan(replace(reading, trouble=tuple(other_errors)), estimates)
