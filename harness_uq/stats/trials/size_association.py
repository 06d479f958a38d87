"""Test of whether large clusters score differently from small ones."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.validate_arrays import check_finite, validated_codes
from harness_uq.stats.trials.diagnostics import unit_components


def size_association_test(scores: ArrayLike, clusters: ArrayLike) -> float:
    """p-value of the weighted regression of cluster means on the logarithm of cluster size.

    The weight of a cluster of n scores is n / (1 + (n - 1) ICC), with the ICC of `unit_components`. The slope divided
    by its standard error is compared with Student's t with C - 2 degrees of freedom, for C clusters. The two-sided
    p-value is 1 if all cluster means are equal. Raises DataError if a score is not finite, or scores and clusters have
    different lengths; NotEstimableError if there are fewer than three clusters, or all have the same size. Source:
    Seaman, Pavlou and Copas (2014), Statistics in Medicine 33, 5371-5387, on informative cluster size.

    >>> p_value = size_association_test([1, 1, 0, 0, 0, 0], [0, 1, 2, 2, 2, 2])
    >>> p_value < 1e-6
    True
    """
    x = check_finite(scores, "scores", 1)
    code = validated_codes(clusters, x.shape)
    sizes = np.bincount(code)
    if len(sizes) < 3 or sizes.min() == sizes.max():
        raise NotEstimableError("a regression on cluster size needs at least three clusters, not all of the same size")
    means = np.bincount(code, x) / sizes
    weights = sizes / (1 + (sizes - 1) * (unit_components(x, code).icc or 0.0))
    weights = weights / weights.sum()
    size, mean = np.log(sizes) - weights @ np.log(sizes), means - weights @ means
    spread = float(weights @ size**2)
    slope = float(weights @ (size * mean)) / spread
    residual = float(weights @ (mean - slope * size) ** 2)
    if slope == 0:
        return 1.0
    df = len(sizes) - 2
    t = slope * np.sqrt(spread * df / residual) if residual > 0 else np.inf
    return float(2 * special.stdtr(df, -abs(t)))
