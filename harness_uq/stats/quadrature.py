"""Beta-binomial posterior of (theta, d) on an adaptive tensor grid, deterministic at every size.

The model is Bowyer et al. (2025), eq. 8: theta ~ Beta(1, 1), d ~ prior, theta_t ~ Beta(d theta, d (1 - theta)),
Y_t ~ Bin(N_t, theta_t). With theta_t integrated out Y_t is beta-binomial. The trapezoidal rule, whose error falls
exponentially with the number of nodes for analytic integrands, is applied after u = logit theta = u0 + s sinh(t),
and likewise for v = log d: one grid then serves posteriors with a sharp peak and with exponential tails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, UnreliableError
from harness_uq.stats._arrays import FloatArray, check_counts

DispersionPrior = Literal["icc", "gamma"]

_HEAD = 16  # rising factorials: the first 16 factors one by one, Stirling's series (error < 2e-14) for the rest
_BLOCK = np.log(16.0)  # cluster sizes are summarised in blocks of this length on the log scale
_BLOCK_NODES = 24  # Chebyshev error in a block: 4.75**-24 = 6e-17
_REACH = 60.0  # half-width of the first, coarse grid; the tails fall at least as exp(-|u|) and exp(-|v|)
_TAIL = 1e-12  # share of the mass that a node at the edge of the grid may hold
_MAX_HALVINGS = 4


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
    successes: ArrayLike, sizes: ArrayLike, *, prior: DispersionPrior = "icc", step: float = 0.2
) -> BetaBinomialGrid:
    """Posterior of (theta, d) given the successes of each cluster.

    Parameters
    ----------
    successes, sizes : (T,) whole numbers with 0 <= successes <= sizes; clusters of size 0 are left out
    prior : prior of d: `icc` is uniform on the intraclass correlation 1 / (1 + d), p(d) = (1 + d)^-2;
        `gamma` is Gamma(1, 1), as in the paper
    step : spacing of log d on the sinh scale (theta has half of it); halved until the result no longer moves

    Returns
    -------
    BetaBinomialGrid; the mass outside the grid is below 1e-9

    Raises
    ------
    DataError : counts that are not whole, negative or inconsistent, or no cluster with a trial
    UnreliableError : the grid does not settle after 4 halvings of `step`

    Bowyer et al. (2025), eq. 8 and section 3.2.

    >>> grid = beta_binomial_grid([1, 1, 1, 0], [1, 1, 1, 1])  # clusters of one: theta ~ Beta(4, 2)
    >>> round(float(grid.weights.sum(axis=1) @ grid.theta), 9) == round(4 / 6, 9)
    True
    """
    log_posterior = BetaBinomialLogPosterior(successes, sizes, prior=prior)
    axes = _coarse_axes(log_posterior)
    for _ in range(_MAX_HALVINGS + 1):
        grid = _evaluate(log_posterior, axes[0].nodes(step / 2), axes[1].nodes(step))
        if _has_settled(grid.weights):
            return grid
        step /= 2
    raise UnreliableError(
        f"the beta-binomial grid of {log_posterior.n_clusters} clusters did not settle with {grid.weights.shape} nodes"
    )


class BetaBinomialLogPosterior:
    """Unnormalised log posterior density of (logit theta, log d), from sufficient statistics.

    log L = sum_k n_k^S log(theta + k/d) + sum_k n_k^F log(1 - theta + k/d) - sum_k n_k^N log(1 + k/d),
    where n_k^S counts the clusters with more than k successes, and likewise for failures F and sizes N. No
    digit is lost as d grows, and the cost depends on neither the number of clusters nor their size.

    Parameters
    ----------
    successes, sizes, prior : as in `beta_binomial_grid`

    Attributes
    ----------
    n_clusters : int; clusters with at least one trial
    n_successes, n_trials : float; totals
    """

    def __init__(self, successes: ArrayLike, sizes: ArrayLike, *, prior: DispersionPrior = "icc") -> None:
        if prior not in ("icc", "gamma"):
            raise DataError(f"prior must be 'gamma' or 'icc'; got {prior!r}")
        s, n = _check_clusters(successes, sizes)
        self.prior = prior
        self.n_clusters = len(n)
        self.n_successes, self.n_trials = float(s.sum()), float(n.sum())
        self._successes, self._failures, self._sizes = _RisingSum(s), _RisingSum(n - s), _RisingSum(n)

    def __call__(self, logit_theta: FloatArray, log_dispersion: FloatArray) -> FloatArray:
        """Log density with respect to (logit theta, log d), up to a constant; the two arguments broadcast."""
        u, v = logit_theta, log_dispersion
        d, theta, complement = np.exp(v), special.expit(u), special.expit(-u)
        likelihood = self._successes(theta, d) + self._failures(complement, d) - self._sizes(np.ones_like(d), d)
        return np.asarray(likelihood + special.log_expit(u) + special.log_expit(-u) + self._log_prior(v))

    def _log_prior(self, v: FloatArray) -> FloatArray:
        """Log density of v = log d; uniform ICC makes v standard logistic."""
        if self.prior == "icc":
            return np.asarray(special.log_expit(v) + special.log_expit(-v))
        return v - np.exp(v)

    def effective_trials(self, v: FloatArray) -> FloatArray:
        """Trials worth of information on theta at v = log d: sum_t N_t / (1 + (N_t - 1) ICC)."""
        return self._sizes.sum_of(lambda n: n / (1 + (n - 1) * special.expit(-v)))


class _RisingSum:
    """sum_t sum_{k < m_t} log(x + k/d) for counts m_t, as a function of x and d."""

    def __init__(self, counts: FloatArray) -> None:
        values, repeats = _distinct(counts)
        k = np.arange(min(_HEAD, int(values[-1])), dtype=float)
        above = len(counts) - np.concatenate([[0.0], np.cumsum(repeats)])
        self._k = k
        self._n_above: FloatArray = above[np.searchsorted(values, k, side="right")]
        is_large = values > _HEAD
        self._small = values[~is_large], repeats[~is_large]
        self._large = _summarise(values[is_large], repeats[is_large])

    def __call__(self, x: FloatArray, d: FloatArray) -> FloatArray:
        total = np.zeros(np.broadcast_shapes(x.shape, d.shape))
        for k, n_above in zip(self._k, self._n_above, strict=True):
            total += n_above * np.log(x + k / d)
        if len(self._large[0]):
            self._add_large(total, x, d)
        return total

    def _add_large(self, total: FloatArray, x: FloatArray, d: FloatArray) -> None:
        """Add the factors from k = 16 on by Stirling: Gamma(a + n) / (Gamma(a) d^n) with a = d x + 16."""
        a = d * x + _HEAD
        values, repeats = self._large
        rest = values - _HEAD
        total += (repeats @ rest) * np.log(x + _HEAD / d) - repeats.sum() * _stirling_rest(a)
        for n, repeat in zip(rest, repeats, strict=True):
            total += repeat * ((a + n - 0.5) * np.log1p(n / a) - n + _stirling_rest(a + n))

    def sum_of(self, function: Callable[[float], FloatArray]) -> FloatArray:
        """sum_t function(m_t) for a function smooth in log m."""
        pairs = [*zip(*self._small, strict=True), *zip(*self._large, strict=True)]
        return np.asarray(sum(repeat * function(value) for value, repeat in pairs))


def _stirling_rest(z: FloatArray) -> FloatArray:
    """Log Gamma(z) less (z - 1/2) log z - z + log(2 pi)/2; z >= 16."""
    r = 1 / (z * z)
    return np.asarray((1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / z)


def _check_clusters(successes: ArrayLike, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    s, n = check_counts(successes, sizes)
    s, n = np.atleast_1d(s), np.atleast_1d(n)
    if n.ndim != 1:
        raise DataError(f"successes and sizes must have shape (n_clusters,); got {n.shape}")
    fractional = np.flatnonzero((s != np.floor(s)) | (n != np.floor(n)))
    if len(fractional):
        t = fractional[0]
        raise DataError(f"counts must be whole numbers; cluster {t} has successes {s[t]} of {n[t]}")
    if not n.any():
        raise DataError(f"at least one cluster must hold a trial; all {len(n)} sizes are 0")
    return s[n > 0], n[n > 0]


def _distinct(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct values in increasing order and how often each occurs."""
    if counts.max() > 4 * len(counts) + 1000:
        values, repeats = np.unique(counts, return_counts=True)
        return values, repeats.astype(float)
    repeats = np.bincount(counts.astype(np.int64))
    present = np.flatnonzero(repeats)
    return present.astype(float), repeats[present].astype(float)


