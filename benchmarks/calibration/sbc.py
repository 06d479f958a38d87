"""Simulation-based calibration: parameters from the prior, data from the parameters, ranks that must be uniform.

The rank of the true value is its posterior probability F(truth | data), which is exact if the posterior is. The
histogram of ranks has a peak in the middle if posteriors are too wide, and at the ends if they are too narrow.
Reference: Talts et al. (2018), arXiv:1804.06788.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy import special

from benchmarks.calibration.results import Reliability, Uniformity
from benchmarks.calibration.scenarios.clusters import spread_of, success_rates
from benchmarks.calibration.scenarios.confusion import true_score
from benchmarks.calibration.scenarios.types import Size
from benchmarks.reference.dirichlet_multinomial import dirichlet_multinomial_posterior
from benchmarks.reference.latent_normal import latent_normal_cells
from benchmarks.reference.nested import nested_posterior
from benchmarks.reference.two_proportions import independent_posterior
from harness_uq._version import __version__
from harness_uq.data.panel import panel_of_scores
from harness_uq.data.task_log import FloatArray
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.stats.classes.confusion import confusion_posterior
from harness_uq.stats.classes.multiclass import multiclass_posterior
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.common.posterior import DifferencePosterior, DrawsPosterior, Posterior
from harness_uq.stats.effects.variance_mixture import effect_variance
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.proportion.binomial import beta_posterior, finite_population_posterior
from harness_uq.stats.trials.bayes_at_n import bayes_at_n_posterior
from harness_uq.stats.trials.hierarchical_beta import benchmark_posterior
from harness_uq.stats.trials.pass_k import pass_k_posterior

BINS = 20
_MIN_VARIANCE = 4.0  # bins whose count has a smaller variance are too skewed for a chi-squared test
Draw = Callable[[np.random.Generator], tuple[Posterior, float]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A posterior with the prior and the data design for its calibration.

    Attributes
    ----------
    name, design : str
        Names in the report.
    draw : callable
        Draws a posterior and the true value behind its data.
    every : int
        The number of simulations is divided by it, for slow posteriors.
    """

    name: str
    design: str
    draw: Draw
    every: int = 1


