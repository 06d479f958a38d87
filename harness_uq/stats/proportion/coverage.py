"""Exact coverage of intervals for one proportion, by sums over the n + 1 possible numbers of successes."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.proportion.binomial import Ends, binomial_interval

_ROUNDING = 1e-12
_OFFSET = 1e-9  # distance from a discontinuity at which the coverage is evaluated


def success_probabilities(theta: ArrayLike, n: int) -> FloatArray:
    """Binomial probabilities of k successes in n trials, k = 0..n on the last axis, for each theta in [0, 1].

    >>> success_probabilities(0.5, 2).tolist()
    [0.25, 0.5, 0.25]
    """
    theta, k = np.asarray(theta, float)[..., None], np.arange(n + 1.0)
    log_choose = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(special.xlogy(k, theta) + special.xlog1py(n - k, -theta) + log_choose))


def coverage_at(theta: ArrayLike, ends: Ends) -> FloatArray:
    """Probability that the interval (low_k, high_k) for k successes in n trials contains theta.

    `theta` may have any shape, and `ends` are the limits (n + 1,) for k = 0, ..., n.

    Wald's interval for n = 1 is a point at 0 or 1 and never contains a value in between:

    >>> float(coverage_at(0.5, (np.array([0.0, 1.0]), np.array([0.0, 1.0]))))
    0.0
    """
    low, high = ends
    theta = np.asarray(theta, float)
    covered = (low - _ROUNDING <= theta[..., None]) & (theta[..., None] <= high + _ROUNDING)
    return np.asarray((success_probabilities(theta, len(low) - 1) * covered).sum(-1))


@lru_cache(maxsize=128)
def lowest_hdi_coverage(n: int, level: float) -> tuple[float, ...]:
    """Lowest coverage of the highest-density interval over the values of theta inside the interval for k successes.

    Between two interval limits the coverage is the probability of a range of counts, which has a single maximum in
    theta. The lowest values are therefore next to the limits. The result has the values for k = 0, ..., n.

    With one question and level 1/2, the interval for a success is [1/sqrt(2), 1]. At its lower limit theta is covered
    only by a success, which has probability 1/sqrt(2):

    >>> [round(lowest, 3) for lowest in lowest_hdi_coverage(1, 0.5)]
    [0.707, 0.707]
    """
    low, high = binomial_interval(np.arange(n + 1), n, level, "hdi")
    jumps = np.concatenate([low, high])
    thetas = np.concatenate([jumps - _OFFSET, jumps + _OFFSET])
    thetas = thetas[(thetas > 0) & (thetas < 1)]
    inside = (low[:, None] <= thetas) & (thetas <= high[:, None])
    return tuple(np.where(inside, coverage_at(thetas, (low, high)), 1.0).min(axis=-1).tolist())
