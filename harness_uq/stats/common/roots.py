"""Vectorized inversion of increasing functions, such as distribution functions, by Chandrupatla's method."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray

_DOUBLINGS = 80
_ITERATIONS = 80


def invert_increasing(
    function: Callable[[FloatArray], FloatArray],
    target: ArrayLike,
    *,
    low: ArrayLike,
    high: ArrayLike,
    guess: ArrayLike,
    scale: ArrayLike,
    tolerance: float = 1e-11,
) -> FloatArray:
    """Points in [low, high] at which an elementwise increasing function equals `target`.

    The search starts within `scale` of `guess`, doubles that bracket until it contains the solution, and stops when the
    bracket is narrower than `tolerance` times `scale`. A target outside the range of the function gives the nearer end
    of [low, high], which may be infinite; `scale` is the half-width of the first bracket. All array arguments broadcast
    together, and `function` takes their common shape. Source: Chandrupatla (1997), Advances in Engineering Software 28,
    145-149.

    >>> round(float(invert_increasing(np.square, 2.0, low=0.0, high=9.0, guess=1.0, scale=1.0)), 9)
    1.414213562
    """
    goal, lowest, highest, start, unit = np.broadcast_arrays(
        *(np.asarray(part, float) for part in (target, low, high, guess, scale))
    )
    points = start.copy()

    def at(x: FloatArray, rows: IntArray) -> FloatArray:
        points.flat[rows] = x
        return np.asarray(function(points).flat[rows], float)

    flat = (part.ravel() for part in (goal, lowest, highest, start, unit))
    target, low, high, guess, scale = flat
    solution = invert_rows(at, target, low=low, high=high, guess=guess, scale=scale, tolerance=tolerance)
    return solution.reshape(goal.shape)


def invert_rows(
    function: Callable[[FloatArray, IntArray], FloatArray],
    target: FloatArray,
    *,
    low: FloatArray,
    high: FloatArray,
    guess: FloatArray,
    scale: FloatArray,
    tolerance: float = 1e-11,
) -> FloatArray:
    """As `invert_increasing`, for a batch of different functions that are only evaluated where it is still necessary.

    `function` takes points and the rows of the batch to which they belong, both (n,), and returns values. The other
    arguments are those of `invert_increasing`, with shape (n_rows,).
    """
    left, right, below, above = _bracket(function, target, low, high, guess, scale)
    return _interpolate(function, target, (left, right), (below, above), tolerance * scale)


def _bracket(
    function: Callable[[FloatArray, IntArray], FloatArray],
    goal: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    start: FloatArray,
    unit: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    centre, step, every_row = np.clip(start, lowest, highest), unit.copy(), np.arange(len(goal))
    left, right = np.maximum(centre - step, lowest), np.minimum(centre + step, highest)
    below, above = function(left, every_row) - goal, function(right, every_row) - goal
    for _ in range(_DOUBLINGS):
        too_high, too_low = (below > 0) & (left > lowest), (above < 0) & (right < highest)
        rows = np.flatnonzero(too_high | too_low)
        if not rows.size:
            break
        step = 2 * step
        right, above = np.where(too_high, left, right), np.where(too_high, below, above)
        left, below = np.where(too_low, right, left), np.where(too_low, above, below)
        left = np.where(too_high, np.maximum(left - step, lowest), left)
        right = np.where(too_low, np.minimum(right + step, highest), right)
        error = np.zeros(len(goal))
        error[rows] = function(np.where(too_high, left, right)[rows], rows) - goal[rows]
        below, above = np.where(too_high, error, below), np.where(too_low, error, above)
    return left, right, below, above


def _interpolate(
    function: Callable[[FloatArray, IntArray], FloatArray],
    goal: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    errors: tuple[FloatArray, FloatArray],
    tolerance: FloatArray,
) -> FloatArray:
    (b, a), (fb, fa) = ends, errors
    linear = np.isfinite(fa) & np.isfinite(fb) & (fa != fb)
    share = np.divide(fa, fa - fb, out=np.full(goal.shape, 0.5), where=linear)
    for _ in range(_ITERATIONS):
        is_exact = np.minimum(np.abs(fa), np.abs(fb)) == 0
        open_ = ~is_exact & (np.sign(fa) != np.sign(fb)) & (np.abs(a - b) > tolerance)
        rows = np.flatnonzero(open_)
        if not rows.size:
            break
        first_is_best = np.abs(fa) < np.abs(fb)
        trial = np.where(open_, a + np.clip(share, 0.0, 1.0) * (b - a), np.where(first_is_best, a, b))
        ft = np.where(first_is_best, fa, fb)
        ft[rows] = function(trial[rows], rows) - goal[rows]
        same = np.sign(ft) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same | ~open_, b, a), np.where(same | ~open_, fb, fa)
        a, fa = np.where(open_, trial, a), np.where(open_, ft, fa)
        share = _next_share(a, b, c, fa, fb, fc, tolerance)
    return np.asarray(np.where(np.abs(fa) < np.abs(fb), a, b))


def _next_share(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray, tolerance: FloatArray
) -> FloatArray:
    """Next position between a (0) and b (1): inverse quadratic interpolation if it is safe, otherwise the midpoint."""
    with np.errstate(divide="ignore", invalid="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        margin = 0.5 * tolerance / np.abs(b - a)
    share = np.where(safe & np.isfinite(quadratic), quadratic, 0.5)
    margin = np.where(np.isfinite(margin), np.minimum(margin, 0.5), 0.5)
    return np.clip(share, margin, 1 - margin)
