"""Frequentist methods for matched pairs: McNemar's test, and t on paired differences."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.student import StudentPosterior, student_posterior
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_finite
from harness_uq.stats.units.contrasts import check_table


def mcnemar_test(table: ArrayLike, *, mid_p: bool = False) -> float:
    """McNemar's exact test that two systems are equally good.

    Given n = c10 + c01 discordant questions, c10 ~ Bin(n, 1/2) under the null hypothesis, and the two-sided p-value is
    2 P(X <= min(c10, c01)), at most 1. The mid-p-value is 2 P(X < min) + P(X = min).

    Parameters
    ----------
    table : array_like, shape (4,)
        Numbers of questions that [both, only A, only B, neither] got right.
    mid_p : bool, optional
        Return the mid-p-value, which is less conservative but not guaranteed to control the error rate.

    Returns
    -------
    float
        p-value in (0, 1]; 1 if no question is discordant.

    Raises
    ------
    DataError
        If the table is not four whole counts.

    References
    ----------
    McNemar (1947); Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13:91.

    Examples
    --------
    One against seven discordant questions give 2 (1 + 8) / 2^8; the mid-p-value is smaller by 8 / 2^8:

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


def paired_t(differences: ArrayLike) -> StudentPosterior:
    """Student's t for per-question differences, with SE = sd(d) / sqrt(n) and n - 1 degrees of freedom.

    Parameters
    ----------
    differences : array_like, shape (n_questions,)
        Score of A minus score of B; NaN for unmatched questions, which are ignored.

    Returns
    -------
    StudentPosterior
        t distribution of the mean difference.

    Raises
    ------
    NotEstimableError
        If there are fewer than two differences, or all are equal.

    References
    ----------
    Miller (2024), section 4.2; Bowyer et al. (2025), eq. 4.

    Examples
    --------
    >>> round(paired_t([1, 0, 0, 0]).std_error, 12)
    0.25
    """
    d = as_floats(differences, "differences")
    return student_posterior(check_finite(d[~np.isnan(d)], "differences", 1))


def pairing_gain(scores_a: ArrayLike, scores_b: ArrayLike) -> tuple[float | None, float | None]:
    """Correlation of two systems' scores over questions, and how much pairing reduces the variance of the difference.

    The relative reduction is 1 - Var(a - b) / (Var(a) + Var(b)). It is negative if the scores are negatively
    correlated.

    Parameters
    ----------
    scores_a, scores_b : array_like, shape (n_questions,)
        Mean scores; questions with a NaN are ignored.

    Returns
    -------
    correlation : float or None
        Pearson correlation; None if a system has the same score on every question.
    reduction : float or None
        Relative reduction, at most 1; None if both systems have the same score on every question.

    Raises
    ------
    DataError
        If no question has a score of both systems.

    References
    ----------
    Miller (2024), section 4.2.

    Examples
    --------
    >>> pairing_gain([1, 0, 1, 0], [1, 0, 1, 0])
    (1.0, 1.0)
    """
    a, b = _matched(scores_a, scores_b)
    da, db = a - a.mean(), b - b.mean()
    unpaired = a.var() + b.var()
    reduction = float(1 - (a - b).var() / unpaired) if unpaired > 0 else None
    if not (da.any() and db.any()):
        return None, reduction
    return float(np.clip(da @ db / np.sqrt((da @ da) * (db @ db)), -1.0, 1.0)), reduction


def _matched(scores_a: ArrayLike, scores_b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = as_floats(scores_a, "scores_a"), as_floats(scores_b, "scores_b")
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"scores_a and scores_b must have the same questions; got shapes {a.shape} and {b.shape}")
    both = ~(np.isnan(a) | np.isnan(b))
    if not both.any():
        raise DataError("no question has a score in both scores_a and scores_b")
    return check_finite(a[both], "scores_a", 1), check_finite(b[both], "scores_b", 1)
