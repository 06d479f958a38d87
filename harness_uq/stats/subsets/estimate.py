"""Score on a whole benchmark from part of it: a difference estimator assisted by earlier systems' scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.stats.common.arrays import FloatArray, IntArray
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.subsets.history import check_history, covariates
from harness_uq.stats.subsets.part import check_probabilities, check_scores
from harness_uq.stats.subsets.regression import logistic

_FOLDS = 10
_ATOM_MASS = 0.25


@dataclass(frozen=True, slots=True)
class SubsetEstimate:
    """Mean score over all questions of a benchmark, of which some were tried.

    Attributes
    ----------
    mean : float; the estimate, within the bounds
    std_error : float; over draws of questions, 0 where all were tried
    n_questions, n_all : int; questions tried, and of the benchmark
    std_error_uniform : float or None; that of the plain mean of as many questions drawn uniformly; None where all
        scores are alike
    low, high : float; bounds of a score
    """

    mean: float
    std_error: float
    n_questions: int
    n_all: int
    std_error_uniform: float | None
    low: float
    high: float

    @property
    def effective_questions(self) -> float | None:
        """Questions that a plain mean would need, n V_uniform / V (Kish's design effect); None where unknown."""
        if not self.std_error or not self.std_error_uniform:
            return None
        return self.n_questions * (self.std_error_uniform / self.std_error) ** 2

    @property
    def posterior(self) -> BetaPosterior:
        """Beta with the mean and standard error, drawn in from the bounds by a quarter of a question at each.

        Raises
        ------
        NotEstimableError : if all questions were tried: the mean is known
        """
        if self.n_questions == self.n_all:
            raise NotEstimableError(
                f"all {self.n_all} questions were tried: the score on them is {self.mean:g}, exactly"
            )
        n, m, width = self.n_questions, _ATOM_MASS, self.high - self.low
        left = 1.0 - n / self.n_all
        centre = (n * self.mean + left * m * (self.low + self.high)) / (n + left * 2 * m)
        variance = self.std_error**2 + left * 2 * m * width**2 / n**2
        room = (centre - self.low) * (self.high - centre)
        return BetaPosterior.from_moments(centre, min(variance, room / 2), self.low, self.high)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of `posterior`; the mean twice where all questions were tried."""
        if self.n_questions == self.n_all:
            return self.mean, self.mean
        return self.posterior.interval(level)


def subset_estimate(
    scores: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    history: ArrayLike | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> SubsetEstimate:
    """Mean score over all N questions of a benchmark from those that were tried.

    With p_i the probability of drawing question i, m_i a prediction of its score from earlier systems', e = y - m,

        T = mean_all(m) + sum_s(e / p) / sum_s(1 / p),
        V = n / (n - 1) sum_s (1 - p) (d - D)^2,    d = (e - e_s) / (N p),    D = sum (1 - p) d / sum (1 - p).

    m is a logistic regression on the history (`covariates`), fitted to the questions tried in ten folds, each
    predicting the questions that it leaves out; questions not tried get the mean of the ten. T is consistent whatever m
    is, for any system: predictions that are wrong widen the interval and do not move it. 1 - p is the
    finite-population correction.

    Parameters
    ----------
    scores : array_like (n_all,), in [low, high]; NaN where the question was not tried
    probabilities : array_like (n_all,), in (0, 1], as `draw_subset` gives; None where all were equally likely
    history : array_like (n_systems, n_all), scores of earlier systems; NaN where there is none; None for no prediction
    low, high : bounds of a score

    Raises
    ------
    DataError : if shapes differ, a score is outside [low, high] or a probability not in (0, 1]
    NotEstimableError : if fewer than two questions were tried

    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, section 6.3 (the difference estimator); Hájek
    (1964), Annals of Mathematical Statistics 35:1491, for V; Chernozhukov et al. (2018) for the folds.

    Without history, ten of forty questions drawn uniformly: the mean with s^2 / n (1 - n / N).

    >>> estimate = subset_estimate([1.0] * 5 + [0.0] * 5 + [float("nan")] * 30)
    >>> estimate.mean, round(estimate.std_error**2 / (5 / 18 / 10 * (1 - 10 / 40)), 12)
    (0.5, 1.0)
    """
    y = (check_scores(scores, low, high) - low) / (high - low)
    tried, n_all = np.flatnonzero(~np.isnan(y)), len(y)
    n = len(tried)
    if n < 2:
        raise NotEstimableError(f"{n} question(s) tried of {n_all}: their spread needs at least two")
    p = check_probabilities(probabilities, n_all, n)[tried]
    predicted = np.zeros(n_all)
    if history is not None:
        predicted = _predict(y, tried, 1.0 / p, covariates(check_history(history, n_all, low, high)))
    residual = (y - predicted)[tried]
    shift = float((residual / p).sum() / (1.0 / p).sum())
    width = high - low
    return SubsetEstimate(
        mean=low + width * float(np.clip(predicted.mean() + shift, 0.0, 1.0)),
        std_error=width * _std_error(residual - shift, p, n_all),
        n_questions=n,
        n_all=n_all,
        std_error_uniform=_uniform_error(y[tried], 1.0 / p, n_all, width),
        low=low,
        high=high,
    )


def _predict(y: FloatArray, tried: IntArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """Predictions of all questions: of a tried one by the fold that leaves it out, of the others the folds' mean."""
    order = np.argsort(x[tried, 1], kind="stable")
    folds = np.empty(len(tried), np.int64)
    folds[order] = np.arange(len(tried)) % min(_FOLDS, len(tried))
    every = np.empty((int(folds.max()) + 1, len(x)))
    of_all = logistic(x[tried], y[tried], weights)
    for fold in range(len(every)):
        rest = folds != fold
        every[fold] = special.expit(x @ logistic(x[tried[rest]], y[tried[rest]], weights[rest], of_all))
    predicted = every.mean(axis=0)
    predicted[tried] = every[folds, tried]
    return np.asarray(predicted)


def _std_error(residual: FloatArray, p: FloatArray, n_all: int) -> float:
    d, left, n = residual / (p * n_all), 1.0 - p, len(p)
    if not left.any():
        return 0.0
    return float(np.sqrt(n / (n - 1) * left @ (d - left @ d / left.sum()) ** 2))


def _uniform_error(y: FloatArray, weights: FloatArray, n_all: int, width: float) -> float | None:
    """Standard error of the plain mean of n uniformly drawn questions, by the weighted variance of the scores."""
    n = len(y)
    mean = weights @ y / weights.sum()
    variance = float(weights @ (y - mean) ** 2 / weights.sum()) * n / (n - 1)
    return width * float(np.sqrt(variance * (1.0 / n - 1.0 / n_all))) if variance > 1e-24 else None
