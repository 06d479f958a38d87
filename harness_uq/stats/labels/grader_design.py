"""Which grader scores which answer, and the standard error of the mean score of a panel of graders."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.one_way import mean_squares
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, validated_codes
from harness_uq.stats.common.validate_scalars import check_rng, check_whole

_FEWEST_PILOT = 10


@dataclass(frozen=True, slots=True)
class GraderVariance:
    """Variances of the scores of a fixed panel of graders.

    Of the K graders, `questions` is the variance of the panel's mean score between questions, `graders` that of the
    graders' mean scores with the divisor K, and `residual` that of the rest, which is different for each grader and
    question, averaged over graders. `clusters` is the part of `questions` that is shared by the questions of a cluster
    (0 for independent questions), and `residual_clusters` the part of `residual` that they share for the same grader.
    """

    n_graders: int
    questions: float
    graders: float
    residual: float
    clusters: float = 0.0
    residual_clusters: float = 0.0

    def rotated_error(self, n_answers: int, n_per_answer: int = 1, same_cluster: float = 0.0) -> float:
        """Standard error of the mean score if `assign_graders` chooses the graders of each answer.

        It is that of an estimate of the panel's mean score of new questions. `same_cluster` is the share of the pairs
        of answers that belong to the same cluster.
        """
        k = self.n_graders
        check_whole(n_answers, "n_answers", 1)
        check_whole(n_per_answer, "n_per_answer", 1, k)
        rest = self.residual * (k - n_per_answer) / (n_per_answer * (k - 1))
        n_more = n_answers * n_per_answer % k  # graders that score one answer more than the others
        unequal = self.graders * n_more * (k - n_more) / (k - 1) / (n_answers * n_per_answer) ** 2
        shared = self.clusters * same_cluster * (n_answers - 1)
        return float(np.sqrt((self.questions + rest + shared) / n_answers + unequal))

    def single_error(self, n_answers: int, same_cluster: float = 0.0) -> float:
        """Root mean square error of the mean score of one grader, averaged over the graders of the panel.

        `same_cluster` is the share of the pairs of answers that belong to the same cluster.
        """
        check_whole(n_answers, "n_answers", 1)
        shared = (self.clusters + self.residual_clusters) * same_cluster * (n_answers - 1)
        return float(np.sqrt(self.graders + (self.questions + self.residual + shared) / n_answers))


def pairs_in_clusters(clusters: ArrayLike) -> float:
    """Share of the pairs of answers that belong to the same cluster.

    >>> pairs_in_clusters([0, 0, 1, 1, 2])  # 2 of 10 pairs
    0.2
    """
    sizes = np.unique(np.asarray(clusters), return_counts=True)[1]
    n = sizes.sum()
    return float((sizes * (sizes - 1)).sum() / (n * (n - 1))) if n > 1 else 0.0


def grader_variance(scores: ArrayLike, clusters: ArrayLike | None = None) -> GraderVariance:
    """Estimate the variances of the scores of several graders by a two-way analysis of variance.

    With the mean m_i over graders of question i, the deviation g_j of grader j from the mean of all graders, and the
    rest d_ij, the score is y_ij = m_i + g_j + d_ij. `scores` (n_questions, n_graders) are of the same answers by all
    graders. Raises DataError if a score is missing, or there are fewer than two graders; NotEstimableError if there are
    fewer than ten questions, or all of them belong to one cluster.

    The mean square of the estimates of g_j exceeds the variance of the graders by the variance of a mean of d_ij over
    the questions, which is subtracted. With clusters, m_i and d_ij are divided into a part between clusters and a part
    within clusters by one-way analyses of variance. If no cluster has several questions, the part between clusters is
    unknown and set to 0. Sources: Zhu et al. (2026), arXiv 2603.01865, for the decomposition; Searle, Casella and
    McCulloch (1992), "Variance Components", section 4.3, and section 3.6 for clusters of different sizes.

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
    codes = np.arange(n) if clusters is None else validated_codes(clusters, (n,))
    if codes.max() == 0:
        raise NotEstimableError("a plan of graders requires a pilot with answers of at least two clusters; got 1")
    questions, between = _between_clusters(of_questions, codes)
    residual, rest_between = _between_clusters(rest, codes)
    shared = rest_between * pairs_in_clusters(codes) * (n - 1)
    graders = max(0.0, float((of_graders**2).mean()) - (residual + shared) / n)
    return GraderVariance(k, questions, graders, residual, between, rest_between)


def _between_clusters(values: FloatArray, codes: IntArray) -> tuple[float, float]:
    """Variance of values (n,) or (n, k) and the part of it that is between clusters, averaged over columns."""
    squares = mean_squares(values, codes)
    if np.isnan(squares.within):  # each cluster has one value
        return squares.between, 0.0
    return squares.within + squares.variance_between, squares.variance_between


def assign_graders(
    n_answers: int, n_graders: int, n_per_answer: int = 1, rng: np.random.Generator | None = None
) -> IntArray:
    """Graders of each answer, so that all graders score equally many answers and meet equally often.

    Each answer gets the graders with the fewest answers so far. Among these, the graders are chosen that have met the
    other graders of the answer least often, and then at random. With one grader per answer, the graders take turns. The
    result (n_answers, n_per_answer) has graders in increasing order. The numbers of answers of two graders differ by at
    most one. Source: Zhu et al. (2026), "CyclicJudge", arXiv 2603.01865.

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
