"""Bivariate normal probabilities by Owen's T function, accurate near correlation one and far in the tails."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray

_TINY = 1e-300

Quadrants: TypeAlias = tuple[FloatArray, ...]


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> FloatArray:
    """P(X <= h, Y <= k) for standard normal X, Y with correlation `rho`.

    Parameters
    ----------
    h, k, rho : array_like, broadcast together; -1 < rho < 1

    Returns
    -------
    ndarray, in [0, 1]

    Raises
    ------
    DataError : if a correlation is not strictly between -1 and 1

    Owen (1956), Annals of Mathematical Statistics 27, 1075-1090, eq. 2.1.

    At the origin it is 1/4 + arcsin(rho) / (2 pi), by Sheppard's theorem:

    >>> float(bivariate_normal_cdf(0.0, 0.0, 0.5).round(12)) == round(1 / 3, 12)
    True
    """
    r = np.asarray(rho, float)
    if not (np.abs(r) < 1).all():
        raise DataError(f"correlation must lie strictly between -1 and 1; got {r.flat[int(np.argmax(np.abs(r)))]}")
    both, _, _, _ = quadrant_probabilities(h, k, np.arctanh(r))
    return both


def quadrant_probabilities(a: ArrayLike, b: ArrayLike, z: ArrayLike) -> Quadrants:
    """P(both), P(only A), P(only B), P(neither) of {X <= a} and {Y <= b}, correlation tanh(z).

    Parameters
    ----------
    a, b : array_like, broadcast together; probits of the two marginal probabilities
    z : array_like; Fisher's z of the correlation

    Returns
    -------
    four ndarrays that sum to 1; none below 1e-300
    """
    x, y, fisher = (np.asarray(part, float) for part in (a, b, z))
    return _unfold(x, y, _folded(x, y, fisher))


def quadrant_log_likelihood(counts: FloatArray, a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """Sum over the four quadrants of count times log probability; `counts` (..., 4) as in `quadrant_probabilities`."""
    both, only_a, only_b, neither = np.moveaxis(counts, -1, 0)
    n = _unfold(a, b, (both, only_a, only_b, neither))
    p = _folded(a, b, z)
    return np.asarray(n[0] * np.log(p[0]) + n[1] * np.log(p[1]) + n[2] * np.log(p[2]) + n[3] * np.log(p[3]))


def _unfold(x: FloatArray, y: FloatArray, p: Quadrants) -> Quadrants:
    """Quadrants of (x, y) from those of (-|x|, -|y|), or the reverse: a flip of x swaps A's right and wrong."""
    flip_x, flip_y = x > 0, y > 0
    p = tuple(np.where(flip_x, p[j ^ 2], p[j]) for j in range(4))
    return tuple(np.where(flip_y, p[j ^ 1], p[j]) for j in range(4))


def _folded(x: FloatArray, y: FloatArray, z: FloatArray) -> Quadrants:
    """P(both), P(only X), P(only Y), P(neither) of {X <= h}, {Y <= k} with h = -|x|, k = -|y|.

    The sign of the correlation is flipped with the signs of x and y. Both events are then the rarer ones, their joint
    probability is computed first and the others follow without loss of digits.
    """
    h, k = np.minimum(-np.abs(x), -_TINY), np.minimum(-np.abs(y), -_TINY)
    tail_h, tail_k = special.ndtr(h), special.ndtr(k)
    corner = _lower_corner(h, k, np.where((x > 0) == (y > 0), z, -z), (tail_h + tail_k) / 2)
    only_h, only_k = np.maximum(tail_h - corner, _TINY), np.maximum(tail_k - corner, _TINY)
    return corner, only_h, only_k, np.maximum((1 - tail_h - tail_k) + corner, _TINY)


def _lower_corner(h: FloatArray, k: FloatArray, z: FloatArray, half_sum: FloatArray) -> FloatArray:
    """P(X <= h, Y <= k) for h, k < 0: half the sum of the margins less two values of Owen's T."""
    complement, stretch = 2 / (1 + np.exp(2 * z)), np.cosh(z)
    with np.errstate(over="ignore"):
        slope_h = ((k - h) / h + complement) * stretch
        slope_k = ((h - k) / k + complement) * stretch
    corner = half_sum - special.owens_t(h, slope_h) - special.owens_t(k, slope_k)
    return np.asarray(np.maximum(corner, _TINY))
