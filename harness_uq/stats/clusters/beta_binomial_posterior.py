"""Posterior of the score of clustered binary questions under the beta-binomial model (Bowyer et al. 2025, eq. 8)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.clusters.beta_binomial_likelihood import BetaBinomialLogPosterior, DispersionPrior
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.importance import ImportanceSample, adapted_proposal, importance_sample
from harness_uq.stats.common.posterior import DensityPosterior, DrawsPosterior
from harness_uq.stats.common.splines import refine
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_scalars import check_rng

_FINER = 8


class ClusteredPosterior(DensityPosterior):
    """Posterior of theta, computed by quadrature.

    `icc_mean` is the posterior mean of the intraclass correlation 1 / (1 + d), and `grid` the joint posterior of
    (theta, d).
    """

    def __init__(self, grid: BetaBinomialGrid) -> None:
        super().__init__(*_interpolate_marginal(grid), scale="logit")
        self.grid = grid
        self.icc_mean = grid.icc_mean


class SampledClusteredPosterior(DrawsPosterior):
    """Posterior of theta, computed by importance sampling.

    `icc_mean` is the posterior mean of the intraclass correlation 1 / (1 + d), and `pareto_k` the tail shape of the
    weights, which are unreliable above 0.7.
    """

    def __init__(self, sample: ImportanceSample) -> None:
        super().__init__(special.expit(sample.points[:, 0]), sample.weights)
        self.pareto_k = sample.pareto_k
        self.icc_mean = float(sample.weights @ special.expit(-sample.points[:, 1]))


def clustered_posterior(successes: ArrayLike, sizes: ArrayLike, prior: DispersionPrior = "icc") -> ClusteredPosterior:
    """Posterior of the score theta expected on new clusters, under the beta-binomial model.

    theta ~ Beta(1, 1), d ~ `prior`, theta_t ~ Beta(d theta, d (1 - theta)), successes_t ~ Bin(sizes_t, theta_t).

    Parameters
    ----------
    successes, sizes : array_like, shape (n_clusters,)
        Whole numbers with ``0 <= successes <= sizes``; clusters of size 0 are ignored.
    prior : {"icc", "gamma"}, optional
        Prior of d. ``icc`` (default) is uniform on the intraclass correlation 1 / (1 + d); ``gamma`` is Gamma(1, 1),
        as in the paper.

    Returns
    -------
    ClusteredPosterior
        Posterior of theta by deterministic quadrature, with quantiles accurate to 1e-6.

    Raises
    ------
    DataError
        If counts are fractional, negative or inconsistent, or no cluster has a trial.

    References
    ----------
    Bowyer et al. (2025), eq. 8.

    Examples
    --------
    Clusters of one question give Beta(4, 2), with mean 2/3:

    >>> clusters_of_one = clustered_posterior([1, 1, 1, 0], [1, 1, 1, 1])
    >>> round(clusters_of_one.mean, 6)
    0.666667
    """
    return ClusteredPosterior(beta_binomial_grid(successes, sizes, prior=prior))


def clustered_importance_posterior(
    successes: ArrayLike, sizes: ArrayLike, prior: DispersionPrior = "icc", *, rng: np.random.Generator | None = None
) -> SampledClusteredPosterior:
    """Posterior of `clustered_posterior` by importance sampling, with 10,000 draws from a proposal fitted to it.

    Arguments and errors are those of `clustered_posterior`; the default seed is 0. It also raises `UnreliableError` if
    the effective sample size is below 400 or the Pareto k above 0.7.
    """
    rng = check_rng(rng)
    log_posterior = BetaBinomialLogPosterior(successes, sizes, prior=prior)

    def log_target(points: FloatArray) -> FloatArray:
        return log_posterior(points[:, 0], points[:, 1])

    pooled = (log_posterior.n_successes + 1) / (log_posterior.n_trials + 2)
    proposal = adapted_proposal(log_target, np.array([special.logit(pooled), 0.0]), rng=rng)
    return SampledClusteredPosterior(importance_sample(log_target, proposal, rng=rng).require_reliable())


def _interpolate_marginal(grid: BetaBinomialGrid) -> tuple[FloatArray, FloatArray]:
    """Nodes and density of logit theta on a grid eight times finer.

    The grid is uniform in a smooth function of its index, so the log of the mass per node is smooth in the index too.
    """
    log_mass = np.log(np.maximum(grid.weights.sum(axis=1), 1e-300))
    values, slopes = refine(np.stack([grid.logit_theta, log_mass], axis=1), _FINER)
    return values[:, 0], np.exp(values[:, 1]) / slopes[:, 0]
