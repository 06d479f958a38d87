"""Groups of questions as tasks of their own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from harness_uq.data.question_groups import divided_logs
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.marginals import with_structure_of_task
from harness_uq.io.plugins.manager import Plugins

Name = TypeVar("Name", str, str | None)
Value = TypeVar("Value")


def split_by(
    logs: Iterable[TaskLog],
    fields: Sequence[str],
    options: StructureOptions,
    plugins: Plugins,
    others: Iterable[TaskLog] = (),
) -> list[TaskLog]:
    """Return a log for each group of the questions of each task; the group is part of the name of the task.

    A group has the clusters and the ranges of scores of its task. `logs`: tasks; groups of tasks are left out.
    `fields`: fields of the questions' documents or metadata, each of which divides all questions. `options`: the
    structure that the user declares. `others`: logs that are not divided, but have the same ranges of numbers. Raises
    StructureError if no task has one of the fields, or a field has too many values.
    """
    single = [with_structure_of_task(log, options, plugins) for log in logs if not log.subtasks]
    compared = [log for log in others if not log.subtasks]
    return [
        replace(part, task=f"{log.task}, {name}: {label}")
        for name in fields
        for log, groups in divided_logs(single, name, compared)[0]
        for label, part in groups.parts(log)
    ]


def with_values_of_groups(by_task: Mapping[Name, Value], groups: Iterable[str]) -> dict[Name, Value]:
    """The values of tasks, such as their margins; groups of questions without a value have that of their task.

    >>> with_values_of_groups({"t": 0.1}, ["t, level: easy"])
    {'t': 0.1, 't, level: easy': 0.1}
    """
    found = dict(by_task)
    for group in groups:
        tasks = [task for task in by_task if task is not None and group.startswith(f"{task}, ")]
        if tasks and group not in found:
            found[group] = by_task[max(tasks, key=len)]
    return found
