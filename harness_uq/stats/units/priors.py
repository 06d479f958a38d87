"""Masses of the prior atoms of each use of Dirichlet weights on units: the one table of these tuned constants."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray


@dataclass(frozen=True, slots=True)
class UnitPrior:
    """Prior atoms, which are units with all scores at one of several points.

    The `points` are 0 and 1 for the bounds of a score, -1, 0 and 1 for differences in units of its range. `shares` are
    the masses of the atoms relative to `mass`, which is `graded` for most data, and `extreme` if every unit is at one
    of the points, such as right-or-wrong answers.
    """

    points: tuple[float, ...]
    shares: tuple[float, ...]
    graded: float
    extreme: float

    def mass(self, is_extreme: bool) -> float:
        """Factor of the masses; `is_extreme` says whether every unit is at one of the points."""
        return self.extreme if is_extreme else self.graded

    def atoms(self, is_extreme: bool) -> tuple[FloatArray, FloatArray]:
        """Points and masses of the atoms; arguments are those of `mass`."""
        return np.array(self.points), self.mass(is_extreme) * np.array(self.shares)


PRIORS: Mapping[str, UnitPrior] = MappingProxyType(
    {
        # docs/decisions/040 and docs/calibration.md: 3/4 is the smallest mass with coverage of at least 0.90 everywhere
        "mean": UnitPrior((0.0, 1.0), (1.0, 1.0), 1.0, 1.0),
        "mean, clustered": UnitPrior((0.0, 1.0), (1.0, 1.0), 0.75, 1.0),
        # the difference of two systems with atoms of 1/4 or 1 at both bounds
        "pair": UnitPrior((-1.0, 0.0, 1.0), (0.5, 1.0, 0.5), 0.25, 1.0),
        "joint draws": UnitPrior((0.0, 1.0), (0.5, 0.5), 0.5, 2.0),
        # atoms at pairs of a grade and a label, each of these at one of the points
        "corrected mean": UnitPrior((0.0, 1.0), (0.5, 0.5), 1.5, 2.0),
        "corrected difference": UnitPrior((-1.0, 0.0, 1.0), (0.25, 0.5, 0.25), 0.5, 2.0),
    }
)
