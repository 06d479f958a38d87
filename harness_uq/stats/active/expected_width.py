"""Expected width of the interval of an active evaluation, by evaluating earlier systems as if they were new."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.active.predictor import Answers, Predictor, fit_predictor
from harness_uq.stats.active.rounds import Knowledge, combine_rounds, draw_round, estimate_round, round_sizes
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_level
from harness_uq.stats.common.validate_scalars import check_whole
from harness_uq.stats.subsets.estimate import SubsetEstimate
from harness_uq.stats.subsets.question_covariates import check_history

_FOLDS: Final = 5
_STEPS: Final = 4  # to find the number of questions for a width
_CLOSE: Final = 0.02


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """Width of the interval that a number of questions gives on average over systems.

    `width` is the mean width if the questions are chosen actively, `width_uniform` that of the plain mean of questions
    drawn at random, and `std_error` the Monte Carlo standard error of `width`.
    """

    n_questions: int
    width: float
    width_uniform: float
    std_error: float


class WidthSimulation:
    """Active evaluations of earlier systems as if they were new.

    The systems of the history are divided into five parts. Systems of each part are evaluated actively, with the scores
    of the other four parts as the history. `history` (n_earlier, n_all) has scores in [low, high], NaN if missing; at
    most `n_systems` systems are evaluated in `n_rounds` rounds with intervals of the coverage `level`. Raises DataError
    if an argument is out of range; NotEstimableError if fewer than two systems have scores on all questions.

    The history of a new system is larger than those of the simulation, so that its interval may be slightly narrower.
    It is wider if the new system is unlike all earlier ones.
    """

    def __init__(
        self,
        history: ArrayLike,
        *,
        level: float = 0.95,
        n_rounds: int = 5,
        n_systems: int = 20,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        shape = np.shape(history)
        if len(shape) != 2:
            raise DataError(f"history must have shape (n_systems, n_questions); got {shape}")
        scores = check_history(history, shape[1], low, high)
        check_whole(n_rounds, "n_rounds", 1)
        check_whole(n_systems, "n_systems", 1)
        check_whole(seed, "seed", 0)
        check_level(level)
        rng = np.random.default_rng(seed)
        complete = rng.permutation(np.flatnonzero(~np.isnan(scores).any(axis=1)))[:n_systems]
        if len(complete) < 2:
            raise NotEstimableError("fewer than two systems of the history have scores on all questions")
        self.n_all, self.n_evaluated = shape[1], len(complete)
        self._level, self._n_rounds, self._seed, self._range = level, n_rounds, seed, high - low
        self._systems: list[tuple[Predictor, FloatArray]] = []
        for held_out in np.array_split(complete, min(_FOLDS, len(complete))):
            predictor = fit_predictor(np.delete(scores, held_out, axis=0))
            self._systems += [(predictor, scores[system]) for system in held_out]

    def width(self, n_questions: int) -> ExpectedWidth:
        """Expected width of the interval for a number of questions, from 2 to `n_all` - 1."""
        check_whole(n_questions, "n_questions", 2, self.n_all - 1)
        rng = np.random.default_rng([self._seed, n_questions])
        sizes = round_sizes(n_questions, self._n_rounds)
        rows = [_widths(predictor, scores, sizes, self._level, rng) for predictor, scores in self._systems]
        widths, uniform = self._range * np.array(rows).T
        std_error = widths.std(ddof=1) / np.sqrt(len(widths))
        return ExpectedWidth(n_questions, float(widths.mean()), float(uniform.mean()), float(std_error))

    def reach(self, width: float) -> list[ExpectedWidth]:
        """Expected widths for numbers of questions that approach an interval of this width.

        The last one has the width, within 2 % or the Monte Carlo error, or is the closest that was found. Each step
        assumes that the width is proportional to sqrt(1 / n - 1 / N), with the constant of the step before.
        """
        if not 0 < width < np.inf:
            raise DataError(f"width must be a positive number; got {width}")
        tried = [self.width(min(max(10, self.n_all // 20), self.n_all - 1))]
        for _ in range(_STEPS):
            n = questions_for(tried[-1].n_questions, tried[-1].width, width, self.n_all)
            if n in [each.n_questions for each in tried]:
                break
            tried.append(self.width(n))
            if abs(tried[-1].width - width) < max(_CLOSE * width, tried[-1].std_error):
                break
        closest = min(tried, key=lambda each: abs(each.width - width))
        return [each for each in tried if each is not closest] + [closest]


def questions_for(n_questions: int, width: float, target: float, n_all: int) -> int:
    """Number of questions for an interval of the width `target`, if `n_questions` give `width`; at most n_all - 1.

    The width is proportional to sqrt(1 / n - 1 / n_all).
    """
    if width <= 0.0:
        return n_questions
    inverse = (1.0 / n_questions - 1.0 / n_all) * (target / width) ** 2 + 1.0 / n_all
    return int(np.clip(np.ceil(1.0 / inverse), 2, n_all - 1))


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

    `scores` (n_all,) are in [0, 1], and each of `sizes` is at least 2.
    """
    known, rounds = Knowledge(), []
    for size in sizes:
        draw = draw_round(predictor, [known], size, rng)
        answers = Answers(draw.questions, scores[draw.questions])
        rounds.append(estimate_round(predictor, known, answers, draw.probabilities))
        known = known.after(rounds[-1])
    return combine_rounds(rounds, len(scores))
