"""Scores of several systems, summed over independent units (questions, or clusters of questions)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, validated_codes
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.units.contrasts import cluster_mass

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class UnitTotals:
    """Totals of scores on [0, 1].

    `totals` and `sizes` (n_systems, n_units) are the sum of a system's scores on each unit, and the number of questions
    that it answered there. `mass` is that of one unit in the Dirichlet process; 1 for a question, see `cluster_mass`
    for a cluster.
    """

    totals: FloatArray
    sizes: FloatArray
    mass: float

    @property
    def is_extreme(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Systems with all scores of each unit at one bound, shape (n_systems,)."""
        return np.asarray((near(self.totals, 0.0) | near(self.totals, self.sizes)).all(axis=1))


def unit_totals(scores: ArrayLike, low: float, high: float, clusters: ArrayLike | None) -> UnitTotals:
    """Totals of scores in [low, high], rescaled to [0, 1]; arguments and errors are those of `joint_draws`."""
    y = _unit_scores(scores, low, high)
    present = ~np.isnan(y)
    totals, sizes, mass = np.where(present, y, 0.0), present.astype(float), 1.0
    if clusters is not None:
        codes = validated_codes(clusters, (y.shape[1],))
        n_clusters = int(codes.max()) + 1
        if n_clusters < y.shape[1]:
            starts = np.concatenate([[0], np.flatnonzero(np.diff(np.sort(codes))) + 1])
            order = np.argsort(codes, kind="stable")
            totals, sizes = (np.add.reduceat(array[:, order], starts, axis=1) for array in (totals, sizes))
            mass = cluster_mass(np.asarray(np.bincount(codes), float)) / n_clusters
    return UnitTotals(totals, sizes, mass)


def near(x: FloatArray, target: FloatArray | float) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Whether values of order 1 or more are equal up to rounding."""
    return np.asarray(np.abs(x - target) <= ROUNDING * np.maximum(1.0, np.abs(target)))


def _unit_scores(scores: ArrayLike, low: float, high: float) -> FloatArray:
    y = as_floats(scores, "scores")
    if y.ndim != 2 or not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    check_range(low, high)
    slack = ROUNDING * max(abs(low), abs(high))
    if (y < low - slack).any() or (y > high + slack).any():
        raise DataError(f"scores must lie in [{low:g}, {high:g}]; got {np.nanmin(y):g} to {np.nanmax(y):g}")
    empty = np.isnan(y).all(axis=1)
    if empty.any():
        raise DataError(f"system {int(np.flatnonzero(empty)[0])} has no score on any question")
    # means over trials are rounded: three scores of 0.1 have the mean 0.10000000000000002
    return np.clip((y - low) / (high - low), 0.0, 1.0)
