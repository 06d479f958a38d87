"""What a worker does with a batch of files: find the runs in it, read and estimate them, and forget them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from harness_uq.errors import HarnessUqError
from harness_uq.estimating.analysis import Options, estimate
from harness_uq.logs.data import CandidateField, Questions, TaskLog, Totals
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import Reader, Run
from harness_uq.plugins.reading import Unread, search, unread_of
from harness_uq.scaling.parts import Batch
from harness_uq.scaling.rows import pack
from harness_uq.structure.fields import candidate_fields

_NO_VALUES = CandidateField(np.array([], np.int64))


@dataclass(frozen=True, slots=True)
class RunDone:
    """What one run gave.

    Attributes
    ----------
    path, time : of the run, by which runs are put in order
    logs : the task logs; their outlines where they were not asked for
    rows : estimates, packed, one for each of the logs' data; none where none were asked for
    """

    path: str
    time: str | None
    logs: tuple[TaskLog, ...]
    rows: tuple[bytes, ...] = ()


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
    keeps_logs : task logs are wanted whole
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
        kept = logs if self.keeps_logs else map(outline, logs)
        return [RunDone(run.files[0], run.time, tuple(kept), packed)]


def outline(log: TaskLog) -> TaskLog:
    """What a log is about, without what it says: system, tasks, metrics, source, names of the questions' fields."""
    names = tuple(Totals(data.metric, data.filter, None, None, "an outline holds no values") for data in log.data)
    fields = dict.fromkeys(candidate_fields(log), _NO_VALUES)
    return TaskLog(log.system, log.task, log.source, Questions((), fields=fields), names, subtasks=log.subtasks)


@cache
def _installed() -> Plugins:
    return load_plugins()
