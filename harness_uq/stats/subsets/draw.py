"""Questions drawn with known probabilities."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray
from harness_uq.stats.common.scalars import check_range, check_whole, generator
from harness_uq.stats.subsets.history import check_history, rates

Design: TypeAlias = Literal["uniform", "stratified", "informative"]

FLOOR: Final = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Questions drawn.

    Attributes
    ----------
    indices : ndarray (n,) of int, increasing; positions among the n_questions
    probabilities : ndarray (n_questions,), in (0, 1]; with which each question was to be drawn
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
    """Draw n of n_questions questions with known probabilities.

    The questions are laid end to end, each as long as its probability, and those taken in which u, u + 1, … fall, u
    uniform on [0, 1] (systematic sampling). ``uniform`` lays them in random order; ``stratified`` in the order of their
    mean score over the systems of `history`, equal ones at random, so that every range of difficulty has its share;
    ``informative`` in that order with probabilities proportional to s + 0.15, where s^2 is r (1 - r) for questions that
    most systems solve (r their mean score), and 1/4 for the others, whose score by a stronger system nothing tells.

    Parameters
    ----------
    n_questions : int; questions of the whole benchmark
    n : int, 1 <= n <= n_questions
    history : array_like (n_systems, n_questions), scores of earlier systems in [low, high]; NaN where there is none
    design : ``uniform``, ``stratified`` (which needs a history, and is uniform without) or ``informative``
    rng : generator; None takes a fixed seed, so that the same arguments draw the same questions

    Raises
    ------
    DataError : if n is out of range, the design is unknown, or ``informative`` has no history

    Madow (1949), Annals of Mathematical Statistics 20:333; Särndal, Swensson & Wretman (1992), sections 3.4 and 12.2.

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
        raise DataError("drawing by what is informative needs a history: scores of earlier systems")
    rng = generator(rng)
    size = along = np.ones(n_questions)
    if history is not None and design != "uniform":
        along = rates(check_history(history, n_questions, low, high))
        size = _informativeness(along) if design == "informative" else size
    probabilities = inclusion(size, n)
    return Subset(systematic(probabilities, ordered(along, rng), rng), probabilities)


def _informativeness(r: FloatArray) -> FloatArray:
    return np.sqrt(np.where(r > 0.5, r * (1.0 - r), 0.25)) + FLOOR


def inclusion(size: FloatArray, n: int, *, most: float = 1.0) -> FloatArray:
    """Probabilities proportional to `size` that add up to n, none above `most`, in (0, 1]."""
    at_most = np.zeros(len(size), bool)
    while True:
        p = np.where(at_most, most, (n - most * at_most.sum()) * size / max(size[~at_most].sum(), 1e-300))
        above = p > most * (1 + 1e-12)
        if not above.any():
            return np.asarray(np.minimum(p, most))
        at_most |= above


def ordered(key: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions in the order of their keys, equal ones at random."""
    order = rng.permutation(len(key))
    return np.asarray(order[np.argsort(key[order], kind="stable")])


def systematic(probabilities: FloatArray, order: IntArray, rng: np.random.Generator) -> IntArray:
    """Positions of the questions in which u, u + 1, … fall along the order; increasing."""
    ends = np.cumsum(probabilities[order])
    n = round(float(ends[-1]))
    return np.sort(order[np.searchsorted(ends * (n / ends[-1]), rng.random() + np.arange(n), side="right")])
