"""Student's t for the mean of unbounded scores: interval and posterior are the same distribution."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.arrays import FloatArray, check_finite, check_level
from harness_uq.stats.common.posterior import IntervalKind, Posterior

_RELATIVE_ROUNDING = 1e-12


class StudentPosterior(Posterior):
    """Student's t with location `mean`, scale `std_error` and `df` degrees of freedom.

    Both the confidence distribution of a mean and its posterior under the reference prior p(mu, sigma) ~ 1 / sigma
    (Gelman et al. 2013, eq. 3.7), so that its intervals carry either reading.

    Attributes
    ----------
    mean : float; the centre, which is the posterior mean where df > 1
    std_error : float > 0; the scale
    df : float > 0, not necessarily whole
    sd : float; std_error * sqrt(df / (df - 2)), infinite where df <= 2
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
        wanted = np.asarray(p, float)
        tail = np.minimum(wanted, 1.0 - wanted)
        # at 0 stdtrit gives NaN (scipy 1.12) or +inf (1.17)
        distance = np.where(tail == 0, np.inf, np.abs(special.stdtrit(self.df, tail)))
        return np.asarray(self._mean + self.std_error * np.copysign(distance, wanted - 0.5))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return np.asarray(special.stdtr(self.df, (np.asarray(x, float) - self._mean) / self.std_error))

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Mean ± t(df) std_error; the density is symmetric, so that both kinds are this interval."""
        if kind not in ("quantile", "hdi"):
            raise DataError(f"interval kind must be 'hdi' or 'quantile'; got {kind!r}")
        half = self.std_error * float(special.stdtrit(self.df, (1.0 + check_level(level)) / 2.0))
        return self._mean - half, self._mean + half

    def __repr__(self) -> str:
        return f"StudentPosterior(mean={self._mean:g}, std_error={self.std_error:g}, df={self.df:g})"


def student_mean(scores: ArrayLike) -> StudentPosterior:
    """Mean of independent scores with the standard error s / sqrt(M) and M - 1 degrees of freedom.

    Parameters
    ----------
    scores : array_like (n_questions,), any range

    Raises
    ------
    DataError : if the scores are not a finite one-dimensional array
    NotEstimableError : if there are fewer than two scores, or all are equal up to rounding (a bound on the scores
        would help)

    Student (1908), Biometrika 6:1; Miller (2024), SE_CLT.

    >>> mean = student_mean([1.0, 2.0, 3.0])
    >>> mean.mean, mean.df, round(3 * mean.std_error**2, 12)
    (2.0, 2.0, 1.0)
    """
    x = check_finite(scores, "scores", 1)
    if len(x) < 2:
        raise NotEstimableError(f"the spread of a mean needs at least two scores; got {len(x)}")
    if np.ptp(x) <= _RELATIVE_ROUNDING * np.abs(x).max():
        raise NotEstimableError(
            f"all {len(x)} scores equal {x[0]:g}: their spread says nothing; with known bounds of the score "
            "the bounded posterior gives an interval"
        )
    return StudentPosterior(float(x.mean()), float(x.std(ddof=1)) / float(np.sqrt(len(x))), len(x) - 1)
