"""Posteriors of scale-free functions of Dirichlet cells: by one integral if it is available, otherwise by draws.

A metric x of three or four cells has the density f(x) = integral of the Dirichlet density over the slice {metric = x}.
For harmonic and geometric means of precision and recall, and for the mean of two independent Betas, that slice is a
curve with an explicit parameter s in (0, 1). The integrand has a single peak in logit s, which is located for every x
by successive refinement. The trapezoidal rule, which converges exponentially for analytic integrands, sums it.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, DrawsPosterior, Posterior, WithMoments
from harness_uq.stats.common.splines import cubic_spline
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.units.process import DirichletRatioPosterior
from harness_uq.stats.units.records import record_draws

N_DRAWS = 20_000

_REACH = 90.0  # bound of the logits for cells up to 1e9, including their tails
_NEGLIGIBLE = 36.0  # log densities lower than the maximum by this number are ignored (e^-36 = 2e-16)
_ZOOM_NODES = 33
_SLICE_NODES = 161
_FIRST_NODES = 129
_MAX_NODES = 3000
_TOLERANCE = 1e-8  # error of the distribution function per interval between nodes
_MAX_CELLS = 4_000_000

Function = Callable[[FloatArray], FloatArray]
Part = tuple[FloatArray, FloatArray | float]


class MappedPosterior(WithMoments):
    """Distribution of an increasing function of a parameter with known posterior.

    Quantiles and equal-tailed intervals are mapped; the highest-density interval is computed on the new scale.
    `forward` and `inverse` are elementwise, and `mean` and `sd` the moments of the function.
    """

    def __init__(self, base: Posterior, forward: Function, inverse: Function, *, mean: float, sd: float) -> None:
        self.base, self._forward, self._inverse = base, forward, inverse
        super().__init__(mean, sd)

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._forward(self.base.quantile(p))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self.base.cdf(self._inverse(np.asarray(x, float)))


def mapped_beta(beta: BetaPosterior, forward: Function, inverse: Function) -> MappedPosterior:
    """Increasing function of a Beta on [0, 1], with moments by the trapezoidal rule on the logit scale.

    Twice a Beta(3, 1) variable has mean 1.5:

    >>> posterior = mapped_beta(BetaPosterior(3, 1), lambda x: 2 * x, lambda x: x / 2)
    >>> round(posterior.mean, 12)
    1.5
    """

    def log_density(u: FloatArray) -> FloatArray:
        return np.asarray(beta.a * special.log_expit(u) + beta.b * special.log_expit(-u))

    low, high = _peak_window(log_density, 1)
    u = np.linspace(low[0], high[0], _SLICE_NODES)
    weights = np.exp(log_density(u) - log_density(u).max())
    weights /= weights.sum()
    values = forward(special.expit(u))
    mean = float(weights @ values)
    sd = float(np.sqrt(weights @ (values - mean) ** 2))
    return MappedPosterior(beta, forward, inverse, mean=mean, sd=sd)


def harmonic_posterior(top: float, parts: tuple[float, float], weights: tuple[float, float]) -> DensityPosterior:
    """Posterior of T / (T + w_1 P + w_2 N) for (T, P, N, ...) ~ Dirichlet(top, parts, ...).

    All arguments are positive. `top` and `parts` are the Dirichlet parameters of T and of P and N; other cells cancel.
    For F_beta the weights are 1 / (1 + beta^2) and beta^2 / (1 + beta^2). The posterior on (0, 1) is accurate to about
    1e-8 in probability.

    With r = (1 - x) / x, P/T = r s / w_1 and N/T = r (1 - s) / w_2, the density of logit x is
    r^(p+n) int s^(p-1) (1-s)^(n-1) (1 + r s / w_1 + r (1-s) / w_2)^-(t+p+n) ds.

    Here the ratio is T itself, which is Beta(1, 2):

    >>> round(harmonic_posterior(1, (1, 1), (1, 1)).mean, 8)
    0.33333333
    """
    p, n = parts
    total = top + p + n

    def log_density(u: FloatArray) -> FloatArray:
        odds = np.exp(-u)[:, None]

        def along(v: FloatArray) -> FloatArray:
            rest = odds * (special.expit(v) / weights[0] + special.expit(-v) / weights[1])
            return np.asarray(p * special.log_expit(v) + n * special.log_expit(-v) - total * np.log1p(rest))

        return -(p + n) * u + _log_integral(along, len(u))

    return _tabulate(log_density)


def geometric_posterior(top: float, parts: tuple[float, float]) -> DensityPosterior:
    """Posterior of T / sqrt((T + P) (T + N)) for (T, P, N, ...) ~ Dirichlet(top, parts, ...).

    `top` and `parts` are positive; other cells cancel. The posterior on (0, 1) is accurate to about 1e-8 in
    probability.

    With P/T = r s and N/T = r (1 - s) the slice is 1 + r + r^2 s (1 - s) = x^-2, and the density of logit x is
    x^-2 (1-x) int r^(p+n-1) s^(p-1) (1-s)^(n-1) (1 + r)^-(t+p+n) / (1 + 2 r s (1-s)) ds.

    >>> posterior = geometric_posterior(40.0, (7.0, 3.0))
    >>> bool(abs(posterior.mean - 40 / (47 * 43) ** 0.5) < 0.005)
    True
    """
    p, n = parts
    total = top + p + n

    def log_density(u: FloatArray) -> FloatArray:
        log_x = special.log_expit(u)
        excess = np.expm1(-2 * log_x)[:, None]

        def along(v: FloatArray) -> FloatArray:
            spread = special.expit(v) * special.expit(-v)
            r = 2 * excess / (1 + np.sqrt(1 + 4 * spread * excess))
            powers = p * special.log_expit(v) + n * special.log_expit(-v) + (p + n - 1) * np.log(r)
            return np.asarray(powers - total * np.log1p(r) - np.log1p(2 * r * spread))

        return special.log_expit(-u) - 2 * log_x + _log_integral(along, len(u))

    return _tabulate(log_density)


def mean_of_betas_posterior(first: tuple[float, float], second: tuple[float, float]) -> DensityPosterior:
    """Posterior of (R + S) / 2 for independent R ~ Beta(first) and S ~ Beta(second).

    The posterior on (0, 1) is accurate to about 1e-8 in probability.

    With y = R + S <= 1, R = y s and S = y (1 - s), the density of y is int y f_R(y s) f_S(y (1 - s)) ds. For y > 1 the
    same holds for 1 - R and 1 - S.

    For two uniform variables the distribution function is 2 x^2 up to 1/2:

    >>> round(float(mean_of_betas_posterior((1, 1), (1, 1)).cdf(0.25)), 8)
    0.125
    """

    def log_density(u: FloatArray) -> FloatArray:
        upper = (u > 0)[:, None]
        (a, b), (c, d) = (np.where(upper, pair[::-1], pair).T[:, :, None] for pair in (first, second))
        y, rest = 2 * special.expit(-np.abs(u))[:, None], np.tanh(np.abs(u) / 2)[:, None]

        def along(v: FloatArray) -> FloatArray:
            inner = (b - 1) * np.log(rest + y * special.expit(-v)) + (d - 1) * np.log(rest + y * special.expit(v))
            return np.asarray(a * special.log_expit(v) + c * special.log_expit(-v) + inner)

        outer = (a + c - 1)[:, 0] * np.log(y[:, 0])
        return np.asarray(special.log_expit(u) + special.log_expit(-u) + outer + _log_integral(along, len(u)))

    return _tabulate(log_density)


def draws_posterior(
    statistic: Function, parts: Sequence[Part], *, n_draws: int = N_DRAWS, rng: np.random.Generator | None = None
) -> DrawsPosterior:
    """Posterior of a scale-free statistic of sums of cells under Dirichlet weights, by draws.

    `statistic` maps cells (n, n_scores) to values (n,) and must not change if all cells are multiplied by the same
    number. Each of `parts` is a pair (masses, atoms): independent weights ~ Gamma(masses) multiply the rows of the
    array `atoms` (n_masses, n_scores), or each cell by the number `atoms`; the parts are added. The Monte Carlo error
    is `mc_error` of the result. Without `rng` the seed is 0, so that equal data give equal results. Raises DataError if
    `n_draws` is less than 2.

    >>> recall = draws_posterior(lambda g: g[:, 0] / g.sum(axis=1), [(np.array([8.0, 2.0]), 1.0)])
    >>> bool(abs(recall.mean - 0.8) < 5 * recall.mc_error)
    True
    """
    if n_draws < 2:
        raise DataError(f"n_draws must be at least 2; got {n_draws}")
    rng = rng or np.random.default_rng(0)
    width = max(len(masses) for masses, _ in parts)
    chunks = np.array_split(np.arange(n_draws), -(-n_draws * width // _MAX_CELLS))
    return DrawsPosterior(np.concatenate([statistic(_weighted_cells(parts, len(chunk), rng)) for chunk in chunks]))


def ratio_posterior(numerator: FloatArray, denominator: FloatArray, parts: Sequence[Part]) -> DirichletRatioPosterior:
    """Exact posterior of (numerator . cells) / (denominator . cells) under Dirichlet weights.

    Coefficients of the denominator are non-negative; `parts` are those of `draws_posterior`.

    The share is Beta(8, 2):

    >>> ratio = ratio_posterior(np.array([1.0, 0.0]), np.array([1.0, 1.0]), [(np.array([8.0, 2.0]), 1.0)])
    >>> round(ratio.mean, 12)
    0.8
    """

    def along(form: FloatArray) -> FloatArray:
        return np.concatenate([form * atoms if isinstance(atoms, float) else atoms @ form for _, atoms in parts])

    a, b, masses = along(numerator), along(denominator), np.concatenate([m for m, _ in parts])
    return DirichletRatioPosterior(a[b > 0], masses[b > 0], b[b > 0])


def cluster_parts(counts: FloatArray, prior: FloatArray) -> list[Part]:
    """Dirichlet-process weights on clusters of cell counts, in the form of `draws_posterior`.

    Every cluster has mass 1. The prior adds one pseudo-cluster of the mean size m, distributed over the cells in
    proportion to `prior`, and the remaining prior mass, divided by m, as single pseudo-questions. With clusters of one
    question this is the Dirichlet(prior + counts) posterior of independent questions.

    `counts` (n_clusters, n_scores) have no empty cluster, and the total mass of `prior` (n_scores,) is at least 1. The
    three parts are clusters (equal ones merged), pseudo-clusters and pseudo-questions.
    """
    size = float(counts.sum() / len(counts))
    rows, multiplicity = np.unique(counts, axis=0, return_counts=True)
    pseudo = prior / prior.sum()
    single = [((prior - pseudo) / size, 1.0)] if prior.sum() > 1 else []
    return [(multiplicity.astype(float), rows), (pseudo, size), *single]


def _weighted_cells(parts: Sequence[Part], n_draws: int, rng: np.random.Generator) -> FloatArray:
    total: FloatArray | float = 0.0
    for masses, atoms in parts:
        if isinstance(atoms, float):
            total = total + atoms * rng.standard_gamma(masses, size=(n_draws, len(masses)))
        else:
            total = total + record_draws(atoms, masses, n_draws, rng)
    return np.asarray(total)


def _peak_window(log_f: Function, n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Range in which each row of `log_f`, shape (n_rows, nodes), is within e^-36 of its maximum; one peak per row.

    A coarse grid is repeatedly placed on the relevant part of the previous one until that part fills it. A peak between
    two nodes is not lost, because the neighbours of the highest node are retained.
    """
    share, rows = np.linspace(0.0, 1.0, _ZOOM_NODES), np.arange(n_rows)
    low, high = np.full(n_rows, -_REACH), np.full(n_rows, _REACH)
    for _ in range(15):
        nodes = low[:, None] + (high - low)[:, None] * share
        height = log_f(nodes)
        inside = height > height.max(axis=1, keepdims=True) - _NEGLIGIBLE
        first = np.maximum(inside.argmax(axis=1) - 1, 0)
        last = np.minimum(_ZOOM_NODES - inside[:, ::-1].argmax(axis=1), _ZOOM_NODES - 1)
        shrink = (last - first).min() / (_ZOOM_NODES - 1)
        low, high = nodes[rows, first], nodes[rows, last]
        if shrink > 2 / 3:
            break
    return low, high


