"""The difference of two systems that share a part of their questions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class PartialOverlap:
    """Estimates of two means and of their difference.

    `mean_a` and `mean_b` are best linear unbiased estimates, and their difference is the mean of `difference`,
    Student's t with one degree of freedom less than there are shared questions.
    """

    mean_a: float
    mean_b: float
    difference: StudentPosterior


def partial_overlap(shared_a: ArrayLike, shared_b: ArrayLike, own_a: ArrayLike, own_b: ArrayLike) -> PartialOverlap:
    """Estimate a difference from shared questions and from questions that only one system answered.

    The four means (of the shared questions of A and B, and of the own questions of A and of B) are combined by
    generalized least squares, x = X beta + e with Cov(e) = S: beta = (X' S^-1 X)^-1 X' S^-1 x. S contains the variance
    of each system's scores, estimated from all its questions, and the correlation on the shared questions. The result
    has the smallest variance of all unbiased linear combinations: it lies between the paired difference, if the
    correlation is high, and the difference of the means of all questions, if it is 0.

    Parameters
    ----------
    shared_a, shared_b : array_like, shape (n_shared,)
        Scores on the shared questions, in the same order.
    own_a, own_b : array_like, shape (n_own_a,) and (n_own_b,)
        Scores on the questions that only A, or only B, answered; at most one of them is empty. They are assumed to be
        from the same population of questions.

    Returns
    -------
    PartialOverlap
        Both means and the difference.

    Raises
    ------
    DataError
        If shapes differ or a score is not finite.
    NotEstimableError
        If there are fewer than three shared questions, no own question, or scores that do not vary.

    References
    ----------
    Looney and Jones (2003), Statistics in Medicine 22, 1601-1610, section 2 (the corrected z test, here in its optimal
    form); Rao (1973), Linear Statistical Inference, section 4a (generalized least squares).
    """
    a, b, more_a, more_b = (
        check_finite(values, name, 1)
        for values, name in ((shared_a, "shared_a"), (shared_b, "shared_b"), (own_a, "own_a"), (own_b, "own_b"))
    )
    if len(a) != len(b):
        raise DataError(f"shared_a and shared_b must have the same length; got {len(a)} and {len(b)}")
    n = len(a)
    if n < _FEWEST or not len(more_a) + len(more_b):
        raise NotEstimableError(f"{n} shared and {len(more_a)} + {len(more_b)} own questions are too few")
    variance_a, variance_b = (float(np.var(np.concatenate(parts), ddof=1)) for parts in ((a, more_a), (b, more_b)))
    if not (np.var(a) > 0 and np.var(b) > 0):
        raise NotEstimableError("the scores of a system do not vary")
    covariance = float(np.corrcoef(a, b)[0, 1]) * float(np.sqrt(variance_a * variance_b))
    # a mean of no questions is left out
    present = np.array([True, True, len(more_a) > 0, len(more_b) > 0])
    x = np.array([scores.mean() if len(scores) else np.nan for scores in (a, b, more_a, more_b)])[present]
    design = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])[present]
    s = np.diag([0.0, 0.0, variance_a / max(len(more_a), 1), variance_b / max(len(more_b), 1)])
    s[:2, :2] = np.array([[variance_a, covariance], [covariance, variance_b]]) / n
    means, error = _least_squares(x, design, s[np.ix_(present, present)])
    difference = StudentPosterior(float(means[0] - means[1]), error, n - 1.0)
    return PartialOverlap(float(means[0]), float(means[1]), difference)


def _least_squares(x: FloatArray, design: FloatArray, s: FloatArray) -> tuple[FloatArray, float]:
    """Estimates, and the standard error of the difference of the first two."""
    # identical scores on all shared questions make S singular
    weighted = design.T @ np.linalg.pinv(s, hermitian=True)
    inverse = np.linalg.inv(weighted @ design)
    contrast = np.array([1.0, -1.0])
    return np.asarray(inverse @ (weighted @ x)), float(np.sqrt(contrast @ inverse @ contrast))
