"""What a worker does with a batch of files: find the runs in it, read and estimate them, and forget them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from harness_uq.errors import HarnessUqError
from harness_uq.estimating.analysis import Options, estimate
from harness_uq.logs.data import TaskLog
from harness_uq.logs.listed import as_listed
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import Reader
from harness_uq.plugins.reading import Unread, search, unread_of
from harness_uq.scaling.keys import has_tags
from harness_uq.scaling.parts import Batch, Key, Part
from harness_uq.scaling.rows import pack
from harness_uq.scaling.runs import RunDone, outline

if TYPE_CHECKING:
    from harness_uq.scaling.kept import Keeping, Kind


@dataclass(slots=True)
class BatchDone:
    """What a batch gave.

    Attributes
    ----------
    runs : of its parts, also those without scores
    unread : what could not be read, and why
    files : for a store, by kind
    """

    runs: list[RunDone] = field(default_factory=list)
    unread: Unread = field(default_factory=Unread)
    files: "dict[Kind, bytes]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Work:
    """What is wanted of each run; called with a batch, in whatever process.

    Attributes
    ----------
    readers : by name; what else plugins offer is what is installed where the work is done
    options : how to estimate, None where no estimates are wanted
    keeps_logs : task logs are wanted whole
    keeping : what is written for a store, None where there is none
    plugins : what this process offers, where it does the work itself
    """

    readers: Mapping[str, Reader]
    options: Options | None = None
    keeps_logs: bool = False
    keeping: "Keeping | None" = None
    plugins: Plugins | None = None

    def __call__(self, batch: Batch) -> BatchDone | HarnessUqError:
        """What the batch gave; as an error what has to end the whole, such as two harnesses that claim one file."""
        plugins = self.plugins or replace(_installed(), harnesses=dict(self.readers))
        try:
            return self._done(batch, plugins)
        except HarnessUqError as error:
            return error

    def _done(self, batch: Batch, plugins: Plugins) -> BatchDone:
        done = BatchDone()
        known = _stored(batch)
        with as_listed(file for part in batch for file in part.files):
            fresh = self._read([part for part in batch if part not in known], done, plugins)
        whole = {
            part: [replace(run, rows=self._rows(run.logs, plugins)) for run in runs]
            for part, runs in (known | fresh).items()
        }
        if self.keeping is not None:
            complete = {part: runs for part, runs in whole.items() if _is_complete(part, runs, done.unread)}
            done.files = self._files(self.keeping, complete, fresh.keys(), plugins)
        done.runs += [
            run if self.keeps_logs else replace(run, logs=tuple(map(outline, run.logs)))
            for runs in whole.values()
            for run in runs
        ]
        return done

    def _read(self, parts: Sequence[Part], done: BatchDone, plugins: Plugins) -> dict[Part, list[RunDone]]:
        """Runs of the parts, whole; what could not be read is noted."""
        part_of = {url: part for part in parts for url in part.urls}
        found = search(list(part_of), plugins.harnesses)
        done.unread = unread_of(found)
        runs: dict[Part, list[RunDone]] = {part: [] for part in parts}
        for harness, run in found.runs:
            if logs := done.unread.read(harness, run, need_scores=False):
                part = next(part_of[file] for file in run.files if file in part_of)
                runs[part].append(RunDone(run.files[0], run.time, run.files, tuple(logs)))
        return runs

    def _rows(self, logs: Sequence[TaskLog], plugins: Plugins) -> tuple[bytes, ...]:
        if self.options is None:
            return ()
        return tuple(pack(row, plugins.estimators) for row in estimate(logs, self.options, plugins=plugins))

    def _files(
        self, keeping: "Keeping", parts: Mapping[Part, Sequence[RunDone]], fresh: Set[Part], plugins: Plugins
    ) -> "dict[Kind, bytes]":
        """Files for a store: the task logs of what was read here, and all estimates."""
        from harness_uq.scaling.kept import to_bytes

        logs = [row for part, runs in parts.items() if part in fresh for row in keeping.logs(part, runs)]
        files: dict[Kind, bytes] = {"logs": to_bytes("logs", logs)} if logs else {}
        if self.options is not None:
            rows = [row for part, runs in parts.items() for row in keeping.estimates(part, runs, plugins.estimators)]
            files |= {"estimates": to_bytes("estimates", rows)} if rows else {}
        return files


def _stored(batch: Batch) -> dict[Part, list[RunDone]]:
    """The runs of those parts that a store holds, where it can be read."""
    if not any(part.stored for part in batch):
        return {}
    from harness_uq.scaling.kept import logs_in

    wanted: dict[str, set[Key]] = defaultdict(set)
    for part in batch:
        if part.stored is not None:
            wanted[part.stored[0]].add(part.stored[1])
    found: dict[Key, list[RunDone]] = {}
    for place, keys in wanted.items():
        with suppress(Exception):  # the logs themselves are there still
            found |= logs_in(place, keys)
    return {part: found[part.stored[1]] for part in batch if part.stored is not None and part.stored[1] in found}


def _is_complete(part: Part, runs: Sequence[RunDone], unread: Unread) -> bool:
    """Whether all of a part was read, and nothing beside it, and it can be told when it changes."""
    urls = set(part.urls)
    has_failed = bool(urls & (unread.broken | unread.files))
    return bool(runs) and not has_failed and has_tags(part) and all(urls.issuperset(run.files) for run in runs)


@cache
def _installed() -> Plugins:
    return load_plugins()
