"""A person's grades of logged questions, from a table."""

import csv
import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import numpy as np

from harness_uq.data.log_filter import Selection
from harness_uq.data.names import names_without_settings
from harness_uq.data.task_log import FloatArray, TaskLog
from harness_uq.io import paths as io_paths
from harness_uq.io.paths import is_file, is_remote
from harness_uq.messages.catalogue.comparison import LABELS_WITHOUT_SYSTEM
from harness_uq.messages.catalogue.planning import (
    DUPLICATE_LABEL,
    LABEL_COLUMNS_MISSING,
    LABEL_NOT_A_NUMBER,
    LABEL_PROBABILITY_INVALID,
    LABELS_OF_OTHER_SYSTEMS,
    LABELS_OF_SEVERAL_TASKS,
    PARTIAL_PROBABILITIES,
    PROBABILITY_COLUMN_MISSING,
)
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import DataError, LogError, unknown_name
from harness_uq.messages.redaction import redact


@dataclass(frozen=True, slots=True)
class Label:
    """One grade of an answer."""

    id: str  # of the question, as the harness logs it
    score: float  # NaN if the answer was drawn for labeling but has no grade
    task: str | None = None  # None if the id identifies the question
    probability: float | None = None  # with which the question was chosen, in (0, 1]; None if all were alike
    system: str | None = None  # whose answer was graded; None if only one system is evaluated
    rater: str | None = None  # None if it is unknown who gave the grade

    def __post_init__(self) -> None:
        if self.probability is not None and not 0 < self.probability <= 1:
            raise DataError(LABEL_PROBABILITY_INVALID(question=self.id, value=self.probability))

    @property
    def has_score(self) -> bool:
        """Whether the answer has a grade."""
        return not math.isnan(self.score)


def read_labels(path: str | Path, probability: str | None = None) -> tuple[Label, ...]:
    """Grades of a CSV file, a path or a URL, with the columns `id` and `score`.

    A column `question` can replace `id`, and a column `label` contains the grades even if there is a column `score`,
    for instance with the scores of a model. Optional columns are `task`, `system`, `probability` (or the one that the
    argument names, which must exist) and `rater`. Lines with an empty grade are omitted, unless they contain a
    probability. Raises LogError if the file cannot be read, lacks a column, or a line holds something else than a
    number.
    """
    try:
        table = csv.DictReader(StringIO(io_paths.read_bytes(str(path)).decode("utf-8-sig"), newline=""))
        names = list(table.fieldnames or ())
        column = {
            "id": "id" if "id" in names else "question",
            "score": "label" if "label" in names else "score",
            "probability": probability or "probability",
        }
        if missing := [name for name in ("id", "score") if column[name] not in names]:
            raise LogError(LABEL_COLUMNS_MISSING(path=redact(str(path)), columns=missing))
        if probability is not None and probability not in names:
            raise DataError(PROBABILITY_COLUMN_MISSING(column=probability, path=redact(str(path)), columns=names))
        rows = [(table.line_num, row | {name: row.get(found) for name, found in column.items()}) for row in table]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LogError(FILE_UNREADABLE(reason=str(error)).at(str(path))) from None
    labels = (_label(path, line, row) for line, row in rows)
    return tuple(label for label in labels if label.has_score or label.probability is not None)


def grades(
    labels: Sequence[Label], task: str, ids: Sequence[str], system: str | None = None
) -> tuple[FloatArray, FloatArray | None]:
    """Grade of each question of a task, NaN if there is none, and the probabilities where any is given.

    Labels of other systems' answers than those of `system` are ignored. The grades of several raters are averaged. Two
    grades of one rater or of unknown raters are an error, and probabilities of only some grades.
    """
    place = {question: i for i, question in enumerate(ids)}
    mine = labels_of_answers(labels, task, place, system)
    total, n, chance = np.zeros(len(ids)), np.zeros(len(ids)), np.full(len(ids), np.nan)
    raters: dict[str, set[str | None]] = {}
    for label in mine:
        i = place[label.id]
        known = raters.setdefault(label.id, set())
        if known and (label.rater is None or known & {label.rater, None}):
            raise LogError(DUPLICATE_LABEL(question=label.id, task=task))
        known.add(label.rater)
        total[i] += label.score
        n[i] += 1
        chance[i] = np.nan if label.probability is None else label.probability
    given = sum(label.probability is not None for label in mine)
    if given not in (0, len(mine)):
        raise LogError(PARTIAL_PROBABILITIES(n_given=given, n_labels=len(mine), task=task))
    score = np.divide(total, n, out=np.full(len(ids), np.nan), where=n > 0)
    return score, chance if given else None


def labels_of_answers(
    labels: Sequence[Label], task: str, ids: Container[str], system: str | None = None
) -> list[Label]:
    """The labels of the answers of one system to the questions of a task."""
    return [label for label in _rows_of_answers(labels, task, ids, system) if label.has_score]


