"""Divide the questions of a task into groups by a field of their documents or metadata."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.data.clusters import candidate_field
from harness_uq.data.field_values import is_number
from harness_uq.data.names import bounded_name
from harness_uq.data.selection import select_questions
from harness_uq.data.task_log import FloatArray, IntArray, MetadataField, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.breakdown import (
    FIELD_MISSING_IN_TASKS,
    GROUP_FIELD_IN_NO_TASK,
    TOO_MANY_GROUPS,
    UNKNOWN_GROUP_FIELD,
)
from harness_uq.messages.errors import StructureError

MISSING = "(missing)"
MOST_GROUPS = 100
MOST_NUMBERS = 10
N_BINS = 4
_MOST_LISTED = 5
_FEWEST_DIGITS, _MOST_DIGITS, _LARGEST_WHOLE = 6, 17, 1e15


@dataclass(frozen=True, slots=True, eq=False)
class QuestionGroups:
    """Groups of the questions of one task."""

    field: str  # its name
    labels: tuple[str, ...]  # value of each group, or ranges such as `2 to 5` of numbers with more than 10 values
    codes: IntArray  # int (n_questions,); index of the group of each question

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


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Ranges of numbers with about equally many questions each."""

    edges: FloatArray  # largest number of each range but the last
    used: IntArray  # ranges that contain numbers
    labels: tuple[str, ...]  # of these ranges

    @classmethod
    def of(cls, fields: Iterable[MetadataField | None]) -> "_Ranges | None":
        """The ranges of the numbers in these fields; None if the values are not more than ten different numbers."""
        known = [field for field in fields if field is not None]
        present = {value for field in known for value in field.values}
        if len(present) <= MOST_NUMBERS or not all(map(is_number, present)):
            return None
        values = np.concatenate([_numbers(field) for field in known if field.values])
        values = values[np.isfinite(values)]
        edges = np.unique(np.quantile(values, np.arange(1, N_BINS) / N_BINS, method="inverted_cdf"))
        bins = np.searchsorted(edges, values, side="left")
        used = np.unique(bins).astype(np.int64)
        ends = [(float(values[bins == k].min()), float(values[bins == k].max())) for k in used]
        return cls(edges, used, tuple(_range_labels(ends)))

    def codes(self, field: MetadataField) -> IntArray:
        """The range of each question, -1 without a number."""
        numbers = _numbers(field)
        codes = np.searchsorted(self.used, np.searchsorted(self.edges, numbers, side="left"))
        return np.where(np.isfinite(numbers), codes, -1).astype(np.int64)


def _numbers(field: MetadataField) -> FloatArray:
    """The number of each question, NaN if it is missing."""
    return np.array([*map(float, field.values), np.nan])[field.codes]


def _range_labels(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Labels of ranges, with enough digits to distinguish all ends.

    >>> _range_labels([(1.0, 2.5), (3.0, 3.0)]), _range_labels([(0.1000001, 0.1000002)])
    (['1 to 2.5', '3'], ['0.1000001 to 0.1000002'])
    """
    different = {end for pair in ends for end in pair}
    distinguishing = (
        n for n in range(_FEWEST_DIGITS, _MOST_DIGITS) if len({_text(x, n) for x in different}) == len(different)
    )
    digits = next(distinguishing, _MOST_DIGITS)
    return [" to ".join(_text(end, digits) for end in dict.fromkeys(pair)) for pair in ends]


def _text(number: float, digits: int) -> str:
    return f"{number:.0f}" if number.is_integer() and abs(number) < _LARGEST_WHOLE else f"{number:.{digits}g}"


def question_groups(log: TaskLog, name: str, others: Iterable[TaskLog] = ()) -> QuestionGroups:
    """Divide the questions of a task by the values of a field.

    Ranges of numbers are those of all logs of the task, `others` included, so that groups of different systems with the
    same label have the same questions. Raises StructureError if the task has no such field, or it has too many values.
    """
    return _question_groups(log, name, _Ranges.of(_field(one, name) for one in (log, *others)))


def _question_groups(log: TaskLog, name: str, ranges: _Ranges | None) -> QuestionGroups:
    field = _field(log, name)
    if field is None:
        known = usable_fields(log)
        raise StructureError(UNKNOWN_GROUP_FIELD(task=log.task, field=name, known=known or ["none"]))
    if not field.values:
        raise StructureError(TOO_MANY_GROUPS(task=log.task, field=name, n_values=field.n_distinct, most=MOST_GROUPS))
    if ranges is not None:
        return _with_missing(name, ranges.labels, ranges.codes(field))
    present = field.values
    if len(present) > MOST_GROUPS:
        raise StructureError(TOO_MANY_GROUPS(task=log.task, field=name, n_values=len(present), most=MOST_GROUPS))
    return _with_missing(name, [bounded_name(value) for value in present], field.codes)


def divided_logs(
    logs: Iterable[TaskLog], name: str, others: Iterable[TaskLog] = ()
) -> tuple[list[tuple[TaskLog, QuestionGroups]], tuple[Message, ...]]:
    """The logs that have the field with their groups, and a note about the other tasks.

    Logs of one task have the same ranges of numbers, also those of `others`, which are not divided. Raises
    StructureError if no task has the field, or it has too many values.
    """
    logs = list(logs)
    fields: dict[str, list[MetadataField | None]] = {}
    for log in (*logs, *others):
        fields.setdefault(log.task, []).append(_field(log, name))
    ranges = {task: _Ranges.of(of_task) for task, of_task in fields.items()}
    divided, missing, first = [], [], None
    for log in logs:
        try:
            divided.append((log, _question_groups(log, name, ranges[log.task])))
        except StructureError as error:
            if error.message.code != UNKNOWN_GROUP_FIELD.code:
                raise
            missing.append(log)
            first = first or error
    tasks = list(dict.fromkeys(log.task for log in missing))
    if not divided and first is not None:
        raise first if len(tasks) == 1 else StructureError(_unknown_field(name, missing))
    return divided, (FIELD_MISSING_IN_TASKS(n_tasks=len(tasks), field=name, tasks=tasks),) if tasks else ()


def _field(log: TaskLog, name: str) -> MetadataField | None:
    """The field of a task; None without any values. Combinations of fields do not name groups."""
    found = None if "+" in name and name not in log.questions.fields else candidate_field(log, name)
    return found if found is not None and found.n_distinct else None


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


def _with_missing(name: str, labels: Sequence[str], codes: IntArray) -> QuestionGroups:
    """Leave out empty groups, and add a group of questions without the field."""
    if MISSING in labels:
        codes = np.where(codes == labels.index(MISSING), -1, codes)
    is_missing = codes < 0
    used = [k for k in range(len(labels)) if (codes == k).any()]
    names = [labels[k] for k in used] + ([MISSING] if is_missing.any() else [])
    position = np.full(len(labels) + 1, -1, np.int64)
    position[used] = np.arange(len(used))
    position[-1] = len(used)
    return QuestionGroups(name, tuple(names), position[np.where(is_missing, len(labels), codes)])
