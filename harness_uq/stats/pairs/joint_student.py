"""Many systems on the same questions, scores without bounds: joint draws, and t tests of all pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import cluster_codes
from harness_uq.stats.common.arrays import FloatArray, check_finite


@dataclass(frozen=True, slots=True, eq=False)
class JointMeans:
    """Means of systems that answered the same questions, with what their errors have in common.

    Attributes
    ----------
    mean : (n_systems,)
    residuals : (n_systems, n_units); a unit's part of each mean's error, scaled so that their products are covariances
    df : float; units less one
    """

    mean: FloatArray
    residuals: FloatArray
    df: float

    def draws(self, n_draws: int, rng: np.random.Generator | None = None) -> FloatArray:
        """Draws (n_systems, n_draws) from the multivariate t whose every difference is the paired (clustered) t."""
        rng = rng or np.random.default_rng(0)
        normal = self.residuals @ rng.standard_normal((self.residuals.shape[1], n_draws))
        scale = np.sqrt(self.df / rng.chisquare(self.df, n_draws))
        return np.asarray(self.mean[:, None] + normal * scale)

    def pair_p_values(self) -> FloatArray:
        """Two-sided p-values (n_systems, n_systems) of the paired t tests; 1 on the diagonal.

        NaN where there is no test: the difference is the same on every question or cluster, and its variance, less
        than a millionth of the scores' own or of rounding's size, says nothing.
        """
        covariance = self.residuals @ self.residuals.T
        own = np.diag(covariance)
        variance = own[:, None] + own - 2 * covariance
        size = np.abs(self.mean)
        is_rounding = variance <= 1e-12 * (own[:, None] + own) + (1e-14 * (size[:, None] + size)) ** 2
        t = np.abs(self.mean[:, None] - self.mean) / np.sqrt(np.where(is_rounding, np.nan, variance))
        p: FloatArray = np.asarray(2 * special.stdtr(self.df, -t), float)
        np.fill_diagonal(p, 1.0)
        return p


def joint_means(scores: ArrayLike, clusters: ArrayLike | None = None) -> JointMeans:
    """Means over questions with cluster-robust covariances, C / (C - 1) sum_c R_ac R_bc / n^2.

    Parameters
    ----------
    scores : array_like (n_systems, n_questions)
    clusters : array_like (n_questions,) of labels; None where questions are independent

    Raises
    ------
    DataError : if the scores are not a finite two-dimensional array
    NotEstimableError : if there is one question or cluster only

    Miller (2024), eq. 8, for all pairs at once; each pair is `clustered_paired_t` (CR1).

    >>> fit = joint_means([[1.0, 0, 0, 0], [0, 0, 0, 0]])
    >>> round(float(fit.residuals[0] @ fit.residuals[0]) ** 0.5, 12)  # sd 1/2 over root 4
    0.25
    """
    y = check_finite(scores, "scores", 2)
    if not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    n = y.shape[1]
    codes = np.arange(n) if clusters is None else cluster_codes(clusters, n)
    n_units = int(codes.max()) + 1
    if n_units < 2:
        raise NotEstimableError("one question or cluster only: it shows no spread")
    mean = y.mean(axis=1)
    totals = np.stack([np.bincount(codes, row, n_units) for row in y - mean[:, None]])
    return JointMeans(mean, totals * np.sqrt(n_units / (n_units - 1)) / n, n_units - 1.0)
