"""Posterior of the score on exactly these questions, whose difficulties come from a common Beta distribution."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.beta_mixture import BetaMixturePosterior
from harness_uq.stats.common.outcomes import check_question_counts, distinct_counts

BenchmarkModel = Literal["hierarchical", "pooled"]
ModelChoice = Literal["auto", "hierarchical", "pooled"]

POOLED_UP_TO, LEARNT_FROM = 5, 15  # right or wrong trials in all, between which the spread of questions can be learnt
SHAPE_WORTH = 10.0  # mixed questions that weigh as much as the Beta shape
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, slots=True)
class _Moments:
    """What a model says of the score; arrays have one entry for each dispersion it may have.

    Attributes
    ----------
    right, wrong : mean of the score and of its complement, so that neither is lost to rounding near 0
    sd : its standard deviation
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
        """Both parameters of the Betas with these moments."""
        size = self.right * self.wrong / self.sd**2 - 1
        return self.right * size, self.wrong * size


@dataclass(frozen=True, slots=True)
class _Questions:
    """How often questions of so many successes and trials occur, (K,) each."""

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
    """Posterior of a benchmark score that knows its models.

    Attributes
    ----------
    model : `hierarchical` (pi_q ~ Beta(d theta, d (1 - theta)), with what `auto` blends in) or `pooled` (one binomial)
    pooled_share : weight of the pooled model, in [0, 1]
    icc : float or None; posterior mean of 1 / (1 + d), the share of variance between questions; None if pooled
    """

    def __init__(
        self, moments: _Moments, masses: ArrayLike = 1.0, *, pooled_share: float = 0.0, icc: float | None = None
    ) -> None:
        super().__init__(*moments.betas(), masses)
        self.model: BenchmarkModel = "pooled" if icc is None else "hierarchical"
        self.pooled_share, self.icc = pooled_share, icc


def benchmark_posterior(successes: ArrayLike, trials: ArrayLike, *, model: ModelChoice = "auto") -> BenchmarkPosterior:
    """Posterior of the mean over these questions of the probability of a right answer.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question.
        A question without trials takes what the others say: the score is then that of all M questions
    model : `hierarchical`, `pooled`, or `auto`, which averages both with what the questions show without any shape, by
        weights that the data give; where every question has one trial it is `pooled`

    Returns
    -------
    BenchmarkPosterior ; its `model` and `pooled_share` say which models were used

    Raises
    ------
    DataError : counts that are negative, fractional or inconsistent, or no trial at all

    Notes
    -----
    pi_q ~ Beta(d theta, d (1 - theta)) with theta and the ICC 1 / (1 + d) uniform. Given (theta, d) the pi_q are
    independent Betas, so that mean and variance of their average are closed forms; for each d of `beta_binomial_grid`
    they are mixed over theta and matched by a Beta, and these Betas are mixed. This replaces the fixed uniform prior of
    Bayes@N (Hariri et al. 2025, algorithm 1), whose pull towards 1/2 misses easy and hard benchmarks.

    Pooled is one binomial at the mean of the questions' shares, of M^2 / sum_q(1 / n_q) trials, which is all of them
    where every question has as many. It ignores that questions differ, so that with equal trials its interval is too
    wide in this scope, never too narrow: with one trial a question the spread between questions is not identified,
    with few failures hardly. Its weight falls from 1 at 5 right or wrong trials in all to 0 at 15.

    Without a shape: the plain score as mean and the variance sum_q v_q / M^2, v_q = s (n - s) / (n^2 (n - 1)) the
    unbiased variance of a question's share. Where difficulties are not Beta-distributed the hierarchical posterior
    settles beside the plain score; its weight 10 / (10 + J), J = (sum v)^2 / sum v^2 the number of questions that show
    noise, fades as they grow, so that the interval closes on the plain score.

    The models' means and standard deviations are averaged with these weights at each d, which moves and stretches the
    Beta there (to first order it averages quantiles: Ratcliff 1979, Psychological Bulletin 86:446).

    Examples
    --------
    >>> benchmark_posterior([1, 1, 0], 1)  # one trial each: pooled, Beta(1 + 2, 1 + 1)
    BenchmarkPosterior(mean=0.6, sd=0.2, 1 parts)
    >>> benchmark_posterior([4, 4, 3, 4, 0, 1, 4, 4, 2, 4, 0, 0], 4).model
    'hierarchical'
    """
    s, n = check_question_counts(successes, trials)
    check_model(model)
    questions = _Questions.of(s, n)
    share = _pooled_share(questions) if model == "auto" else float(model == "pooled")
    pooled = _pooled(questions)
    if share == 1.0:
        return BenchmarkPosterior(pooled, pooled_share=1.0)
    grid = beta_binomial_grid(s, n)
    moments, masses = _by_dispersion(questions, grid)
    if model == "auto":
        moments = _with_shapeless(questions, moments)
    return BenchmarkPosterior(moments * (1.0 - share) + pooled * share, masses, pooled_share=share, icc=grid.icc_mean)


