"""A person's grades of logged questions, from a table."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from harness_uq.errors import LogError
from harness_uq.logs import places
from harness_uq.logs.data import FloatArray
from harness_uq.logs.refusals import shown


@dataclass(frozen=True, slots=True)
class Label:
    """One grade.

    Attributes
    ----------
    id : of the question, as the harness logs it
    score : the grade
    task : of the question; None where the id alone says which
    probability : with which the question was chosen to be graded, None where all were alike
    """

    id: str
    score: float
    task: str | None = None
    probability: float | None = None


def read_labels(path: str | Path) -> tuple[Label, ...]:
    """Grades of a CSV file, a path or a URL, with the columns `id` and `score`, and perhaps `task` and `probability`.

    An empty score is a question without a grade.

    Raises
    ------
    LogError : if the file cannot be read, lacks a column, or a line holds something else than a number
    """
    try:
        table = csv.DictReader(StringIO(places.read_bytes(str(path)).decode("utf-8-sig"), newline=""))
        if missing := sorted({"id", "score"} - set(table.fieldnames or ())):
            raise LogError(f"{shown(str(path))} has no column {', '.join(missing)}; labels need id and score")
        rows = [(table.line_num, row) for row in table]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LogError(f"{shown(str(path))} cannot be read: {error}") from None
    return tuple(_label(path, line, row) for line, row in rows if (row["score"] or "").strip())


def grades(labels: Sequence[Label], task: str, ids: Sequence[str]) -> tuple[FloatArray, FloatArray | None]:
    """Grade of each question of a task, NaN where there is none, and the probabilities where any is given.

    Raises
    ------
    LogError : if a question has two grades, or only some grades have a probability
    """
    place = {question: i for i, question in enumerate(ids)}
    mine = [label for label in labels if label.task in (None, task) and label.id in place]
    score, chance = np.full(len(ids), np.nan), np.full(len(ids), np.nan)
    for label in mine:
        i = place[label.id]
        if not np.isnan(score[i]):
            raise LogError(f"question {label.id!r} of {task} has two labels: keep one, or name the task of each")
        score[i] = label.score
        chance[i] = np.nan if label.probability is None else label.probability
    given = sum(label.probability is not None for label in mine)
    if given not in (0, len(mine)):
        raise LogError(f"{given} of {len(mine)} labels of {task} have a probability: give all or none")
    return score, chance if given else None


def _label(path: str | Path, line: int, row: "dict[str, str]") -> Label:
    chance = (row.get("probability") or "").strip()
    try:
        score, probability = float(row["score"]), float(chance) if chance else None
    except ValueError:
        raise LogError(f"{shown(str(path))}, line {line}: score and probability must be numbers; got {row}") from None
    return Label(row["id"].strip(), score, (row.get("task") or "").strip() or None, probability)