def _summarise(values: FloatArray, repeats: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and weights with the same sum for every function smooth in log value: at most 24 a block.

    Within a block the weights are those of Chebyshev interpolation, so they need be neither whole nor positive.
    """
    block = np.floor(np.log(values) / _BLOCK)
    parts = [_summarise_block(values[block == b], repeats[block == b], b) for b in np.unique(block)]
    if not parts:
        return values, repeats
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _summarise_block(values: FloatArray, repeats: FloatArray, block: float) -> tuple[FloatArray, FloatArray]:
    if len(values) <= _BLOCK_NODES:
        return values, repeats
    chebvander = np.polynomial.chebyshev.chebvander
    nodes = np.cos((np.arange(_BLOCK_NODES) + 0.5) * np.pi / _BLOCK_NODES)
    moments = repeats @ chebvander(2 * (np.log(values) / _BLOCK - block) - 1, _BLOCK_NODES - 1)
    moments[1:] *= 2
    return np.exp((block + (nodes + 1) / 2) * _BLOCK), chebvander(nodes, _BLOCK_NODES - 1) @ moments / _BLOCK_NODES


@dataclass(frozen=True, slots=True)
class _Axis:
    """Nodes centre + scale sinh(t), t between low and high."""

    centre: float
    scale: float
    low: float
    high: float

    def nodes(self, step: float) -> tuple[FloatArray, FloatArray]:
        """Nodes and their trapezoidal weights (dx/dt, the common step left out)."""
        t = self.low + step * np.arange(int(np.ceil((self.high - self.low) / step)) + 1)
        return self.centre + self.scale * np.sinh(t), self.scale * np.cosh(t)


def _evaluate(
    log_posterior: BetaBinomialLogPosterior, u: tuple[FloatArray, FloatArray], v: tuple[FloatArray, FloatArray]
) -> BetaBinomialGrid:
    log_mass = log_posterior(u[0][:, None], v[0][None, :])
    log_mass += np.log(u[1])[:, None] + np.log(v[1])
    mass = np.exp(log_mass - log_mass.max())
    return BetaBinomialGrid(u[0], special.expit(u[0]), v[0], np.exp(v[0]), mass / mass.sum())


def _has_settled(weights: FloatArray) -> bool:
    """Whether every second node gives the same marginals: what interpolation (u) and integration (v) need."""
    by_dispersion = np.abs(weights[::2].sum(axis=0) - weights[1::2].sum(axis=0)).sum()
    by_theta = np.abs(weights[:, ::2].sum(axis=1) - weights[:, 1::2].sum(axis=1)).sum()
    return bool(by_dispersion < 1e-7 and by_theta < 1e-5)


def _coarse_axes(log_posterior: BetaBinomialLogPosterior) -> tuple[_Axis, _Axis]:
    """Axes around the mode that leave out less than 1e-9 of the mass."""
    mode, scale = _locate(log_posterior)
    reach = np.arcsinh(_REACH / scale)
    u, v = (_Axis(mode[i], scale[i], -reach[i], reach[i]) for i in range(2))
    weights = _evaluate(log_posterior, u.nodes(0.4), v.nodes(0.4)).weights
    return _trim(u, weights.sum(axis=1), 0.4), _trim(v, weights.sum(axis=0), 0.4)


def _trim(axis: _Axis, mass: FloatArray, step: float) -> _Axis:
    held = np.flatnonzero(mass > _TAIL)
    low, high = axis.low + step * (held[0] - 1), axis.low + step * (held[-1] + 1)
    return _Axis(axis.centre, axis.scale, float(low), float(high))


def _locate(log_posterior: BetaBinomialLogPosterior) -> tuple[FloatArray, FloatArray]:
    """Mode of (u, v) and the smallest scale of each coordinate that matters."""
    line = np.arange(-30.0, 30.5)
    pooled = (log_posterior.n_successes + 1) / (log_posterior.n_trials + 2)
    u = np.array(special.logit(pooled))
    along = log_posterior(u, line)
    u_scale = 1 / np.sqrt((log_posterior.effective_trials(line) + 2) * pooled * (1 - pooled))
    best = int(np.argmax(along))
    start = np.array([float(u), line[best]])
    mode, curvature = find_mode(lambda x: log_posterior(x[:, 0], x[:, 1]), start, np.array([u_scale[best], 0.5]))
    scale = 1 / np.sqrt(np.maximum(-np.diag(curvature), 1.0))
    scale[0] = min(scale[0], u_scale[along > along[best] - 25].min())
    return mode, scale


def find_mode(
    log_density: Callable[[FloatArray], FloatArray], start: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Maximum of a smooth log density and the matrix of its second derivatives there.

    Parameters
    ----------
    log_density : maps points (n, dim) to (n,)
    start, scale : (dim,) where to begin, and a step over which the density changes noticeably

    Returns
    -------
    mode : (dim,) good to a few hundredths of the density's own scale
    curvature : (dim, dim) second derivatives, by differences over that scale
    """
    x, scale = np.array(start, float), np.array(scale, float)
    for _ in range(60):
        gradient, hessian = _differences(log_density, x, scale)
        values, vectors = np.linalg.eigh(hessian)
        step = vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-2))
        step *= min(1.0, 4.0 / float(np.abs(step).max() + 1e-300))
        candidates = x + np.array([1.0, 0.25, 0.05, 0.0])[:, None] * step * scale
        x = candidates[int(np.argmax(log_density(candidates)))]
        fresh = scale * np.clip(1 / np.sqrt(np.maximum(-np.diag(hessian), 1e-2)), 0.1, 4.0)
        if np.abs(step).max() < 0.05 and np.abs(np.log(fresh / scale)).max() < 0.2:
            break
        scale = fresh
    _, hessian = _differences(log_density, x, scale)
    return x, hessian / np.outer(scale, scale)


def _differences(
    log_density: Callable[[FloatArray], FloatArray], x: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian in units of `scale`, by central differences of half a unit."""
    dim, h = len(x), 0.5
    unit = np.eye(dim) * h
    i, j = np.triu_indices(dim, 1)
    pairs = np.concatenate([unit[i] + unit[j], -unit[i] - unit[j], unit[i] - unit[j], unit[j] - unit[i]])
    f = log_density(x + np.concatenate([np.zeros((1, dim)), unit, -unit, pairs]) * scale)
    up, down, cross = f[1 : dim + 1], f[dim + 1 : 2 * dim + 1], f[2 * dim + 1 :].reshape(4, -1)
    hessian = np.diag((up - 2 * f[0] + down) / h**2)
    hessian[i, j] = hessian[j, i] = (cross[0] + cross[1] - cross[2] - cross[3]) / (4 * h**2)
    return (up - down) / (2 * h), hessian
