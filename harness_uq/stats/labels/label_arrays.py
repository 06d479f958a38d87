"""Validation of judge scores and human labels, and their sums over independent units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, validated_codes
from harness_uq.stats.common.validate_scalars import check_range

MIN_UNITS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Judged items in independent units.

    For each item, `judge` has its score, `human` its label (NaN if missing), `share` its share in its question, so that
    means are over questions, `label_weight` this share over the probability that it was labelled, and `codes` its unit,
    a question or a cluster.
    """

    judge: FloatArray
    human: FloatArray
    share: FloatArray
    label_weight: FloatArray
    codes: IntArray

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Items with a human label, shape (n_items,)."""
        return np.asarray(~np.isnan(self.human))

    def sums(self) -> FloatArray:
        """Sums of each unit, shape (n_units, 7): 1, f over all items; 1, f, h, f f, f h over labelled items.

        f is the judge's score and h the label. Items have weight `share` in the first two sums, and `label_weight` in
        the others.
        """
        f, h = self.judge, np.where(self.is_labelled, self.human, 0.0)
        w = np.where(self.is_labelled, self.label_weight, 0.0)
        columns = (self.share, self.share * f, w, w * f, w * h, w * f * f, w * f * h)
        return np.column_stack([np.bincount(self.codes, column) for column in columns])


def check_graded(
    judge: ArrayLike, human: ArrayLike, clusters: ArrayLike | None, probabilities: ArrayLike | None
) -> Graded:
    """Validate judge scores and human labels.

    The judge's scores have shape (n_questions,) or (n_questions, n_trials). Labels have the same shape, or one label
    per question. Raises DataError if shapes differ, a question has no judge's score, a trial has a label but no judge's
    score, or a probability is not in (0, 1]; NotEstimableError if fewer than three units have a label.
    """
    f, h = _same_trials(as_floats(judge, "judge"), as_floats(human, "human"))
    judged = ~np.isnan(f)
    if np.isinf(f).any() or np.isinf(h).any():
        raise DataError("judge and human must be finite, or NaN if missing")
    if not judged.any(axis=1).all():
        raise DataError(f"question {np.flatnonzero(~judged.any(axis=1))[0]} has no judge's score. Leave it out")
    if (~np.isnan(h) & ~judged).any():
        question = np.flatnonzero((~np.isnan(h) & ~judged).any(axis=1))[0]
        raise DataError(f"question {question} has a label for a trial without a judge's score")
    share = np.broadcast_to(1.0 / judged.sum(axis=1, keepdims=True), f.shape)
    codes = np.arange(len(f)) if clusters is None else validated_codes(clusters, (len(f),))
    units = np.broadcast_to(codes[:, None], f.shape)
    chance = _check_probabilities(probabilities, f, np.asarray(~np.isnan(h)))
    items = Graded(f[judged], h[judged], share[judged], (share / chance)[judged], units[judged])
    n_units = len(np.unique(items.codes[items.is_labelled]))
    if n_units < MIN_UNITS:
        raise NotEstimableError(
            f"{n_units} independent question(s) or cluster(s) have a label; the correction of a judge needs at least "
            f"{MIN_UNITS}, and about 20 to be useful"
        )
    return items


def check_label_range(human: FloatArray, low: float, high: float, name: str = "labels") -> None:
    """Raise DataError unless low < high and every label that is not NaN is in [low, high]."""
    check_range(low, high)
    wrong = human[(human < low) | (human > high)]
    if wrong.size:
        raise DataError(f"{name} must lie in [{low:g}, {high:g}]; got {wrong[0]:g}")


def label_weights(probabilities: ArrayLike | None, is_labeled: NDArray[np.bool_]) -> FloatArray:
    """Weights of the labeled questions: 1 / probability, scaled so that their sum is Kish's effective number of labels.

    Raises DataError if the shapes differ, or the probability of a labeled question is not in (0, 1].

    >>> label_weights([0.5, 0.25, float("nan")], np.array([True, True, False])).round(3).tolist()
    [0.6, 1.2]
    """
    if probabilities is None:
        return np.ones(int(is_labeled.sum()))
    weights = 1.0 / _check_probabilities(probabilities, is_labeled[:, None], is_labeled[:, None])[is_labeled, 0]
    return np.asarray(weights * weights.sum() / (weights @ weights) if len(weights) else weights)


def mean_of_trials(scores: ArrayLike, name: str = "scores") -> FloatArray:
    """Mean over the available trials, shape (n_questions,); NaN if there is none.

    >>> mean_of_trials([[1.0, float("nan")], [0.0, 1.0]]).tolist()
    [1.0, 0.5]
    """
    array = as_floats(scores, name)
    if array.ndim not in (1, 2) or not array.size:
        raise DataError(f"{name} must have shape (n_questions,) or (n_questions, n_trials); got {array.shape}")
    trials = array.reshape(len(array), -1)
    counts = (~np.isnan(trials)).sum(axis=1)
    return np.asarray(np.divide(np.nansum(trials, axis=1), counts, out=np.full(len(trials), np.nan), where=counts > 0))


def _same_trials(judge: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both arrays with shape (n_questions, n_trials); the judge's trials are averaged if labels are per question."""
    if judge.ndim not in (1, 2) or not judge.size:
        raise DataError(f"judge must have shape (n_questions,) or (n_questions, n_trials); got {judge.shape}")
    if judge.ndim == 2 and human.shape == judge.shape[:1]:
        judge = mean_of_trials(judge)
    if human.shape != judge.shape:
        raise DataError(
            f"human must have the shape of judge, {judge.shape}, or one label per question; got {human.shape}"
        )
    columns = judge.shape[1] if judge.ndim == 2 else 1
    return judge.reshape(-1, columns), human.reshape(-1, columns)


def _check_probabilities(
    probabilities: ArrayLike | None, scores: FloatArray | NDArray[np.bool_], labelled: NDArray[np.bool_]
) -> FloatArray:
    if probabilities is None:
        return np.ones(scores.shape)
    array = as_floats(probabilities, "probabilities")
    p = array[:, None] if array.shape == scores.shape[:1] else array
    if p.shape not in (scores.shape, (len(scores), 1)):
        raise DataError(f"probabilities must have one value per question ({len(scores)}); got shape {array.shape}")
    p = np.broadcast_to(p, scores.shape)
    wrong = p[labelled & ~((p > 0) & (p <= 1))]
    if wrong.size:
        raise DataError(f"probabilities of being labelled must be in (0, 1]; got {wrong[0]:g}")
    return np.where(labelled, p, 1.0)
