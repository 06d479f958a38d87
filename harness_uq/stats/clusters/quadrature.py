"""Beta-binomial posterior of (theta, d) on an adaptive tensor grid, deterministic at every size.

The model is Bowyer et al. (2025), eq. 8: theta ~ Beta(1, 1), d ~ prior, theta_t ~ Beta(d theta, d (1 - theta)),
Y_t ~ Bin(N_t, theta_t). With theta_t integrated out Y_t is beta-binomial. The trapezoidal rule, whose error falls
exponentially with the number of nodes for analytic integrands, is applied to t where u = logit theta = u0 + s sinh(t)
(v = log d likewise, its spacing bounded): one grid serves sharp peaks, wide shoulders and exponential tails.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import UnreliableError
from harness_uq.stats.clusters.beta_binomial import BetaBinomialLogPosterior, DispersionPrior
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.mode import find_mode

_REACH = 60.0  # half-width of the first, coarse grid; the tails fall at least as exp(-|u|) and exp(-|v|)
_DEPTH = 25.0  # a dispersion matters while the density along it is within exp(-25) = 1e-11 of the mode's
_TAIL = 1e-12  # share of the mass that a node at the edge of the grid may hold
_REFINEMENTS = 9


@dataclass(frozen=True, slots=True, eq=False)
class BetaBinomialGrid:
    """Posterior of (theta, d) as masses on a grid.

    Attributes
    ----------
    logit_theta, theta : (G,) increasing; logit(theta) and theta in (0, 1)
    log_dispersion, dispersion : (K,) increasing; log d and d > 0
    weights : (G, K) posterior masses, quadrature weights included; they sum to 1
    """

    logit_theta: FloatArray
    theta: FloatArray
    log_dispersion: FloatArray
    dispersion: FloatArray
    weights: FloatArray

    @property
    def icc(self) -> FloatArray:
        """Intraclass correlation 1 / (1 + d) at each dispersion node, (K,)."""
        return np.asarray(special.expit(-self.log_dispersion))

    @property
    def icc_mean(self) -> float:
        """Posterior mean of the intraclass correlation."""
        return float(self.weights.sum(axis=0) @ self.icc)


def beta_binomial_grid(
    successes: ArrayLike, sizes: ArrayLike, *, prior: DispersionPrior = "icc", step: float = 0.16
) -> BetaBinomialGrid:
    """Posterior of (theta, d) given the successes of each cluster.

    Parameters
    ----------
    successes, sizes : (T,) whole numbers with 0 <= successes <= sizes; clusters of size 0 are left out
    prior : prior of d: `icc` is uniform on the intraclass correlation 1 / (1 + d), p(d) = (1 + d)^-2;
        `gamma` is Gamma(1, 1), as in the paper
    step : spacing of log d on the sinh scale (theta has half of it); reduced until the result no longer moves

    Returns
    -------
    BetaBinomialGrid; the mass outside the grid is below 1e-9

    Raises
    ------
    DataError : counts that are not whole, negative or inconsistent, or no cluster with a trial
    UnreliableError : the grid does not settle after 9 reductions of `step` by 0.7

    Bowyer et al. (2025), eq. 8 and section 3.2.

    >>> grid = beta_binomial_grid([1, 1, 1, 0], [1, 1, 1, 1])  # clusters of one: theta ~ Beta(4, 2)
    >>> round(float(grid.weights.sum(axis=1) @ grid.theta), 9) == round(4 / 6, 9)
    True
    """
    log_posterior = BetaBinomialLogPosterior(successes, sizes, prior=prior)
    u, v = _axes(log_posterior)
    u_step, v_step = step / 2, step
    for _ in range(_REFINEMENTS + 1):
        grid = _evaluate(log_posterior, u.nodes(u_step), v.nodes(v_step))
        u_settled, v_settled = _has_settled(grid.weights, log_posterior.n_trials)
        if u_settled and v_settled:
            return grid
        u_step, v_step = u_step if u_settled else 0.7 * u_step, v_step if v_settled else 0.7 * v_step
    raise UnreliableError(
        f"the beta-binomial grid of {log_posterior.n_clusters} clusters did not settle with {grid.weights.shape} nodes"
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """Nodes at centre + bend asinh(scale sinh(t) / bend), t between low and high.

    Their spacing grows from step * scale at the centre, in proportion to the distance, to step * bend far away.
    """

    centre: float
    scale: float
    low: float
    high: float
    bend: float

    @classmethod
    def wide(cls, centre: float, scale: float, bend: float) -> "_Axis":
        reach = float(np.arcsinh(bend / scale * np.sinh(_REACH / bend)))
        return cls(centre, scale, -reach, reach, bend)

    def nodes(self, step: float) -> tuple[FloatArray, FloatArray]:
        """Nodes x and the logs of their trapezoidal weights, log dx/dt; the common step is left out."""
        t = self.low + step * np.arange(int(np.ceil((self.high - self.low) / step)) + 1)
        inner = self.scale / self.bend * np.sinh(t)
        slope = np.log(self.scale * np.cosh(t)) - np.log1p(inner**2) / 2
        return self.centre + self.bend * np.arcsinh(inner), slope

    def trim(self, mass: FloatArray, step: float) -> "_Axis":
        """The part of the axis that holds the mass found at the nodes of `step`."""
        held = np.flatnonzero(mass > _TAIL)
        low, high = self.low + step * (held[0] - 1), self.low + step * (held[-1] + 1)
        return replace(self, low=float(low), high=float(high))


def _evaluate(
    log_posterior: BetaBinomialLogPosterior, u: tuple[FloatArray, FloatArray], v: tuple[FloatArray, FloatArray]
) -> BetaBinomialGrid:
    log_mass = log_posterior(u[0][:, None], v[0][None, :]) + u[1][:, None] + v[1]
    mass = np.exp(log_mass - log_mass.max())
    return BetaBinomialGrid(u[0], special.expit(u[0]), v[0], np.exp(v[0]), mass / mass.sum())


def _has_settled(weights: FloatArray, n_trials: float) -> tuple[bool, bool]:
    """Whether every second node, of u and of v, gives the same marginal of the other.

    The error of a trapezoidal sum is about the square of what leaving out every second node does to it: 3e-5 in v
    makes the integral over d good to 1e-9, 1e-7 in u is what interpolation between nodes costs. Rounding of the
    log likelihood, of order 1e-16 a trial, cannot be refined away.
    """
    rounding = 1e-14 * n_trials
    by_dispersion = np.abs(weights[::2].sum(axis=0) - weights[1::2].sum(axis=0)).sum()
    by_theta = np.abs(weights[:, ::2].sum(axis=1) - weights[:, 1::2].sum(axis=1)).sum()
    return bool(by_dispersion < 1e-7 + rounding), bool(by_theta < 3e-5 + rounding)


def _axes(log_posterior: BetaBinomialLogPosterior) -> tuple[_Axis, _Axis]:
    """Axes of u and v that leave out less than 1e-9 of the mass."""
    (u0, v0), (u_scale, v_scale) = _locate(log_posterior)
    u, v = _Axis.wide(u0, u_scale, _REACH), _Axis.wide(v0, v_scale, 5.0)
    weights = _evaluate(log_posterior, u.nodes(0.4), v.nodes(0.4)).weights
    return u.trim(weights.sum(axis=1), 0.4), v.trim(weights.sum(axis=0), 0.4)


def _locate(log_posterior: BetaBinomialLogPosterior) -> tuple[FloatArray, FloatArray]:
    """Centre and scale of u and v: the mode, but of u where it is narrowest, at the largest d that matters."""

    def along(u: float, v: FloatArray) -> FloatArray:
        return log_posterior(np.full_like(v, u), v)

    pooled = float(special.logit((log_posterior.n_successes + 1) / (log_posterior.n_trials + 2)))
    line = np.arange(-30.0, 30.5)
    start = np.array([pooled, line[np.argmax(along(pooled, line))]])
    mode, curvature = find_mode(lambda x: log_posterior(x[:, 0], x[:, 1]), start)
    scale = 1 / np.sqrt(np.maximum(-np.diag(curvature), 1.0))
    above = mode[1] + scale[1] * np.sinh(np.linspace(0, np.arcsinh(_REACH / scale[1]), 60))
    height = np.maximum(along(mode[0], above), along(pooled, above))
    v = above[height > height[0] - _DEPTH].max()
    narrow, narrow_curvature = find_mode(lambda x: log_posterior(x[:, 0], np.full(len(x), v)), mode[:1])
    narrow_scale = 1 / np.sqrt(max(-narrow_curvature[0, 0], 1.0))
    return np.array([narrow[0], mode[1]]), np.array([min(scale[0], narrow_scale), scale[1]])
