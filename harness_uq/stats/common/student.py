"""Student's t for the mean of unbounded scores, which is both its confidence distribution and a posterior."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import IntervalKind, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite, check_level

_RELATIVE_ROUNDING = 1e-12


class StudentPosterior(Posterior):
    """Student's t distribution with location, scale and degrees of freedom.

    It is the confidence distribution of a mean and also its posterior under the reference prior p(mu,
    sigma) ~ 1 / sigma, so its intervals are both confidence and credible intervals. `mean` is the location, which is
    the posterior mean if df > 1, `std_error` the positive scale, and `df` positive, not necessarily an integer. `sd` is
    std_error * sqrt(df / (df - 2)), infinite if df <= 2. Raises DataError if the location is not finite, or the scale
    or the degrees of freedom are not positive. Source: Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., eq. 3.7.
    """

    def __init__(self, mean: float, std_error: float, df: float) -> None:
        if not (np.isfinite(mean) and std_error > 0 and df > 0):
            raise DataError(f"a t distribution needs std_error > 0 and df > 0; got {mean}, {std_error}, {df}")
        self._mean, self.std_error, self.df = float(mean), float(std_error), float(df)

    @property
    def mean(self) -> float:
        return self._mean

    @property
    def sd(self) -> float:
        return self.std_error * float(np.sqrt(self.df / (self.df - 2))) if self.df > 2 else float("inf")

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        tail = np.minimum(probability, 1.0 - probability)
        # stdtrit(df, 0) is NaN in scipy 1.12 and +inf in scipy 1.17
        distance = np.where(tail == 0, np.inf, np.abs(special.stdtrit(self.df, tail)))
        return np.asarray(self._mean + self.std_error * np.copysign(distance, probability - 0.5))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return np.asarray(special.stdtr(self.df, (np.asarray(x, float) - self._mean) / self.std_error))

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Mean ± t(df) std_error; the density is symmetric, so both kinds give this interval."""
        if kind not in ("quantile", "hdi"):
            raise DataError(f"interval kind must be 'hdi' or 'quantile'; got {kind!r}")
        half = self.std_error * float(special.stdtrit(self.df, (1.0 + check_level(level)) / 2.0))
        return self._mean - half, self._mean + half

    def __repr__(self) -> str:
        return f"StudentPosterior(mean={self._mean:g}, std_error={self.std_error:g}, df={self.df:g})"


def student_posterior(scores: ArrayLike) -> StudentPosterior:
    """Mean of independent scores with its t distribution.

    The standard error is s / sqrt(M) with M - 1 degrees of freedom.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores of independent questions, on any scale.

    Returns
    -------
    StudentPosterior
        t distribution of the mean.

    Raises
    ------
    DataError
        If the scores are not a finite one-dimensional array.
    NotEstimableError
        If there are fewer than two scores, or all are equal up to rounding. If the score has known bounds,
        `bounded_posterior` gives an interval in both cases.

    References
    ----------
    Student (1908), Biometrika 6, 1-25; Miller (2024), SE_CLT.

    Examples
    --------
    >>> mean = student_posterior([1.0, 2.0, 3.0])
    >>> mean.mean, mean.df, round(3 * mean.std_error**2, 12)
    (2.0, 2.0, 1.0)
    """
    x = check_finite(scores, "scores", 1)
    if len(x) < 2:
        raise NotEstimableError(f"the spread of a mean needs at least two scores; got {len(x)}")
    if np.ptp(x) <= _RELATIVE_ROUNDING * np.abs(x).max():
        raise NotEstimableError(
            f"all {len(x)} scores equal {x[0]:g}, so that the standard error is 0. The method bayes estimates an "
            "interval if the range of the scores is known"
        )
    return StudentPosterior(float(x.mean()), float(x.std(ddof=1)) / float(np.sqrt(len(x))), len(x) - 1)
