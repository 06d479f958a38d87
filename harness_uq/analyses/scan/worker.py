"""What a worker does with a batch of files: find the runs, read them and estimate their scores."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from harness_uq.analyses.store.file_batches import Batch, CacheKey, FileGroup
from harness_uq.analyses.store.run_result import BatchResult, RunResult, outline
from harness_uq.analyses.store.serialize import pack
from harness_uq.inference.estimates import estimate_logs
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.listing_cache import use_listing
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Reader
from harness_uq.io.readers import ReadErrors, task_logs
from harness_uq.io.run_search import search
from harness_uq.messages.catalogue.result_store import RUN_NOT_STORED, STORE_FILE_DAMAGED
from harness_uq.messages.errors import HarnessUqError, error_summary
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import RedactedText
from harness_uq.options import Options

if TYPE_CHECKING:
    from harness_uq.analyses.store.parquet import Kind, StoreWriter


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """A function of a batch that can be sent to another process."""

    readers: Mapping[str, Reader]  # by name; other plugins are loaded where the work is done
    options: Options | None = None  # how to estimate; None if no estimates are needed
    full_logs: bool = False  # whether to return complete task logs instead of outlines
    store_writer: "StoreWriter | None" = None  # converts results for a store; None if there is no store
    plugins: Plugins | None = None  # of this process, if it does the work itself

    def __call__(self, batch: Batch) -> BatchResult | HarnessUqError:
        """Process a batch; return an error that ends the whole scan, for example if two harnesses claim one file."""
        plugins = self.plugins or replace(_installed_plugins(), harnesses=dict(self.readers))
        result = BatchResult()
        try:
            stored = _stored_runs(batch, result.damaged_files)
            with use_listing(file for group in batch for file in group.files):
                new = _read([group for group in batch if group not in stored], result, plugins)
            runs_of = stored | new
            if self.options is not None:
                for runs in runs_of.values():
                    for i, run in enumerate(runs):
                        estimates = estimate_logs(task_logs(run.logs, plugins), self.options, plugins)
                        packed = tuple(pack(row, plugins.estimators) for row in estimates)
                        runs[i] = replace(run, packed_estimates=packed)
        except HarnessUqError as error:
            return error
        if self.store_writer is not None:
            complete = {group: runs for group, runs in runs_of.items() if _is_complete(group, runs, result.read_errors)}
            # systems that only a secret distinguishes from others
            redacted = [
                group
                for group, runs in complete.items()
                if any(isinstance(log.system, RedactedText) for run in runs for log in run.logs)
            ]
            for group in redacted:
                result.read_errors.messages += [(run.path, RUN_NOT_STORED()) for run in complete.pop(group)]
            result.files = self._store_files(self.store_writer, complete, new.keys(), plugins)
        for run in (run for runs in runs_of.values() for run in runs):
            result.runs.append(run if self.full_logs else replace(run, logs=tuple(map(outline, run.logs))))
        return result

    def _store_files(
        self,
        writer: "StoreWriter",
        runs_of: Mapping[FileGroup, Sequence[RunResult]],
        new: Set[FileGroup],
        plugins: Plugins,
    ) -> "dict[Kind, bytes]":
        """Return files for a store: the task logs of new groups, and the estimates of all groups."""
        from harness_uq.analyses.store.parquet import to_bytes

        rows = [row for group, runs in runs_of.items() if group in new for row in writer.log_rows(group, runs)]
        files: dict[Kind, bytes] = {"logs": to_bytes("logs", rows)} if rows else {}
        if self.options is not None:
            rows = [row for item in runs_of.items() for row in writer.estimate_rows(*item, plugins.estimators)]
            files |= {"estimates": to_bytes("estimates", rows)} if rows else {}
        return files


_installed_plugins = cache(load_plugins)  # once per process


def _read(groups: Sequence[FileGroup], result: BatchResult, plugins: Plugins) -> dict[FileGroup, list[RunResult]]:
    """Read the runs in these groups; add what could not be read to the result."""
    group_of = {url: group for group in groups for url in group.urls}
    search_result = search(list(group_of), plugins.harnesses)
    result.read_errors = ReadErrors(list(search_result.problems), {path for path, _ in search_result.problems})
    runs: dict[FileGroup, list[RunResult]] = {group: [] for group in groups}
    for harness, run in search_result.runs:
        if logs := result.read_errors.read(harness, run, need_scores=False):
            group = next(group_of[file] for file in run.files if file in group_of)
            runs[group].append(RunResult(run.files[0], run.time, run.files, tuple(logs)))
    return runs


def _stored_runs(batch: Batch, damaged_files: dict[str, Message]) -> dict[FileGroup, list[RunResult]]:
    """Read the runs whose task logs are in a store. If that fails, the file is named and the logs are read instead."""
    if not any(group.stored_logs for group in batch):
        return {}
    from harness_uq.analyses.store.parquet import read_runs

    keys_in: dict[str, set[CacheKey]] = defaultdict(set)
    for group in batch:
        if group.stored_logs is not None:
            keys_in[group.stored_logs[0]].add(group.stored_logs[1])
    runs_of: dict[CacheKey, list[RunResult]] = {}
    for path, keys in keys_in.items():
        try:
            runs_of |= read_runs(path, keys)
        except Exception as error:
            damaged_files[path] = STORE_FILE_DAMAGED(reason=error_summary(error))
    return {
        group: runs_of[group.stored_logs[1]]
        for group in batch
        if group.stored_logs is not None and group.stored_logs[1] in runs_of
    }


def _is_complete(group: FileGroup, runs: Sequence[RunResult], errors: ReadErrors) -> bool:
    """Whether a group can be stored: all of it was read, no run has other files, and changes can be recognized."""
    from harness_uq.analyses.store.file_batches import tags_of

    urls = set(group.urls)
    has_failed = bool(urls & (errors.failed_paths | errors.failed_files))
    has_tags = tags_of(group) is not None
    return bool(runs) and not has_failed and has_tags and all(urls.issuperset(run.files) for run in runs)
