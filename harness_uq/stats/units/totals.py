"""Scores of several systems, summed over independent units (questions, or clusters of questions)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.units.contrasts import cluster_mass

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class UnitTotals:
    """Totals of scores on [0, 1].

    `totals` (n_systems, n_units) are the sums of a system's scores on each unit, and `sizes` (n_units,) the numbers of
    questions. `mass` is the total mass of the units in the Dirichlet process; see `cluster_mass`.
    """

    totals: FloatArray
    sizes: FloatArray
    mass: float


def unit_totals(scores: ArrayLike, low: float, high: float, clusters: ArrayLike | None) -> UnitTotals:
    """Totals of scores in [low, high], rescaled to [0, 1]; arguments and errors are those of `joint_draws`."""
    totals = _unit_scores(scores, low, high)
    sizes = np.ones(totals.shape[1])
    mass = float(len(sizes))
    if clusters is not None:
        codes = np.unique(validated_codes(clusters, sizes.shape), return_inverse=True)[1]
        is_clustered = codes.max() + 1 < len(codes)
        totals, sizes = np.stack([np.bincount(codes, row) for row in totals]), np.bincount(codes).astype(float)
        mass = cluster_mass(sizes) + 1.0 if is_clustered else mass
    return UnitTotals(totals, sizes, mass)


def _unit_scores(scores: ArrayLike, low: float, high: float) -> FloatArray:
    y = check_finite(scores, "scores", 2)
    if not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    check_range(low, high)
    slack = ROUNDING * max(abs(low), abs(high))
    if (y < low - slack).any() or (y > high + slack).any():
        raise DataError(f"scores must lie in [{low:g}, {high:g}]; got {y.min():g} to {y.max():g}")
    # means over trials are rounded: three scores of 0.1 have the mean 0.10000000000000002
    unit = np.clip((y - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.where(np.abs(unit - np.rint(unit)) <= ROUNDING, np.rint(unit), unit))
