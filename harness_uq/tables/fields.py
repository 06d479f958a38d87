"""The other columns of a table: labels of the questions that may say which share material."""

import contextlib
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from harness_uq.errors import LogError
from harness_uq.logs.data import CandidateField
from harness_uq.logs.unknown import is_unknown
from harness_uq.tables.cells import is_plain, label_of, score_of
from harness_uq.tables.columns import Layout
from harness_uq.tables.table import Table

_LONG_TEXT = 120  # characters on average
_OF_THE_ANSWER = re.compile(
    r"response|output|completion|predict|generat|reasoning|rationale|explanation|comment|transcript|error|token|cost"
    r"|time|latency",
    re.IGNORECASE,
)


class _DiffersError(Exception):
    """Two rows of a question hold different labels; `row` is the second."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def candidates(table: Table, layout: Layout) -> tuple[str, ...]:
    """Columns without a part that hold labels: no lists, no measurements, nothing of the answers."""
    skipped = layout.used | {layout.parts.get("cluster")}
    names = [name for name in table.columns if name not in skipped and not _OF_THE_ANSWER.search(name)]
    return tuple(name for name in names if _holds_labels(table.columns[name]))


def _holds_labels(cells: Sequence[object]) -> bool:
    """Whether the cells are plain, and not all of them rights and wrongs or fractions."""
    if not all(map(is_plain, cells)):
        return False
    try:
        values = {score_of(cell) for cell in cells}
    except LogError:
        return True
    values = {value for value in values if not math.isnan(value)}
    return not values <= {0.0, 1.0} and all(value.is_integer() for value in values)


def other_fields(
    table: Table, names: Sequence[str], at: Mapping[int, int], n_questions: int
) -> dict[str, CandidateField]:
    """Those of the columns that hold one label a question.

    Parameters
    ----------
    names : of the columns
    at : question of each row of the log
    """
    fields = {}
    for name in names:
        with contextlib.suppress(_DiffersError):
            fields[name] = _field(table.columns[name], at, n_questions)
    return fields


def cluster_field(table: Table, layout: Layout, at: Mapping[int, int], ids: Sequence[str]) -> dict[str, CandidateField]:
    """The column of clusters, if there is one and it is not empty on all of the log's questions.

    Raises
    ------
    LogError : if a question stands in two clusters
    """
    name = layout.parts.get("cluster")
    if name is None:
        return {}
    try:
        found = _field(table.columns[name], at, len(ids))
    except _DiffersError as error:
        raise LogError(
            f"{table.place(error.row)}: question {ids[at[error.row]]!r} is in another cluster than before "
            f"(column {name!r})"
        ) from None
    return {name: found} if found.n_distinct else {}


def _field(cells: Sequence[object], at: Mapping[int, int], n_questions: int) -> CandidateField:
    labels: list[str | None] = [None] * n_questions
    for row, question in at.items():
        label = label_of(cells[row])
        if label is None or is_unknown(label):
            continue
        if labels[question] not in (None, label):
            raise _DiffersError(row)
        labels[question] = label
    known: dict[str, int] = {}
    codes = [-1 if label is None else known.setdefault(label, len(known)) for label in labels]
    return CandidateField(np.array(codes, np.int64), is_text=sum(map(len, known)) >= _LONG_TEXT * max(len(known), 1))
