"""Expected width of the interval of an active evaluation, by evaluating earlier systems as if they were new."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.active.predictor import Answers, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, combine_rounds, draw_round, estimate_round, round_sizes
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_scalars import check_rng, check_whole
from harness_uq.stats.subsets.estimate import SubsetEstimate
from harness_uq.stats.subsets.question_covariates import check_history

_FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """Width of the interval that a number of questions gives on average over systems.

    Attributes
    ----------
    n_questions : int
        Number of questions.
    width : float
        Mean width if the questions are chosen actively.
    width_uniform : float
        Mean width of the interval of the plain mean if they are drawn at random.
    """

    n_questions: int
    width: float
    width_uniform: float


def expected_widths(
    history: ArrayLike,
    n_questions: Sequence[int],
    *,
    level: float = 0.95,
    n_rounds: int = 5,
    n_systems: int = 20,
    low: float = 0.0,
    high: float = 1.0,
    rng: np.random.Generator | None = None,
) -> list[ExpectedWidth]:
    """Expected width of the interval of an active evaluation, for several numbers of questions.

    The systems of the history are divided into five parts. Systems of each part are evaluated actively as if they were
    new, with the scores of the other four parts as the history.

    Parameters
    ----------
    history : array_like, shape (n_earlier, n_all)
        Scores in [low, high]; NaN if missing.
    n_questions : sequence of int
        Numbers of questions, each from 2 to n_all - 1.
    level : float, optional
        Nominal coverage (default 0.95).
    n_rounds : int, optional
        Number of rounds (default 5).
    n_systems : int, optional
        Largest number of systems to evaluate (default 20).
    low, high : float, optional
        Bounds of a score (default 0 and 1).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0).

    Raises
    ------
    DataError
        If an argument is out of range.
    NotEstimableError
        If fewer than two systems have scores on all questions.

    Notes
    -----
    The history of a new system is larger than those of the simulation, so that its interval may be slightly narrower.
    It is wider if the new system is unlike all earlier ones.
    """
    shape = np.shape(history)
    if len(shape) != 2:
        raise DataError(f"history must have shape (n_systems, n_questions); got {shape}")
    scores = check_history(history, shape[1], low, high)
    for n in n_questions:
        check_whole(n, "n_questions", 2, shape[1] - 1)
    check_whole(n_systems, "n_systems", 1)
    if not 0 < level < 1:
        raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {level}")
    rng = check_rng(rng)
    complete = rng.permutation(np.flatnonzero(~np.isnan(scores).any(axis=1)))[:n_systems]
    if len(complete) < 2:
        raise NotEstimableError("fewer than two systems of the history have scores on all questions")
    widths: list[list[tuple[float, float]]] = [[] for _ in n_questions]
    for held_out in np.array_split(complete, min(_FOLDS, len(complete))):
        predictor = fit_predictor(np.delete(scores, held_out, axis=0))
        for system in held_out:
            for column, n in zip(widths, n_questions, strict=True):
                column.append(_widths(predictor, scores[system], round_sizes(n, n_rounds), level, rng))
    means = (high - low) * np.array([np.mean(column, axis=0) for column in widths])
    return [ExpectedWidth(n, float(a), float(b)) for n, (a, b) in zip(n_questions, means, strict=True)]


def _widths(
    predictor: Predictor, scores: FloatArray, sizes: Sequence[int], level: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Widths of the interval of an active evaluation and of a uniform draw of as many questions."""
    estimate = evaluate(predictor, scores, sizes, rng)
    n, n_all = estimate.n_questions, estimate.n_all
    variance = scores.var(ddof=1) * (1.0 / n - 1.0 / n_all)
    uniform = BetaPosterior.from_moments(scores.mean(), variance, 0.0, 1.0).interval(level) if variance > 0 else (0, 0)
    low, high = estimate.interval(level)
    return high - low, uniform[1] - uniform[0]


def evaluate(
    predictor: Predictor, scores: FloatArray, sizes: Sequence[int], rng: np.random.Generator
) -> SubsetEstimate:
    """Evaluate a system whose scores on all questions are known, in rounds of these sizes.

    Parameters
    ----------
    predictor : Predictor
        Model of the history.
    scores : ndarray, shape (n_all,)
        Scores of the system in [0, 1].
    sizes : sequence of int
        Number of questions of each round, at least 2.
    rng : numpy.random.Generator
        Random generator.
    """
    known, rounds = Knowledge(), []
    for size in sizes:
        draw = draw_round(predictor, [known], size, rng)
        answers = Answers(draw.questions, scores[draw.questions])
        rounds.append(estimate_round(predictor, known, answers, draw.probabilities))
        known = known.after(rounds[-1])
    return combine_rounds(rounds, len(scores))
