"""Bivariate normal probabilities by Owen's T function, accurate near correlation 1 and far in the tails."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray

_TINY = 1e-300

Quadrants: TypeAlias = tuple[FloatArray, ...]


def quadrant_probabilities(a: ArrayLike, b: ArrayLike, z: ArrayLike) -> Quadrants:
    """P(both), P(only A), P(only B) and P(neither) of the events A = {X <= a} and B = {Y <= b}.

    `a` and `b` are the probits of the marginal probabilities, and `z` is Fisher's z of the correlation tanh(z); they
    broadcast together. Probabilities are at least 1e-300.
    """
    x, y, fisher = (np.asarray(argument, float) for argument in (a, b, z))
    return _unfold(x, y, _folded(x, y, fisher))


def quadrant_log_likelihood(counts: FloatArray, a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """Sum over quadrants of count times log probability; `counts` has shape (..., 4), ordered as the probabilities."""
    both, only_a, only_b, neither = np.moveaxis(counts, -1, 0)
    n = _unfold(a, b, (both, only_a, only_b, neither))
    p = _folded(a, b, z)
    return np.asarray(n[0] * np.log(p[0]) + n[1] * np.log(p[1]) + n[2] * np.log(p[2]) + n[3] * np.log(p[3]))


def _unfold(x: FloatArray, y: FloatArray, p: Quadrants) -> Quadrants:
    """Quadrants of (x, y) from those of (-|x|, -|y|), or the reverse.

    Changing the sign of x swaps right and wrong for A.
    """
    flip_x, flip_y = x > 0, y > 0
    p = tuple(np.where(flip_x, p[j ^ 2], p[j]) for j in range(4))
    return tuple(np.where(flip_y, p[j ^ 1], p[j]) for j in range(4))


def _folded(x: FloatArray, y: FloatArray, z: FloatArray) -> Quadrants:
    """P(both), P(only X), P(only Y), P(neither) of {X <= h}, {Y <= k} with h = -|x|, k = -|y|.

    The sign of the correlation changes with the signs of x and y. Both events then have probability at most 1/2. Their
    joint probability is computed first, and the others follow without loss of digits.
    """
    h, k = np.minimum(-np.abs(x), -_TINY), np.minimum(-np.abs(y), -_TINY)
    tail_h, tail_k = special.ndtr(h), special.ndtr(k)
    corner = _lower_corner(h, k, np.where((x > 0) == (y > 0), z, -z), (tail_h + tail_k) / 2)
    only_h, only_k = np.maximum(tail_h - corner, _TINY), np.maximum(tail_k - corner, _TINY)
    return corner, only_h, only_k, np.maximum((1 - tail_h - tail_k) + corner, _TINY)


def _lower_corner(h: FloatArray, k: FloatArray, z: FloatArray, half_sum: FloatArray) -> FloatArray:
    """P(X <= h, Y <= k) for h, k < 0: half the sum of the marginal probabilities minus two values of Owen's T."""
    complement, stretch = 2 / (1 + np.exp(2 * z)), np.cosh(z)
    with np.errstate(over="ignore"):
        slope_h = ((k - h) / h + complement) * stretch
        slope_k = ((h - k) / k + complement) * stretch
    corner = half_sum - special.owens_t(h, slope_h) - special.owens_t(k, slope_k)
    return np.asarray(np.maximum(corner, _TINY))
