"""Partially pooled means of groups: a normal hierarchical model, integrated over the spread between groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite, check_level

_N_SPREADS = 150
_LARGEST_SPREAD = 10.0  # in units of the spread of the group means and their errors
_MOST_BISECTIONS = 40


@dataclass(frozen=True, slots=True, eq=False)
class PooledGroups:
    """Posterior of the means of groups.

    `low` and `high` are equal-tailed credible limits of the `means`. `spread` is the posterior median of the standard
    deviation between the true means of groups, whose mean is infinite with three groups, and `overall` the posterior
    mean of the mean over groups.
    """

    means: FloatArray
    sds: FloatArray
    low: FloatArray
    high: FloatArray
    spread: float
    overall: float


def pool_groups(means: ArrayLike, std_errors: ArrayLike, *, level: float = 0.95) -> PooledGroups:
    """Shrink the means of groups towards each other, by as much as the data show that the groups are alike.

    The model is y_j ~ N(theta_j, s_j^2) and theta_j ~ N(mu, tau^2) with flat priors for mu and tau. Given tau, the
    posterior of theta_j is normal; the mixture over tau is integrated on a grid. `means` (n_groups,) are of at least
    three groups, with positive standard errors. Raises DataError if there are fewer than three groups, a number is not
    finite, or a standard error is not positive. Source: Gelman et al. (2013), Bayesian Data Analysis, 3rd edition,
    equations 5.17 to 5.21. Morris (1983), JASA 78, 47-55, for the coverage of such intervals on average over groups.

    >>> found = pool_groups([0.9, 0.5, 0.52, 0.48], [0.1, 0.05, 0.05, 0.05])
    >>> bool(0.5 < found.means[0] < 0.9)
    True
    """
    level = check_level(level)
    y, s = check_finite(means, "means", 1), check_finite(std_errors, "std_errors", 1)
    if y.shape != s.shape or len(y) < 3:
        raise DataError(f"partial pooling requires at least three means with one standard error each; got {len(y)}")
    if not (s > 0).all():
        raise DataError("std_errors must be positive")
    scale = float(np.hypot(y.std(ddof=1), s.mean()))
    tau = scale * np.linspace(0.0, 1.0, _N_SPREADS + 1)[1:] ** 2 * _LARGEST_SPREAD
    total = tau[:, None] ** 2 + s**2  # variance of each observed mean given tau
    precision = (1 / total).sum(axis=1)
    mu = (y / total).sum(axis=1) / precision
    log_density = -0.5 * (np.log(total).sum(axis=1) + np.log(precision) + ((y - mu[:, None]) ** 2 / total).sum(axis=1))
    weight = np.exp(log_density - log_density.max()) * np.gradient(tau)
    weight /= weight.sum()
    kept = s**2 / total  # weight of the common mean
    location = kept * mu[:, None] + (1 - kept) * y
    variance = tau[:, None] ** 2 * kept + kept**2 / precision[:, None]
    centre = weight @ location
    sd = np.sqrt(weight @ (variance + location**2) - centre**2)
    tail = (1 - level) / 2
    low, high = (_quantile(p, weight, location, np.sqrt(variance), centre, sd) for p in (tail, 1 - tail))
    spread = float(np.interp(0.5, np.cumsum(weight) - weight / 2, tau))
    return PooledGroups(centre, sd, low, high, spread, float(weight @ mu))


def _quantile(
    p: float, weight: FloatArray, location: FloatArray, sd: FloatArray, centre: FloatArray, spread: FloatArray
) -> FloatArray:
    """Quantile of each mixture of normal distributions, by bisection."""
    low, high = centre - 40 * spread, centre + 40 * spread
    for _ in range(_MOST_BISECTIONS):
        middle = (low + high) / 2
        is_below = weight @ ndtr((middle - location) / sd) < p
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return (low + high) / 2
