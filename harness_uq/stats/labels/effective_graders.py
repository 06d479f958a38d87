"""Effective number of independent graders, from the errors that several graders make on the same answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_level, validated_codes

_FEWEST = 2


@dataclass(frozen=True, slots=True)
class EffectiveGraders:
    """How many graders with independent errors are as precise as the mean of these graders.

    `value` is at least 1, with the confidence interval `low` to `high`. `correlation` is the intraclass correlation of
    the errors: mean covariance of two graders divided by the mean variance.
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

    `errors` (n_answers, n_graders) are score minus label. Raises DataError if errors are missing, or there are fewer
    than two graders; NotEstimableError if the graders err in too few answers (or clusters): the effective number of
    answers, weighted by the squared errors, is below two.

    n_eff is a ratio of two sums over answers, at least 1. The interval is a t interval of its logarithm with the
    standard error of the jackknife, which leaves out one answer (or cluster) at a time. Two answers are added to the
    data of the interval: one in which all graders make the same error, and one in which their errors are independent.
    Without them, the interval ignores errors that are too rare to be among the labels. Their squared errors have the
    sum a = sum_i a_i^2 / sum_i a_i, where a_i is that of answer i. With the logarithms u_i of the N data sets that lack
    one answer, centred at their mean, the degrees of freedom of Satterthwaite are

        2 / (sum_i u_i^4 / (sum_i u_i^2)^2 - 1 / N).

    Sources: Kish (1965), "Survey Sampling", section 5.4; Kohli (2026), arXiv 2605.29800, for panels of graders; Efron
    and Stein (1981), Annals of Statistics 9, 586-596, for the jackknife; Satterthwaite (1946), Biometrics Bulletin 2,
    110-114.

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
    single = np.asarray(np.bincount(codes, (centred**2).sum(axis=1)), float)
    total = np.asarray(np.bincount(codes, centred.sum(axis=1) ** 2), float)
    if single.sum() ** 2 < _FEWEST * (single**2).sum() or total.sum() <= 1e-9 * single.sum():
        raise NotEstimableError("the graders err in too few of the labeled answers")
    n_graders = e.shape[1]
    value = max(1.0, n_graders * single.sum() / total.sum())
    low, high = _interval(single, total, n_graders, level)
    return EffectiveGraders(
        value=float(value),
        low=max(1.0, low),
        high=high,
        correlation=float((n_graders / value - 1) / (n_graders - 1)),
    )


def _interval(single: FloatArray, total: FloatArray, n_graders: int, level: float) -> tuple[float, float]:
    """Limits of `n_graders` times the ratio of the sums of `single` and `total`, with two added answers."""
    added = (single**2).sum() / single.sum()
    single, total = np.append(single, [added, added]), np.append(total, [n_graders * added, added])
    logarithms = np.log((single.sum() - single) / (total.sum() - total))
    squares = (logarithms - logarithms.mean()) ** 2
    n = len(squares)
    df = 2 / ((squares**2).sum() / squares.sum() ** 2 - 1 / n)
    reach = special.stdtrit(df, (1 + level) / 2) * np.sqrt((n - 1) / n * squares.sum())
    centre = np.log(n_graders * single.sum() / total.sum())
    return float(np.exp(centre - reach)), float(np.exp(centre + reach))