def _pooled_share(questions: _Questions) -> float:
    """Weight of the pooled model: 1 with one trial a question, else by the rarer of right and wrong trials."""
    s, n, repeats = questions.successes, questions.trials, questions.repeats
    if n.max() <= 1:
        return 1.0
    rarer = min(float(repeats @ s), float(repeats @ (n - s)))
    return float(np.clip((LEARNT_FROM - rarer) / (LEARNT_FROM - POOLED_UP_TO), 0.0, 1.0))


def _pooled(questions: _Questions) -> _Moments:
    """One binomial of 1 / sum_q(w_q^2 / n_q) trials, w_q = 1 / M, under a uniform prior."""
    tried = questions.trials > 0
    s, n, repeats = (part[tried] for part in (questions.successes, questions.trials, questions.repeats))
    count = repeats.sum()
    share, size = float(repeats @ (s / n) / count), count**2 / float(np.sum(repeats / n))
    return _Moments.of_beta(1 + size * share, 1 + size * (1 - share))


def _with_shapeless(questions: _Questions, hierarchical: _Moments) -> _Moments:
    """The hierarchical moments averaged with those of the questions' own noise, where each has been tried."""
    n, repeats = questions.trials, questions.repeats
    if not n.all():
        return hierarchical
    share, count = questions.successes / n, repeats.sum()
    plain = float(repeats @ share / count)
    once = n == 1
    noise = np.where(once, plain * (1 - plain), share * (1 - share) / np.where(once, 1.0, n - 1))
    total = float(repeats @ noise)
    if total == 0:
        return hierarchical
    shape = SHAPE_WORTH / (SHAPE_WORTH + total**2 / float(repeats @ noise**2))
    most = plain * (1 - plain) / 2  # that of a Beta with a + b = 1
    sd = np.sqrt(min(total / count**2, most))
    shapeless = _Moments(*(np.asarray(x) for x in (plain, 1 - plain, sd)))
    return hierarchical * shape + shapeless * (1.0 - shape)


def _by_dispersion(questions: _Questions, grid: BetaBinomialGrid) -> tuple[_Moments, FloatArray]:
    """Moments of the score for each d that matters, mixed over theta, and the masses of these d."""
    masses = grid.weights.sum(axis=0)
    kept = masses > _NEGLIGIBLE
    weights = grid.weights[:, kept] / masses[kept]
    count = questions.repeats.sum()
    at_nodes = _moments_at_nodes(questions, grid, questions.repeats / count, questions.repeats / count**2)
    right, wrong, within = (part[:, kept] for part in at_nodes)
    mean = np.sum(weights * right, axis=0)
    variance = np.sum(weights * (within + (right - mean) ** 2), axis=0)
    return _Moments(mean, np.sum(weights * wrong, axis=0), np.sqrt(variance)), masses[kept]


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
    each = np.ones(len(trials))
    w = each / len(trials) if weights is None else weights
    mean, _, within = _moments_at_nodes(_Questions(successes, trials, each), grid, w, w * w)
    average = float(np.sum(grid.weights * mean))
    return average, float(np.sum(grid.weights * (within + (mean - average) ** 2)))


def _moments_at_nodes(
    questions: _Questions, grid: BetaBinomialGrid, w: FloatArray, w2: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, 1 - mean and variance of sum_q w_q pi_q given each (theta, d) of the grid.

    `w` and `w2` are the sums of w_q and of w_q^2 over questions that are alike.
    """
    n, which = np.unique(questions.trials, return_inverse=True)
    s, f = questions.successes, questions.trials - questions.successes
    d, total = grid.dispersion, grid.dispersion + n[:, None]
    theta, complement = grid.theta[:, None], special.expit(-grid.logit_theta)[:, None]

    def by_size(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(which, values, len(n)), float)

    prior = by_size(w) @ (d / total)
    right, wrong = theta * prior + by_size(w * s) @ (1 / total), complement * prior + by_size(w * f) @ (1 / total)
    scale = 1 / (total**2 * (total + 1))
    within = theta * complement * (d**2 * (by_size(w2) @ scale)) + by_size(w2 * s * f) @ scale
    within += theta * (d * (by_size(w2 * f) @ scale)) + complement * (d * (by_size(w2 * s) @ scale))
    return right, wrong, within


def check_model(model: str) -> None:
    """Refuse a model of another name."""
    if model not in ("auto", "hierarchical", "pooled"):
        raise DataError(f"model must be 'auto', 'hierarchical' or 'pooled'; got {model!r}")
