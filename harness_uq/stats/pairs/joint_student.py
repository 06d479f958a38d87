"""Means of many systems with unbounded scores on the same questions: joint draws, and t tests of all pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite, validated_codes


@dataclass(frozen=True, slots=True, eq=False)
class JointMeans:
    """Means of systems on the same questions, with the covariance of their errors.

    `residuals` (n_systems, n_units) are the contribution of each question or cluster to the error of each `mean`
    (n_systems,), so that ``residuals @ residuals.T`` is their covariance. `df` is the number of units minus 1.
    """

    mean: FloatArray
    residuals: FloatArray
    df: float

    def draws(self, n_draws: int, rng: np.random.Generator | None = None) -> FloatArray:
        """Draws from a multivariate t distribution in which each difference has the paired (clustered) t distribution.

        The draws are (n_systems, n_draws).
        """
        rng = rng or np.random.default_rng(0)
        normal = self.residuals @ rng.standard_normal((self.residuals.shape[1], n_draws))
        scale = np.sqrt(self.df / rng.chisquare(self.df, n_draws))
        return np.asarray(self.mean[:, None] + normal * scale)

    def pair_p_values(self) -> FloatArray:
        """Two-sided p-values of the paired t tests of all pairs.

        They are 1 on the diagonal, and NaN if the difference of a pair is the same on every question or cluster, so
        that its variance is only rounding error and there is no test.
        """
        covariance = self.residuals @ self.residuals.T
        variances = np.diag(covariance)
        variance = variances[:, None] + variances - 2 * covariance
        size = np.abs(self.mean)
        is_rounding = variance <= 1e-12 * (variances[:, None] + variances) + (1e-14 * (size[:, None] + size)) ** 2
        t = np.abs(self.mean[:, None] - self.mean) / np.sqrt(np.where(is_rounding, np.nan, variance))
        p: FloatArray = np.asarray(2 * special.stdtr(self.df, -t), float)
        np.fill_diagonal(p, 1.0)
        return p


def joint_means(scores: ArrayLike, clusters: ArrayLike | None = None) -> JointMeans:
    """Means over questions with cluster-robust covariances, C / (C - 1) sum_c R_ac R_bc / n^2.

    `scores` (n_systems, n_questions) are on any scale; each pair agrees with `cluster_robust` (CR1). Raises DataError
    if the scores are not a finite two-dimensional array; NotEstimableError if there is only one question or cluster.
    Source: Miller (2024), eq. 8, for all pairs.

    Four questions with standard deviation 1/2 give the standard error 1/4:

    >>> fit = joint_means([[1.0, 0, 0, 0], [0, 0, 0, 0]])
    >>> round(float(fit.residuals[0] @ fit.residuals[0]) ** 0.5, 12)
    0.25
    """
    y = check_finite(scores, "scores", 2)
    if not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    n = y.shape[1]
    codes = np.arange(n) if clusters is None else validated_codes(clusters, (n,))
    n_units = int(codes.max()) + 1
    if n_units < 2:
        raise NotEstimableError("a single question (or cluster) has no variance")
    mean = y.mean(axis=1)
    totals = np.stack([np.bincount(codes, row, n_units) for row in y - mean[:, None]])
    return JointMeans(mean, totals * np.sqrt(n_units / (n_units - 1)) / n, n_units - 1.0)
