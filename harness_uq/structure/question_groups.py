"""Divide the questions of a task into groups by a field of their documents or metadata."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.data.field_values import is_number
from harness_uq.data.names import bounded_name
from harness_uq.data.question_subset import select_questions
from harness_uq.data.task_log import FloatArray, IntArray, MetadataField, TaskLog
from harness_uq.errors import StructureError
from harness_uq.messages import Message
from harness_uq.messages.catalogue.breakdown import (
    FIELD_MISSING_IN_TASKS,
    GROUP_FIELD_IN_NO_TASK,
    TOO_MANY_GROUPS,
    UNKNOWN_GROUP_FIELD,
)
from harness_uq.structure.field_labels import candidate_field

MISSING = "(missing)"
MOST_GROUPS = 100
MOST_NUMBERS = 10
N_BINS = 4
_MOST_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class QuestionGroups:
    """Groups of the questions of one task.

    Attributes
    ----------
    field : name of the field
    labels : value of each group; ranges such as `2 to 5` if the values are numbers with more than 10 different values
    codes : int (n_questions,); index of the group of each question
    """

    field: str
    labels: tuple[str, ...]
    codes: IntArray

    def rows(self, label: str) -> IntArray:
        """Return the questions of a group; empty if there is no such group."""
        if label not in self.labels:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.codes == self.labels.index(label))

    def parts(self, log: TaskLog) -> Iterator[tuple[str, TaskLog]]:
        """Yield the label and the part of the log of each group."""
        for label in self.labels:
            yield label, part_of(log, self.rows(label))


def part_of(log: TaskLog, rows: IntArray) -> TaskLog:
    """Return the log with these questions only, as a complete run of its own."""
    part = select_questions(log, rows)
    return replace(part, facts=replace(part.facts, n_all=None, n_watched=None, watched_clusters=None))


def question_groups(log: TaskLog, name: str) -> QuestionGroups:
    """Divide the questions of a task by the values of a field.

    Raises
    ------
    StructureError : if the task has no such field, or the field has too many values
    """
    field = candidate_field(log, name)
    if field is None:
        known = usable_fields(log)
        raise StructureError(UNKNOWN_GROUP_FIELD(task=log.task, field=name, known=known or ["none"]))
    if not field.values:
        raise StructureError(TOO_MANY_GROUPS(task=log.task, field=name, n_values=field.n_distinct, most=MOST_GROUPS))
    present = field.values
    if len(present) > MOST_NUMBERS and all(map(is_number, present)):
        return _with_missing(name, *_binned(field))
    if len(present) > MOST_GROUPS:
        raise StructureError(TOO_MANY_GROUPS(task=log.task, field=name, n_values=len(present), most=MOST_GROUPS))
    return _with_missing(name, [bounded_name(value) for value in present], field.codes)


def divided_logs(
    logs: Iterable[TaskLog], name: str
) -> tuple[list[tuple[TaskLog, QuestionGroups]], tuple[Message, ...]]:
    """Return the logs that have the field with their groups, and a note about the other tasks.

    Raises
    ------
    StructureError : if no task has the field, or the field has too many values
    """
    divided, missing, first = [], [], None
    for log in logs:
        try:
            divided.append((log, question_groups(log, name)))
        except StructureError as error:
            if error.message.code != UNKNOWN_GROUP_FIELD.code:
                raise
            missing.append(log)
            first = first or error
    tasks = list(dict.fromkeys(log.task for log in missing))
    if not divided and first is not None:
        raise first if len(tasks) == 1 else StructureError(_unknown_field(name, missing))
    return divided, (FIELD_MISSING_IN_TASKS(n_tasks=len(tasks), field=name, tasks=tasks),) if tasks else ()


def _unknown_field(name: str, logs: Iterable[TaskLog]) -> Message:
    """The message that no task has the field, with the fields of each task."""
    by_task = fields_by_task(logs)
    known = sorted(set().union(*by_task.values()))
    listed = "; ".join(f"{', '.join(fields)} ({tasks})" for fields, tasks in tasks_by_fields(by_task).items())
    return GROUP_FIELD_IN_NO_TASK(field=name, known=known, fields=listed or "none")


def fields_by_task(logs: Iterable[TaskLog]) -> dict[str, tuple[str, ...]]:
    """Return the usable fields of each task in any of its logs; tasks without such fields are left out."""
    found: dict[str, set[str]] = {}
    for log in logs:
        if fields := usable_fields(log):
            found.setdefault(log.task, set()).update(fields)
    return {task: tuple(sorted(fields)) for task, fields in found.items()}


def tasks_by_fields(by_task: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return the names of the tasks with each set of fields, for a sentence.

    >>> tasks_by_fields({"a": ("level",), "b": ("level", "subject"), "c": ("level",)})
    {('level',): 'a, c', ('level', 'subject'): 'b'}
    """
    tasks: dict[tuple[str, ...], list[str]] = {}
    for task, fields in by_task.items():
        tasks.setdefault(fields, []).append(task)
    return {
        fields: ", ".join(names[:_MOST_LISTED])
        + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")
        for fields, names in tasks.items()
    }


def usable_fields(log: TaskLog) -> list[str]:
    """Return the fields that divide the questions of a task into at least two groups with two questions on average."""
    n = len(log.questions)
    return sorted(
        name
        for name, field in log.questions.fields.items()
        if field.values
        and field.n_distinct >= 2
        and (field.n_distinct <= min(MOST_GROUPS, n / 2) or _is_numeric(field))
    )


def _is_numeric(field: MetadataField) -> bool:
    return field.n_distinct > MOST_NUMBERS and all(map(is_number, field.values))


def _binned(field: MetadataField) -> tuple[list[str], IntArray]:
    """Ranges with about equally many questions each."""
    numbers = np.array([float(value) for value in field.values])
    known = field.codes >= 0
    values = numbers[field.codes[known]]
    inner = np.unique(np.quantile(values, np.arange(1, N_BINS) / N_BINS, method="inverted_cdf"))
    bins = np.searchsorted(inner, values, side="left")
    _, bins = np.unique(bins, return_inverse=True)
    codes = np.full(len(field.codes), -1, np.int64)
    codes[known] = bins
    return [_range(values[bins == k]) for k in range(int(bins.max()) + 1)], codes


def _range(values: FloatArray) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _with_missing(name: str, labels: list[str], codes: IntArray) -> QuestionGroups:
    """Sort text labels by name, leave out empty groups, and add a group of questions without the field."""
    is_missing = codes < 0
    used = [k for k in range(len(labels)) if (codes == k).any()]
    names = [labels[k] for k in used] + ([MISSING] if is_missing.any() else [])
    position = np.full(len(labels) + 1, -1, np.int64)
    position[used] = np.arange(len(used))
    position[-1] = len(used)
    return QuestionGroups(name, tuple(names), position[np.where(is_missing, len(labels), codes)])
