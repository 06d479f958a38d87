"""Beta-binomial posterior of (theta, d) on an adaptive tensor grid, deterministic for data of any size.

The model is Bowyer et al. (2025), eq. 8: theta ~ Beta(1, 1), d ~ prior, theta_t ~ Beta(d theta, d (1 - theta)),
Y_t ~ Bin(N_t, theta_t). With theta_t integrated out, Y_t is beta-binomial. The trapezoidal rule, which converges
exponentially for analytic integrands, is applied in t with u = logit theta = u0 + s sinh(t); v = log d is treated
likewise, with bounded spacing. One grid thus resolves sharp peaks, wide shoulders and exponential tails.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import UnreliableError
from harness_uq.stats.clusters.beta_binomial_likelihood import BetaBinomialLogPosterior, DispersionPrior
from harness_uq.stats.common.mode import find_mode
from harness_uq.stats.common.validate_arrays import FloatArray

_REACH = 60.0  # half-width of the first, coarse grid; the tails decay at least as exp(-|u|) and exp(-|v|)
_DEPTH = 25.0  # dispersions matter if the density is at least exp(-25) = 1e-11 times its maximum
_TAIL = 1e-12  # largest share of the mass on a node at the edge of the grid
_REFINEMENTS = 9


@dataclass(frozen=True, slots=True, eq=False)
class BetaBinomialGrid:
    """Posterior of (theta, d) as masses on a grid.

    The increasing nodes are `logit_theta` and `theta` (G,), and `log_dispersion` and `dispersion` (K,), for log d and
    d. The `weights` (G, K) are posterior masses with sum 1, including the quadrature weights.
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

    `successes` and `sizes` (n_clusters,) are whole numbers; clusters of size 0 are ignored. The prior ``icc`` is
    uniform on the intraclass correlation 1 / (1 + d), p(d) = (1 + d)^-2, and ``gamma`` is d ~ Gamma(1, 1), as in the
    paper. `step` is the initial spacing of log d on the sinh scale (theta has half of it); it is reduced until the
    result is stable. The mass outside the grid is below 1e-9. Raises DataError if counts are fractional, negative or
    inconsistent, or no cluster has a trial; UnreliableError if the result is not stable after 9 reductions of `step` by
    the factor 0.7. Source: Bowyer et al. (2025), eq. 8 and section 3.2.

    Clusters of one question give theta ~ Beta(4, 2), with mean 4/6:

    >>> grid = beta_binomial_grid([1, 1, 1, 0], [1, 1, 1, 1])
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
        f"quadrature over {log_posterior.n_clusters} clusters did not converge with {grid.weights.shape} nodes"
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """Nodes centre + bend asinh(scale sinh(t) / bend) for t from low to high.

    Their spacing is step * scale at the centre, grows in proportion to the distance and is at most step * bend.
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
        """Nodes x and the logs of their trapezoidal weights, log dx/dt, without the common step."""
        t = self.low + step * np.arange(int(np.ceil((self.high - self.low) / step)) + 1)
        inner = self.scale / self.bend * np.sinh(t)
        slope = np.log(self.scale * np.cosh(t)) - np.log1p(inner**2) / 2
        return self.centre + self.bend * np.arcsinh(inner), slope

    def trim(self, mass: FloatArray, step: float) -> "_Axis":
        """Part of the axis that contains the mass, which is given at the nodes of `step`."""
        occupied = np.flatnonzero(mass > _TAIL)
        low, high = self.low + step * (occupied[0] - 1), self.low + step * (occupied[-1] + 1)
        return replace(self, low=float(low), high=float(high))


def _evaluate(
    log_posterior: BetaBinomialLogPosterior, u: tuple[FloatArray, FloatArray], v: tuple[FloatArray, FloatArray]
) -> BetaBinomialGrid:
    log_mass = log_posterior(u[0][:, None], v[0][None, :]) + u[1][:, None] + v[1]
    mass = np.exp(log_mass - log_mass.max())
    return BetaBinomialGrid(u[0], special.expit(u[0]), v[0], np.exp(v[0]), mass / mass.sum())


def _has_settled(weights: FloatArray, n_trials: float) -> tuple[bool, bool]:
    """Whether the marginals of v and u change if every second node of u and v, respectively, is omitted.

    The error of a trapezoidal sum is about the square of the change caused by omitting every second node. A change of
    3e-5 in v makes the integral over d accurate to 1e-9; 1e-7 in u is the error of interpolation between nodes.
    Rounding errors of the log likelihood, of order 1e-16 per trial, cannot be refined away.
    """
    rounding = 1e-14 * n_trials
    by_dispersion = np.abs(weights[::2].sum(axis=0) - weights[1::2].sum(axis=0)).sum()
    by_theta = np.abs(weights[:, ::2].sum(axis=1) - weights[:, 1::2].sum(axis=1)).sum()
    return bool(by_dispersion < 1e-7 + rounding), bool(by_theta < 3e-5 + rounding)


def _axes(log_posterior: BetaBinomialLogPosterior) -> tuple[_Axis, _Axis]:
    """Axes of u and v that omit less than 1e-9 of the mass."""
    (u0, v0), (u_scale, v_scale) = _locate(log_posterior)
    u, v = _Axis.wide(u0, u_scale, _REACH), _Axis.wide(v0, v_scale, 5.0)
    weights = _evaluate(log_posterior, u.nodes(0.4), v.nodes(0.4)).weights
    return u.trim(weights.sum(axis=1), 0.4), v.trim(weights.sum(axis=0), 0.4)


def _locate(log_posterior: BetaBinomialLogPosterior) -> tuple[FloatArray, FloatArray]:
    """Centre and scale of u and v: the mode, but u is centred where it is narrowest (at the largest relevant d)."""

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
