"""Posterior of the score on exactly these questions, with difficulties from a common Beta distribution."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.beta_mixture import BetaMixturePosterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_outcomes import check_question_counts, distinct_counts

BenchmarkModel = Literal["hierarchical", "pooled"]
ModelChoice = Literal["auto", "hierarchical", "pooled"]

# the weight of the pooled model falls from 1 to 0 between these total numbers of right (or wrong) trials
POOLED_UP_TO, HIERARCHICAL_FROM = 5, 15
SHAPE_WEIGHT = 10.0  # weight of the Beta shape, in questions with mixed outcomes
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, slots=True)
class _Moments:
    """Moments of the score under a model, with one entry for each value of the dispersion.

    `right` and `wrong` are the means of the score and of its complement, both kept for their accuracy near 0.
    """

    right: FloatArray
    wrong: FloatArray
    sd: FloatArray

    @classmethod
    def of_beta(cls, a: float, b: float) -> "_Moments":
        right, wrong = a / (a + b), b / (a + b)
        return cls(*(np.asarray(x) for x in (right, wrong, np.sqrt(right * wrong / (a + b + 1)))))

    def __mul__(self, weight: float) -> "_Moments":
        return _Moments(weight * self.right, weight * self.wrong, weight * self.sd)

    def __add__(self, other: "_Moments") -> "_Moments":
        return _Moments(self.right + other.right, self.wrong + other.wrong, self.sd + other.sd)

    def betas(self) -> tuple[FloatArray, FloatArray]:
        """Parameters a and b of the Betas with these moments."""
        size = self.right * self.wrong / self.sd**2 - 1
        return self.right * size, self.wrong * size


@dataclass(frozen=True, slots=True)
class _Questions:
    """Distinct pairs (successes, trials) of questions and their frequencies, each of shape (K,)."""

    successes: FloatArray
    trials: FloatArray
    repeats: FloatArray

    @classmethod
    def of(cls, successes: FloatArray, trials: FloatArray) -> "_Questions":
        if (successes != np.floor(successes)).any() or (trials != np.floor(trials)).any():
            return cls(successes, trials, np.ones(len(trials)))
        s, n, _, repeats = distinct_counts(successes, trials)
        return cls(s, n, repeats.astype(float))


class BenchmarkPosterior(BetaMixturePosterior):
    """Posterior of a benchmark score, with the models that it is based on.

    `model` is ``hierarchical`` (pi_q ~ Beta(d theta, d (1 - theta)), averaged with other models by ``auto``) or
    ``pooled`` (one binomial), and `pooled_share` the weight of the latter. `icc` is the posterior mean of 1 / (1 + d),
    the share of the variance between questions; None if pooled.
    """

    def __init__(
        self, moments: _Moments, masses: ArrayLike = 1.0, *, pooled_share: float = 0.0, icc: float | None = None
    ) -> None:
        super().__init__(*moments.betas(), masses)
        self.model: BenchmarkModel = "pooled" if icc is None else "hierarchical"
        self.pooled_share, self.icc = pooled_share, icc


def benchmark_posterior(successes: ArrayLike, trials: ArrayLike, *, model: ModelChoice = "auto") -> BenchmarkPosterior:
    """Posterior of the mean, over exactly these questions, of the probability of a right answer.

    Parameters
    ----------
    successes, trials : array_like, shape (n_questions,)
        Right trials and all trials of each question, whole numbers that broadcast together. Questions without trials
        have the distribution implied by the others; the score is that of all questions.
    model : {"auto", "hierarchical", "pooled"}, optional
        ``auto`` (default) averages both models and a model-free variance with weights that depend on the data. If every
        question has one trial, it is ``pooled``.

    Returns
    -------
    BenchmarkPosterior
        Its `model` and `pooled_share` report which models were used.

    Raises
    ------
    DataError
        If counts are negative, fractional or inconsistent, or there is no trial.

    Notes
    -----
    *Hierarchical:* pi_q ~ Beta(d theta, d (1 - theta)) with uniform theta and ICC 1 / (1 + d). Given (theta, d) the
    pi_q are independent Betas, so mean and variance of their average have closed forms. For each d of
    `beta_binomial_grid` they are mixed over theta and matched by a Beta, and these Betas are mixed over d. This
    replaces the fixed uniform prior of Bayes@N (Hariri et al. 2025, algorithm 1), whose shrinkage towards 1/2 fails for
    easy and hard benchmarks.

    *Pooled:* one binomial proportion at the mean of the questions' shares, with M^2 / sum_q(1 / n_q) trials, which is
    the total if all questions have equally many. It ignores that questions differ. With equal numbers of trials its
    interval is therefore too wide in this scope, never too narrow. The variance between questions is not identified
    with one trial per question, and is hardly identified with few failures. Its weight is 1 if there are at most 5
    right or 5 wrong trials in total, falls linearly, and is 0 from 15.

    *Model-free:* the mean score, with variance sum_q v_q / M^2, where v_q = s (n - s) / (n^2 (n - 1)) is the unbiased
    variance of a question's share. If difficulties are not Beta-distributed, the hierarchical posterior converges to a
    value different from the mean score. Its weight is 10 / (10 + J), where J = (sum v)^2 / sum v^2 is the effective
    number of questions with mixed outcomes. It vanishes as J grows, so that the interval is consistent.

    The models' means and standard deviations are averaged with these weights at each d, which shifts and scales the
    Beta. To first order this averages quantiles (Ratcliff 1979, Psychological Bulletin 86, 446-461).

    Examples
    --------
    With one trial per question it is pooled, here Beta(1 + 2, 1 + 1):

    >>> benchmark_posterior([1, 1, 0], 1)
    BenchmarkPosterior(mean=0.6, sd=0.2, n_components=1)
    >>> benchmark_posterior([4, 4, 3, 4, 0, 1, 4, 4, 2, 4, 0, 0], 4).model
    'hierarchical'
    """
    s, n = check_question_counts(successes, trials)
    if model not in ("auto", "hierarchical", "pooled"):
        raise DataError(f"model must be 'auto', 'hierarchical' or 'pooled'; got {model!r}")
    questions = _Questions.of(s, n)
    share = _pooled_share(questions) if model == "auto" else float(model == "pooled")
    pooled = _pooled(questions)
    if share == 1.0:
        return BenchmarkPosterior(pooled, pooled_share=1.0)
    grid = beta_binomial_grid(s, n)
    moments, masses = _by_dispersion(questions, grid)
    if model == "auto":
        moments = _average_with_model_free(questions, moments)
    return BenchmarkPosterior(moments * (1.0 - share) + pooled * share, masses, pooled_share=share, icc=grid.icc_mean)


def _pooled_share(questions: _Questions) -> float:
    """Weight of the pooled model: 1 with one trial per question, else by the rarer of right and wrong trials."""
    s, n, repeats = questions.successes, questions.trials, questions.repeats
    if n.max() <= 1:
        return 1.0
    rarer = min(float(repeats @ s), float(repeats @ (n - s)))
    return float(np.clip((HIERARCHICAL_FROM - rarer) / (HIERARCHICAL_FROM - POOLED_UP_TO), 0.0, 1.0))


def _pooled(questions: _Questions) -> _Moments:
    """Moments for one binomial of 1 / sum_q(w_q^2 / n_q) trials, w_q = 1 / M, under a uniform prior."""
    tried = questions.trials > 0
    s, n, repeats = (part[tried] for part in (questions.successes, questions.trials, questions.repeats))
    count = repeats.sum()
    share, size = float(repeats @ (s / n) / count), count**2 / float(np.sum(repeats / n))
    return _Moments.of_beta(1 + size * share, 1 + size * (1 - share))


def _average_with_model_free(questions: _Questions, hierarchical: _Moments) -> _Moments:
    """Average of hierarchical and model-free moments if each question was tried, else the former."""
    n, repeats = questions.trials, questions.repeats
    if not n.all():
        return hierarchical
    share, count = questions.successes / n, repeats.sum()
    mean_score = float(repeats @ share / count)
    single = n == 1
    noise = np.where(single, mean_score * (1 - mean_score), share * (1 - share) / np.where(single, 1.0, n - 1))
    total = float(repeats @ noise)
    if total == 0:
        return hierarchical
    weight = SHAPE_WEIGHT / (SHAPE_WEIGHT + total**2 / float(repeats @ noise**2))
    largest_variance = mean_score * (1 - mean_score) / 2  # variance of a Beta with a + b = 1
    sd = np.sqrt(min(total / count**2, largest_variance))
    model_free = _Moments(*(np.asarray(x) for x in (mean_score, 1 - mean_score, sd)))
    return hierarchical * weight + model_free * (1.0 - weight)


def _by_dispersion(questions: _Questions, grid: BetaBinomialGrid) -> tuple[_Moments, FloatArray]:
    """Moments of the score for each relevant d, mixed over theta, and the masses of these d."""
    masses = grid.weights.sum(axis=0)
    relevant = masses > _NEGLIGIBLE
    weights = grid.weights[:, relevant] / masses[relevant]
    count = questions.repeats.sum()
    at_nodes = _moments_at_nodes(questions, grid, questions.repeats / count, questions.repeats / count**2)
    right, wrong, within = (moment[:, relevant] for moment in at_nodes)
    mean = np.sum(weights * right, axis=0)
    variance = np.sum(weights * (within + (right - mean) ** 2), axis=0)
    return _Moments(mean, np.sum(weights * wrong, axis=0), np.sqrt(variance)), masses[relevant]


def _moments_at_nodes(
    questions: _Questions, grid: BetaBinomialGrid, w: FloatArray, w2: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, 1 - mean and variance of sum_q w_q pi_q given each (theta, d) of the grid.

    `w` and `w2` are the sums of w_q and of w_q^2 over questions with equal counts.
    """
    n, index = np.unique(questions.trials, return_inverse=True)
    s, f = questions.successes, questions.trials - questions.successes
    d, total = grid.dispersion, grid.dispersion + n[:, None]
    theta, complement = grid.theta[:, None], special.expit(-grid.logit_theta)[:, None]

    def by_size(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(index, values, len(n)), float)

    prior = by_size(w) @ (d / total)
    right, wrong = theta * prior + by_size(w * s) @ (1 / total), complement * prior + by_size(w * f) @ (1 / total)
    scale = 1 / (total**2 * (total + 1))
    within = theta * complement * (d**2 * (by_size(w2) @ scale)) + by_size(w2 * s * f) @ scale
    within += theta * (d * (by_size(w2 * f) @ scale)) + complement * (d * (by_size(w2 * s) @ scale))
    return right, wrong, within
