"""Intervals that remain valid if an evaluation may end after any round."""

from functools import lru_cache

import numpy as np
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_level

_NODES = 60
_NODES_PER_STEP = 12
_LARGEST_QUANTILE = 9.0


@lru_cache(maxsize=64)
def simultaneous_level(information: tuple[float, ...], level: float) -> float:
    """Level of each of several intervals during an evaluation, such that all of them hold together at `level`.

    The estimates after each round are normal with independent increments. Intervals of c standard errors then contain
    the true value at all rounds with the probability that Brownian motion B(t) stays within c sqrt(t) at the times t
    of the rounds: Pocock's boundary.

    `information` is the inverse variance after each round, increasing and on any scale. The result is at least `level`.
    Raises DataError if the information does not increase, or the level is not between 0 and 1. Sources: Pocock (1977),
    Biometrika 64, 191-199; Armitage, McPherson and Rowe (1969), J. R. Stat. Soc. A 132, 235-244, for the recursive
    integration.

    Five looks need 2.413 instead of 1.960 standard errors (Pocock 1977, table 1):

    >>> from scipy.stats import norm
    >>> float(norm.ppf(0.5 + simultaneous_level((1, 2, 3, 4, 5), 0.95) / 2).round(3))
    2.413
    """
    times = np.array(information, float)
    if not len(times) or (np.diff(times, prepend=0.0) <= 0).any():
        raise DataError(f"information must be positive and increase; got {list(information)}")
    check_level(level)
    times = times / times[-1]
    smallest = float(special.ndtri(0.5 + level / 2.0))
    if len(times) == 1:
        return level
    from scipy.optimize import brentq  # slow to import

    quantile = brentq(lambda c: _probability_within(times, c) - level, smallest, _LARGEST_QUANTILE, xtol=1e-7)
    return float(2.0 * special.ndtr(quantile) - 1.0)


def _probability_within(times: FloatArray, quantile: float) -> float:
    """Probability that |B(t)| <= quantile sqrt(t) at all times, by Gauss-Legendre integration from time to time."""
    position, mass = np.zeros(1), np.ones(1)
    for step, time in zip(np.diff(times, prepend=0.0), times, strict=True):
        limit = quantile * np.sqrt(time)
        node, weight = np.polynomial.legendre.leggauss(_NODES + int(_NODES_PER_STEP * limit / np.sqrt(step)))
        node, weight = limit * node, limit * weight
        density = np.exp(-0.5 * (node[:, None] - position) ** 2 / step) / np.sqrt(2.0 * np.pi * step)
        position, mass = node, weight * (density @ mass)
    return float(mass.sum())
