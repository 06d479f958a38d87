"""What a gambler has made by betting, unit after unit, that a mean is higher than claimed."""

from dataclasses import dataclass, replace
from math import comb
from typing import Final

import numpy as np

from harness_uq.stats.common.arrays import FloatArray

_BETS: Final = [(2 ** (k / 2 - 1.5), comb(6, k) / 64) for k in range(7)]
_LARGEST_STAKE: Final = 0.9
_ROUNDING: Final = 1e-9
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is sampled, in the order in which it came: questions, or whole clusters of them.

    Attributes
    ----------
    totals : (..., n_units); 0 <= totals <= sizes
    sizes : (n_units,); questions of each
    typical, largest : mean and largest size of all units that there are, known beforehand
    whole : sum of their sizes; infinite where units are drawn from a population
    horizon : (n_units,) > 0; number of units until which the bet on each is to pay
    """

    totals: FloatArray
    sizes: FloatArray
    typical: float
    largest: float
    whole: float
    horizon: FloatArray

    def mirrored(self) -> "Units":
        """The same with right and wrong exchanged: bets on a lower mean become bets on a higher one."""
        return replace(self, totals=self.sizes - self.totals)

    def first(self, n: int) -> "Units":
        """The first n of them."""
        return replace(self, totals=self.totals[..., :n], sizes=self.sizes[:n], horizon=self.horizon[:n])


def dispersion(units: Units) -> FloatArray:
    """Variance of the units before each one over that of single answers which are right or wrong, (..., n_units).

    Squared deviations over what single answers of that mean would have. Both start from one unit of even odds whose
    questions are all right or all wrong, which keeps the ratio off 0 before the first wrong answer of many right ones.
    Independent answers that are right or wrong have about 1.
    """
    total, size, square, product, own = (
        np.cumsum(of, axis=-1) - of
        for of in np.broadcast_arrays(
            units.totals, units.sizes, units.totals**2, units.totals * units.sizes, units.sizes**2
        )
    )
    mean = (total + units.typical / 2) / (size + units.typical)
    binomial = mean * (1 - mean) * np.arange(units.sizes.size)
    deviations = square - 2 * mean * product + mean**2 * own
    return np.asarray((deviations + units.typical**2 / 4) / (binomial + 1 / 4))


def log_capital(units: Units, spread: FloatArray, mean: float, error: float) -> FloatArray:
    """Log of the capital after each unit, from 1, of bets that the mean is above `mean`.

    Parameters
    ----------
    spread : (..., n_units); `dispersion` of the units
    mean : in [0, 1]; claimed mean over questions
    error : in (0, 1); the bets are those that reach 1 / error the soonest

    Returns
    -------
    (..., n_units). Where the claim holds the game is fair at best, so that the capital ever reaches K with probability
    at most 1/K. It falls as `mean` rises. Infinite where what has been seen rules the claim out.

    Each unit, of total T and size N, multiplies a share of the capital by 1 + b (T - m N). Without replacement m is the
    mean that the claim leaves for the units to come. b is sqrt(2 log(1 / error) / (s m (1 - m) h)), s the spread and h
    the horizon, times 2^(k/2) for a share of the capital that is binomial in k = -3 … 3; it is never more than .9/m a
    question of the largest unit. Waudby-Smith and Ramdas (2024), sections 4.4 and 5; their variance is
    that of the scores seen, ours follows the claim. E[T - m N] = 0 makes the claim one about the mean over questions:
    expected total over expected size.
    """
    left = _mean_of_the_rest(units, mean)
    m = np.clip(left, 0.0, 1.0)
    variance = spread * np.maximum(m * (1 - m), _SMALLEST)
    bet = np.sqrt(2 * np.log(1 / error) / (variance * units.horizon))
    with np.errstate(divide="ignore"):
        most = _LARGEST_STAKE / (units.largest * m)
    won = units.totals - m * units.sizes
    shares = [np.log(share) + np.cumsum(np.log1p(np.minimum(size * bet, most) * won), axis=-1) for size, share in _BETS]
    ruled_out = np.logical_or.accumulate(left < -_ROUNDING, axis=-1)
    return np.asarray(np.where(ruled_out, np.inf, np.logaddexp.reduce(shares)))


def _mean_of_the_rest(units: Units, mean: float) -> FloatArray:
    """Mean over the questions not yet seen before each unit, (..., n_units)."""
    if np.isinf(units.whole):
        return np.full(units.totals.shape, float(mean))
    seen_total = np.cumsum(units.totals, axis=-1) - units.totals
    seen = np.cumsum(units.sizes) - units.sizes
    return np.asarray((mean * units.whole - seen_total) / (units.whole - seen))
