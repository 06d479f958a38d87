"""Which grader scores which answer, and the standard error of the mean score of a panel of graders."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import IntArray, as_floats
from harness_uq.stats.common.validate_scalars import check_rng, check_whole

_FEWEST_PILOT = 10


@dataclass(frozen=True, slots=True)
class GraderVariance:
    """Variances of the scores of a fixed panel of graders.

    Attributes
    ----------
    n_graders : int
        Number of graders K.
    questions : float
        Variance of the panel's mean score between questions.
    graders : float
        Variance of the graders' mean scores, with the divisor K.
    residual : float
        Variance of the rest, which is different for each grader and question, averaged over graders.
    """

    n_graders: int
    questions: float
    graders: float
    residual: float

    def rotated_error(self, n_answers: int, n_per_answer: int = 1) -> float:
        """Standard error of the mean score if `assign_graders` chooses the graders of each answer.

        It is that of an estimate of the panel's mean score of new questions.
        """
        k = self.n_graders
        check_whole(n_answers, "n_answers", 1)
        check_whole(n_per_answer, "n_per_answer", 1, k)
        rest = self.residual * (k - n_per_answer) / (n_per_answer * (k - 1))
        n_more = n_answers * n_per_answer % k  # graders that score one answer more than the others
        unequal = self.graders * n_more * (k - n_more) / (k - 1) / (n_answers * n_per_answer) ** 2
        return float(np.sqrt((self.questions + rest) / n_answers + unequal))

    def single_error(self, n_answers: int) -> float:
        """Root mean square error of the mean score of one grader, averaged over the graders of the panel."""
        check_whole(n_answers, "n_answers", 1)
        return float(np.sqrt(self.graders + (self.questions + self.residual) / n_answers))


def grader_variance(scores: ArrayLike) -> GraderVariance:
    """Estimate the variances of the scores of several graders by a two-way analysis of variance.

    With the mean m_i over graders of question i, the deviation g_j of grader j from the mean of all graders, and the
    rest d_ij, the score is y_ij = m_i + g_j + d_ij.

    Parameters
    ----------
    scores : array_like, shape (n_questions, n_graders)
        Scores of the same answers by all graders.

    Raises
    ------
    DataError
        If a score is missing, or there are fewer than two graders.
    NotEstimableError
        If there are fewer than ten questions.

    Notes
    -----
    The mean square of the estimates of g_j exceeds the variance of the graders by the residual variance divided by the
    number of questions, which is subtracted.

    References
    ----------
    Zhu et al. (2026), arXiv 2603.01865, for the decomposition; Searle, Casella and McCulloch (1992), "Variance
    Components", section 4.3.

    Examples
    --------
    The second grader is stricter by 0.2, and both agree otherwise:

    >>> first = np.array([0.9, 0.5, 0.7, 0.3, 0.6] * 4)
    >>> found = grader_variance(np.column_stack([first, first - 0.2]))
    >>> round(found.graders, 4), round(found.residual, 4)
    (0.01, 0.0)
    """
    y = as_floats(scores, "scores")
    if y.ndim != 2 or y.shape[1] < 2 or not np.isfinite(y).all():
        raise DataError(f"scores must have shape (n_questions, n_graders) with at least two graders; got {y.shape}")
    n, k = y.shape
    if n < _FEWEST_PILOT:
        raise NotEstimableError(
            f"a plan of graders requires at least {_FEWEST_PILOT} answers that all graders scored; got {n}"
        )
    of_questions, of_graders = y.mean(axis=1), y.mean(axis=0) - y.mean()
    rest = y - of_questions[:, None] - of_graders
    residual = float((rest**2).sum() / (k * (n - 1)))
    graders = max(0.0, float((of_graders**2).mean()) - residual / n)
    return GraderVariance(k, float(of_questions.var(ddof=1)), graders, residual)


def assign_graders(
    n_answers: int, n_graders: int, n_per_answer: int = 1, rng: np.random.Generator | None = None
) -> IntArray:
    """Graders of each answer, so that all graders score equally many answers and meet equally often.

    Each answer gets the graders with the fewest answers so far. Among these, the graders are chosen that have met the
    other graders of the answer least often, and then at random. With one grader per answer, the graders take turns.

    Parameters
    ----------
    n_answers, n_graders : int
        Numbers of answers and of graders.
    n_per_answer : int, optional
        Number of graders of each answer, at most `n_graders` (default 1).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0).

    Returns
    -------
    ndarray of int, shape (n_answers, n_per_answer)
        Graders of each answer, in increasing order. The numbers of answers of two graders differ by at most one.

    References
    ----------
    Zhu et al. (2026), "CyclicJudge", arXiv 2603.01865.

    Examples
    --------
    >>> sorted(np.bincount(assign_graders(10, 4).ravel()).tolist())
    [2, 2, 3, 3]
    """
    check_whole(n_answers, "n_answers", 1)
    check_whole(n_graders, "n_graders", 1)
    check_whole(n_per_answer, "n_per_answer", 1, n_graders)
    rng = check_rng(rng)
    n_scored, n_met = np.zeros(n_graders, np.int64), np.zeros((n_graders, n_graders), np.int64)
    assigned = np.empty((n_answers, n_per_answer), np.int64)
    for i in range(n_answers):
        chosen: list[int] = []
        is_taken = np.zeros(n_graders, bool)
        for _ in range(n_per_answer):
            order = np.lexsort((rng.random(n_graders), n_met[:, chosen].sum(axis=1), n_scored, is_taken))
            chosen.append(int(order[0]))
            is_taken[order[0]] = True
        n_scored[chosen] += 1
        n_met[np.ix_(chosen, chosen)] += 1
        assigned[i] = sorted(chosen)
    return assigned
