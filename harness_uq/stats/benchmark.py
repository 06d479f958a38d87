"""Posterior of the score on exactly these questions, whose difficulties come from a common Beta distribution."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats._arrays import FloatArray
from harness_uq.stats._outcomes import check_question_counts
from harness_uq.stats.posterior import BetaPosterior
from harness_uq.stats.quadrature import BetaBinomialGrid, beta_binomial_grid

BenchmarkModel = Literal["hierarchical", "pooled"]
ModelChoice = Literal["auto", "hierarchical", "pooled"]

FEW = 10  # right or wrong trials in all, below which the spread between questions cannot be learnt


class BenchmarkPosterior(BetaPosterior):
    """Beta posterior of a benchmark score that knows its model.

    Attributes
    ----------
    model : `hierarchical` (pi_q ~ Beta(d theta, d (1 - theta))) or `pooled` (one binomial)
    icc : float or None; posterior mean of 1 / (1 + d), the share of variance between questions; None if pooled
    """

    def __init__(self, a: float, b: float, *, model: BenchmarkModel, icc: float | None = None) -> None:
        super().__init__(a, b)
        self.model, self.icc = model, icc

    def __repr__(self) -> str:
        return f"{type(self).__name__}(a={self.a:g}, b={self.b:g}, model={self.model!r})"


def benchmark_posterior(successes: ArrayLike, trials: ArrayLike, *, model: ModelChoice = "auto") -> BenchmarkPosterior:
    """Posterior of the mean over these questions of the probability of a right answer.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question.
        A question without trials takes what the others say: the score is then that of all M questions
    model : `hierarchical`, `pooled`, or `auto`: pooled where every question has one trial or where right or
        wrong trials number less than 10 in all, hierarchical otherwise

    Returns
    -------
    BenchmarkPosterior ; its `model` says which model was used

    Raises
    ------
    DataError : counts that are negative, fractional or inconsistent, or no trial at all

    Notes
    -----
    pi_q ~ Beta(d theta, d (1 - theta)) with theta and the ICC 1 / (1 + d) uniform. Given (theta, d) the pi_q are
    independent Betas, so that mean and variance of their average are closed forms; they are mixed over the grid of
    `beta_binomial_grid` and a Beta with the same two moments is returned. This replaces the fixed uniform prior of
    Bayes@N (Hariri et al. 2025, algorithm 1), whose pull towards 1/2 misses easy and hard benchmarks.

    Pooled is one binomial at the mean of the questions' shares, of M^2 / sum_q(1 / n_q) trials, which is all of them
    where every question has as many. It ignores that questions differ, so that with equal trials its interval is too
    wide in this scope, never too narrow: with one trial a question the spread between questions is not identified,
    with few failures hardly.

    Examples
    --------
    >>> benchmark_posterior([1, 1, 0], 1)  # one trial each: pooled, Beta(1 + 2, 1 + 1)
    BenchmarkPosterior(a=3, b=2, model='pooled')
    >>> benchmark_posterior([4, 4, 3, 4, 0, 1, 4, 4, 2, 4, 0, 0], 4).model
    'hierarchical'
    """
    s, n = check_question_counts(successes, trials)
    check_model(model)
    right, wrong = float(s.sum()), float((n - s).sum())
    if model == "pooled" or (model == "auto" and (n.max() <= 1 or min(right, wrong) < FEW)):
        return BenchmarkPosterior(*_pooled(s, n), model="pooled")
    grid = beta_binomial_grid(s, n)
    mean, variance = hierarchical_moments(s, n, grid)
    matched = BetaPosterior.from_moments(mean, variance)
    return BenchmarkPosterior(matched.a, matched.b, model="hierarchical", icc=grid.icc_mean)


def _pooled(successes: FloatArray, trials: FloatArray) -> tuple[float, float]:
    """Both parameters of the Beta from one binomial of 1 / sum_q(w_q^2 / n_q) trials, w_q = 1 / M."""
    tried = trials > 0
    share, size = float(np.mean(successes[tried] / trials[tried])), tried.sum() ** 2 / float(np.sum(1 / trials[tried]))
    return 1 + size * share, 1 + size * (1 - share)


def hierarchical_moments(
    successes: FloatArray, trials: FloatArray, grid: BetaBinomialGrid, weights: FloatArray | None = None
) -> tuple[float, float]:
    """Mean and variance of sum_q w_q pi_q, where pi_q ~ Beta(d theta, d (1 - theta)), mixed over `grid`.

    Parameters
    ----------
    successes, trials : (M,) floats >= 0, checked by the caller; they need not be whole
    grid : posterior of (theta, d)
    weights : (M,) floats that sum to 1, or None for 1 / M

    Returns
    -------
    mean, variance : floats

    Notes
    -----
    Given (theta, d) the mean of pi_q is m = (d theta + s) / (d + n) and its variance m (1 - m) / (d + n + 1).
    Both are polynomials in theta whose coefficients depend on d and n alone, so the sum over questions is taken
    once for each distinct n. m (1 - m) is expanded into positive terms: nothing cancels as d grows.
    """
    w = np.full(len(trials), 1 / len(trials)) if weights is None else weights
    n, which = np.unique(trials, return_inverse=True)
    s, f, w2 = successes, trials - successes, w * w
    d, total = grid.dispersion, grid.dispersion + n[:, None]
    theta, complement = grid.theta[:, None], special.expit(-grid.logit_theta)[:, None]

    def by_size(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(which, values, len(n)), float)

    mean = theta * (by_size(w) @ (d / total)) + by_size(w * s) @ (1 / total)
    scale = 1 / (total**2 * (total + 1))
    within = theta * complement * (d**2 * (by_size(w2) @ scale)) + by_size(w2 * s * f) @ scale
    within += theta * (d * (by_size(w2 * f) @ scale)) + complement * (d * (by_size(w2 * s) @ scale))
    average = float(np.sum(grid.weights * mean))
    return average, float(np.sum(grid.weights * (within + (mean - average) ** 2)))


def check_model(model: str) -> None:
    """Refuse a model of another name."""
    if model not in ("auto", "hierarchical", "pooled"):
        raise DataError(f"model must be 'auto', 'hierarchical' or 'pooled'; got {model!r}")
