"""Effective number of independent graders, from the errors that several graders make on the same answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, check_level, validated_codes

_FEWEST = 2


@dataclass(frozen=True, slots=True)
class EffectiveGraders:
    """How many graders with independent errors are as precise as the mean of these graders.

    Attributes
    ----------
    value : float
        Effective number, at least 1.
    low, high : float
        Confidence interval.
    correlation : float
        Intraclass correlation of the errors: mean covariance of two graders divided by the mean variance.
    """

    value: float
    low: float
    high: float
    correlation: float


def effective_graders(errors: ArrayLike, *, clusters: ArrayLike | None = None, level: float = 0.95) -> EffectiveGraders:
    """Kish's effective sample size of the graders of an answer.

    With the covariance matrix S of the errors (score minus label) of K graders,

        n_eff = K tr(S) / (1' S 1) = K / (1 + (K - 1) r),

    where r is the mean covariance of two graders divided by the mean variance of a grader. It is the variance of a
    single grader's error, averaged over graders, divided by that of the mean of all graders. Constant errors of a
    grader have no effect on it.

    Parameters
    ----------
    errors : array_like, shape (n_answers, n_graders)
        Score minus label for each answer and grader.
    clusters : array_like, shape (n_answers,), optional
        Cluster labels. The default is independent answers.
    level : float, optional
        Level of the interval (default 0.95).

    Raises
    ------
    DataError
        If errors are missing, or there are fewer than two graders.
    NotEstimableError
        If the mean of the graders has errors in too few answers (or clusters): the effective number of these answers is
        below two.

    Notes
    -----
    n_eff is a ratio of two means over answers, at least 1. The interval is a t interval of its logarithm with the
    standard error of the jackknife, which leaves out one answer (or cluster) at a time. Answers without errors say
    nothing about the ratio, so that the degrees of freedom are m - 1. Here m is Kish's effective number of answers (or
    clusters), weighted by the squared sum of the graders' errors.

    References
    ----------
    Kish (1965), "Survey Sampling", section 5.4; Kohli (2026), arXiv 2605.29800, for panels of graders; Efron and Stein
    (1981), Annals of Statistics 9, 586-596, for the jackknife.

    Examples
    --------
    Three graders, two of which always make the same error, are worth less than two:

    >>> first, second = [1, 0, 0, -1, 0, 1, 0, -1], [0, 1, -1, 0, 1, 0, -1, 0]
    >>> found = effective_graders(np.column_stack([first, first, second]))
    >>> round(found.value, 2), round(found.correlation, 2)
    (1.8, 0.33)
    """
    e = as_floats(errors, "errors")
    if e.ndim != 2 or e.shape[1] < 2 or not np.isfinite(e).all():
        raise DataError(f"errors must have shape (n_answers, n_graders) with at least two graders; got {e.shape}")
    check_level(level)
    codes = np.arange(len(e)) if clusters is None else validated_codes(clusters, (len(e),))
    centred = e - e.mean(axis=0)
    single, single_without = _squares(centred, codes)
    total, total_without = _squares(centred.sum(axis=1, keepdims=True), codes)
    m = total.sum() ** 2 / (total**2).sum() if total.any() else 0.0
    if m < _FEWEST or not total_without.min() > 1e-9 * total.sum():
        raise NotEstimableError("the graders err in too few of the labeled answers")
    n_graders = e.shape[1]
    value = n_graders * single.sum() / total.sum()
    logarithms = np.log(single_without / total_without)
    se = float(np.sqrt((len(total) - 1) * logarithms.var()))
    reach = float(np.exp(min(special.stdtrit(m - 1, (1 + level) / 2) * se, 100.0)))
    return EffectiveGraders(
        value=float(value),
        low=float(max(1.0, value / reach)),
        high=float(value * reach),
        correlation=float((n_graders / value - 1) / (n_graders - 1)),
    )


def _squares(errors: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum of squares of each unit, and the sum over all other units around their own mean.

    `errors` (n_answers, k) have mean 0.
    """
    squares = np.bincount(codes, (errors**2).sum(axis=1))
    sums = np.column_stack([np.bincount(codes, column) for column in errors.T])
    n_others = len(errors) - np.bincount(codes)
    without = squares.sum() - squares - (sums**2).sum(axis=1) / np.maximum(n_others, 1)
    return np.asarray(squares), np.asarray(without)
