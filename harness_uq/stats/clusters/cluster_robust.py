"""Cluster-robust standard error of a mean score, with intervals and diagnostics of clustering."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.one_way import mean_squares
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.common.validate_arrays import (
    FloatArray,
    IntArray,
    check_finite,
    check_level,
    check_weights,
    validated_codes,
)
from harness_uq.stats.proportion.binomial import wilson_score

Correction: TypeAlias = Literal["CR1", "CR2"]


@dataclass(frozen=True, slots=True)
class ClusterRobust:
    """Mean of clustered scores with its cluster-robust standard error.

    `mean` is weighted if weights were given, `df` is C - 1 with CR1 and Satterthwaite's with CR2, and `std_error_iid`
    assumes independent questions. `icc` is the ANOVA estimate of the intraclass correlation: negative if questions
    within a cluster differ more than questions of different clusters, None if no cluster has two questions.
    """

    mean: float
    std_error: float
    df: float
    std_error_iid: float
    n_questions: int
    n_clusters: int
    icc: float | None

    @property
    def design_effect(self) -> float:
        """Squared ratio of the cluster-robust to the independent standard error."""
        return (self.std_error / self.std_error_iid) ** 2

    @property
    def effective_questions(self) -> float:
        """Number of independent questions with the same standard error."""
        return self.n_questions / self.design_effect

    @property
    def posterior(self) -> StudentPosterior:
        """Student's t distribution of the mean."""
        return StudentPosterior(self.mean, self.std_error, self.df)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval mean ± t(df) std_error, which may exceed the range of the scores."""
        return self.posterior.interval(level)


def cluster_robust(
    scores: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None, correction: Correction = "CR1"
) -> ClusterRobust:
    """Cluster-robust standard error of the mean over questions.

    With residuals e_i = s_i - mean, weights w_i (1 by default) and their sum W, let W_c and R_c be the sums of w_i and
    of w_i e_i over cluster c:

        CR1: SE^2 = C / (C - 1) sum_c R_c^2 / W^2,           C - 1 degrees of freedom
        CR2: SE^2 = sum_c R_c^2 / (1 - W_c / W) / W^2,       Satterthwaite's degrees of freedom

    For any cluster sizes, CR2 is unbiased if questions are independent with variances proportional to 1 / w_i.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores, on any scale.
    clusters : array_like, shape (n_questions,)
        Cluster labels.
    weights : array_like, shape (n_questions,), optional
        Positive weights.
    correction : {"CR1", "CR2"}, optional
        Small-sample correction (default "CR1").

    Returns
    -------
    ClusterRobust
        Mean, standard error and degrees of freedom.

    Raises
    ------
    DataError
        If shapes differ, a score is not finite or a weight is not positive.
    NotEstimableError
        If there is only one cluster, or all clusters have the same mean, for which the formula gives 0.

    References
    ----------
    CR1: Miller (2024), eq. 4, times C / (C - 1); Liang and Zeger (1986). CR2: Bell and McCaffrey (2002); Pustejovsky
    and Tipton (2018), eqs. 6-11, in closed form for an intercept.

    Examples
    --------
    Two clusters have means 1 and 1/2 and residual sums 1/2 and -1/2, so SE^2 = 2 (1/4 + 1/4) / 16:

    >>> result = cluster_robust([1, 1, 0, 1], [0, 0, 1, 1])
    >>> result.std_error, result.df
    (0.25, 1.0)
    """
    s, c, w = _check_clustered(scores, clusters, weights)
    if correction not in ("CR1", "CR2"):
        raise DataError(f"correction must be 'CR1' or 'CR2'; got {correction!r}")
    mean = float(w @ s / w.sum())
    share = np.bincount(c, w) / w.sum()
    residual = np.bincount(c, w * (s - mean)) / w.sum()
    n_clusters = _require_clusters(len(share))
    if _is_rounding(residual, s):
        raise NotEstimableError(
            f"all {n_clusters} questions or clusters have the same mean {mean:g}, so that the standard error is 0. The "
            "method bayes estimates an interval if the range of the scores is known"
        )
    if correction == "CR1":
        variance, df = n_clusters / (n_clusters - 1) * float(residual @ residual), n_clusters - 1.0
    else:
        variance, df = float(residual**2 @ (1.0 / (1.0 - share))), _satterthwaite(share)
    iid = _iid_std_error(s, w, mean)
    return ClusterRobust(mean, float(np.sqrt(variance)), df, iid, len(s), n_clusters, _icc(s, c))


def korn_graubard_wilson(
    scores: ArrayLike, clusters: ArrayLike, *, level: float = 0.95, weights: ArrayLike | None = None
) -> tuple[float, float]:
    """Wilson interval of a clustered proportion, with an effective sample size and t(C - 1) instead of z.

    The effective sample size is n_eff = min(n, p (1 - p) / SE_cluster^2). If p is 0 or 1, or all clusters have the
    same mean, the standard error is uninformative and n_eff = n.

    Parameters
    ----------
    scores : array_like, shape (n_questions,)
        Scores in [0, 1]. For repeated trials, pass each trial with the label of its question.
    clusters : array_like, shape (n_questions,)
        Cluster labels.
    level : float, optional
        Nominal coverage (default 0.95).
    weights : array_like, shape (n_questions,), optional
        Positive weights; then n = (sum w)^2 / sum w^2.

    Returns
    -------
    low, high : float
        Interval limits, between 0 and 1.

    Raises
    ------
    DataError
        If shapes differ, a score is outside [0, 1] or a weight is not positive.
    NotEstimableError
        If there is only one cluster.

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24, 193-201; Franco et al. (2019), Journal of Survey Statistics and
    Methodology 7, 334-364.

    Examples
    --------
    If all answers are right, the lower limit is n / (n + t^2), here with n = 4 and t(1) = 1 at level 1/2:

    >>> low, high = korn_graubard_wilson([1, 1, 1, 1], [0, 0, 1, 1], level=0.5)
    >>> round(low, 9), high
    (0.8, 1.0)
    """
    s, c, w = _check_clustered(scores, clusters, weights)
    if (s < 0).any() or (s > 1).any():
        raise DataError(f"Wilson's interval needs scores in [0, 1]; got values from {s.min():g} to {s.max():g}")
    n_clusters = _require_clusters(int(c.max()) + 1)
    critical = float(special.stdtrit(n_clusters - 1.0, (1.0 + check_level(level)) / 2.0))
    p, n = float(w @ s / w.sum()), float(w.sum() ** 2 / (w @ w))
    residual = np.bincount(c, w * (s - p)) / w.sum()
    if not _is_rounding(residual, s):
        n = min(n, p * (1.0 - p) * (n_clusters - 1) / n_clusters / float(residual @ residual))
    low, high = wilson_score(np.asarray(p * n), np.asarray(n), critical)
    return float(low), float(high)


def _check_clustered(
    scores: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None
) -> tuple[FloatArray, IntArray, FloatArray]:
    s = check_finite(scores, "scores", 1)
    if not len(s):
        raise NotEstimableError("no scores: a mean needs at least one question")
    return s, validated_codes(clusters, (len(s),)), check_weights(weights, len(s))


def _require_clusters(n_clusters: int) -> int:
    if n_clusters < 2:
        raise NotEstimableError(
            "the variance between clusters cannot be estimated from one cluster; treat the questions as independent, "
            "or use the Bayesian clustered posterior, whose width then depends on its prior"
        )
    return n_clusters


def _is_rounding(residual: FloatArray, scores: FloatArray) -> bool:
    return bool(np.abs(residual).max() <= 1e-14 * max(np.abs(scores).max(), 1e-300) * len(scores))


def _satterthwaite(share: FloatArray) -> float:
    """Degrees of freedom 2 E[V]^2 / Var[V] of CR2 under independence, from the clusters' shares of the weight."""
    b = share**2 / (1.0 - share)
    return float(1.0 / (share @ share + b.sum() ** 2 - b @ b))


def _iid_std_error(s: FloatArray, w: FloatArray, mean: float) -> float:
    n = len(s)
    return float(np.sqrt(n / (n - 1) * np.sum((w * (s - mean)) ** 2))) / float(w.sum())


def _icc(s: FloatArray, c: IntArray) -> float | None:
    """ANOVA estimate for unequal sizes, (MSB - MSW) / (MSB + (n0 - 1) MSW): Donner (1986), eq. 2.1.

    It is limited to [-1/(m - 1), 1] with the largest size m, the possible range of a correlation within clusters.
    """
    largest = int(np.bincount(c).max())
    if largest == 1:
        return None
    squares = mean_squares(s, c)
    scale = squares.between + (squares.typical_size - 1.0) * squares.within
    if not scale > 0:
        return None
    return float(np.clip((squares.between - squares.within) / scale, -1.0 / (largest - 1.0), 1.0))
