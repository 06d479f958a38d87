"""Prior atoms of Dirichlet processes on units: the one table of their points and masses, and how they follow the data.

An atom is a unit (a question or a cluster) with all scores at one point. Right-or-wrong data keep the atoms at the ends
of the range, where observations are, too. For other scores, atoms at the ends would be far from all observations: the
interval of judge scores with a standard deviation of 0.02 would be six times as wide as Student's t. Therefore, the
atoms move to the data, continuously in the scores.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray

_TAIL = 0.975  # the quantile at which the prior gives the posterior the width of Student's t
_BEYOND = 1.5  # distance of the outer atoms from the mean, in units of the largest residual
_LEAVES_ENDS = 4.0  # speed at which scores between the points move the atoms
_SMALL = 0.05  # residuals, relative to the range, below which the atoms leave the points at one speed
_EQUAL = 1e-3  # scores that differ by less, relative to the range, count as equal
_PULL = 2.0  # power of the number of different scores with which the atoms leave the ends


@dataclass(frozen=True, slots=True)
class UnitPrior:
    """Prior atoms: units with all scores at one of several points.

    The ascending `points` are 0 and 1 for the bounds of a score, -1, 0 and 1 for differences in units of its range. The
    `masses` are those of the atoms, symmetric. Atoms that do not move have `graded` times these masses, unless every
    unit is at one of the points.
    """

    points: tuple[float, ...]
    masses: tuple[float, ...]
    graded: float = 1.0

    @property
    def total(self) -> float:
        """Total mass of the atoms."""
        return sum(self.masses)

    def positions(self, units: "UnitScores", far: FloatArray | float = 0.0) -> FloatArray:
        """Points to which the atoms move, (..., n_points).

        With the mean m, residuals e_j of J units and their mean square S, the outer atoms are at m - w and m + w with

            w = max(sqrt(S ((t / z)^2 (M + P) (M + P + 1) / df - M) / (2 q)), 1.5 max |e|).

        M is the mass of the units, P that of the atoms, q that of an outer one, and t and z the 97.5 % quantiles of
        Student's t with df = M - 1 degrees of freedom and of the normal distribution. With the first value, the
        variance of the mean is that of Student's t. The atoms move back to the ends by the share (1 + k)^-2, with
        the effective number k = (sum |d|)^2 / sum d^2 of units that differ from the others, and at least by `far`. Then
        all atoms move back to their points by the share of `stay`.
        """
        points, stay = np.array(self.points), self.stay(units)
        nearest = points[np.abs(units.centre[..., None] - points).argmin(axis=-1)]
        gaps = np.abs(units.means - (nearest + (1.0 - stay) * (units.centre - nearest))[..., None])
        k = gaps.sum(axis=-1) ** 2 / (_squares(gaps) + _EQUAL**2 * gaps.shape[-1])
        variance = student_factor(units.mass, self.total, max(units.mass - 1.0, 1.0)) / (2.0 * self.masses[-1])
        w = np.maximum(
            np.sqrt(variance * _squares(units.residuals) / units.residuals.shape[-1]), _BEYOND * units.largest
        )
        ends = np.clip(units.centre[..., None] + w[..., None] * np.array([-1.0, 1.0]), points[0], points[-1])
        ends += np.maximum((1.0 + k) ** -_PULL, far)[..., None] * (points[[0, -1]] - ends)
        inner = np.broadcast_to(units.centre[..., None], (*units.centre.shape, len(points) - 2))
        moved = np.concatenate([ends[..., :1], inner, ends[..., 1:]], axis=-1)
        return np.asarray(moved + stay[..., None] * (points - moved))

    def stay(self, units: "UnitScores") -> FloatArray:
        """Share exp(-4 sum a / max(max |e|, 1/20)) by which the atoms stay at their points, (...,).

        a_j is the distance of unit j from the nearest point, so that the share is 1 for right-or-wrong scores.
        """
        distance = np.abs(units.means - self.points[0])
        for point in self.points[1:]:
            np.minimum(distance, np.abs(units.means - point), out=distance)
        return np.asarray(np.exp(-_LEAVES_ENDS * distance.sum(axis=-1) / np.maximum(units.largest, _SMALL)))


@dataclass(frozen=True, slots=True, eq=False)
class UnitScores:
    """Scores of J units, for one row or many: differences or scores in units of the range.

    `means` (..., J) are the unweighted means of the units, `residuals` (..., J) their totals minus `centre` times their
    sizes, over the mean size, and `centre` (...,) the ratio of totals to sizes. `mass` is the total mass of the units,
    one more than the degrees of freedom of the mean.
    """

    means: FloatArray
    residuals: FloatArray
    centre: FloatArray
    mass: float

    @property
    def largest(self) -> FloatArray:
        """Largest absolute residual, (...,)."""
        return np.asarray(np.maximum(self.residuals.max(axis=-1), -self.residuals.min(axis=-1)))

    @classmethod
    def of(cls, totals: FloatArray, sizes: FloatArray, mass: float, means: FloatArray | None = None) -> "UnitScores":
        """Units with these totals (..., J) and sizes (J,); their means are the ratios unless they are given."""
        centre = np.asarray(totals.sum(axis=-1) / sizes.sum())
        residuals = (totals - centre[..., None] * sizes) / sizes.mean()
        return cls(totals / sizes if means is None else means, residuals, centre, mass)

    def in_units_of(self, width: float) -> "UnitScores":
        """The scores divided by the width of their range."""
        return UnitScores(self.means / width, self.residuals / width, self.centre / width, self.mass)


def _squares(rows: FloatArray) -> FloatArray:
    """Sums of squares of the last axis."""
    return np.asarray(np.einsum("...j,...j->...", rows, rows))


def student_factor(mass: float, prior_mass: float, df: float) -> float:
    """Sum of m_j x_j^2 over prior atoms that gives a Dirichlet mean the variance of Student's t.

    The atoms are at distances x_j from the mean, in units of the standard deviation of the units. The variance of the
    mean is (mass + sum m x^2) / (A (A + 1)) with A = mass + prior_mass, and becomes (t / z)^2 / df; see `UnitPrior`.
    """
    stretch, total = special.stdtrit(df, _TAIL) / special.ndtri(_TAIL), mass + prior_mass
    return float(stretch**2 * total * (total + 1.0) / df - mass)


PRIORS: Mapping[str, UnitPrior] = MappingProxyType(
    {
        "mean": UnitPrior((0.0, 1.0), (1.0, 1.0), 0.75),
        # the difference of two systems that have atoms of mass 1 at both bounds
        "pair": UnitPrior((-1.0, 0.0, 1.0), (0.5, 1.0, 0.5), 0.25),
        # atoms at pairs of a grade and a label, each of these at one of the points
        "corrected mean": UnitPrior((0.0, 1.0), (1.0, 1.0), 0.75),
        "corrected difference": UnitPrior((-1.0, 0.0, 1.0), (0.5, 1.0, 0.5), 0.25),
    }
)