def answers_without_label(
    labels: Sequence[Label], task: str, ids: Container[str], system: str | None = None
) -> tuple[int, int]:
    """Number of answers that were drawn for labeling but have no label, and number of all answers of the labels."""
    rows = _rows_of_answers(labels, task, ids, system)
    answers, labeled = {label.id for label in rows}, {label.id for label in rows if label.has_score}
    return len(answers - labeled), len(answers)


def _rows_of_answers(labels: Sequence[Label], task: str, ids: Container[str], system: str | None) -> list[Label]:
    return [
        label for label in labels if label.task in (None, task) and label.system in (None, system) and label.id in ids
    ]


def check_systems(labels: Sequence[Label], systems: Sequence[str]) -> None:
    """Raise DataError if all labels name other systems, or a label names none although there are several."""
    labels = [label for label in labels if label.has_score]
    labeled = {label.system for label in labels if label.system is not None}
    if systems and labeled.isdisjoint(systems) and labels and all(label.system is not None for label in labels):
        raise DataError(LABELS_OF_OTHER_SYSTEMS(labeled=sorted(labeled), systems=systems))
    n_unnamed = sum(label.system is None for label in labels)
    if len(systems) > 1 and n_unnamed:
        raise DataError(LABELS_WITHOUT_SYSTEM(n_labels=n_unnamed, systems=systems))


def check_tasks(labels: Sequence[Label], logs: Sequence[TaskLog]) -> None:
    """Raise DataError if labels without a task match answers to more than one task of a system."""
    without_task = [label for label in labels if label.task is None]
    tasks_of: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        if not log.subtasks:
            for label in labels_of_answers(without_task, log.task, frozenset(log.questions.ids), log.system):
                tasks_of.setdefault((log.system, label.id), set()).add(log.task)
    ambiguous = [tasks for tasks in tasks_of.values() if len(tasks) > 1]
    if ambiguous:
        raise DataError(LABELS_OF_SEVERAL_TASKS(n_answers=len(ambiguous), tasks=sorted(set().union(*ambiguous))))


def _label(path: str | Path, line: int, row: "dict[str, str | None]") -> Label:
    chance = (row["probability"] or "").strip()
    try:
        score, probability = float((row["score"] or "").strip() or "nan"), float(chance) if chance else None
    except ValueError:
        raise LogError(LABEL_NOT_A_NUMBER(path=redact(str(path)), line=line, row=str(row))) from None
    task, system, rater = (_unquoted((row.get(name) or "").strip()) or None for name in ("task", "system", "rater"))
    return Label(_unquoted((row["id"] or "").strip()), score, task, probability, system, rater)


def _unquoted(text: str) -> str:
    """The text without the apostrophe that prevents a spreadsheet from running it as a formula.

    >>> _unquoted("'=1+1"), _unquoted("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@") else text


# ---------------------------------------------------------------- where labels come from


def without_labels(logs: Sequence[TaskLog], labels: str | Path | Sequence[Label]) -> list[TaskLog]:
    """The logs without those that were read from the file of labels, unless all of them are from this file."""
    path = Path(labels).absolute() if isinstance(labels, str | Path) else None
    return [log for log in logs if Path(log.source.path).absolute() != path] or list(logs)


def human_labels(
    labels: str | Path | Sequence[Label], logs: Sequence[TaskLog], inclusion_probabilities: str | None = None
) -> str | Sequence[Label]:
    """Labels that are read from a file, or the metric of the logs that contains them.

    `inclusion_probabilities` is the column of the file with the probability of each label; by default `probability`, if
    there is one. Raises LogError if the file cannot be read, and DataError if there is no such file or metric, all
    labels belong to systems that the logs do not contain, a label names no system although the logs contain several,
    labels without a task match questions of several tasks, or inclusion probabilities are invalid or given without a
    file.
    """
    if inclusion_probabilities is not None and not (isinstance(labels, str | Path) and is_labels_file(str(labels))):
        raise DataError("inclusion_probabilities names a column of a file of labels, but labels are not in a file.")
    if isinstance(labels, str | Path) and not is_labels_file(source := str(labels)):
        metrics = {data.metric for log in logs for data in log.data}
        if logs and source not in metrics:
            raise DataError(unknown_name("file or metric of labels", source, metrics, plural="metrics"))
        return source
    found = read_labels(labels, inclusion_probabilities) if isinstance(labels, str | Path) else labels
    graded = without_labels(logs, labels)
    systems = tuple(dict.fromkeys(log.system for log in graded))
    full_names = {short: name for name, short in names_without_settings(systems).items()}
    found = [replace(label, system=full_names.get(label.system or "", label.system)) for label in found]
    check_systems(found, systems)
    check_tasks(found, graded)
    return found


def selection_with_labels(selection: Selection, labels: str | Path | Sequence[Label] | None) -> Selection:
    """The selection with the metric of the logs that contains labels, if a selection of metrics would omit it."""
    if not isinstance(labels, str) or is_labels_file(labels) or not selection.filter.metrics:
        return selection
    return replace(selection, filter=replace(selection.filter, metrics=(*selection.filter.metrics, labels)))


def is_labels_file(source: str) -> bool:
    """Whether labels are in a file rather than in a metric; a remote file may turn out not to exist when it is read."""
    return is_remote(source) or is_file(source)
