"""Probability samples of questions."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.common.validate_scalars import check_range, check_rng, check_whole
from harness_uq.stats.subsets.question_covariates import check_history, rates

Design: TypeAlias = Literal["uniform", "stratified", "informative"]

FLOOR: Final = 0.15  # keeps inclusion probabilities away from 0


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """A probability sample of questions.

    Attributes
    ----------
    indices : ndarray of int, shape (n,)
        Increasing positions of the drawn questions.
    probabilities : ndarray, shape (n_questions,)
        Inclusion probability of each question, in (0, 1].
    """

    indices: IntArray
    probabilities: FloatArray


def draw_subset(
    n_questions: int,
    n: int,
    *,
    history: ArrayLike | None = None,
    design: Design = "stratified",
    low: float = 0.0,
    high: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Subset:
    """Draw n of n_questions questions with known inclusion probabilities.

    Questions are ordered, and a systematic sample is drawn: with each question occupying an interval as long as its
    probability, those that contain u, u + 1, ... are selected, with u uniform on [0, 1].

    Parameters
    ----------
    n_questions : int
        Number of questions of the benchmark.
    n : int
        Number of questions to draw, from 1 to n_questions.
    history : array_like, shape (n_systems, n_questions), optional
        Scores of earlier systems in [low, high]; NaN if missing.
    design : {"uniform", "stratified", "informative"}, optional
        ``uniform`` uses a random order. ``stratified`` (default) uses the order of the mean score over the systems of
        `history` (ties at random), so that every range of difficulty is represented; without a history it is uniform.
        ``informative`` uses the same order with probabilities proportional to s + 0.15. Here s^2 is r (1 - r) for
        questions with mean score r > 1/2, and 1/4 for the others, whose score by a stronger system is unpredictable.
    low, high : float, optional
        Bounds of a score (default 0 and 1).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal arguments give equal draws).

    Returns
    -------
    Subset
        Drawn questions and inclusion probabilities.

    Raises
    ------
    DataError
        If n is out of range, the design is unknown, or ``informative`` has no history.

    References
    ----------
    Madow (1949), Annals of Mathematical Statistics 20, 333-354; Särndal, Swensson and Wretman (1992), sections 3.4 and
    12.2.

    Examples
    --------
    >>> subset = draw_subset(100, 20)
    >>> len(subset.indices), float(subset.probabilities[0])
    (20, 0.2)
    """
    check_range(low, high)
    check_whole(n_questions, "n_questions", 1)
    check_whole(n, "n", 1, n_questions)
    if design not in ("uniform", "stratified", "informative"):
        raise DataError(f"design must be 'uniform', 'stratified' or 'informative'; got {design!r}")
    if history is None and design == "informative":
        raise DataError("design 'informative' requires a history, the scores of earlier systems")
    rng = check_rng(rng)
    size = difficulty = np.ones(n_questions)
    if history is not None and design != "uniform":
        difficulty = rates(check_history(history, n_questions, low, high))
        if design == "informative":
            size = np.sqrt(np.where(difficulty > 0.5, difficulty * (1.0 - difficulty), 0.25)) + FLOOR
    probabilities = inclusion_probabilities(size, n)
    return Subset(systematic(probabilities, ordered(difficulty, rng), rng), probabilities)


def inclusion_probabilities(size: FloatArray, n: int, *, largest: float = 1.0) -> FloatArray:
    """Probabilities proportional to `size` with sum n, limited to `largest` (in (0, 1])."""
    is_limited = np.zeros(len(size), bool)
    while True:
        n_left = n - largest * is_limited.sum()
        p = np.where(is_limited, largest, n_left * size / max(size[~is_limited].sum(), 1e-300))
        above = p > largest * (1 + 1e-12)
        if not above.any():
            return np.asarray(np.minimum(p, largest))
        is_limited |= above


def ordered(key: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions in the order of their keys, with ties in random order."""
    order = rng.permutation(len(key))
    return np.asarray(order[np.argsort(key[order], kind="stable")])


def systematic(probabilities: FloatArray, order: IntArray, rng: np.random.Generator) -> IntArray:
    """Increasing positions of the questions that contain u, u + 1, ... along the order."""
    ends = np.cumsum(probabilities[order])
    n = round(float(ends[-1]))
    return np.sort(order[np.searchsorted(ends * (n / ends[-1]), rng.random() + np.arange(n), side="right")])