def _log_integral(log_f: Function, n_rows: int) -> FloatArray:
    """Log of the integral of exp(log_f) over the real line, for each row."""
    low, high = _peak_window(log_f, n_rows)
    nodes = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _SLICE_NODES)
    height = log_f(nodes)
    top = height.max(axis=1)
    return np.asarray(top + np.log(np.exp(height - top[:, None]).sum(axis=1) * (high - low)))


def _tabulate(log_density: Function) -> DensityPosterior:
    """Tabulate a density of logit x, halving intervals until the spline predicts the midpoints."""
    low, high = _peak_window(lambda u: log_density(u[0])[None], 1)
    u = np.linspace(low[0], high[0], _FIRST_NODES)
    height = log_density(u)
    top = height.max()
    density, left = np.exp(height - top), np.arange(len(u) - 1)
    while left.size and len(u) < _MAX_NODES:
        middle = (u[left] + u[left + 1]) / 2
        midpoint_density = np.exp(log_density(middle) - top)
        error = np.abs(midpoint_density - cubic_spline(u, density)(middle)) * (u[left + 1] - u[left])
        rough = middle[error > _TOLERANCE * (np.diff(u) @ (density[1:] + density[:-1]) / 2)]
        u, density = np.insert(u, left + 1, middle), np.insert(density, left + 1, midpoint_density)
        position = np.searchsorted(u, rough)
        left = np.unique(np.concatenate([position - 1, position]))
    return DensityPosterior(u, density, "logit")
