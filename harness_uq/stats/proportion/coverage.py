"""Exact coverage of intervals for one proportion: sums over the n + 1 possible numbers of successes."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.proportion.binomial import Ends, binomial_interval

_ROUNDING = 1e-12
_BESIDE = 1e-9  # how far from a jump of the coverage it is evaluated


def success_chances(theta: ArrayLike, n: int) -> FloatArray:
    """P(k of n successes), k = 0..n on the last axis, for each theta in [0, 1].

    >>> success_chances(0.5, 2).tolist()
    [0.25, 0.5, 0.25]
    """
    theta, k = np.asarray(theta, float)[..., None], np.arange(n + 1.0)
    log_choose = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(special.xlogy(k, theta) + special.xlog1py(n - k, -theta) + log_choose))


def coverage_at(theta: ArrayLike, ends: Ends) -> FloatArray:
    """Chance that the interval (low_k, high_k) of k successes in n, k = 0..n, holds a true theta in [0, 1].

    Wald's interval for n = 1 is a point at 0 or 1 and never holds a theta between:

    >>> float(coverage_at(0.5, (np.array([0.0, 1.0]), np.array([0.0, 1.0]))))
    0.0
    """
    low, high = ends
    theta = np.asarray(theta, float)
    held = (low - _ROUNDING <= theta[..., None]) & (theta[..., None] <= high + _ROUNDING)
    return np.asarray((success_chances(theta, len(low) - 1) * held).sum(-1))


@lru_cache(maxsize=128)
def lowest_hdi_coverage(n: int, level: float) -> tuple[float, ...]:
    """Lowest coverage of the highest-density interval at any theta that the interval of k successes in n holds.

    Between two interval ends the coverage is the chance of a run of counts, which has one maximum in theta: the lowest
    values lie beside the ends.

    Parameters
    ----------
    n : questions, >= 1; all n + 1 intervals are computed
    level : float in (0, 1)

    Returns
    -------
    n + 1 numbers in (0, 1), for k = 0..n

    One question at level 1/2: a success has the interval [1/sqrt(2), 1], and at its lower end only a success, of
    probability 1/sqrt(2), holds theta.

    >>> [round(lowest, 3) for lowest in lowest_hdi_coverage(1, 0.5)]
    [0.707, 0.707]
    """
    low, high = binomial_interval(np.arange(n + 1), n, level, "hdi")
    jumps = np.concatenate([low, high])
    thetas = np.concatenate([jumps - _BESIDE, jumps + _BESIDE])
    thetas = thetas[(thetas > 0) & (thetas < 1)]
    inside = (low[:, None] <= thetas) & (thetas <= high[:, None])
    return tuple(np.where(inside, coverage_at(thetas, (low, high)), 1.0).min(axis=-1).tolist())
