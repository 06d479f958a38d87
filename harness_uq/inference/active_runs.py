"""Estimate the score on all questions from a run whose questions were chosen actively, and from its reference runs."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from harness_uq.data.estimands import MethodInfo
from harness_uq.data.selection import ActiveDraws
from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.messages.catalogue.planning import TOO_FEW_ACTIVE_SCORES
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.active.predictor import Answers, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, RoundEstimate, combine_rounds, estimate_round
from harness_uq.stats.subsets.estimate import SubsetEstimate

METHOD: Final = "active"
METHOD_INFO: Final = MethodInfo(
    title="Score on the whole benchmark, from actively chosen questions",
    formula="T = Σ<sub>r</sub> w<sub>r</sub> (Σ<sub>known</sub> y + Σ<sub>R</sub> m + |R| ē<sub>r</sub>) / N",
    text=(
        "Questions are drawn in rounds r with known probabilities p. R are the questions that were unknown before the "
        "round, m their scores predicted by a factor model of earlier systems, and ē the mean of y − m in the round, "
        "weighted by 1 / p. T is consistent for any m, and its variance is estimated from the y − m of each round."
    ),
    sources=("sarndal1992",),
    scopes=("full",),
)


def fitted_predictor(scores: FloatArray, low: float, high: float) -> Predictor:
    """Model of the scores of earlier systems; the last two models are kept, so that several estimates share a fit."""
    return _fitted(np.ascontiguousarray(scores).tobytes(), scores.shape, low, high)


@lru_cache(maxsize=2)
def _fitted(scores: bytes, shape: tuple[int, ...], low: float, high: float) -> Predictor:
    return fit_predictor(np.frombuffer(scores).reshape(shape), low=low, high=high)


def estimate_active_run(
    predictor: Predictor, draws: ActiveDraws, columns: IntArray, scores: FloatArray, bounds: tuple[float, float]
) -> SubsetEstimate:
    """Estimate the mean score on all questions from the rounds of a run.

    Parameters
    ----------
    predictor : model of the reference runs, for scores in `bounds`
    draws : how the questions of the run were chosen
    columns : position of each question among those of the reference runs
    scores : score of each question. A missing score counts as the lowest, as during the run
    bounds : smallest and largest possible score

    Raises
    ------
    NotEstimableError : if the first round has fewer than two questions
    """
    low, high = bounds
    unit = (np.where(np.isnan(scores), low, scores) - low) / (high - low)
    rounds = list(_rounds(predictor, draws, columns, unit))
    if not rounds:
        raise NotEstimableError(TOO_FEW_ACTIVE_SCORES())
    return combine_rounds(rounds, predictor.n_questions, low=low, high=high)


def _rounds(predictor: Predictor, draws: ActiveDraws, columns: IntArray, scores: FloatArray) -> Iterator[RoundEstimate]:
    """The estimate of each round; an incomplete round ends the evaluation."""
    known = Knowledge()
    for number in np.unique(draws.rounds):
        of_round = np.flatnonzero(draws.rounds == number)
        planned = int(draws.round_sizes[of_round[0]])
        if len(of_round) < 2:
            return
        estimate = estimate_round(
            predictor,
            known,
            Answers(columns[of_round], scores[of_round]),
            draws.probabilities[of_round] * (len(of_round) / planned),
        )
        yield estimate
        if len(of_round) < planned:
            return
        known = known.after(estimate)
