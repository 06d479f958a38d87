"""Beta quantiles, corrected where `scipy.special.betaincinv` is inaccurate."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray

_TOLERANCE = 1e-9
_LARGE = 10.0  # scipy is accurate below it, where quantiles can also be too close to 0 for bisection
_HALVINGS = 80


def beta_quantile(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
    """Quantiles of Beta(a, b).

    `scipy.special.betaincinv` (1.17) stops early if one parameter is huge and the other is large: its median of
    Beta(1e9, 1e3) is wrong by half of the probability. Such entries are computed by bisection on the smaller of x and
    1 - x.

    The arguments broadcast together.

    >>> float(beta_quantile(2.0, 1.0, 0.25))
    0.5
    """
    shape_a, shape_b, target = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float), np.asarray(p, float))
    x: FloatArray = np.asarray(special.betaincinv(shape_a, shape_b, target), np.float64)
    is_inaccurate = np.abs(special.betainc(shape_a, shape_b, x) - target) > _TOLERANCE
    is_inaccurate &= np.minimum(shape_a, shape_b) > _LARGE
    if not is_inaccurate.any():
        return x
    corrected: FloatArray = np.array(x)
    corrected[is_inaccurate] = _bisect(shape_a[is_inaccurate], shape_b[is_inaccurate], target[is_inaccurate])
    return corrected


def _bisect(a: FloatArray, b: FloatArray, p: FloatArray) -> FloatArray:
    near_one = a > b
    small, large, target = np.where(near_one, b, a), np.where(near_one, a, b), np.where(near_one, 1 - p, p)
    low, high = np.zeros_like(p), np.minimum(1.0, 1e3 * small / (small + large))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = special.betainc(small, large, middle) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.where(near_one, 1 - high, high), np.float64)
