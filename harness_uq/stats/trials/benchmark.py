"""Posterior of the score on exactly these questions, whose difficulties come from a common Beta distribution."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.averaged import AveragedPosterior
from harness_uq.stats.common.outcomes import check_question_counts
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, Posterior

BenchmarkModel = Literal["hierarchical", "pooled"]
ModelChoice = Literal["auto", "hierarchical", "pooled"]

POOLED_UP_TO, LEARNT_FROM = 5, 15  # right or wrong trials in all, between which the spread of questions can be learnt
SHAPE_WORTH = 10.0  # mixed questions that weigh as much as the Beta shape
_NEGLIGIBLE = 1e-6
_TAIL = np.log(1e-10)
_DENSITY_NODES = 300


class BenchmarkPosterior(AveragedPosterior):
    """Posterior of a benchmark score that knows its models.

    Attributes
    ----------
    model : `hierarchical` (pi_q ~ Beta(d theta, d (1 - theta)), with what `auto` blends in) or `pooled` (one binomial)
    pooled_share : weight of the pooled model, in [0, 1]
    icc : float or None; posterior mean of 1 / (1 + d), the share of variance between questions; None if pooled
    """

    def __init__(
        self, parts: list[tuple[Posterior, float]], *, pooled_share: float = 0.0, icc: float | None = None
    ) -> None:
        super().__init__(parts)
        self.model: BenchmarkModel = "pooled" if icc is None else "hierarchical"
        self.pooled_share, self.icc = pooled_share, icc

    def __repr__(self) -> str:
        parts = ", ".join(f"{weight:.2g} {posterior!r}" for posterior, weight in self.parts)
        return f"{type(self).__name__}({parts}, model={self.model!r})"


def benchmark_posterior(successes: ArrayLike, trials: ArrayLike, *, model: ModelChoice = "auto") -> BenchmarkPosterior:
    """Posterior of the mean over these questions of the probability of a right answer.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question.
        A question without trials takes what the others say: the score is then that of all M questions
    model : `hierarchical`, `pooled`, or `auto`, which averages their quantiles with those of a posterior that assumes
        no shape, by weights that the data give; where every question has one trial it is `pooled`

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

    Without a shape: the Beta with the plain score as mean and the variance sum_q v_q / M^2, v_q = s (n - s) /
    (n^2 (n - 1)) the unbiased variance of a question's share. Where difficulties are not Beta-distributed the
    hierarchical posterior settles beside the plain score; its weight 10 / (10 + J), J = (sum v)^2 / sum v^2 the number
    of questions that show noise, fades as they grow, so that the interval closes on the plain score.

    Examples
    --------
    >>> benchmark_posterior([1, 1, 0], 1)  # one trial each: pooled, Beta(1 + 2, 1 + 1)
    BenchmarkPosterior(1 BetaPosterior(a=3, b=2, low=0, high=1), model='pooled')
    >>> benchmark_posterior([4, 4, 3, 4, 0, 1, 4, 4, 2, 4, 0, 0], 4).model
    'hierarchical'
    """
    s, n = check_question_counts(successes, trials)
    check_model(model)
    share = _pooled_share(s, n) if model == "auto" else float(model == "pooled")
    if share == 1.0:
        return BenchmarkPosterior([(_pooled(s, n), 1.0)], pooled_share=1.0)
    grid = beta_binomial_grid(s, n)
    parts: list[tuple[Posterior, float]] = [(_mixed_over_dispersion(s, n, grid), 1.0)]
    if model == "auto":
        parts = _with_shapeless(s, n, parts[0][0])
    parts = [(posterior, (1.0 - share) * weight) for posterior, weight in parts]
    if share > 0:
        parts.append((_pooled(s, n), share))
    return BenchmarkPosterior(parts, pooled_share=share, icc=grid.icc_mean)


def _pooled_share(successes: FloatArray, trials: FloatArray) -> float:
    """Weight of the pooled model: 1 with one trial a question, else by the rarer of right and wrong trials."""
    if trials.max() <= 1:
        return 1.0
    rarer = min(float(successes.sum()), float((trials - successes).sum()))
    return float(np.clip((LEARNT_FROM - rarer) / (LEARNT_FROM - POOLED_UP_TO), 0.0, 1.0))


def _pooled(successes: FloatArray, trials: FloatArray) -> BetaPosterior:
    """The Beta of one binomial of 1 / sum_q(w_q^2 / n_q) trials, w_q = 1 / M."""
    tried = trials > 0
    share, size = float(np.mean(successes[tried] / trials[tried])), tried.sum() ** 2 / float(np.sum(1 / trials[tried]))
    return BetaPosterior(1 + size * share, 1 + size * (1 - share))


def _with_shapeless(
    successes: FloatArray, trials: FloatArray, hierarchical: Posterior
) -> list[tuple[Posterior, float]]:
    """The hierarchical posterior, and the one from the questions' own noise where each has been tried, with weights."""
    if not trials.all():
        return [(hierarchical, 1.0)]
    share = successes / trials
    plain = float(share.mean())
    once = trials == 1
    noise = np.where(once, plain * (1 - plain), share * (1 - share) / np.where(once, 1.0, trials - 1))
    total = float(noise.sum())
    if total == 0:
        return [(hierarchical, 1.0)]
    shape = SHAPE_WORTH / (SHAPE_WORTH + total**2 / float(noise @ noise))
    most = plain * (1 - plain) / 2  # that of a Beta with a + b = 1
    shapeless = BetaPosterior.from_moments(plain, min(total / len(trials) ** 2, most))
    return [(hierarchical, shape), (shapeless, 1.0 - shape)]


