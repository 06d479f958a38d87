"""From a table and its layout to task logs, one for each system and task, with columns of labels as fields."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from harness_uq.data.field_values import is_unknown, labels_of
from harness_uq.data.resources import TOKENS, Resources, TokenUsage
from harness_uq.data.task_log import ClusterDeclaration, MetadataField, MetricKey, Questions, Scores, Source, TaskLog
from harness_uq.data.trial_endings import ENDINGS, TrialEndings, ending_code
from harness_uq.io.tables.column_roles import Layout, ScoreColumn
from harness_uq.io.tables.table import Table, direction_of, is_plain, label_of, score_of
from harness_uq.messages.catalogue.reading import COLUMN_IDENTIFIES_ROWS, REPEATED_ROWS_AS_TRIALS
from harness_uq.messages.errors import DataError, LogError, unknown_name

_OPTIONAL = ("cluster", "higher_is_better", "ended_by")
TASK = "scores"  # of data frames, and of tables that name neither system nor task
_METRIC = "score"  # of columns that are called after their system
_UUID_COLUMN = "sample_id"
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}|[2-9A-HJ-NP-Za-km-z]{22}")  # or a short UUID
_MOST_EMPTY = 100  # cells of the array of scores for each score
_MIN_TEXT_LENGTH = 120  # average number of characters
_DESCRIBES_ANSWER = re.compile(
    r"response|output|completion|predict|generat|reasoning|rationale|explanation|comment|transcript|error|token|cost"
    r"|time|latency",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Names:
    """What a table is called."""

    name: str  # its file's without the ending; the system's if no column names it, else the task's
    system: str | None = None  # given by the caller, for a table without such a column
    task: str | None = None  # as `system`


@dataclass(slots=True)
class _Part:
    """The rows of one system and task: each score with its row, by metric and filter."""

    rows: dict[int, str] = field(default_factory=dict)  # row: question
    cells: dict[MetricKey, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    higher: dict[str, bool] = field(default_factory=dict)


def build_task_logs(
    table: Table, layout: Layout, names: Names, source: Source, *, with_resources: bool = False
) -> list[TaskLog]:
    """One log for each system and task, in the order of the rows, on request with columns of tokens, cost and time.
    Raises LogError with the row that holds no score, lacks a label, or stands twice.
    """
    if not len(table):
        raise LogError("the table holds no row")
    _check_questions(table, layout)
    job = _Job(table, layout, source)
    parts = job.parts(names)
    used = {role: list(job.scores(name)) for role, name in layout.resources.items()} if with_resources else {}
    return [job.log(system, task, part, used) for (system, task), part in parts.items()]


def _check_questions(table: Table, layout: Layout) -> None:
    """Raise LogError if the column that was found for the questions identifies the rows. That is so if each row has
    another UUID, although there are several trials or the name is that of Inspect's UUIDs.
    """
    name = layout.parts["question"]
    labels = [str(cell) for cell in table.columns[name]]
    if "question" in layout.stated or len(labels) < 2 or len(set(labels)) < len(labels):
        return
    trials = set(map(str, table.columns[layout.parts["trial"]])) if "trial" in layout.parts else set()
    if (len(trials) > 1 or name == _UUID_COLUMN) and all(map(_UUID.fullmatch, labels)):
        known = ", ".join(table.columns)
        raise LogError(COLUMN_IDENTIFIES_ROWS(column=name, example=labels[0], known=known))


class _Job:
    """A table on its way to logs."""

    def __init__(self, table: Table, layout: Layout, source: Source) -> None:
        self.table, self.layout, self.source = table, layout, source
        self.labels = {role: self._labels(role) for role in layout.parts if role not in _OPTIONAL}
        self.candidates = label_columns(table, layout)

    def parts(self, names: Names) -> dict[tuple[str, str], _Part]:
        """The scores of each system and task."""
        name_of_directions = self.layout.parts.get("higher_is_better")
        cells = () if name_of_directions is None else self.table.columns[name_of_directions]
        higher = [direction_of(cell) for cell in cells]
        parts: dict[tuple[str, str], _Part] = defaultdict(_Part)
        for column in self.layout.scores:
            without = self._without(column, names)
            labels = zip(*(self.labels.get(role, repeat(label)) for role, label in without.items()), strict=False)
            scores = enumerate(self.scores(column.name))
            for (row, score), (system, task, metric, name) in zip(scores, labels, strict=False):
                part = parts[system, task]
                part.rows[row] = self.labels["question"][row]
                part.cells[metric, name].append((row, score))
                if higher and part.higher.setdefault(metric, higher[row]) != higher[row]:
                    raise LogError(f"{self.table.place(row)}: another row says the opposite of {metric}")
        return parts

    def _without(self, column: ScoreColumn, names: Names) -> dict[str, str]:
        """System, task, metric and filter of a column of scores, if no other column contains them."""
        has_system = "system" in self.layout.parts or column.system is not None
        return {
            "system": column.system or names.system or names.name,
            "task": names.task or (names.name if has_system else TASK),
            "metric": column.metric or (column.name if column.system is None else _METRIC),
            "filter": "none",
        }

    def _labels(self, role: str) -> list[str]:
        name = self.layout.parts[role]
        labels = [label_of(cell) for cell in self.table.columns[name]]
        if None in labels:
            raise LogError(f"{self.table.place(labels.index(None))}: the {role} is missing (column {name!r})")
        return [label for label in labels if label is not None]

    def scores(self, name: str) -> Iterator[float]:
        """The numbers of a column; NaN for an empty cell."""
        for row, cell in enumerate(self.table.columns[name]):
            try:
                yield score_of(cell)
            except LogError as error:
                raise LogError(f"{self.table.place(row)}, column {name!r}: {error}") from None

    def log(self, system: str, task: str, part: _Part, used: Mapping[str, Sequence[float]]) -> TaskLog:
        """The log of one system and task; `used` has the amount of each resource in each row of the table."""
        ids = list(dict.fromkeys(part.rows.values()))
        place = {question: i for i, question in enumerate(ids)}
        at = {row: place[question] for row, question in part.rows.items()}
        has_trials = "trial" in self.labels  # without this column no row is known to be absent
        data = [
            Scores(
                metric,
                name,
                self._array(cells, at, ids),
                is_complete=not has_trials and not any(math.isnan(score) for _, score in cells),
            )
            for (metric, name), cells in part.cells.items()
        ]
        # rows that differ only in their metric or filter describe one trial
        rows = [row for row, _ in max(part.cells.values(), key=len)]
        clusters = self._clusters(at, ids)
        fields = {name: _field(self.table.columns[name], at, len(ids)) for name in self.candidates}
        repeated = not has_trials and any(scores.values.shape[1] > 1 for scores in data)
        return TaskLog(
            system=system,
            task=task,
            source=self.source,
            questions=Questions(
                tuple(ids), fields={k: v for k, v in fields.items() if isinstance(v, MetadataField)} | clusters
            ),
            data=tuple(data),
            declared=ClusterDeclaration(next(iter(clusters)), "column of the table") if clusters else None,
            higher_is_better=part.higher,
            messages=(REPEATED_ROWS_AS_TRIALS(),) if repeated else (),
            resources=self._resources(system, used, rows, at, ids) if used else None,
            ended_by=self._endings(rows, at, ids),
        )

    def _clusters(self, at: Mapping[int, int], ids: Sequence[str]) -> dict[str, MetadataField]:
        """The column of clusters, if the table has one and it is not empty for all of the log's questions."""
        name = self.layout.parts.get("cluster")
        if name is None:
            return {}
        field = _field(self.table.columns[name], at, len(ids))
        if isinstance(field, int):
            raise LogError(
                f"{self.table.place(field)}: question {ids[at[field]]!r} is in another cluster than before "
                f"(column {name!r})"
            )
        return {name: field} if field.n_distinct else {}

    def _endings(self, rows: Sequence[int], at: Mapping[int, int], ids: Sequence[str]) -> TrialEndings | None:
        """How the trials ended; None without such a column. An empty cell is unknown, any other text than an ending an
        error.
        """
        name = self.layout.parts.get("ended_by")
        if name is None:
            return None
        cells = []
        for row in rows:
            ending = (label_of(self.table.columns[name][row]) or "").replace("_", " ")
            if ending and ending_code(ending) < 0:
                raise LogError(f"{self.table.place(row)}: {unknown_name('ending', ending, ENDINGS)}")
            cells.append((row, float(ending_code(ending))))
        codes = self._array(cells, at, ids)
        return TrialEndings(np.where(np.isnan(codes), -1, codes).astype(np.int64))

    def _resources(
        self,
        system: str,
        used: Mapping[str, Sequence[float]],
        rows: Sequence[int],
        at: Mapping[int, int],
        ids: Sequence[str],
    ) -> Resources:
        arrays = {role: self._array([(row, column[row]) for row in rows], at, ids) for role, column in used.items()}
        try:
            tokens: dict[str, Any] = {attribute: arrays[role] for role, attribute in TOKENS.items() if role in arrays}
            others: dict[str, Any] = {role: array for role, array in arrays.items() if role not in TOKENS}
            return Resources((TokenUsage(system, **tokens),) if tokens else (), **others)
        except DataError as error:  # a negative number
            raise LogError(str(error)) from None

    def _array(
        self, cells: Sequence[tuple[int, float]], at: Mapping[int, int], ids: Sequence[str]
    ) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        """Scores by question and trial; the trials of a question have the order of their rows."""
        self._check_trials(cells, at, ids)
        counts = [0] * len(ids)
        places = []
        for row, _ in cells:
            places.append((at[row], counts[at[row]]))
            counts[at[row]] += 1
        if len(ids) * max(counts) > _MOST_EMPTY * max(len(cells), 10_000):
            most = ids[counts.index(max(counts))]
            raise LogError(f"question {most!r} occurs in {max(counts)} rows, and most others in few: is it a question?")
        values = np.full((len(ids), max(counts)), np.nan)
        values[tuple(np.array(places).T)] = [score for _, score in cells]
        return values

    def _check_trials(self, cells: Sequence[tuple[int, float]], at: Mapping[int, int], ids: Sequence[str]) -> None:
        """Make sure that no question has two scores of one trial."""
        trials = self.labels.get("trial")
        if trials is None:
            return
        seen: dict[tuple[int, str], int] = {}
        for row, _ in cells:
            first = seen.setdefault((at[row], trials[row]), row)
            if first != row:
                where, which = self.table.place(row), f"question {ids[at[row]]!r} has trial {trials[row]!r}"
                raise LogError(f"{where}: {which} already in {self.table.place(first)}")


