"""Vectorized inversion of increasing functions, such as distribution functions, by Chandrupatla's method."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.common.validate_arrays import FloatArray

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

    The search starts within `scale` of `guess`, doubles that bracket until it contains the solution, and stops when
    the bracket is narrower than `tolerance` times `scale`.

    Parameters
    ----------
    function : callable
        Increasing function, applied elementwise to an array of the broadcast shape.
    target : array_like
        Values to reach. A target outside the range of the function gives the nearer end of [low, high].
    low, high : array_like
        Ends of the search interval, which may be infinite.
    guess, scale : array_like
        Starting point and half-width of the first bracket.
    tolerance : float, optional
        Relative tolerance (default 1e-11).

    Returns
    -------
    ndarray
        Solutions; all array arguments broadcast together.

    References
    ----------
    Chandrupatla (1997), Advances in Engineering Software 28, 145-149.

    Examples
    --------
    >>> round(float(invert_increasing(np.square, 2.0, low=0.0, high=9.0, guess=1.0, scale=1.0)), 9)
    1.414213562
    """
    goal, lowest, highest, start, unit = np.broadcast_arrays(
        *(np.asarray(part, float) for part in (target, low, high, guess, scale))
    )
    left, right, below, above = _bracket(function, goal, lowest, highest, start, unit)
    return _interpolate(function, goal, (left, right), (below, above), tolerance * unit)


def _bracket(
    function: Callable[[FloatArray], FloatArray],
    goal: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    start: FloatArray,
    unit: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    centre, step = np.clip(start, lowest, highest), unit.copy()
    left, right = np.maximum(centre - step, lowest), np.minimum(centre + step, highest)
    below, above = function(left) - goal, function(right) - goal
    for _ in range(_DOUBLINGS):
        too_high, too_low = (below > 0) & (left > lowest), (above < 0) & (right < highest)
        if not (too_high | too_low).any():
            break
        step = 2 * step
        right, above = np.where(too_high, left, right), np.where(too_high, below, above)
        left, below = np.where(too_low, right, left), np.where(too_low, above, below)
        left = np.where(too_high, np.maximum(left - step, lowest), left)
        right = np.where(too_low, np.minimum(right + step, highest), right)
        new_error = function(np.where(too_high, left, right)) - goal
        below, above = np.where(too_high, new_error, below), np.where(too_low, new_error, above)
    return left, right, below, above


def _interpolate(
    function: Callable[[FloatArray], FloatArray],
    goal: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    errors: tuple[FloatArray, FloatArray],
    tolerance: FloatArray,
) -> FloatArray:
    (b, a), (fb, fa) = ends, errors
    linear = np.isfinite(fa) & np.isfinite(fb) & (fa != fb)
    share = np.divide(fa, fa - fb, out=np.full(goal.shape, 0.5), where=linear)
    for _ in range(_ITERATIONS):
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        open_ = (np.minimum(np.abs(fa), np.abs(fb)) > 0) & (np.sign(fa) != np.sign(fb))
        width = np.abs(a - b)
        if not (open_ & (width > tolerance)).any():
            break
        trial = a + np.clip(share, 0.0, 1.0) * (b - a)
        ft = np.where(open_, function(trial) - goal, np.where(np.abs(fa) < np.abs(fb), fa, fb))
        trial = np.where(open_, trial, best)
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
