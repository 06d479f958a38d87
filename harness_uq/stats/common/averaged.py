"""Weighted average of posteriors, quantile by quantile: the passage from one model to another without a step."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.roots import invert_increasing

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_P = np.clip(special.ndtr(_NODES), 1e-15, 1.0 - 1e-15)


class AveragedPosterior(Posterior):
    """Distribution whose quantiles are the weighted averages of those of others.

    Parameters
    ----------
    parts : the others, and their weights >= 0, not all 0; parts of weight 0 are left out

    Its mean is the average of the means, and an end of an equal-tailed interval the average of the ends.

    Ratcliff (1979), Psychological Bulletin 86:446 (Vincent averaging).

    >>> from harness_uq.stats.common.posterior import BetaPosterior
    >>> halfway = AveragedPosterior([(BetaPosterior(1, 1), 1.0), (BetaPosterior(1, 1, 0, 3), 1.0)])
    >>> halfway.interval(0.5)
    (0.5, 1.5)
    """

    def __init__(self, parts: Sequence[tuple[Posterior, float]]) -> None:
        total = sum(weight for _, weight in parts)
        if not total > 0 or min(weight for _, weight in parts) < 0:
            raise DataError(f"weights must be at least 0 and not all 0; got {[weight for _, weight in parts]}")
        self.parts = tuple((posterior, weight / total) for posterior, weight in parts if weight > 0)

    @property
    def mean(self) -> float:
        return sum(weight * posterior.mean for posterior, weight in self.parts)

    @property
    def sd(self) -> float:
        if len(self.parts) == 1:
            return self.parts[0][0].sd
        away = self.quantile(_P) - self.mean
        return float(np.sqrt(_WEIGHTS @ away**2 / _WEIGHTS.sum()))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(sum(weight * posterior.quantile(p) for posterior, weight in self.parts))

    def cdf(self, x: ArrayLike) -> FloatArray:
        if len(self.parts) == 1:
            return self.parts[0][0].cdf(x)
        return invert_increasing(self.quantile, x, low=0.0, high=1.0, guess=0.5, scale=0.25)
