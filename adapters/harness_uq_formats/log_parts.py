"""Parts of task logs that the readers of several formats make: arrays of trials, fields, names and notes."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import (
    MAX_FIELDS,
    Message,
    MetadataField,
    RedactedText,
    TrialEndings,
    check_cells,
    ending_code,
    redact,
    redact_value,
)
from harness_uq_formats.messages import MISSING_COUNT_AS_ZERO, TOOL_VALUE_DIFFERS

_LONG_TEXT: Final = 120


@dataclass(slots=True)
class TrialGrid:
    """Rows and columns of trials: a row for each question, and a column for each trial of a question.

    `row_of`: row of each question, in the order in which the questions were added. `rows`, `columns`: place of each
    trial, in the order in which the trials were added.
    """

    row_of: dict[str, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    _n_trials: list[int] = field(default_factory=list)

    def add(self, question: str) -> None:
        """Add the next trial of a question."""
        row = self.row_of.setdefault(question, len(self.row_of))
        if row == len(self._n_trials):
            self._n_trials.append(0)
        self.rows.append(row)
        self.columns.append(self._n_trials[row])
        self._n_trials[row] += 1

    @property
    def questions(self) -> tuple[str, ...]:
        """Identifiers of the questions, in the order of the rows."""
        return tuple(self.row_of)

    def __len__(self) -> int:
        return len(self.rows)

    def matrix(self, values: Iterable[float | None]) -> NDArray[np.float64]:
        """The values of all trials, in the order in which the trials were added, as (n_questions, n_trials).

        Unknown values, and trials that a question does not have, are NaN. Raises LogError if the array would be too
        large.
        """
        n_questions, n_trials = len(self._n_trials), max(self._n_trials, default=0)
        check_cells(n_questions, n_trials)
        matrix = np.full((n_questions, n_trials), np.nan)
        matrix[self.rows, self.columns] = np.array([np.nan if value is None else value for value in values], np.float64)
        return matrix

    def endings(self, endings: Iterable[str]) -> TrialEndings:
        """How all trials ended, in the order in which they were added; unknown for texts that are no ending. Raises
        LogError if the array would be too large.
        """
        return trial_endings(self.matrix(ending_code(ending) for ending in endings))


def trial_endings(codes: NDArray[np.float64]) -> TrialEndings:
    """Endings from their codes as (n_questions, n_trials), NaN where unknown."""
    return TrialEndings(np.nan_to_num(codes, nan=-1).astype(np.int64))


def known_amounts(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Amounts such as costs, NaN if negative or infinite; None if none is known."""
    valid = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    return None if np.isnan(valid).all() else valid


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Seconds from one ISO time to another; None if one is unknown, only one has a zone, or the end is earlier.

    >>> seconds_between("2026-01-01T00:00:00Z", "2026-01-01T00:01:30+00:00")
    90.0
    """
    if start is None or end is None:
        return None
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


def metadata_fields(documents: Sequence[Mapping[str, object]]) -> dict[str, MetadataField]:
    """Fields by name, with texts, numbers and truth values; other values are missing.

    `documents`: values of each question by the name of the field.
    """
    names = list(dict.fromkeys(name for document in documents for name in document))[:MAX_FIELDS]
    return {str(name): _field([document.get(name) for document in documents]) for name in names}


def _field(values: Sequence[object]) -> MetadataField:
    code_of = dict[str, int]()
    texts = [str(value) if isinstance(value, str | int | float) else None for value in values]
    codes = [-1 if text is None else code_of.setdefault(text, len(code_of)) for text in texts]
    lengths = [len(text) for text in texts if text is not None]
    return MetadataField(np.array(codes), is_text=sum(lengths) >= _LONG_TEXT * max(1, len(lengths)))


def system_name(name: str, settings: Mapping[str, object]) -> str:
    """Name and settings that have a value, such as `openhands (model=gpt-5)`.

    Secrets are replaced by `***`. If there are any, the result is a `RedactedText`.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    full_name = _with_settings(name, given)
    shown = _with_settings(redact(name), {key: redact_value(value, key) for key, value in given.items()})
    return shown if shown == full_name else RedactedText(shown, full_name)


def _with_settings(name: str, settings: Mapping[str, object]) -> str:
    listed = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{name} ({listed})" if listed else name


def counted_as_zero(reasons: Sequence[str], n_trials: int, *, tool: str, metric: str) -> tuple[Message, ...]:
    """A note about trials without a score that count as 0; none if all trials have a score.

    `reasons`: why the score is missing, for each trial without one.
    """
    if not reasons:
        return ()
    listed = ", ".join(f"{n} × {reason}" for reason, n in Counter(reasons).most_common(5))
    return (MISSING_COUNT_AS_ZERO(n_missing=len(reasons), n_trials=n_trials, reasons=listed, tool=tool, metric=metric),)


def differences(metric: str, scores: Iterable[float], reported: float | None, tool: str) -> tuple[Message, ...]:
    """A warning if the mean of the scores is not the value that the tool reports; none if the tool reports no value."""
    values = list(scores)
    if reported is None or not values:
        return ()
    mean = math.fsum(values) / len(values)
    if math.isclose(mean, reported, rel_tol=1e-6, abs_tol=1e-9):
        return ()
    return (TOOL_VALUE_DIFFERS(metric=metric, value=mean, reported=reported, tool=tool),)
