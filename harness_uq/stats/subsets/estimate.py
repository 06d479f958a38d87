"""Score on a whole benchmark from a subset: a difference estimator assisted by earlier systems' scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.subsets.logistic_regression import logistic
from harness_uq.stats.subsets.question_covariates import check_history, covariates
from harness_uq.stats.subsets.validate import check_probabilities, check_scores

_FOLDS = 10


@dataclass(frozen=True, slots=True)
class SubsetEstimate:
    """Estimated mean score over all questions of a benchmark, from a subset of them.

    Attributes
    ----------
    mean : float
        Estimate, within the bounds.
    std_error : float
        Standard error over draws of questions; 0 if all were tried.
    n_questions, n_all : int
        Number of tried questions, and of all questions.
    std_error_uniform : float or None
        Standard error of the unweighted mean of a uniform draw of the same size; None if all scores are equal.
    low, high : float
        Bounds of a score.
    atom_mass : float
        Number of questions at each bound that are added for the interval, so that it never has zero width.
    """

    mean: float
    std_error: float
    n_questions: int
    n_all: int
    std_error_uniform: float | None
    low: float
    high: float
    atom_mass: float = 0.25

    @property
    def effective_questions(self) -> float | None:
        """Questions that a uniform draw would need, n V_uniform / V (Kish's design effect); None if unknown."""
        if not self.std_error or not self.std_error_uniform:
            return None
        return self.n_questions * (self.std_error_uniform / self.std_error) ** 2

    @property
    def posterior(self) -> BetaPosterior:
        """Beta with the mean and standard error, shrunk by `atom_mass` questions at each bound.

        Raises
        ------
        NotEstimableError
            If all questions were tried, so that the mean is known.
        """
        if self.n_questions == self.n_all:
            raise NotEstimableError(
                f"all {self.n_all} questions were tried; the score on them is exactly {self.mean:g}"
            )
        n, m, width = self.n_questions, self.atom_mass, self.high - self.low
        unobserved = 1.0 - n / self.n_all
        centre = (n * self.mean + unobserved * m * (self.low + self.high)) / (n + unobserved * 2 * m)
        variance = self.std_error**2 + unobserved * 2 * m * width**2 / n**2
        bernoulli_variance = (centre - self.low) * (self.high - centre)
        return BetaPosterior.from_moments(centre, min(variance, bernoulli_variance / 2), self.low, self.high)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of `posterior`; both limits equal the mean if all questions were tried."""
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
    """Mean score over all N questions of a benchmark from a subset of them.

    With inclusion probabilities p_i, predictions m_i from the scores of earlier systems, and e = y - m,

        T = mean_all(m) + sum_s(e / p) / sum_s(1 / p),
        V = n / (n - 1) sum_s (1 - p) (d - D)^2,    d = (e - e_s) / (N p),    D = sum (1 - p) d / sum (1 - p).

    m is a logistic regression on the history (`covariates`), with cross-fitting in ten folds: each fold's questions are
    predicted from the others, and questions that were not tried have the mean of the ten predictions. T is consistent
    for any m and any system; wrong predictions widen the interval but cause no bias. 1 - p is the finite-population
    correction.

    Parameters
    ----------
    scores : array_like, shape (n_all,)
        Scores in [low, high]; NaN for questions that were not tried.
    probabilities : array_like, shape (n_all,), optional
        Inclusion probabilities in (0, 1], as returned by `draw_subset` (default: equal).
    history : array_like, shape (n_systems, n_all), optional
        Scores of earlier systems; NaN if missing. Without a history there is no prediction.
    low, high : float, optional
        Bounds of a score (default 0 and 1).

    Returns
    -------
    SubsetEstimate
        Estimate with its standard error.

    Raises
    ------
    DataError
        If shapes differ, a score is outside [low, high] or a probability is not in (0, 1].
    NotEstimableError
        If fewer than two questions were tried.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 6.3 (difference estimator); Hájek
    (1964), Annals of Mathematical Statistics 35, 1491-1523, for V; Chernozhukov et al. (2018) for cross-fitting.

    Examples
    --------
    Without a history, a uniform draw of 10 of 40 questions gives the mean and the variance s^2 / n (1 - n / N):

    >>> estimate = subset_estimate([1.0] * 5 + [0.0] * 5 + [float("nan")] * 30)
    >>> estimate.mean, round(estimate.std_error**2 / (5 / 18 / 10 * (1 - 10 / 40)), 12)
    (0.5, 1.0)
    """
    y = (check_scores(scores, low, high) - low) / (high - low)
    tried, n_all = np.flatnonzero(~np.isnan(y)), len(y)
    n = len(tried)
    if n < 2:
        raise NotEstimableError(f"{n} of {n_all} questions tried; a standard error needs at least two")
    p = check_probabilities(probabilities, n_all, n)[tried]
    predicted = np.zeros(n_all)
    if history is not None:
        predicted = _predict(y, tried, 1.0 / p, covariates(check_history(history, n_all, low, high)))
    residual = (y - predicted)[tried]
    shift = float((residual / p).sum() / (1.0 / p).sum())
    width = high - low
    return SubsetEstimate(
        mean=low + width * float(np.clip(predicted.mean() + shift, 0.0, 1.0)),
        std_error=width * float(np.sqrt(sampling_variance(residual, p, n_all))),
        n_questions=n,
        n_all=n_all,
        std_error_uniform=uniform_error(y[tried], 1.0 / p, n_all, width),
        low=low,
        high=high,
    )


def _predict(y: FloatArray, tried: IntArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """Predictions for all questions: cross-fitted for tried questions, the mean over folds for the others."""
    order = np.argsort(x[tried, 1], kind="stable")
    folds = np.empty(len(tried), np.int64)
    folds[order] = np.arange(len(tried)) % min(_FOLDS, len(tried))
    by_fold = np.empty((int(folds.max()) + 1, len(x)))
    start = logistic(x[tried], y[tried], weights)
    for fold in range(len(by_fold)):
        rest = folds != fold
        by_fold[fold] = special.expit(x @ logistic(x[tried[rest]], y[tried[rest]], weights[rest], start))
    predicted = by_fold.mean(axis=0)
    predicted[tried] = by_fold[folds, tried]
    return np.asarray(predicted)


def sampling_variance(residual: FloatArray, p: FloatArray, n_all: int) -> float:
    """Variance V of `subset_estimate` over draws, from the residuals e of the tried questions."""
    complement, n = 1.0 - p, len(p)
    if not complement.any():
        return 0.0
    d = (residual - (residual / p).sum() / (1.0 / p).sum()) / (p * n_all)
    return n / (n - 1) * float(complement @ (d - complement @ d / complement.sum()) ** 2)


def uniform_error(y: FloatArray, weights: FloatArray, n_all: int, width: float) -> float | None:
    """Standard error of the mean of n uniformly drawn questions, from the weighted variance of the scores."""
    n = len(y)
    mean = weights @ y / weights.sum()
    variance = float(weights @ (y - mean) ** 2 / weights.sum()) * n / (n - 1)
    return width * float(np.sqrt(variance * (1.0 / n - 1.0 / n_all))) if variance > 1e-24 else None
