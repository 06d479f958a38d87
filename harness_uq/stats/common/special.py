"""Special functions that scipy gets wrong somewhere."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.arrays import FloatArray

_GOOD = 1e-9
_LARGE = 10.0  # below it scipy is right, and quantiles can lie nearer to 0 than halving reaches
_HALVINGS = 80


def beta_quantile(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
    """Quantile of Beta(a, b) at `p`, all broadcast together.

    `scipy.special.betaincinv` stops early where one parameter is huge and the other large (1.17: Beta(1e9, 1e3) at 1/2
    is off by half of the mass); such entries are found by bisection of the smaller of x and 1 - x.

    >>> float(beta_quantile(2.0, 1.0, 0.25))
    0.5
    """
    shape_a, shape_b, wanted = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float), np.asarray(p, float))
    x: FloatArray = np.asarray(special.betaincinv(shape_a, shape_b, wanted), np.float64)
    bad = np.abs(special.betainc(shape_a, shape_b, x) - wanted) > _GOOD
    bad &= np.minimum(shape_a, shape_b) > _LARGE
    if not bad.any():
        return x
    found: FloatArray = np.array(x)
    found[bad] = _bisected(shape_a[bad], shape_b[bad], wanted[bad])
    return found


def _bisected(a: FloatArray, b: FloatArray, p: FloatArray) -> FloatArray:
    near_one = a > b
    small, large, target = np.where(near_one, b, a), np.where(near_one, a, b), np.where(near_one, 1 - p, p)
    low, high = np.zeros_like(p), np.minimum(1.0, 1e3 * small / (small + large))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = special.betainc(small, large, middle) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.where(near_one, 1 - high, high), np.float64)
