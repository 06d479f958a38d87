"""Checks at the door for judged and partly labelled scores, and their sums over independent units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import cluster_codes
from harness_uq.stats.common.arrays import FloatArray, IntArray, numbers
from harness_uq.stats.common.scalars import check_range

FEWEST_UNITS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Judged items in independent units.

    Attributes
    ----------
    judge : ndarray (n_items,); the judge's scores
    human : ndarray (n_items,); the person's, NaN where there is none
    share : ndarray (n_items,); an item's part of its question, so that the mean is one over questions
    label_weight : ndarray (n_items,); share over the probability that the item was labelled
    codes : ndarray (n_items,) of int; the unit, a question or a cluster of them
    """

    judge: FloatArray
    human: FloatArray
    share: FloatArray
    label_weight: FloatArray
    codes: IntArray

    @property
    def is_labelled(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Which items a person graded, shape (n_items,)."""
        return np.asarray(~np.isnan(self.human))

    def sums(self) -> FloatArray:
        """Sums of each unit, shape (n_units, 7): 1, f over all items; 1, f, h, f f, f h over the labelled ones.

        f is the judge's score, h the person's; items weigh `share` in the first two and `label_weight` in the others.
        """
        f, h = self.judge, np.where(self.is_labelled, self.human, 0.0)
        w = np.where(self.is_labelled, self.label_weight, 0.0)
        columns = (self.share, self.share * f, w, w * f, w * h, w * f * f, w * f * h)
        return np.column_stack([np.bincount(self.codes, column) for column in columns])


def check_graded(
    judge: ArrayLike, human: ArrayLike, clusters: ArrayLike | None, probabilities: ArrayLike | None
) -> Graded:
    """Items of judge's scores (n_questions,) or (n_questions, n_trials) and a person's of that or one a question.

    Raises
    ------
    DataError : if shapes differ, a question has no judge's score, a label none beside it, or a probability is not in
        (0, 1]
    NotEstimableError : if fewer than three units have a label
    """
    f, h = _same_trials(numbers(judge, "judge"), numbers(human, "human"))
    judged = ~np.isnan(f)
    if np.isinf(f).any() or np.isinf(h).any():
        raise DataError("judge and human must be finite, or NaN where there is none")
    if not judged.any(axis=1).all():
        raise DataError(f"question {np.flatnonzero(~judged.any(axis=1))[0]} has no score of the judge: leave it out")
    if (~np.isnan(h) & ~judged).any():
        question = np.flatnonzero((~np.isnan(h) & ~judged).any(axis=1))[0]
        raise DataError(f"question {question} has a label for a trial without a score of the judge")
    share = np.broadcast_to(1.0 / judged.sum(axis=1, keepdims=True), f.shape)
    codes = np.arange(len(f)) if clusters is None else cluster_codes(clusters, len(f))
    units = np.broadcast_to(codes[:, None], f.shape)
    chance = _check_probabilities(probabilities, f, np.asarray(~np.isnan(h)))
    items = Graded(f[judged], h[judged], share[judged], (share / chance)[judged], units[judged])
    n_units = len(np.unique(items.codes[items.is_labelled]))
    if n_units < FEWEST_UNITS:
        raise NotEstimableError(
            f"{n_units} independent question(s) or cluster(s) with a label: correcting a judge needs at least "
            f"{FEWEST_UNITS}, and 20 to be of use"
        )
    return items


def check_bounds(human: FloatArray, low: float, high: float, name: str = "labels") -> None:
    """Raise DataError unless low < high and every label lies between them (NaN aside)."""
    check_range(low, high)
    wrong = human[(human < low) | (human > high)]
    if wrong.size:
        raise DataError(f"{name} must lie in [{low:g}, {high:g}]; got {wrong[0]:g}")


def mean_of_trials(scores: ArrayLike, name: str = "scores") -> FloatArray:
    """Mean over the trials that are there, shape (n_questions,); NaN where none is.

    >>> mean_of_trials([[1.0, float("nan")], [0.0, 1.0]]).tolist()
    [1.0, 0.5]
    """
    given = numbers(scores, name)
    if given.ndim not in (1, 2) or not given.size:
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, n_trials); got {given.shape}")
    trials = given.reshape(len(given), -1)
    counts = (~np.isnan(trials)).sum(axis=1)
    return np.asarray(np.divide(np.nansum(trials, axis=1), counts, out=np.full(len(trials), np.nan), where=counts > 0))


def _same_trials(judge: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both as (n_questions, n_trials); a judge's trials are averaged where the label is one of the question."""
    if judge.ndim not in (1, 2) or not judge.size:
        raise DataError(f"judge must have shape (n_questions,) or (n_questions, n_trials); got {judge.shape}")
    if judge.ndim == 2 and human.shape == judge.shape[:1]:
        judge = mean_of_trials(judge)
    if human.shape != judge.shape:
        raise DataError(
            f"human must have the shape of judge, {judge.shape}, or one label a question; got {human.shape}"
        )
    columns = judge.shape[1] if judge.ndim == 2 else 1
    return judge.reshape(-1, columns), human.reshape(-1, columns)


def _check_probabilities(
    probabilities: ArrayLike | None, scores: FloatArray, labelled: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"
) -> FloatArray:
    if probabilities is None:
        return np.ones(scores.shape)
    given = numbers(probabilities, "probabilities")
    chance = given[:, None] if given.shape == scores.shape[:1] else given
    if chance.shape not in (scores.shape, (len(scores), 1)):
        raise DataError(f"probabilities must hold one value a question ({len(scores)}); got shape {given.shape}")
    chance = np.broadcast_to(chance, scores.shape)
    wrong = chance[labelled & ~((chance > 0) & (chance <= 1))]
    if wrong.size:
        raise DataError(f"probabilities, that a question was labelled, must be in (0, 1]; got {wrong[0]:g}")
    return np.where(labelled, chance, 1.0)
