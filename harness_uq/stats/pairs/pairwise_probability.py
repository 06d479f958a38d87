"""Pairwise probabilities P(A > B) of many systems, each from the posterior of that pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.validate_scalars import check_range, check_whole
from harness_uq.stats.units.contour import prob_linear_form_positive
from harness_uq.stats.units.draws import EXTREME_MASS, GRADED_MASS
from harness_uq.stats.units.totals import ROUNDING, UnitTotals, near, unit_totals

MAX_CELLS = 1_000_000


def prob_better(
    scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None, most_cells: int = MAX_CELLS
) -> FloatArray:
    """P(row > column) for all pairs of systems on the same questions, without random draws.

    Each probability is that of `paired_difference_posterior`. It does not depend on the other systems.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions)
        Scores in [low, high]; means over trials.
    low, high : float
        Bounds of a score.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels.
    most_cells : int, optional
        Limit on the number of pairs times the number of distinct differences. If it is exceeded, pairs with differences
        other than -1, 0 and 1 times the range are NaN; use `joint_draws` with a prior mass of 1/2 for these.

    Returns
    -------
    ndarray, shape (n_systems, n_systems)
        Probabilities; 1/2 on the diagonal.

    Raises
    ------
    DataError
        If a score is missing or out of bounds.

    Examples
    --------
    The discordant share has the posterior Beta(5/2, 1/2):

    >>> prob_better([[1, 1, 1, 0], [0, 1, 0, 0]], 0, 1).round(4).tolist()
    [[0.5, 0.9244], [0.0756, 0.5]]
    """
    check_range(low, high)
    check_whole(most_cells, "most_cells", 1)
    units = unit_totals(check_finite(scores, "scores", 2), low, high, clusters)
    atoms = _Atoms.of(units)
    n = len(units.totals)
    is_small = n * (n - 1) // 2 * atoms.n_atoms <= most_cells
    size = units.sizes[0].mean()
    table = np.full((n, n), 0.5)
    for i in range(n - 1):
        extreme = _is_extreme(units, i)
        chosen = np.flatnonzero(extreme | is_small)
        row = np.full(len(extreme), np.nan)
        steps, counts = atoms.of_pairs(i, i + 1 + chosen)
        prior = np.where(extreme[chosen], EXTREME_MASS, GRADED_MASS)[:, None] / 4
        row[chosen] = prob_linear_form_positive(
            np.column_stack([steps, np.full(len(chosen), -size), np.full(len(chosen), size)]),
            np.column_stack([units.mass * counts, prior, prior]),
        )
        table[i, i + 1 :], table[i + 1 :, i] = row, 1 - row
    return table


def _is_extreme(units: UnitTotals, i: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Whether system i and each later system differ by -1, 0 or 1 on every question of each unit."""
    gap = np.abs(units.totals[i] - units.totals[i + 1 :])
    return np.asarray((near(gap, 0.0) | near(gap, units.sizes[0])).all(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """Differences of a pair on the units, with frequencies if scores have few distinct values.

    Attributes
    ----------
    totals : ndarray, shape (n_systems, n_units)
        Total scores.
    steps : ndarray, shape (n_steps,), or None
        Distinct differences; None if there are more of them than units.
    step_of : ndarray, shape (n_values, n_values)
        Index of the difference of two totals.
    value_of : ndarray, shape (n_systems, n_units)
        Index of each total.
    """

    totals: FloatArray
    steps: FloatArray | None = None
    step_of: IntArray | None = None
    value_of: IntArray | None = None

    @classmethod
    def of(cls, units: UnitTotals) -> "_Atoms":
        values, index = np.unique(units.totals.round(12), return_inverse=True)
        n_units = units.totals.shape[1]
        if 2 * len(values) - 1 > n_units:
            return cls(units.totals)
        steps, step_of = np.unique((values[:, None] - values).round(11), return_inverse=True)
        if len(steps) > n_units:
            return cls(units.totals)
        return cls(units.totals, steps, step_of.reshape(len(values), len(values)), index.reshape(units.totals.shape))

    @property
    def n_atoms(self) -> int:
        return self.totals.shape[1] if self.steps is None else len(self.steps)

    def of_pairs(self, i: int, others: IntArray) -> tuple[FloatArray, FloatArray]:
        """Differences of system i from others with their frequencies, both of shape (n_others, n_atoms).

        A difference with frequency 0 is replaced by 0, which does not affect any sign.
        """
        if self.steps is None or self.step_of is None or self.value_of is None:
            gaps = self.totals[i] - self.totals[others]
            return np.where(np.abs(gaps) <= ROUNDING, 0.0, gaps), np.ones(gaps.shape)
        codes = self.step_of[self.value_of[i], self.value_of[others]]
        codes += len(self.steps) * np.arange(len(others))[:, None]
        counts = np.bincount(codes.ravel(), minlength=len(others) * len(self.steps)).reshape(len(others), -1)
        return np.where(counts > 0, self.steps, 0.0), np.maximum(counts, 1.0)
