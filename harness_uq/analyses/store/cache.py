"""Use of a store during a scan: look up the results of unchanged logs, write new ones, drop replaced ones."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from harness_uq.analyses.store.file_batches import Batch, CacheKey, FileGroup, cache_key, files_hash, software_of
from harness_uq.analyses.store.parquet import StoreWriter
from harness_uq.analyses.store.run_result import BatchResult
from harness_uq.analyses.store.store import Store, drop_replaced
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.result_store import STORED_FILE_UNREADABLE
from harness_uq.messages.message import Message
from harness_uq.options import Options


class ResultCache:
    """The results that a store has for groups of files.

    The versions of the plugins are part of the cache key. Stored estimates alone do not suffice if `full_logs` are
    needed, and are not read without options. `writer` writes the results of a worker.
    """

    def __init__(
        self, folder: str, groups: Iterable[FileGroup], plugins: Plugins, options: Options | None, *, full_logs: bool
    ) -> None:
        self._store = Store(folder)
        self._options = None if options is None else json.dumps(options.recorded(), sort_keys=True)
        self._full_logs = full_logs
        self._has_replaced = False
        self.writer = StoreWriter(software_of(plugins), self._options)
        self._remaining = {cache_key(group, self.writer.software): group for group in groups}

    def cached_results(self) -> Iterator[tuple[str, Batch, BatchResult]]:
        """Yield the stored results, one file of the store at a time, with its path."""
        if self._options is None or self._full_logs:
            return
        for path, runs_of_key in self._store.estimates(list(self._remaining), self._options):
            batch = tuple(self._remaining.pop(key) for key in runs_of_key)
            yield path, batch, BatchResult([run for runs in runs_of_key.values() for run in runs])

    def reject(self, path: str, batch: Batch, error: Exception) -> None:
        """Report that the results of a batch cannot be decoded; its groups remain to be read."""
        self._store.report_damage(path, error)
        self._remaining |= {cache_key(group, self.writer.software): group for group in batch}

    def remaining_groups(self) -> list[FileGroup]:
        """Return the groups that `cached_results` did not yield, with the location of their stored task logs."""
        remaining, self._remaining = self._remaining, {}
        return [self._with_stored_logs(group, key) for key, group in remaining.items()]

    def write(self, batch: Batch, result: BatchResult) -> None:
        """Write the files of a batch to the store."""
        for kind, content in result.files.items():
            self._store.add(kind, content)
        self._has_replaced |= bool(result.files) and any(files_hash(group) in self._stored_files for group in batch)

    @cached_property
    def _stored_files(self) -> set[str]:
        return {entry.key.part for entry in self._store.entries}

    def finish(self, damaged_files: Mapping[str, Message]) -> list[Message]:
        """Drop replaced results; return a message for each file of the store that this process or a worker could not
        read.
        """
        if self._has_replaced:
            drop_replaced(Store(self._store.folder))
        messages = {**damaged_files, **dict(self._store.unreadable_files)}
        return [STORED_FILE_UNREADABLE(path=path, reason=one.params["reason"]) for path, one in messages.items()]

    def _with_stored_logs(self, group: FileGroup, key: CacheKey) -> FileGroup:
        path = self._store.path_of_logs(key)
        return group if path is None else replace(group, stored_logs=(path, key))