def run_sbc(size: Size, seed: int = 0, names: Sequence[str] | None = None) -> list[Uniformity]:
    """Ranks of every posterior, from 300 (smoke) or 2,000 simulations each, fewer for slow posteriors."""
    n = 300 if size == "smoke" else 2000
    return [uniformity(e, n // e.every, seed) for e in EXPERIMENTS if names is None or e.name in names]


def uniformity(experiment: Experiment, n: int, seed: int) -> Uniformity:
    """Histogram of ranks in 20 bins with a chi-squared test."""
    start = time.process_time()
    rng = np.random.default_rng([seed, crc32(experiment.name.encode())])
    ranks = np.array([_rank(*experiment.draw(rng), rng) for _ in range(n)])
    counts = np.bincount(np.minimum((ranks * BINS).astype(int), BINS - 1), minlength=BINS)
    statistic = float(np.sum((counts - n / BINS) ** 2) / (n / BINS))
    p_value = float(special.chdtrc(BINS - 1, statistic))
    seconds = round(time.process_time() - start, 2)
    bins = tuple(int(count) for count in counts)
    return Uniformity(experiment.name, experiment.design, n, bins, p_value, seed, __version__, seconds)


def _rank(posterior: Posterior, truth: float, rng: np.random.Generator) -> float:
    """F(truth); for discrete distributions, a uniform position within the probability of the true value."""
    offset = 1e-9 * max(1.0, abs(truth))
    below, up_to = (float(posterior.cdf(truth + shift)) for shift in (-offset, offset))
    return below + float(rng.random()) * (up_to - below)


def run_reliability(size: Size, seed: int = 0) -> list[Reliability]:
    """How often A is better when P(A > B) is p, in ten bins of p."""
    n = 300 if size == "smoke" else 3000
    return [reliability(e, n // e.every, seed) for e in FORECASTS]


def reliability(experiment: Experiment, n: int, seed: int) -> Reliability:
    """Forecast and observed shares with a chi-squared test over the bins."""
    rng = np.random.default_rng([seed, crc32(experiment.name.encode())])
    simulations = [experiment.draw(rng) for _ in range(n)]
    p = np.array([post.prob_positive if isinstance(post, DifferencePosterior) else np.nan for post, _ in simulations])
    better = np.array([truth > 0 for _, truth in simulations], float)
    bin_index = np.minimum((p * 10).astype(int), 9)
    count, forecast, observed, variance = (
        np.bincount(bin_index, weight, 10) for weight in (np.ones(n), p, better, p * (1 - p))
    )
    is_regular = variance >= _MIN_VARIANCE
    deviations = [(observed - forecast)[is_regular], np.array([(observed - forecast)[~is_regular].sum()])]
    variances = [variance[is_regular], np.maximum(np.array([variance[~is_regular].sum()]), 1e-12)]
    is_tested = np.concatenate(variances) >= _MIN_VARIANCE
    statistic = float(np.sum((np.concatenate(deviations) ** 2 / np.concatenate(variances))[is_tested]))
    p_value = float(special.chdtrc(int(is_tested.sum()), statistic))
    size = np.maximum(count, 1)
    return Reliability(
        experiment.name,
        experiment.design,
        n,
        tuple(int(c) for c in count),
        tuple(float(f) for f in forecast / size),
        tuple(float(o) for o in observed / size),
        p_value,
    )


def _beta(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta = rng.random()
    return beta_posterior(rng.binomial(20, theta), 20), theta


def _finite(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta = rng.random()
    observed, rest = rng.binomial(20, theta), rng.binomial(30, theta)
    return finite_population_posterior(int(observed), 20, 50), (observed + rest) / 50


def _clustered(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta = rng.random()
    return clustered_posterior(
        rng.binomial(5, success_rates(theta, spread_of(rng.random()), 10, rng)), np.full(10, 5)
    ), theta


def _clustered_gamma(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta = rng.random()
    rates = success_rates(theta, rng.gamma(1.0, 1.0), 10, rng)
    return clustered_posterior(rng.binomial(5, rates), np.full(10, 5), "gamma"), theta


def _nested(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta, clusters = rng.random(), np.repeat(np.arange(8), 4)
    cluster_rates = success_rates(theta, spread_of(rng.random()), 8, rng)
    rates = success_rates(cluster_rates[clusters], spread_of(rng.random()), 32, rng)
    return nested_posterior(rng.binomial(3, rates), 3, clusters), theta


def _benchmark(rng: np.random.Generator) -> tuple[Posterior, float]:
    rates = success_rates(rng.random(), spread_of(rng.random()), 30, rng)
    return benchmark_posterior(rng.binomial(4, rates), 4, model="hierarchical"), float(rates.mean())


def _bayes_at_n(rng: np.random.Generator) -> tuple[Posterior, float]:
    rates = rng.random(10)
    return bayes_at_n_posterior((rng.random((10, 3)) < rates[:, None]).astype(float), [0.0, 1.0]), float(rates.mean())


def _pass_population(rng: np.random.Generator) -> tuple[Posterior, float]:
    theta, d = rng.random(), spread_of(rng.random())
    rates = success_rates(theta, d, 30, rng)
    truth = 1 - _both_wrong(theta, d)
    return pass_k_posterior(rng.binomial(4, rates), np.full(30, 4), 2), truth


def _both_wrong(theta: float, d: float) -> float:
    """E[(1 - pi)^2] under Beta(d theta, d (1 - theta))."""
    b = 1 - theta
    return b * b if np.isinf(d) else b * (d * b + 1) / (d + 1)


def _pass_benchmark(rng: np.random.Generator) -> tuple[Posterior, float]:
    rates = success_rates(rng.random(), spread_of(rng.random()), 30, rng)
    truth = float(np.mean(1 - (1 - rates) ** 2))
    return pass_k_posterior(rng.binomial(4, rates), np.full(30, 4), 2, scope="benchmark"), truth


def _f1(rng: np.random.Generator) -> tuple[Posterior, float]:
    cells = rng.dirichlet(np.ones(4)).reshape(2, 2)
    tn, fp, fn, tp = rng.multinomial(30, cells.ravel()).astype(float)
    return confusion_posterior(tp, fp, fn, tn, "f1"), true_score(cells)


def _macro_f1(rng: np.random.Generator) -> tuple[Posterior, float]:
    cells = rng.dirichlet(np.where(np.eye(3) > 0, 1 / 3, 1 / 6).ravel()).reshape(3, 3)
    matrix = rng.multinomial(60, cells.ravel()).reshape(3, 3).astype(float)
    return multiclass_posterior(matrix, "macro_f1", rng=rng), true_score(cells)


def _independent(rng: np.random.Generator) -> tuple[Posterior, float]:
    a, b = rng.random(2)
    return independent_posterior(rng.binomial(10, a), 10, rng.binomial(20, b), 20), a - b


def _paired(rng: np.random.Generator) -> tuple[Posterior, float]:
    cells = rng.dirichlet(np.full(4, 0.5))
    return paired_posterior(rng.multinomial(20, cells), "dirichlet"), float(cells[1] - cells[2])


def _latent_normal(rng: np.random.Generator) -> tuple[Posterior, float]:
    a, b = rng.random(2)
    cells = latent_normal_cells(np.array(a), np.array(b), np.array(2 * rng.beta(4, 2) - 1))
    return paired_posterior(rng.multinomial(20, cells / cells.sum()), "latent_normal"), float(a - b)


def _clustered_cells(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Questions of 15 clusters of 4 that only A, only B, and both or neither got right, and the true difference."""
    p = rng.dirichlet([0.5, 0.5, 1.0])
    d = spread_of(rng.random())
    shares = rng.gamma(np.maximum(d * p, 1e-8), size=(15, 3))
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, rng.multinomial(1, p, 15))
    counts = rng.multinomial(4, shares / shares.sum(axis=1, keepdims=True)).astype(float)
    return counts, float(p[0] - p[1])


def _clustered_pairs(rng: np.random.Generator) -> tuple[Posterior, float]:
    cells, truth = _clustered_cells(rng)
    return dirichlet_multinomial_posterior(cells), truth


def _clustered_process(rng: np.random.Generator) -> tuple[Posterior, float]:
    """Posterior of `harness-uq compare` for clustered questions."""
    cells, truth = _clustered_cells(rng)
    outcomes = np.repeat(np.tile([1.0, -1.0, 0.0], 15), cells.ravel().astype(int))
    a, b = (outcomes > 0).astype(float), (outcomes < 0).astype(float)
    panel = panel_of_scores([a, b], np.repeat(np.arange(15), 4), (0.0, 1.0), is_binary=True)
    posterior = paired_contrast(panel, "dirichlet").posterior
    if not isinstance(posterior, DifferencePosterior):
        raise TypeError("the comparison of clustered binary scores has no posterior of the difference")
    return posterior, truth


def _effect_variance(rng: np.random.Generator) -> tuple[Posterior, float]:
    """Posterior of the variance of 5 seeds from their mean square at a known noise.

    The true value is drawn from the nodes of the prior.
    """
    df, noise, size = 4, 0.15, 100.0
    nodes = effect_variance(0.0, 0.0, noise, size, 0.25, largest=0.25)
    truth = float(rng.choice(nodes.values, p=nodes.weights))
    square = (noise + size * truth) * rng.chisquare(df) / df
    posterior = effect_variance(square, df, noise, size, 0.25, largest=0.25)
    return DrawsPosterior(posterior.values, posterior.weights), truth


EXPERIMENTS = (
    Experiment("beta", "20 questions", _beta),
    Experiment("full-benchmark", "20 of 50 questions", _finite),
    Experiment("clustered", "10 clusters of 5", _clustered, every=2),
    Experiment("clustered-gamma", "10 clusters of 5", _clustered_gamma, every=2),
    Experiment("nested", "8 clusters of 4 questions, 3 trials", _nested, every=10),
    Experiment("benchmark", "30 questions, 4 trials", _benchmark, every=2),
    Experiment("bayes-at-n", "10 questions, 3 trials", _bayes_at_n),
    Experiment("pass@2, population", "30 questions, 4 trials", _pass_population, every=5),
    Experiment("pass@2, benchmark", "30 questions, 4 trials", _pass_benchmark, every=2),
    Experiment("confusion, F1", "30 questions", _f1),
    Experiment("confusion, macro F1", "60 questions, 3 classes", _macro_f1, every=10),
    Experiment("independent", "10 and 20 questions", _independent, every=2),
    Experiment("paired dirichlet", "20 questions", _paired, every=2),
    Experiment("paired latent normal", "20 questions", _latent_normal, every=5),
    Experiment("clustered pairs, Dirichlet-multinomial", "15 clusters of 4", _clustered_pairs, every=5),
    Experiment("variance of crossed effects", "5 seeds", _effect_variance),
)

FORECASTS = (
    Experiment("independent", "10 and 20 questions", _independent),
    Experiment("paired dirichlet", "20 questions", _paired),
    Experiment("clustered pairs, Dirichlet process", "15 clusters of 4", _clustered_process),
)