def _mixed_over_dispersion(successes: FloatArray, trials: FloatArray, grid: BetaBinomialGrid) -> Posterior:
    """Density of the logit of the mean: for each d the Beta with its moments, mixed.

    Where rounding leaves a d without a Beta, as with a billion trials that are all right, one Beta stands for all.
    """
    mean, within = _moments_at_nodes(successes, trials, grid, None)
    mass = grid.weights.sum(axis=0)
    kept = mass > _NEGLIGIBLE
    weights = grid.weights[:, kept] / mass[kept]
    m = np.sum(weights * mean[:, kept], axis=0)
    v = np.sum(weights * (within[:, kept] + (mean[:, kept] - m) ** 2), axis=0)
    size = m * (1 - m) / v - 1
    if not ((m < 1) & (size > 0)).all():
        return BetaPosterior.from_moments(*hierarchical_moments(successes, trials, grid))
    a, b = (m * size)[:, None], ((1 - m) * size)[:, None]
    u = _logit_nodes(a, b, float(mass[kept] @ m) / float(mass[kept].sum()))
    density = mass[kept] @ np.exp(a * special.log_expit(u) + b * special.log_expit(-u) - special.betaln(a, b))
    return DensityPosterior(u, density, "logit")


def _logit_nodes(a: FloatArray, b: FloatArray, mean: float) -> FloatArray:
    """Nodes from the lowest to the highest quantile of order 1e-10 of logits of Betas, denser in the middle."""
    centre = float(special.logit(mean))
    scale = float(np.min(np.sqrt(1 / a + 1 / a**2 + 1 / b + 1 / b**2)))  # at least the sd of the narrowest
    low = min(float(np.min((_TAIL + np.log(a) + special.betaln(a, b)) / a)), centre - 8 * scale)
    high = max(float(np.max(-(_TAIL + np.log(b) + special.betaln(a, b)) / b)), centre + 8 * scale)
    ends = np.arcsinh((np.array([low, high]) - centre) / (4 * scale))
    return np.asarray(centre + 4 * scale * np.sinh(np.linspace(ends[0], ends[1], _DENSITY_NODES)))


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
    mean, within = _moments_at_nodes(successes, trials, grid, weights)
    average = float(np.sum(grid.weights * mean))
    return average, float(np.sum(grid.weights * (within + (mean - average) ** 2)))


def _moments_at_nodes(
    successes: FloatArray, trials: FloatArray, grid: BetaBinomialGrid, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of sum_q w_q pi_q given each (theta, d) of the grid."""
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
    return mean, within


def check_model(model: str) -> None:
    """Refuse a model of another name."""
    if model not in ("auto", "hierarchical", "pooled"):
        raise DataError(f"model must be 'auto', 'hierarchical' or 'pooled'; got {model!r}")
