"""Arrange trials, which files list in any order, in arrays of questions × trials."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import TrialEndings, check_cells, ending_code


@dataclass(slots=True)
class TrialGrid:
    """Rows and columns of trials: a row for each question, and a column for each trial of a question.

    Attributes
    ----------
    row_of : row of each question, in the order in which the questions were added
    rows, columns : place of each trial, in the order in which the trials were added
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

        Unknown values, and trials that a question does not have, are NaN.

        Raises
        ------
        LogError : if the array would be too large
        """
        n_questions, n_trials = len(self._n_trials), max(self._n_trials, default=0)
        check_cells(n_questions, n_trials)
        matrix = np.full((n_questions, n_trials), np.nan)
        matrix[self.rows, self.columns] = np.array([np.nan if value is None else value for value in values], np.float64)
        return matrix

    def endings(self, endings: Iterable[str]) -> TrialEndings:
        """How all trials ended, in the order in which they were added; unknown for texts that are no ending.

        Raises
        ------
        LogError : if the array would be too large
        """
        return trial_endings(self.matrix(ending_code(ending) for ending in endings))


def trial_endings(codes: NDArray[np.float64]) -> TrialEndings:
    """Endings from their codes as (n_questions, n_trials), NaN where unknown."""
    return TrialEndings(np.nan_to_num(codes, nan=-1).astype(np.int64))


def known_amounts(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Amounts such as costs, NaN if negative or infinite; None if none is known."""
    valid = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    return None if np.isnan(valid).all() else valid
