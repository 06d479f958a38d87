"""Use questions that only one of two systems answered, beside those that both did."""

from dataclasses import dataclass

import numpy as np

from harness_uq.comparison.differences import DifferenceResult
from harness_uq.comparison.missing_scores import failed_for_other
from harness_uq.comparison.pairing import Paired
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import Scores
from harness_uq.errors import NotEstimableError
from harness_uq.messages.catalogue.comparison import OWN_QUESTIONS_USED
from harness_uq.stats.pairs.paired_frequentist import paired_t
from harness_uq.stats.pairs.partial_overlap import partial_overlap

_WORTHWHILE = 0.9  # largest ratio of standard errors at which own questions are used


@dataclass(frozen=True, slots=True, eq=False)
class OwnQuestionsResult:
    """A difference from shared and own questions, and the scores of A and B that it is the difference of."""

    difference: DifferenceResult
    values: tuple[float, float]


def with_own_questions(paired: Paired, method: str) -> OwnQuestionsResult | None:
    """Estimate the difference from all questions; None if the shared questions alone are nearly as precise.

    Own questions are used if the questions are independent and the standard error is at least 10 % smaller with them.
    """
    if method == "latent-normal" or paired.pair.units is not None or not any(paired.n_unmatched):
        return None
    runs = (paired.a, paired.b), (paired.b, paired.a)
    own_a, own_b = (_own_means(*pair, rows) for pair, rows in zip(runs, paired.rows, strict=True))
    try:
        overlap = partial_overlap(paired.pair.a, paired.pair.b, own_a, own_b)
        shared = paired_t(paired.pair.differences).std_error
    except NotEstimableError:
        return None
    if overlap.difference.std_error > _WORTHWHILE * shared:
        return None
    note = OWN_QUESTIONS_USED(n_shared=len(paired.pair.a), n_own_a=len(own_a), n_own_b=len(own_b))
    difference = DifferenceResult(overlap.difference, "partial-overlap", "confidence", messages=(note,))
    return OwnQuestionsResult(difference, (overlap.mean_a, overlap.mean_b))


def _own_means(run: SelectedRun, other: SelectedRun, shared: IntArray) -> FloatArray:
    """Mean scores of the questions of a run that the other run does not contain; float (n_own,).

    Questions that the other run contains without a score are not a random part of the questions.
    """
    if not isinstance(run.data, Scores):
        return np.empty(0)
    is_own = run.data.is_scored & ~failed_for_other(run, other)
    is_own[shared] = False
    return np.asarray(np.nanmean(run.data.values[is_own], axis=1) if is_own.any() else np.empty(0))
