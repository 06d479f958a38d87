"""Posterior of the score of clustered binary questions under the beta-binomial model (Bowyer et al. 2025, eq. 8)."""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.beta_binomial_likelihood import BetaBinomialLogPosterior, DispersionPrior, log_prior
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.importance import ImportanceSample, adapted_proposal, importance_sample
from harness_uq.stats.common.posterior import DensityPosterior, DrawsPosterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_rng, check_whole

Engine = Literal["quadrature", "is"]
ImportanceProposal = Literal["adapted", "prior"]

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


@overload
def clustered_posterior(
    successes: ArrayLike,
    sizes: ArrayLike,
    prior: DispersionPrior = ...,
    engine: Literal["quadrature"] = ...,
    rng: np.random.Generator | None = ...,
    *,
    proposal: ImportanceProposal = ...,
) -> ClusteredPosterior: ...
@overload
def clustered_posterior(
    successes: ArrayLike,
    sizes: ArrayLike,
    prior: DispersionPrior,
    engine: Literal["is"],
    rng: np.random.Generator | None = ...,
    *,
    proposal: ImportanceProposal = ...,
) -> SampledClusteredPosterior: ...
@overload
def clustered_posterior(
    successes: ArrayLike,
    sizes: ArrayLike,
    prior: DispersionPrior = ...,
    *,
    engine: Literal["is"],
    rng: np.random.Generator | None = ...,
    proposal: ImportanceProposal = ...,
) -> SampledClusteredPosterior: ...
def clustered_posterior(
    successes: ArrayLike,
    sizes: ArrayLike,
    prior: DispersionPrior = "icc",
    engine: Engine = "quadrature",
    rng: np.random.Generator | None = None,
    *,
    proposal: ImportanceProposal = "adapted",
) -> ClusteredPosterior | SampledClusteredPosterior:
    """Posterior of the score theta expected on new clusters, under the beta-binomial model.

    theta ~ Beta(1, 1), d ~ `prior`, theta_t ~ Beta(d theta, d (1 - theta)), successes_t ~ Bin(sizes_t, theta_t).

    Parameters
    ----------
    successes, sizes : array_like, shape (n_clusters,)
        Whole numbers with ``0 <= successes <= sizes``; clusters of size 0 are ignored.
    prior : {"icc", "gamma"}, optional
        Prior of d. ``icc`` (default) is uniform on the intraclass correlation 1 / (1 + d); ``gamma`` is Gamma(1, 1),
        as in the paper.
    engine : {"quadrature", "is"}, optional
        ``quadrature`` (default) is deterministic, with quantiles accurate to 1e-6; ``is`` is importance sampling.
    rng : numpy.random.Generator, optional
        Random generator for ``is`` (default: a new one with a random seed).
    proposal : {"adapted", "prior"}, optional
        Proposal for ``is``, with 10,000 draws: fitted to the posterior (default) or the prior, as in the paper.

    Returns
    -------
    ClusteredPosterior or SampledClusteredPosterior
        Posterior of theta. With ``is`` it also has `importance_ess`, `pareto_k` and `mc_error`.

    Raises
    ------
    DataError
        If counts are fractional, negative or inconsistent, or no cluster has a trial.
    UnreliableError
        If importance sampling gives an effective sample size below 400 or a Pareto k above 0.7.

    References
    ----------
    Bowyer et al. (2025), eq. 8; appendix E.1 for ``is`` with the proposal ``prior``.

    Examples
    --------
    Clusters of one question give Beta(4, 2), with mean 2/3:

    >>> clusters_of_one = clustered_posterior([1, 1, 1, 0], [1, 1, 1, 1])
    >>> round(clusters_of_one.mean, 6)
    0.666667
    """
    if engine == "quadrature":
        return ClusteredPosterior(beta_binomial_grid(successes, sizes, prior=prior))
    if engine != "is":
        raise DataError(f"engine must be 'is' or 'quadrature'; got {engine!r}")
    rng = rng or np.random.default_rng()
    sample = clustered_importance_sample(successes, sizes, prior=prior, proposal=proposal, rng=rng)
    return SampledClusteredPosterior(sample.require_reliable())


def clustered_importance_sample(
    successes: ArrayLike,
    sizes: ArrayLike,
    *,
    prior: DispersionPrior = "icc",
    proposal: ImportanceProposal = "adapted",
    n_draws: int = 10_000,
    rng: np.random.Generator,
) -> ImportanceSample:
    """Weighted draws of (logit theta, log d), returned whether they are reliable or not.

    Model, arguments, errors and source are those of `clustered_posterior`; the points have shape (n_draws, 2). Use it
    for calibration and diagnosis.
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    log_posterior = BetaBinomialLogPosterior(successes, sizes, prior=prior)

    def log_target(points: FloatArray) -> FloatArray:
        return log_posterior(points[:, 0], points[:, 1])

    if proposal == "prior":
        return importance_sample(log_target, _PriorProposal(prior), n_draws=n_draws, rng=rng)
    if proposal != "adapted":
        raise DataError(f"proposal must be 'adapted' or 'prior'; got {proposal!r}")
    pooled = (log_posterior.n_successes + 1) / (log_posterior.n_trials + 2)
    adapted = adapted_proposal(log_target, np.array([special.logit(pooled), 0.0]), rng=rng)
    return importance_sample(log_target, adapted, n_draws=n_draws, rng=rng)


@dataclass(frozen=True, slots=True)
class _PriorProposal:
    """Prior of (logit theta, log d) as the proposal: Bowyer et al. (2025), eqs. 61-62 and 66."""

    prior: DispersionPrior

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        logit_theta = rng.logistic(size=n_draws)
        log_d = rng.logistic(size=n_draws) if self.prior == "icc" else np.log(rng.standard_exponential(n_draws))
        return np.column_stack([logit_theta, log_d])

    def log_density(self, points: FloatArray) -> FloatArray:
        return log_prior(points[:, 0], points[:, 1], self.prior)


def _interpolate_marginal(grid: BetaBinomialGrid) -> tuple[FloatArray, FloatArray]:
    """Nodes and density of logit theta on a grid eight times finer.

    The grid is uniform in a smooth function of its index, so the log of the mass per node is smooth in the index too.
    """
    from scipy.interpolate import make_interp_spline

    index = np.arange(len(grid.logit_theta), dtype=float)
    fine = np.linspace(0.0, index[-1], _FINER * (len(index) - 1) + 1)
    log_mass = np.log(np.maximum(grid.weights.sum(axis=1), 1e-300))
    nodes = make_interp_spline(index, grid.logit_theta, k=7)
    density = np.exp(make_interp_spline(index, log_mass, k=7)(fine)) / nodes.derivative()(fine)
    return nodes(fine), density