def label_columns(table: Table, layout: Layout) -> tuple[str, ...]:
    """Return the columns without a role that contain labels: no lists, no measurements, nothing about the answers."""
    skipped = layout.used | {layout.parts.get("cluster")}
    names = [name for name in table.columns if name not in skipped and not _DESCRIBES_ANSWER.search(name)]
    return tuple(name for name in names if _holds_labels(table.columns[name]))


def _holds_labels(cells: Sequence[object]) -> bool:
    """Whether the cells are plain values, and not only 0 and 1 or fractions."""
    if not all(map(is_plain, cells)):
        return False
    try:
        values = {score_of(cell) for cell in cells}
    except LogError:
        return True
    values = {value for value in values if not math.isnan(value)}
    return not values <= {0.0, 1.0} and all(value.is_integer() for value in values)


def _field(cells: Sequence[object], question_of: Mapping[int, int], n_questions: int) -> MetadataField | int:
    """The labels of the questions as a field, or the first row whose label differs from an earlier one of its question.

    `question_of` has the index of the question of each row.
    """
    labels: list[str | None] = [None] * n_questions
    for row, question in question_of.items():
        label = label_of(cells[row])
        if label is None or is_unknown(label):
            continue
        if labels[question] not in (None, label):
            return row
        labels[question] = label
    known: dict[str, int] = {}
    codes = [-1 if label is None else known.setdefault(label, len(known)) for label in labels]
    n_characters = sum(map(len, known))
    return MetadataField(
        np.array(codes, np.int64),
        is_text=n_characters >= _MIN_TEXT_LENGTH * max(len(known), 1),
        values=labels_of(known),
    )
