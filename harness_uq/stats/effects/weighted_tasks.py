"""Interval of a weighted sum of independent task scores from the interval of each task."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_number


def weighted_tasks_interval(
    values: ArrayLike, lows: ArrayLike, highs: ArrayLike, weights: ArrayLike, *, inflation: float = 1.0
) -> tuple[float, float]:
    """Limits of the weighted sum of the scores of tasks, from the limits of each task at the same level.

    Parameters
    ----------
    values : array_like, shape (n_tasks,)
        Score of each task.
    lows, highs : array_like, shape (n_tasks,)
        Limits of each task with ``lows < highs``; intervals of any method, all at one level.
    weights : array_like, shape (n_tasks,)
        Non-negative weights, not all 0. They need not have the sum 1.
    inflation : float, optional
        Positive factor of the half-width (default 1), for errors that are correlated between tasks: the square root of
        the ratio of the variance of the sum to the sum of the variances.

    Returns
    -------
    low, high : float
        Limits of ``sum(weights * scores)``, which contain ``sum(weights * values)``.

    Raises
    ------
    DataError
        If lengths differ, a limit or weight is invalid, or `inflation` is not positive.

    Notes
    -----
    The interval of task k has the half-width h_k and ends at p_k - c_k -+ h_k, where p_k is its score and c_k the shift
    of its centre. The tasks are independent, so that variances and third cumulants add: with weights w, the limits are
    p - c -+ h, where p = sum_k w_k p_k, c = sum_k w_k^3 h_k^2 c_k / sum_k w_k^2 h_k^2 and
    h^2 = sum_k w_k^2 (h_k^2 + (1 - r_k) c_k^2) with r_k = w_k h_k / sqrt(sum_j w_j^2 h_j^2). A single task has its own
    interval. If many tasks contribute, the interval is nearly symmetric, and h^2 is the sum of
    ((p_k - l_k)^2 + (u_k - p_k)^2) / 2 over the limits l_k and u_k. MOVER (Zou and Donner 2008) adds the squared
    distances below and above the scores separately, so that the interval of many tasks is as skewed as that of one.

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    For symmetric intervals the half-widths add as the sides of a right triangle:

    >>> low, high = weighted_tasks_interval([0.5, 0.5], [0.2, 0.1], [0.8, 0.9], [0.5, 0.5])
    >>> round(low, 9), round(high, 9)
    (0.25, 0.75)
    """
    p, low, high, w = (
        check_finite(array, name, 1)
        for array, name in ((values, "values"), (lows, "lows"), (highs, "highs"), (weights, "weights"))
    )
    check_number(inflation, "inflation", above=0)
    if not p.size or not p.shape == low.shape == high.shape == w.shape:
        raise DataError(f"values, lows, highs and weights must have one number per task; got {p.size} values")
    if w.min() < 0 or w.sum() == 0:
        raise DataError(f"weights must be numbers >= 0, not all 0; got {w.tolist()}")
    if not (low < high).all():
        raise DataError("lows must be below highs")
    half, shift = (high - low) / 2, p - (low + high) / 2
    squares = (w * half) ** 2
    total = squares.sum()
    shares = np.sqrt(squares / total)
    centre = float(w @ p - (squares * w) @ shift / total)
    width = inflation * float(np.sqrt(total + ((w * shift) ** 2) @ (1 - shares)))
    return min(centre - width, float(w @ p)), max(centre + width, float(w @ p))


def shared_error(contributions: ArrayLike, tasks: ArrayLike, units: ArrayLike) -> FloatArray:
    """Covariance between systems of the weighted sum of task scores that comes from items shared by several tasks.

    `contributions` (n_systems, n_rows) of the rows to the error of the sum are weight times (score - mean score of the
    task) / number of rows of the task, and `units` the independent unit (item or cluster) of each row. The covariance
    is the sum over units and pairs of different tasks of the products of their contributions. Raises DataError if
    contributions are not finite, or there is not one label of a task and a unit per row.

    Two tasks with the same two items have the variance of one task, twice the sum of their own variances:

    >>> shared_error([[0.25, -0.25, 0.25, -0.25]], [0, 0, 1, 1], [0, 1, 0, 1]).tolist()
    [[0.25]]
    """
    x = check_finite(contributions, "contributions", 2)
    shape = (x.shape[1],)
    task, unit = validated_codes(tasks, shape, "tasks"), validated_codes(units, shape, "units")
    whole, parts = _sums(x, unit), _sums(x, unit * (int(task.max(initial=0)) + 1) + task)
    return np.asarray(whole @ whole.T - parts @ parts.T)


def _sums(rows: FloatArray, codes: IntArray) -> FloatArray:
    return np.stack([np.bincount(codes, row) for row in rows])
