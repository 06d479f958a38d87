"""What one run gave, from whatever worker or store."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from harness_uq.logs.data import CandidateField, Questions, Source, TaskLog, Totals
from harness_uq.structure.fields import candidate_fields

_NO_VALUES = CandidateField(np.array([], np.int64))


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
    """What a log is about, without what it says: system, tasks, metrics, source, names of the questions' fields.

    Of one without scores also why.
    """
    return outline_of(
        log.system,
        log.task,
        log.source,
        metrics=[(data.metric, data.filter) for data in log.data],
        fields=candidate_fields(log),
        warnings=() if log.data else log.warnings,
        subtasks=log.subtasks,
    )


def outline_of(
    system: str,
    task: str,
    source: Source,
    *,
    metrics: Iterable[tuple[str, str]],
    fields: Iterable[str],
    warnings: Iterable[str],
    subtasks: Iterable[str],
) -> TaskLog:
    """An outline of a log from its parts."""
    data = tuple(Totals(metric, name, None, None, "an outline holds no values") for metric, name in metrics)
    questions = Questions((), fields=dict.fromkeys(fields, _NO_VALUES))
    return TaskLog(system, task, source, questions, data, warnings=tuple(warnings), subtasks=tuple(subtasks))
