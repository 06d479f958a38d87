"""What one run gave, from whatever worker or store."""

from dataclasses import dataclass

from harness_uq.logs.data import Questions, TaskLog, Totals


@dataclass(frozen=True, slots=True)
class RunDone:
    """What one run gave.

    Attributes
    ----------
    path, time : of the run, by which runs are put in order
    files : of the run
    logs : the task logs; their outlines where they were not asked for
    rows : estimates, packed, one for each of the logs' data; none where none were asked for
    """

    path: str
    time: str | None
    files: tuple[str, ...]
    logs: tuple[TaskLog, ...]
    rows: tuple[bytes, ...] = ()


def outline(log: TaskLog) -> TaskLog:
    """What a log is about, without what it says: system, tasks, metrics, source; of one without scores, why."""
    names = tuple(Totals(data.metric, data.filter, None, None, "") for data in log.data)
    warnings = () if log.data else log.warnings
    return TaskLog(log.system, log.task, log.source, Questions(()), names, warnings=warnings, subtasks=log.subtasks)
