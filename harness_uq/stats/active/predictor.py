"""Calibrated predictions of a new system's scores from a factor model and the scores that are known."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.active.factor_model import FactorModel, fit_factor_model
from harness_uq.stats.active.system_prior import SystemPrior, predicted_means, system_posterior, system_prior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.subsets.question_covariates import check_history, rates

_SMALLEST = 1e-4
_MEANS: Final = np.array([0.0, 1.0, 0.0, 0.0])
_PRECISION: Final = np.diag([0.1, 4.0, 4.0, 4.0])
_NEWTON_STEPS = 25
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Scores of a new system on some questions.

    `questions` are indices (n,), and `scores` (n,) are in [0, 1].
    """

    questions: IntArray
    scores: FloatArray

    def __add__(self, other: "Answers") -> "Answers":
        return Answers(np.append(self.questions, other.questions), np.append(self.scores, other.scores))

    def select(self, which: "IntArray | np.ndarray[tuple[int], np.dtype[np.bool_]]") -> "Answers":
        """The answers at these positions."""
        return Answers(self.questions[which], self.scores[which])


NO_ANSWERS: Final = Answers(np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Log-odds that a model predicted for answers that it had not seen."""

    answers: Answers
    log_odds: FloatArray

    def __add__(self, other: "Forecast") -> "Forecast":
        return Forecast(self.answers + other.answers, np.append(self.log_odds, other.log_odds))


NO_FORECAST: Final = Forecast(NO_ANSWERS, np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """Factor model of a history with the prior of a new system.

    `difficulties` (n_questions, 2) are the log-odds of the mean score of each question over all earlier systems, and
    over the best third of them.
    """

    model: FactorModel
    prior: SystemPrior
    difficulties: FloatArray

    @property
    def n_questions(self) -> int:
        """Number of questions of the benchmark."""
        return len(self.difficulties)

    def log_odds(self, answers: Answers, questions: IntArray | None = None) -> FloatArray:
        """Log-odds of the mean scores on all questions, or on those given, predicted from some answers."""
        posterior = system_posterior(self.model, self.prior, answers.questions, answers.scores)
        means = predicted_means(self.model, posterior, questions)
        return np.asarray(special.logit(np.clip(means, _SMALLEST, 1.0 - _SMALLEST)))

    def calibrated(self, log_odds: FloatArray, forecast: Forecast) -> FloatArray:
        """Means on all questions from their log-odds, calibrated by how well a forecast agreed with its answers.

        The mean is expit(c0 + c1 log-odds + c2 d1 + c3 d2) with the question's difficulties d, a logistic regression of
        the answers with normal priors around c = (0, 1, 0, 0). If the history is misleading, c1 to c3 become nearly 0
        and the predictions nearly constant.
        """
        x = np.column_stack(
            [np.ones(len(forecast.log_odds)), forecast.log_odds, self.difficulties[forecast.answers.questions]]
        )
        every = np.column_stack([np.ones(self.n_questions), log_odds, self.difficulties])
        return np.asarray(special.expit(every @ _coefficients(x, forecast.answers.scores)))


def fit_predictor(
    history: ArrayLike, *, low: float = 0.0, high: float = 1.0, rng: np.random.Generator | None = None
) -> Predictor:
    """Fit a factor model and the prior of a new system to the scores of earlier systems.

    `history` (n_systems, n_questions) has scores in [low, high], NaN if missing; `rng` is that of `fit_factor_model`.
    Raises DataError if the shape is wrong, a score is outside [low, high], or there is no score.
    """
    model = fit_factor_model(history, low=low, high=high, rng=rng)
    scores = check_history(history, len(model.intercepts), low, high)
    scores = scores[~np.isnan(scores).all(axis=1)]
    strength = np.nanmean(scores - rates(scores), axis=1)
    strongest = scores[np.argsort(-strength, kind="stable")[: -(-len(scores) // 3)]]
    difficulties = np.column_stack([special.logit(rates(rows)) for rows in (scores, strongest)])
    return Predictor(model, system_prior(model), difficulties)


def _coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Posterior mode of the coefficients, by damped Newton steps."""
    c = _MEANS
    for _ in range(_NEWTON_STEPS):
        mean = special.expit(x @ c)
        curvature = (x * (mean * (1.0 - mean))[:, None]).T @ x + _PRECISION
        step = np.linalg.solve(curvature, x.T @ (y - mean) - _PRECISION @ (c - _MEANS))
        largest = float(np.abs(step).max())
        c = c + step / max(1.0, largest)
        if largest < _TOLERANCE:
            break
    return c
