"""Rounds of active evaluation: the next questions, and the score on all questions from the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from harness_uq.stats.active.predictor import NO_ANSWERS, NO_FORECAST, Answers, Forecast, Predictor
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.subsets.draw import FLOOR, inclusion_probabilities, ordered, systematic
from harness_uq.stats.subsets.estimate import SubsetEstimate, sampling_variance, uniform_error

_FOLDS: Final = 5
_LEAST_PER_ROUND: Final = 5
_LEARNING: Final = (0.75, 1.2)  # relative precision of the first and the last round
_ENOUGH_SURPRISE: Final = 15.0
_SMALL_ROUND: Final = 0.1  # of the earlier answers: such a round is predicted from these alone


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A probability sample of the questions that were not drawn before.

    `questions` (n,) are in random order, and their inclusion `probabilities` (n,) in (0, 1].
    """

    questions: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RoundEstimate:
    """Mean score over all questions, from the answers of one round and all earlier ones.

    `variance` is over draws of the round, given all earlier answers. `forecast` has the log-odds of the answers of the
    round, each predicted without the answer, `probabilities` (n,) are the inclusion probabilities of its questions, and
    `residuals` (n,) the differences between scores and predictions, in the order of the forecast.
    """

    mean: float
    variance: float
    forecast: Forecast
    probabilities: FloatArray
    residuals: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """All answers so far, with what was predicted for them."""

    answers: Answers = NO_ANSWERS
    forecast: Forecast = NO_FORECAST

    def after(self, estimate: RoundEstimate) -> "Knowledge":
        """Add the answers of a round."""
        return Knowledge(self.answers + estimate.forecast.answers, self.forecast + estimate.forecast)


