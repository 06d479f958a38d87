"""Mean of unbounded scores: Student's t with Hall's correction for skewness."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.student import StudentPosterior, student_posterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite, validated_codes

_SHRINKAGE = 2.0  # value of n times skewness^2 at which the skewness is halved; for normal scores its mean is 6
_INWARD = 0.5  # fraction of Hall's correction that is applied if it makes the interval narrower on that side


@dataclass(frozen=True, slots=True)
class HallMean:
    """Mean of scores with a confidence interval corrected for skewness.

    `student` is Student's t distribution of the mean, `n_units` the number of questions or clusters, and `skewness` the
    third standardized moment g of their residuals.
    """

    student: StudentPosterior
    n_units: int
    skewness: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval: Student's t with Hall's correction for skewness.

        With T = (mean - mu) / std_error and c = g / sqrt(n), the increasing function T + c (T^2 / 3 + 1 / 6) + c^2
        T^3 / 27 is normal up to terms of order 1 / n, whereas T is normal only up to terms of order 1 / sqrt(n).
        Mapping t quantiles back through this function gives Hall's interval. Two modifications are made. First, g is
        multiplied by g^4 / (g^4 + 4 / n^2), so that a small skewness, which may be due to chance, has little effect.
        Second, if Hall's limit is closer to the mean than Student's, only half of the correction is applied, because
        the full correction loses coverage with heavy symmetric tails. Source: Hall (1992), J. R. Statist. Soc. B 54,
        221-228, eq. 2.4 and section 3.
        """
        low, high = self.student.interval(level)
        std_error = self.student.std_error
        critical = (high - low) / (2.0 * std_error)
        shrunk = self.skewness**5 / (self.skewness**4 + (_SHRINKAGE / self.n_units) ** 2)
        upper, lower = _transformed_back(np.array([critical, -critical]), shrunk / float(np.sqrt(self.n_units)))
        hall = self.student.mean - std_error * upper, self.student.mean - std_error * lower
        return _corrected(low, float(hall[0]), -1.0), _corrected(high, float(hall[1]), 1.0)


def hall_mean(scores: ArrayLike, clusters: ArrayLike | None = None) -> HallMean:
    """Mean of unbounded scores with an interval corrected for skewness.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores, on any scale.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels. The default is independent questions.

    Returns
    -------
    HallMean
        Mean, skewness and interval.

    Raises
    ------
    DataError
        If shapes differ, a score is not finite.
    NotEstimableError
        If there are fewer than two questions or clusters, or all have the same mean.

    Examples
    --------
    For symmetric scores this is Student's t; a long upper tail increases both limits:

    >>> [round(limit, 3) for limit in hall_mean([1.0, 2.0, 3.0, 4.0]).interval()]
    [0.446, 4.554]
    >>> [round(limit, 3) for limit in hall_mean([1.0, 1.0, 1.0, 7.0]).interval()]
    [-1.529, 19.105]
    """
    x = check_finite(scores, "scores", 1)
    if clusters is None:
        student = student_posterior(x)
        return HallMean(student, len(x), _skewness(x - x.mean()))
    fit = cluster_robust(x, clusters)
    residual = np.bincount(validated_codes(clusters, (len(x),)), x - fit.mean).astype(float)
    return HallMean(fit.posterior, fit.n_clusters, _skewness(residual))


def _corrected(limit: float, hall: float, outwards: float) -> float:
    """Hall's limit if it widens the interval, otherwise the midpoint between both limits."""
    return hall if (hall - limit) * outwards > 0 else limit + _INWARD * (hall - limit)


def _skewness(residual: FloatArray) -> float:
    """Third standardized moment of residuals with sum 0."""
    unit = residual / float(np.sqrt(np.mean(residual**2)))
    return float(np.mean(unit**3))


def _transformed_back(y: FloatArray, c: float) -> FloatArray:
    """Solution T of y = T + c (T^2 / 3 + 1 / 6) + c^2 T^3 / 27 = ((1 + c T / 3)^3 - 1) / c + c / 6."""
    if c == 0:
        return y
    z = c * (y - c / 6.0)
    # cbrt(1 + z) - 1 loses all digits as z tends to 0; the logarithm is not defined below -1
    near_zero = np.expm1(np.log1p(np.maximum(z, -0.5)) / 3.0)
    return np.asarray(3.0 / c * np.where(np.abs(z) < 0.5, near_zero, np.cbrt(1.0 + z) - 1.0))
