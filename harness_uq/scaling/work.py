"""What a worker does with a batch of files: find the runs in it, read and estimate them, and forget them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from harness_uq.errors import HarnessUqError
from harness_uq.estimating.analysis import Options, estimate
from harness_uq.logs.data import TaskLog
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import Reader, Run
from harness_uq.plugins.reading import Unread, search, unread_of
from harness_uq.scaling.parts import Batch
from harness_uq.scaling.rows import pack


@dataclass(frozen=True, slots=True)
class RunDone:
    """What one run gave.

    Attributes
    ----------
    path, time : of the run, by which runs are put in order
    tasks : (task, is a group of tasks, metrics) of each task log
    rows : estimates, packed; none where none were asked for
    logs : the task logs themselves, where they were asked for
    """

    path: str
    time: str | None
    tasks: tuple[tuple[str, bool, tuple[str, ...]], ...]
    rows: tuple[bytes, ...] = ()
    logs: tuple[TaskLog, ...] = ()


@dataclass(slots=True)
class BatchDone:
    """What a batch gave.

    Attributes
    ----------
    runs : in the order of the batch's files
    claimed : files of the runs that were found
    unread : what could not be read, and why
    """

    runs: list[RunDone] = field(default_factory=list)
    claimed: frozenset[str] = frozenset()
    unread: Unread = field(default_factory=Unread)


@dataclass(frozen=True, slots=True)
class Work:
    """What is wanted of each run; called with a batch, in whatever process.

    Attributes
    ----------
    readers : by name; what else plugins offer is what is installed where the work is done
    options : how to estimate, None where no estimates are wanted
    keeps_logs : task logs are wanted
    need_scores : a run without scores counts as not read
    plugins : what this process offers, where it does the work itself
    """

    readers: Mapping[str, Reader]
    options: Options | None = None
    keeps_logs: bool = False
    need_scores: bool = True
    plugins: Plugins | None = None

    def __call__(self, batch: Batch) -> BatchDone | HarnessUqError:
        """What the batch gave; as an error what has to end the whole, such as two harnesses that claim one file."""
        plugins = self.plugins or replace(_installed(), harnesses=dict(self.readers))
        try:
            found = search([url for part in batch for url in part.urls], plugins.harnesses)
            done = BatchDone(claimed=found.claimed, unread=unread_of(found))
            for harness, run in found.runs:
                done.runs += self._read(harness, run, done.unread, plugins)
        except HarnessUqError as error:
            return error
        return done

    def _read(self, harness: Reader, run: Run, unread: Unread, plugins: Plugins) -> list[RunDone]:
        logs = unread.read(harness, run, need_scores=self.need_scores)
        if not logs:
            return []
        rows = estimate(logs, self.options, plugins=plugins) if self.options is not None else []
        packed = tuple(pack(row, plugins.estimators) for row in rows)
        tasks = tuple((log.task, bool(log.subtasks), tuple(data.metric for data in log.data)) for log in logs)
        return [RunDone(run.files[0], run.time, tasks, packed, tuple(logs) if self.keeps_logs else ())]


@cache
def _installed() -> Plugins:
    return load_plugins()
