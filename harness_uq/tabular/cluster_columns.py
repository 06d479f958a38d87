"""Columns with labels of the questions, which may define clusters."""

import contextlib
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from harness_uq.data.field_values import is_unknown, labels_of
from harness_uq.data.task_log import MetadataField
from harness_uq.errors import LogError
from harness_uq.tabular.column_roles import Layout
from harness_uq.tabular.parse_cells import is_plain, label_of, score_of
from harness_uq.tabular.table import Table

_MIN_TEXT_LENGTH = 120  # average number of characters
_DESCRIBES_ANSWER = re.compile(
    r"response|output|completion|predict|generat|reasoning|rationale|explanation|comment|transcript|error|token|cost"
    r"|time|latency",
    re.IGNORECASE,
)


class _DiffersError(Exception):
    """Two rows of one question have different labels; `row` is the second of them."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


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


def other_fields(
    table: Table, names: Sequence[str], question_of: Mapping[int, int], n_questions: int
) -> dict[str, MetadataField]:
    """Return the metadata fields from those columns that have one label per question.

    Parameters
    ----------
    names : sequence of str
        Columns to convert.
    question_of : mapping
        Index of the question of each row.
    """
    fields = {}
    for name in names:
        with contextlib.suppress(_DiffersError):
            fields[name] = _field(table.columns[name], question_of, n_questions)
    return fields


def cluster_field(
    table: Table, layout: Layout, question_of: Mapping[int, int], ids: Sequence[str]
) -> dict[str, MetadataField]:
    """Return the column of clusters, if the table has one and it is not empty for all of the log's questions.

    Raises
    ------
    LogError
        If a question is in two clusters.
    """
    name = layout.parts.get("cluster")
    if name is None:
        return {}
    try:
        field = _field(table.columns[name], question_of, len(ids))
    except _DiffersError as error:
        raise LogError(
            f"{table.place(error.row)}: question {ids[question_of[error.row]]!r} is in another cluster than before "
            f"(column {name!r})"
        ) from None
    return {name: field} if field.n_distinct else {}


def _field(cells: Sequence[object], question_of: Mapping[int, int], n_questions: int) -> MetadataField:
    labels: list[str | None] = [None] * n_questions
    for row, question in question_of.items():
        label = label_of(cells[row])
        if label is None or is_unknown(label):
            continue
        if labels[question] not in (None, label):
            raise _DiffersError(row)
        labels[question] = label
    known: dict[str, int] = {}
    codes = [-1 if label is None else known.setdefault(label, len(known)) for label in labels]
    n_characters = sum(map(len, known))
    return MetadataField(
        np.array(codes, np.int64),
        is_text=n_characters >= _MIN_TEXT_LENGTH * max(len(known), 1),
        values=labels_of(known),
    )
