"""All pairs of many systems: P(A > B), each with the posterior of that pair alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite
from harness_uq.stats.common.dirichlet_mean import prob_linear_form_positive
from harness_uq.stats.common.scalars import check_range, check_whole
from harness_uq.stats.pairs.ranks import EXTREME_MASS, GRADED_MASS
from harness_uq.stats.pairs.unit_totals import ROUNDING, UnitTotals, near, unit_totals

MOST_CELLS = 1_000_000


def prob_better(
    scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None, most_cells: int = MOST_CELLS
) -> FloatArray:
    """P(row > column) of all pairs of systems that answered the same questions, without draws.

    Each is that of `paired_difference_posterior`, or with clusters of `paired_clustered_difference_posterior`: what two
    systems say of each other does not depend on the others. Of pairs x different differences only so many are
    computed; beyond that a pair whose differences are not all -1, 0 or 1 ranges holds NaN, and `joint_draws` with a
    prior mass of 1/2 has its posterior.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions), in [low, high]; means over trials
    low, high : float; bounds of a score
    clusters : array_like, shape (n_questions,) of labels, or None
    most_cells : int; pairs times different differences

    Returns
    -------
    ndarray, shape (n_systems, n_systems); 1/2 on the diagonal

    Raises
    ------
    DataError : if a score is missing or out of bounds

    >>> prob_better([[1, 1, 1, 0], [0, 1, 0, 0]], 0, 1).round(4).tolist()  # Beta(5/2, 1/2) above 1/2
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
    """Whether system i and each later one differ on every unit by -1, 0 or 1 on every question of it."""
    gap = np.abs(units.totals[i] - units.totals[i + 1 :])
    return np.asarray((near(gap, 0.0) | near(gap, units.sizes[0])).all(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """The units' differences of a pair, equal ones counted where scores take few values.

    Attributes
    ----------
    totals : (n_systems, n_units)
    steps : (n_steps,); the differences that occur; None where there are more than units
    step_of : (n_values, n_values); index of the difference of two totals
    value_of : (n_systems, n_units); index of each total
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
        """Differences of system i from others, and how often each occurs; (n_others, n_atoms) both.

        A difference that does not occur stands as 0, which no sign depends on.
        """
        if self.steps is None or self.step_of is None or self.value_of is None:
            gaps = self.totals[i] - self.totals[others]
            return np.where(np.abs(gaps) <= ROUNDING, 0.0, gaps), np.ones(gaps.shape)
        codes = self.step_of[self.value_of[i], self.value_of[others]]
        codes += len(self.steps) * np.arange(len(others))[:, None]
        counts = np.bincount(codes.ravel(), minlength=len(others) * len(self.steps)).reshape(len(others), -1)
        return np.where(counts > 0, self.steps, 0.0), np.maximum(counts, 1.0)
