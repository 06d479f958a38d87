"""Wealth of a gambler who bets, unit by unit, that a mean is higher than a hypothetical value."""

from dataclasses import dataclass, replace
from math import comb
from typing import Final

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray

_BETS: Final = [(2 ** (k / 2 - 1.5), comb(6, k) / 64) for k in range(7)]
_LARGEST_STAKE: Final = 0.9
_ROUNDING: Final = 1e-9
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Sampled units (questions or whole clusters) in the order of sampling.

    `totals` (..., n_units) are at most the numbers of questions `sizes` (n_units,). `typical` and `largest` are the
    mean and the largest size of all existing units, known in advance, and `whole` the sum of their sizes, infinite if
    units are drawn from a population. `horizon` (n_units,) is the number of units for which the bet on each unit is
    optimized.
    """

    totals: FloatArray
    sizes: FloatArray
    typical: float
    largest: float
    whole: float
    horizon: FloatArray

    def mirrored(self) -> "Units":
        """Units with right and wrong exchanged, so that bets on a lower mean become bets on a higher one."""
        return replace(self, totals=self.sizes - self.totals)

    def first(self, n: int) -> "Units":
        """The first n units."""
        return replace(self, totals=self.totals[..., :n], sizes=self.sizes[:n], horizon=self.horizon[:n])


def dispersion(units: Units) -> FloatArray:
    """Variance of the units before each unit, relative to that of independent binary answers; shape (..., n_units).

    It is the ratio of squared deviations to those expected for independent binary answers with that mean, which have a
    ratio of about 1. Both start with one prior unit whose questions are all right or all wrong with probability 1/2.
    This keeps the ratio positive if many right answers precede the first wrong one.
    """
    total, size, square, product, squared_size = (
        np.cumsum(values, axis=-1) - values
        for values in np.broadcast_arrays(
            units.totals, units.sizes, units.totals**2, units.totals * units.sizes, units.sizes**2
        )
    )
    mean = (total + units.typical / 2) / (size + units.typical)
    binomial = mean * (1 - mean) * np.arange(units.sizes.size)
    deviations = square - 2 * mean * product + mean**2 * squared_size
    return np.asarray((deviations + units.typical**2 / 4) / (binomial + 1 / 4))


def log_wealth(units: Units, spread: FloatArray, mean: float, error: float) -> FloatArray:
    """Log wealth after each unit, from initial wealth 1, of bets that the mean is greater than `mean`.

    `spread` is the `dispersion` of the units, `mean` the hypothetical mean over questions in (0, 1), and `error` the
    error probability; the bets are chosen to reach 1 / error as early as possible. Under the hypothesis the wealth is a
    supermartingale, so that it ever reaches K with probability at most 1/K. It decreases in `mean`, and is infinite if
    the observed scores contradict the hypothesis.

    A unit with total T and size N multiplies a share of the wealth by 1 + b (T - m N). Without replacement, m is the
    hypothetical mean of the remaining units. The bet b is sqrt(2 log(1 / error) / (s m (1 - m) h)) with s the spread
    and h the horizon, times 2^(k/2) for shares of the wealth that are binomial in k = -3, ..., 3. It is at most 0.9 / m
    per question of the largest unit. The published method uses the variance of the observed scores, this one the
    variance under the hypothesis. With E[T - m N] = 0 the hypothesis is about the mean over questions, expected total
    over expected size. Source: Waudby-Smith and Ramdas (2024), sections 4.4 and 5.
    """
    remaining = _mean_of_the_rest(units, mean)
    m = np.clip(remaining, 0.0, 1.0)
    variance = spread * np.maximum(m * (1 - m), _SMALLEST)
    bet = np.sqrt(2 * np.log(1 / error) / (variance * units.horizon))
    with np.errstate(divide="ignore"):
        largest_bet = _LARGEST_STAKE / (units.largest * m)
    gain = units.totals - m * units.sizes
    shares = [
        np.log(share) + np.cumsum(np.log1p(np.minimum(size * bet, largest_bet) * gain), axis=-1)
        for size, share in _BETS
    ]
    is_rejected = np.logical_or.accumulate(remaining < -_ROUNDING, axis=-1)
    return np.asarray(np.where(is_rejected, np.inf, np.logaddexp.reduce(shares)))


def _mean_of_the_rest(units: Units, mean: float) -> FloatArray:
    """Hypothetical mean over the questions that remain before each unit, shape (..., n_units)."""
    if np.isinf(units.whole):
        return np.full(units.totals.shape, float(mean))
    seen_total = np.cumsum(units.totals, axis=-1) - units.totals
    seen = np.cumsum(units.sizes) - units.sizes
    return np.asarray((mean * units.whole - seen_total) / (units.whole - seen))
