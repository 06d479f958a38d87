"""Frequentist companions of the paired posteriors: McNemar's test, Tango's interval, t on paired differences."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import ClusterRobust, Correction, cluster_robust
from harness_uq.stats.common.arrays import FloatArray, check_finite, check_level, label_codes, numbers
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.student import StudentPosterior, student_mean
from harness_uq.stats.pairs.paired import check_table


def mcnemar_test(table: ArrayLike, *, mid_p: bool = False) -> float:
    """Two-sided p-value of McNemar's exact test that two systems are equally good.

    Parameters
    ----------
    table : array_like, shape (4,); questions that [both, only A, only B, neither] got right
    mid_p : count the probability of the observed table half: less conservative, no longer guaranteed

    Returns
    -------
    p : float in (0, 1]; 1 where no question is discordant

    Raises
    ------
    DataError : if the table is not four whole counts

    Given c10 + c01 = n, c10 ~ Bin(n, 1/2): p = 2 P(X <= min(c10, c01)), at most 1; the mid-p is
    2 P(X < min) + P(X = min). McNemar (1947); Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13:91.

    One against seven: 2 (1 + 8) / 2^8, and the mid-p leaves out 8 / 2^8 of it.

    >>> mcnemar_test([1, 1, 7, 12]), mcnemar_test([1, 1, 7, 12], mid_p=True)
    (0.0703125, 0.0390625)
    """
    counts = check_table(table)
    if (counts % 1).any():
        raise DataError(f"McNemar's exact test needs whole counts in its table; got {counts.tolist()}")
    fewer, n = int(counts[1:3].min()), int(counts[1:3].sum())
    below = special.bdtr(fewer, n, 0.5)
    less = special.bdtr(fewer - 1, n, 0.5) if fewer > 0 else 0.0
    return float(min(1.0, below + less if mid_p else 2 * below))


def tango_interval(table: ArrayLike, *, level: float = 0.95) -> tuple[float, float]:
    """Score interval for theta_A - theta_B on the same questions.

    The differences d that the score test with the restricted maximum likelihood q of P(only B),
    (c10 - c01 - n d) / sqrt(n (2 q + d (1 - d))), does not reject. Never collapses, never leaves [-1, 1].

    Parameters
    ----------
    table : array_like, shape (4,); questions that [both, only A, only B, neither] got right

    Raises
    ------
    DataError : if the table is not four counts

    Tango (1998), Statistics in Medicine 17, 891-908, eqs. 5-8.

    >>> [round(x, 3) for x in tango_interval([1, 1, 7, 12])]
    [-0.517, -0.026]
    """
    counts = check_table(table)
    n, only_a, only_b = counts.sum(), counts[1], counts[2]
    z = float(special.ndtri((1 + check_level(level)) / 2))
    observed = (only_a - only_b) / n

    def score(d: FloatArray) -> FloatArray:
        b, c = (2 * n - only_a + only_b) * d - only_a - only_b, -only_b * d * (1 - d)
        q = (np.sqrt(np.maximum(b**2 - 8 * n * c, 0.0)) - b) / (4 * n)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (d - observed) * np.sqrt(n) / np.sqrt(np.maximum(2 * q + d * (1 - d), 0.0))
        return np.asarray(np.where(d == observed, 0.0, value))

    scale = max(0.1, only_a + only_b) ** 0.5 / n
    low, high = invert_increasing(score, [-z, z], low=-1.0, high=1.0, guess=observed, scale=scale)
    return float(low), float(high)


def paired_t(differences: ArrayLike) -> StudentPosterior:
    """Student's t on per-question differences, SE = sd(d) / sqrt(n), n - 1 degrees of freedom.

    Parameters
    ----------
    differences : array_like, shape (n_questions,); score of A less score of B; NaN (unmatched) is left out

    Raises
    ------
    NotEstimableError : if fewer than two differences are left, or all are equal

    Miller (2024), section 4.2; Bowyer et al. (2025), eq. 4.

    >>> round(paired_t([1, 0, 0, 0]).std_error, 12)
    0.25
    """
    return student_mean(_present(differences))


def clustered_paired_t(differences: ArrayLike, clusters: ArrayLike, *, correction: Correction = "CR1") -> ClusterRobust:
    """Cluster-robust t on per-question differences; see `cluster_robust` for CR1 and CR2.

    Parameters
    ----------
    differences : array_like, shape (n_questions,); NaN (unmatched) is left out
    clusters : array_like, shape (n_questions,) of labels

    Raises
    ------
    NotEstimableError : if one cluster is left, or all have the same mean

    Miller (2024), eq. 8, with the small-sample corrections of `cluster_robust`.

    >>> clustered_paired_t([1, 1, 0, 1], [0, 0, 1, 1]).std_error
    0.25
    """
    d = numbers(differences, "differences")
    labels = label_codes(clusters, d.shape)
    return cluster_robust(check_finite(d[~np.isnan(d)], "differences", 1), labels[~np.isnan(d)], correction=correction)


def score_correlation(scores_a: ArrayLike, scores_b: ArrayLike) -> float:
    """Pearson correlation of the two systems' scores over questions.

    Parameters
    ----------
    scores_a, scores_b : array_like, shape (n_questions,); mean scores; a question with a NaN is left out

    Raises
    ------
    NotEstimableError : if a system scores the same on every question

    Miller (2024), section 4.2.

    >>> round(score_correlation([1, 0, 1, 0], [1, 0, 0, 0]), 6)
    0.57735
    """
    a, b = _matched(scores_a, scores_b)
    da, db = a - a.mean(), b - b.mean()
    if not (da.any() and db.any()):
        who = "A" if not da.any() else "B"
        raise NotEstimableError(f"system {who} scores the same on all {a.size} questions: no correlation to speak of")
    return float(np.clip(da @ db / np.sqrt((da @ da) * (db @ db)), -1.0, 1.0))


def variance_saved(scores_a: ArrayLike, scores_b: ArrayLike) -> float:
    """Share of the variance of a difference that pairing removes, 1 - Var(a - b) / (Var(a) + Var(b)).

    Negative where the systems' scores are negatively correlated. Miller (2024), section 4.2.

    Raises
    ------
    NotEstimableError : if both systems score the same on every question

    >>> variance_saved([1, 0, 1, 0], [1, 0, 1, 0])
    1.0
    """
    a, b = _matched(scores_a, scores_b)
    unpaired = a.var() + b.var()
    if not unpaired > 0:
        raise NotEstimableError(f"both systems score the same on all {a.size} questions: there is no variance to save")
    return float(1 - (a - b).var() / unpaired)


def _present(differences: ArrayLike) -> FloatArray:
    d = numbers(differences, "differences")
    return check_finite(d[~np.isnan(d)], "differences", 1)


def _matched(scores_a: ArrayLike, scores_b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = numbers(scores_a, "scores_a"), numbers(scores_b, "scores_b")
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"scores_a and scores_b must be of the same questions; got shapes {a.shape} and {b.shape}")
    both = ~(np.isnan(a) | np.isnan(b))
    if not both.any():
        raise DataError("no question has a score of both systems, in scores_a and scores_b")
    return check_finite(a[both], "scores_a", 1), check_finite(b[both], "scores_b", 1)
