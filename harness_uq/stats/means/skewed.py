"""Mean of scores of unknown range: Student's t, as far as Hall's transformation on the side of a long tail."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.clusters.cluster_robust import check_weights, cluster_codes, cluster_robust
from harness_uq.stats.common.arrays import FloatArray, check_finite
from harness_uq.stats.common.student import StudentPosterior, student_mean

_CHANCE = 2.0  # n times the square of a skewness of which half is taken for chance; of normal scores it is 6 on average
_NEARER = 0.5  # of the way from Student's end to Hall's, on the side away from the tail


@dataclass(frozen=True, slots=True)
class SkewedMean:
    """Mean of scores, and how skewed its error is.

    Attributes
    ----------
    student : Student's t around the mean
    n_units : questions, or clusters
    skewness : third standardised moment g of the units' residuals
    """

    student: StudentPosterior
    n_units: int
    skewness: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The ends of Student's t, moved to Hall's on the side of the long tail and half of the way on the other.

        With T = (mean - mu) / std_error and c = g / sqrt(n), T + c (T^2 / 3 + 1 / 6) + c^2 T^3 / 27 is normal up to
        terms of order 1 / n where T is so only up to 1 / sqrt(n), and it increases in T. Its t quantiles, mapped back,
        are Hall's interval. g is shrunk by g^4 / (g^4 + 4 / n^2), so that small skewness, which comes by chance, moves
        little. The nearer end goes half of the way: with heavy symmetric tails all of it costs coverage.

        Hall (1992), J. R. Statist. Soc. B 54:221, eq. 2.4 and section 3.
        """
        low, high = self.student.interval(level)
        std_error = self.student.std_error
        reach = (high - low) / (2.0 * std_error)
        shrunk = self.skewness**5 / (self.skewness**4 + (_CHANCE / self.n_units) ** 2)
        upper, lower = _transformed_back(np.array([reach, -reach]), shrunk / float(np.sqrt(self.n_units)))
        hall = self.student.mean - std_error * upper, self.student.mean - std_error * lower
        return _moved(low, float(hall[0]), -1.0), _moved(high, float(hall[1]), 1.0)


def skewed_mean(
    scores: ArrayLike, clusters: ArrayLike | None = None, *, weights: ArrayLike | None = None
) -> SkewedMean:
    """Mean of scores of any range with an interval that allows for their skewness.

    Parameters
    ----------
    scores : array_like (n_questions,)
    clusters : array_like (n_questions,) of labels, or None where questions are independent
    weights : array_like (n_questions,), > 0, with clusters

    Raises
    ------
    DataError : if shapes differ, a score is not finite or a weight not positive
    NotEstimableError : if there are fewer than two questions or clusters, or all have the same mean

    Symmetric scores give Student's t; a long upper tail moves both ends up:

    >>> [round(end, 3) for end in skewed_mean([1.0, 2.0, 3.0, 4.0]).interval()]
    [0.446, 4.554]
    >>> [round(end, 3) for end in skewed_mean([1.0, 1.0, 1.0, 7.0]).interval()]
    [-1.529, 19.105]
    """
    x = check_finite(scores, "scores", 1)
    if clusters is None:
        student = student_mean(x)
        return SkewedMean(student, len(x), _skewness(x - x.mean()))
    fit = cluster_robust(x, clusters, weights=weights)
    away = check_weights(weights, len(x)) * (x - fit.mean)
    residual = np.bincount(cluster_codes(clusters, len(x)), away).astype(float)
    return SkewedMean(fit.posterior, fit.n_clusters, _skewness(residual))


def _moved(end: float, hall: float, outwards: float) -> float:
    """All of the way to Hall's end where that is farther out, else half of it."""
    return hall if (hall - end) * outwards > 0 else end + _NEARER * (hall - end)


def _skewness(residual: FloatArray) -> float:
    """Third standardised moment of residuals that sum to 0."""
    unit = residual / float(np.sqrt(np.mean(residual**2)))
    return float(np.mean(unit**3))


def _transformed_back(y: FloatArray, c: float) -> FloatArray:
    """T of which y = T + c (T^2 / 3 + 1 / 6) + c^2 T^3 / 27 = ((1 + c T / 3)^3 - 1) / c + c / 6."""
    if abs(c) < 1e-9:
        return y
    return np.asarray(3.0 / c * (np.cbrt(1.0 + c * (y - c / 6.0)) - 1.0))