def round_sizes(n_questions: int, n_rounds: int) -> list[int]:
    """Numbers of questions of the rounds, as equal as possible; fewer rounds if one would have fewer than five."""
    n_used = min(n_rounds, max(1, n_questions // _LEAST_PER_ROUND))
    return [int(size) for size in np.diff(np.round(np.linspace(0, n_questions, n_used + 1)))]


def draw_round(predictor: Predictor, known: Sequence[Knowledge], n: int, rng: np.random.Generator) -> Draw:
    """Draw n of the questions that are not known, for one or several new systems that answer the same questions.

    In the first round all questions have the same probability. Later it is proportional to sqrt(m (1 - m)) + 0.15 for a
    question with predicted score m: Neyman's allocation, bounded away from 0 in case the prediction is wrong. For
    several systems, m (1 - m) is its mean over them. The sample is systematic along the order of the mean of m.
    Sources: Neyman (1934), J. R. Stat. Soc. 97, 558-625; Madow (1949), Annals of Mathematical Statistics 20, 333-354.
    """
    asked = known[0].answers.questions
    rest = np.setdiff1d(np.arange(predictor.n_questions), asked)
    means = np.array([predictor.calibrated(predictor.log_odds(each.answers), each.forecast)[rest] for each in known])
    size = np.sqrt((means * (1.0 - means)).mean(axis=0)) + FLOOR if len(asked) else np.ones(len(rest))
    p = inclusion_probabilities(size, n)
    drawn = rng.permutation(systematic(p, ordered(means.mean(axis=0), rng), rng))
    return Draw(rest[drawn], p[drawn])


def estimate_round(
    predictor: Predictor, known: Knowledge, answers: Answers, probabilities: FloatArray
) -> RoundEstimate:
    """Mean score over all N questions from the answers of one round, given all earlier answers.

    With the R questions that were not known before, of which s were drawn with probabilities p, and predictions m,

        T = (sum of known scores + sum_R m + R e_s) / N,       e_s = sum_s((y - m) / p) / sum_s(1 / p),
        V = n / (n - 1) sum_s (1 - p) (d - D)^2,   d = (y - m - e_s) / (N p),   D = sum (1 - p) d / sum (1 - p).

    Questions of the round are predicted in five folds, each from the earlier answers and the other folds; other
    questions have the mean of the five predictions. The calibration of a fold's predictions uses forecasts without
    this fold. T is therefore consistent for any history: a wrong prediction widens the interval but causes no bias.

    `answers` are at least two answers to a random sample of the unknown questions, whose inclusion `probabilities` (n,)
    are in (0, 1]. Sources: Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 6.3
    (difference estimator); Hájek (1964), Annals of Mathematical Statistics 35, 1491-1523, for V; Chernozhukov et al.
    (2018) for cross-fitting.
    """
    order = np.argsort(answers.questions)  # so that the folds do not depend on the order of the answers
    answers, probabilities = answers.select(order), probabilities[order]
    n, n_all = len(probabilities), predictor.n_questions
    n_folds = 1 if n < _SMALL_ROUND * len(known.answers.questions) else min(_FOLDS, n)
    fold = np.arange(n) % n_folds
    predicted, log_odds = _cross_fit(predictor, known, answers, fold)
    own = predicted[fold, answers.questions]
    mean = predicted.mean(axis=0)
    mean[answers.questions] = own
    mean[known.answers.questions] = known.answers.scores
    residual = answers.scores - own
    shift = float((residual / probabilities).sum() / (1.0 / probabilities).sum())
    share_unknown = 1.0 - len(known.answers.questions) / n_all
    return RoundEstimate(
        float(mean.mean() + share_unknown * shift),
        sampling_variance(residual, probabilities, n_all),
        Forecast(answers, log_odds),
        probabilities,
        residual,
    )


def _cross_fit(
    predictor: Predictor, known: Knowledge, answers: Answers, fold: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Predicted means of all questions without each fold, and log-odds of the answers without their own fold."""
    n_folds = int(fold.max()) + 1
    predicted, log_odds = np.empty((n_folds, predictor.n_questions)), np.empty(len(fold))
    forecasts = _forecasts_without(predictor, known, answers, fold)
    for k in range(n_folds):
        trained = known.answers if n_folds == 1 else known.answers + answers.select(fold != k)
        every = predictor.log_odds(trained)
        log_odds[fold == k] = every[answers.questions[fold == k]]
        predicted[k] = predictor.calibrated(every, forecasts[k])
    return predicted, log_odds


def _forecasts_without(predictor: Predictor, known: Knowledge, answers: Answers, fold: IntArray) -> list[Forecast]:
    """For each fold, forecasts of the earlier answers and of the other folds by models that did not see the fold."""
    n_folds = int(fold.max()) + 1
    forecasts = [known.forecast] * n_folds
    for j, k in combinations(range(n_folds), 2):
        trained = known.answers + answers.select((fold != j) & (fold != k))
        of_j, of_k = answers.select(fold == j), answers.select(fold == k)
        log_odds = predictor.log_odds(trained, np.append(of_j.questions, of_k.questions))
        forecasts[k] += Forecast(of_j, log_odds[: len(of_j.scores)])
        forecasts[j] += Forecast(of_k, log_odds[len(of_j.scores) :])
    return forecasts


def combine_rounds(
    rounds: Sequence[RoundEstimate], n_all: int, *, low: float = 0.0, high: float = 1.0
) -> SubsetEstimate:
    """Combine the estimates of all rounds.

    Given all earlier answers, each estimate is unbiased except for the ratio of sums by which it is computed, so that
    the errors of different rounds are nearly uncorrelated. The weights depend on the numbers of answers only. They are
    the inverse variances of simple random samples, proportional to 1 / (R^2 (1 / n - 1 / R)) for n of R unknown
    questions, times a factor that increases linearly from 0.75 in the first round to 1.2 in the last, since predictions
    improve.

    If nearly all answers agree with their predictions, the variance is uncertain. The interval then adds up to one
    question at each bound, as the Beta(1, 1) prior of a proportion does: 1 - s / 15 questions for a sum s of the
    absolute differences between scores and predictions, and none from 15 on.

    `low` and `high` are the bounds of a score.
    """
    y = np.concatenate([each.forecast.answers.scores for each in rounds])
    share = _shares(np.array([len(each.probabilities) for each in rounds]), n_all)
    later = 1.0 - np.cumsum(share)
    weights = np.concatenate(
        [w / each.probabilities + rest for each, w, rest in zip(rounds, share, later, strict=True)]
    )
    width = high - low
    return SubsetEstimate(
        mean=low + width * float(np.clip(share @ [each.mean for each in rounds], 0.0, 1.0)),
        std_error=width * float(np.sqrt(share**2 @ [each.variance for each in rounds])),
        n_questions=len(y),
        n_all=n_all,
        std_error_uniform=uniform_error(y, weights, n_all, width),
        low=low,
        high=high,
        atom_mass=_atom_mass([each.residuals for each in rounds]),
    )


def combine_differences(
    first: Sequence[RoundEstimate], second: Sequence[RoundEstimate], n_all: int, *, low: float = 0.0, high: float = 1.0
) -> SubsetEstimate:
    """Difference of the mean scores of two systems that answered the same questions in the same rounds.

    The rounds have the weights of `combine_rounds`. The variance is that of the differences of the residuals, so that
    what both systems share cancels. `low` and `high` are the bounds of a score; those of the difference are plus and
    minus their distance.
    """
    pairs = list(zip(first, second, strict=True))
    share = _shares(np.array([len(a.probabilities) for a, _ in pairs]), n_all)
    residuals = [a.residuals - b.residuals for a, b in pairs]
    variances = [sampling_variance(e, a.probabilities, n_all) for e, (a, _) in zip(residuals, pairs, strict=True)]
    width = high - low
    return SubsetEstimate(
        mean=width * float(np.clip(share @ [a.mean - b.mean for a, b in pairs], -1.0, 1.0)),
        std_error=width * float(np.sqrt(share**2 @ variances)),
        n_questions=sum(len(e) for e in residuals),
        n_all=n_all,
        std_error_uniform=None,
        low=-width,
        high=width,
        atom_mass=_atom_mass(residuals),
    )


def _atom_mass(residuals: Sequence[FloatArray]) -> float:
    """Questions to add at each bound because nearly all scores agree with their predictions."""
    return max(0.0, 1.0 - float(np.abs(np.concatenate(residuals)).sum()) / _ENOUGH_SURPRISE)


def _shares(sizes: IntArray, n_all: int) -> FloatArray:
    """Weights of rounds with these numbers of answers; 1 for a last round that completes the benchmark."""
    unknown = n_all - np.append(0, np.cumsum(sizes)[:-1])
    if sizes[-1] == unknown[-1]:
        return np.append(np.zeros(len(sizes) - 1), 1.0)
    weights = np.linspace(*_LEARNING, len(sizes)) / (unknown**2 * (1.0 / sizes - 1.0 / unknown))
    return np.asarray(weights / weights.sum())
