"""Confidence intervals of a score that is known only up to a range, because some trials have no score."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.posterior import PosteriorLike
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray


def imbens_manski_level(width: float, std_error: float, level: float = 0.95) -> float:
    """Level of the two-sided intervals whose outer limits cover a partially identified parameter.

    The parameter lies between a lower and an upper bound, which are both estimated. The interval from the lower limit
    of the lower bound's interval to the upper limit of the upper bound's interval contains the parameter with
    probability `level`, wherever it lies, if both intervals have the level that this function returns. It is `level`
    for a width of 0 and decreases to ``2 * level - 1`` for a width that is large compared with the standard error,
    because the parameter then cannot be close to both bounds.

    `width` is the estimated upper bound minus the estimated lower one, and `std_error` the larger of their standard
    errors. The level is ``2 * Phi(c) - 1`` with ``Phi(c + width / std_error) - Phi(-c) = level``, in
    [max(2 * level - 1, 0), level]. Source: Imbens and Manski (2004), "Confidence intervals for partially identified
    parameters", Econometrica 72, 1845-1857, equations 6 and 7.

    >>> round(imbens_manski_level(0.0, 0.02), 4), round(imbens_manski_level(0.3, 0.02), 4)
    (0.95, 0.9)
    """
    lowest, highest = float(special.ndtri(max(level, 0.5))), float(special.ndtri((1 + level) / 2))
    ratio = width / std_error if std_error > 0 else (math.inf if width > 0 else 0.0)
    if not math.isfinite(ratio):
        return 2 * float(special.ndtr(lowest)) - 1

    def covered(c: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr(c + ratio) - special.ndtr(-c))

    critical = invert_increasing(covered, level, low=lowest, high=highest + 1, guess=highest, scale=highest - lowest)
    return 2 * float(special.ndtr(critical)) - 1


@dataclass(frozen=True, slots=True)
class OuterPosterior:
    """Outer limits of the posteriors of the lowest and the highest value that a parameter can have.

    Every interval contains the intervals of both at the same level.
    """

    low: PosteriorLike
    high: PosteriorLike

    @property
    def mean(self) -> float:
        """Middle of the range of values."""
        return (self.low.mean + self.high.mean) / 2

    @property
    def sd(self) -> float:
        """The larger of the standard deviations."""
        return max(self.low.sd, self.high.sd)

    def interval(self, level: float = 0.95, kind: Literal["quantile", "hdi"] = "quantile") -> tuple[float, float]:
        """Lower limit of the lowest value and upper limit of the highest."""
        return self.low.interval(level, kind)[0], self.high.interval(level, kind)[1]

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Distribution function of the lowest value below 0.5, that of the highest above, and 0.5 between them."""
        below, above = np.asarray(self.low.cdf(x), float), np.asarray(self.high.cdf(x), float)
        return np.asarray(np.where(below < 0.5, below, np.maximum(above, 0.5)))

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Quantile of the lowest value for `p` below 0.5, of the highest above, and the middle at 0.5."""
        p = np.asarray(p, float)
        ends = np.where(p < 0.5, self.low.quantile(p), self.high.quantile(p))
        return np.asarray(np.where(p == 0.5, self.mean, ends))


@dataclass(frozen=True, slots=True)
class IdentifiedPosterior(OuterPosterior):
    """Confidence distribution of a parameter between a lower and an upper bound, of which the posteriors are known.

    Its intervals are narrower than those of `OuterPosterior`, because the parameter cannot be close to both bounds.
    """

    @property
    def width(self) -> float:
        """Distance of the means of the two bounds."""
        return max(self.high.mean - self.low.mean, 0.0)

    def interval(self, level: float = 0.95, kind: Literal["quantile", "hdi"] = "quantile") -> tuple[float, float]:
        """Interval that contains the parameter with probability `level`, see `imbens_manski_level`."""
        outer = imbens_manski_level(self.width, self.sd, level)
        return self.low.interval(outer, kind)[0], self.high.interval(outer, kind)[1]

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Half of the p-value of `x`, or 1 minus it above the range; 0.5 between the medians of the bounds.

        The p-value is 1 minus the level of the interval that ends at `x`.
        """
        below, above = np.asarray(self.low.cdf(x), float), 1 - np.asarray(self.high.cdf(x), float)
        tail = np.minimum(np.minimum(below, above), 0.5)
        half = np.minimum(self._p_value(tail) / 2, 0.5)
        return np.asarray(np.where(below <= above, half, 1 - half))

    def _p_value(self, tail: FloatArray) -> FloatArray:
        critical = -special.ndtri(tail)
        ratio = self.width / self.sd if self.sd > 0 else math.inf
        return np.where(tail < 0.5, special.ndtr(-critical - ratio) + special.ndtr(-critical), 1.0)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Value at which `cdf` reaches `p`."""
        return np.asarray(np.vectorize(self._quantile, otypes=[float])(p))

    def _quantile(self, p: float) -> float:
        if p == 0.5:
            return self.mean
        low, high = self.interval(abs(1 - 2 * p))
        return low if p < 0.5 else high
