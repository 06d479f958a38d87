"""Rare scores at the far end of the range that a sample of this size would probably not contain."""

from dataclasses import dataclass

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.units.priors import UnitScores

_PROBABLY_MISSED = 0.5  # probability with which a sample contains no unit of a share of `RareLoss.share`
_SEEN = 0.5  # share of the range beyond the mean that an observation must reach to show that there are such scores
_MATTERS = 0.25  # shift of the mean, relative to half of the interval, that is worth a message


@dataclass(frozen=True, slots=True)
class RareLoss:
    """Scores at an end of the range that the sample does not suggest, and that it would probably not contain.

    `end` is the value of these scores, `mean` that of the sample, and `largest` the largest distance from the mean in
    this direction among `n_units` independent units.
    """

    n_units: int
    mean: float
    largest: float
    end: float

    @property
    def share(self) -> float:
        """Share u = 1 - (1/2)^(1/n) of the units of which half of all samples contain none; about 0.69 / n."""
        return float(1.0 - _PROBABLY_MISSED ** (1.0 / self.n_units))

    @property
    def shift(self) -> float:
        """Distance by which such a share moves the mean."""
        return self.share * abs(self.end - self.mean)

    def scaled(self, width: float, low: float = 0.0) -> "RareLoss":
        """The same on a scale with this range, of which `low` is the value 0."""
        return RareLoss(self.n_units, low + width * self.mean, width * self.largest, low + width * self.end)

    def matters(self, half_width: float) -> bool:
        """Whether the shift exceeds a quarter of half of the width of an interval."""
        return self.shift > _MATTERS * half_width


def rare_loss(units: UnitScores, points: FloatArray, *, low: float, high: float) -> RareLoss | None:
    """The rare scores with the largest effect on the mean; None if the sample or the prior contains scores like them.

    The `points` of the prior and the scores are in units of the range, in which its ends are `low` and `high`. An end
    is seen if a unit, or an atom of the prior, is at least half way between it and the mean.

    >>> units = UnitScores.of(np.array([0.78, 0.8, 0.82]), np.ones(3), 3.0)
    >>> found = rare_loss(units, np.array([0.75, 0.85]), low=0.0, high=1.0)
    >>> found.end, round(found.largest, 9), round(found.share, 4)
    (0.0, 0.02, 0.2063)
    """
    mean, n = float(units.centre), units.means.shape[-1]
    losses = []
    for end, sign in ((low, -1.0), (high, 1.0)):
        reach = sign * (np.append(units.means, points) - mean)
        if reach.max() < _SEEN * abs(end - mean):
            losses.append(RareLoss(n, mean, max(0.0, float((sign * (units.means - mean)).max())), end))
    return max(losses, key=lambda loss: loss.shift, default=None)
