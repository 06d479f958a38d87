"""Groups of questions as tasks of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness_uq.data.task_log import TaskLog
from harness_uq.structure.question_groups import divided_logs


def split_by(logs: Iterable[TaskLog], fields: Sequence[str]) -> list[TaskLog]:
    """Return a log for each group of the questions of each task; the group is part of the name of the task.

    Parameters
    ----------
    logs : tasks; groups of tasks are left out
    fields : fields of the questions' documents or metadata, each of which divides all questions

    Raises
    ------
    StructureError : if no task has one of the fields, or a field has too many values
    """
    single = [log for log in logs if not log.subtasks]
    return [
        replace(part, task=f"{log.task}, {name}: {label}")
        for name in fields
        for log, groups in divided_logs(single, name)[0]
        for label, part in groups.parts(log)
    ]
