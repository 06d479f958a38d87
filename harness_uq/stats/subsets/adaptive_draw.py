"""Adaptive draw of further questions, based on the scores of the questions tried so far."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.validate_scalars import check_rng, check_whole
from harness_uq.stats.subsets.draw import FLOOR, Subset, inclusion_probabilities, ordered, systematic
from harness_uq.stats.subsets.logistic_regression import logistic
from harness_uq.stats.subsets.question_covariates import check_history, covariates
from harness_uq.stats.subsets.validate import check_probabilities, check_scores


def draw_additional(
    scores: ArrayLike,
    n: int,
    *,
    history: ArrayLike,
    probabilities: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Subset:
    """Draw n more questions, preferably those whose score is uncertain for this system.

    Let m_i be the score of question i predicted from the tried questions and the history (the regression of
    `subset_estimate`). A question that was not tried is drawn with a probability q_i proportional to sqrt(m (1 - m)) +
    0.15: Neyman's allocation for binary answers, bounded away from 0 in case the prediction is wrong.

    The n' questions tried before, drawn with probabilities p_i, give an estimate T'. Given these, the questions drawn
    now estimate the sum over all others, which gives a second estimate T''. With w = 1 - n N / ((n + n') (N - n')), the
    combined estimate w T' + (1 - w) T'' weights a question by 1 / p*, where

        p* = 1 / (1 - w + w / p)  for questions tried before,        p* = q / (1 - w)  for the others.

    If all questions are alike, p* is (n + n') / N for all. The p* are the probabilities for `subset_estimate` with both
    parts together, and for this function with a third part.

    Parameters
    ----------
    scores : array_like, shape (n_all,)
        Scores in [low, high]; NaN for questions that were not tried.
    n : int
        Number of questions to draw, at most the number of questions that were not tried.
    history : array_like, shape (n_systems, n_all)
        Scores of earlier systems in [low, high]; NaN if missing.
    probabilities : array_like, shape (n_all,), optional
        Probabilities in (0, 1] with which the tried questions were drawn (default: equal).
    low, high : float, optional
        Bounds of a score (default 0 and 1).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0).

    Returns
    -------
    Subset
        `indices` of the n further questions, and `probabilities` p* of all questions.

    Raises
    ------
    DataError
        If shapes differ, n is out of range, a score is outside [low, high] or a probability is not in (0, 1].
    NotEstimableError
        If no question was tried.

    Notes
    -----
    T'' is unbiased given the first part, and T' is unbiased over first parts. The combined estimate is therefore
    unbiased, for any result of the first part.

    References
    ----------
    Neyman (1934), J. R. Stat. Soc. 97, 558-625, on the allocation; arXiv 2601.20251 for a similar draw of one question
    at a time.

    Examples
    --------
    >>> tried = [1.0, 0.0] * 5 + [float("nan")] * 30
    >>> further = draw_additional(tried, 10, history=[[1.0] * 40])
    >>> len(further.indices), bool(further.indices.min() >= 10), set(further.probabilities.round(12).tolist())
    (10, True, {0.5})
    """
    y = (check_scores(scores, low, high) - low) / (high - low)
    is_tried, n_all = ~np.isnan(y), len(y)
    n_tried = int(is_tried.sum())
    if not n_tried:
        raise NotEstimableError("no question was tried. Use draw_subset for the first draw")
    check_whole(n, "n", 1, n_all - n_tried)
    rng = check_rng(rng)
    p = check_probabilities(probabilities, n_all, n_tried)
    x = covariates(check_history(history, n_all, low, high))
    predicted = special.expit(x @ logistic(x[is_tried], y[is_tried], 1.0 / p[is_tried]))
    rest = np.flatnonzero(~is_tried)
    further_share = n * n_all / ((n + n_tried) * (n_all - n_tried))
    neyman_size = np.sqrt(predicted[rest] * (1.0 - predicted[rest])) + FLOOR
    q = inclusion_probabilities(neyman_size, n, largest=further_share)
    drawn = rest[systematic(q, ordered(predicted[rest], rng), rng)]
    combined = np.empty(n_all)
    combined[is_tried] = 1.0 / (further_share + (1.0 - further_share) / p[is_tried])
    combined[rest] = q / further_share
    return Subset(np.sort(drawn), combined)
