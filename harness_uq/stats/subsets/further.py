"""Further questions, drawn for what those already tried say of the system."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.scalars import check_whole, generator
from harness_uq.stats.subsets.draw import FLOOR, Subset, inclusion, ordered, systematic
from harness_uq.stats.subsets.history import check_history, covariates
from harness_uq.stats.subsets.part import check_probabilities, check_scores
from harness_uq.stats.subsets.regression import logistic


def draw_further(
    scores: ArrayLike,
    n: int,
    *,
    history: ArrayLike,
    probabilities: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Subset:
    """Draw n more questions, more often those whose score is open for this system.

    With m_i the score of question i that the questions tried and the history predict (the regression of
    `subset_estimate`), a question not yet tried is drawn with a probability q_i proportional to sqrt(m (1 - m)) + 0.15:
    Neyman's allocation for right and wrong answers, away from 0 in case the prediction errs. The n' questions tried
    before, drawn with p_i, give an estimate T' of their own. Given them, all other questions' sum is estimated by those
    drawn now, which gives T''. With w = 1 - n N / ((n + n') (N - n')), w T' + (1 - w) T'' weights a question by 1 / p*,

        p* = 1 / (1 - w + w / p)  where it was tried before,        p* = q / (1 - w)  where not.

    Where all questions are alike, p* is (n + n') / N for all. The p* are what `subset_estimate` takes for probabilities
    of both parts together, and this function for a third part.

    Parameters
    ----------
    scores : array_like (n_all,), in [low, high]; NaN where the question was not tried
    n : int, from 1 to the number of questions not tried
    history : array_like (n_systems, n_all), scores of earlier systems in [low, high]; NaN where there is none
    probabilities : array_like (n_all,), in (0, 1], with which the questions tried were drawn; None if all were alike
    rng : generator; None takes a fixed seed

    Returns
    -------
    Subset : `indices` of the n further questions; `probabilities` p* of all

    Raises
    ------
    DataError : if shapes differ, n is out of range, a score is outside [low, high] or a probability not in (0, 1]
    NotEstimableError : if no question was tried

    Given the first part T'' is right on average, and T' is over first parts: the weighted mean is right on average
    whatever the first part showed. Neyman (1934), J. R. Stat. Soc. 97:558, for the allocation; arXiv 2601.20251 draws
    question by question in the same spirit.

    >>> tried = [1.0, 0.0] * 5 + [float("nan")] * 30
    >>> further = draw_further(tried, 10, history=[[1.0] * 40])
    >>> len(further.indices), bool(further.indices.min() >= 10), set(further.probabilities.round(12).tolist())
    (10, True, {0.5})
    """
    y = (check_scores(scores, low, high) - low) / (high - low)
    is_tried, n_all = ~np.isnan(y), len(y)
    before = int(is_tried.sum())
    if not before:
        raise NotEstimableError("no question was tried: draw_subset draws the first ones")
    check_whole(n, "n", 1, n_all - before)
    rng = generator(rng)
    p = check_probabilities(probabilities, n_all, before)
    x = covariates(check_history(history, n_all, low, high))
    predicted = special.expit(x @ logistic(x[is_tried], y[is_tried], 1.0 / p[is_tried]))
    rest = np.flatnonzero(~is_tried)
    of_further = n * n_all / ((n + before) * (n_all - before))
    q = inclusion(_openness(predicted[rest]), n, most=of_further)
    drawn = rest[systematic(q, ordered(predicted[rest], rng), rng)]
    together = np.empty(n_all)
    together[is_tried] = 1.0 / (of_further + (1.0 - of_further) / p[is_tried])
    together[rest] = q / of_further
    return Subset(np.sort(drawn), together)


def _openness(predicted: FloatArray) -> FloatArray:
    return np.sqrt(predicted * (1.0 - predicted)) + FLOOR
