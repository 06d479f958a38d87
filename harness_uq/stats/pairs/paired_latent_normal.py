"""Difference of two systems on the same binary questions under the latent bivariate normal model, by quadrature.

A question draws (a, b) ~ N((probit theta_A, probit theta_B), [[1, rho], [rho, 1]]). System A is right if a > 0, and B
if b > 0; theta_A, theta_B ~ U(0, 1) and rho = 2 Beta(4, 2) - 1 (Bowyer et al. 2025, eqs. 67-75). The density of the
difference D at each node is a two-dimensional integral over (t, z) with z = atanh rho. Here t is the probit of the
relative position of the smaller theta in its range [0, 1 - |D|], so that for D > 0 theta_B = (1 - D) Phi(t) and
1 - theta_A = (1 - D) Phi(-t). Each integral is centred and scaled at its own mode, for data of any size.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.stats.common.posterior import DensityPosterior, DifferencePosterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.pairs.bivariate_normal import quadrant_log_likelihood, quadrant_probabilities

_SCORING_STEPS = 14
_COARSE_NODES = 41
_COARSE_REACH = 30.0
_EDGE = 1 - 1e-9
_NEGLIGIBLE = 25.0
_FINE = (121, 21)
_MAX_CELLS = 200_000


class LatentNormalPosterior(DensityPosterior, DifferencePosterior):
    """Posterior of theta_A - theta_B in the latent normal model of one 2 x 2 table.

    The table has the numbers of questions that [both, only A, only B, neither] got right, and `correlation` is the
    posterior mean of the latent correlation rho. Source: Bowyer et al. (2025), section 3.4 and appendix E.2.
    """

    def __init__(self, table: FloatArray) -> None:
        grid = difference_grid(table[None, :], *_FINE)
        super().__init__(grid.nodes[0], grid.density[0])
        self.correlation = float(grid.correlation[0])


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceGrid:
    """Densities of theta_A - theta_B, one row per table.

    The nodes are D = c + R (alpha x + (1 - alpha) x^3) at equally spaced x. If few questions are discordant, the
    density has a kink at D = 0; then c = 0 and alpha < 1, which makes the nodes up to ten times denser there. Otherwise
    alpha = 1.

    The positions `x`, the `nodes` D, their `slope` dD/dx and the `density` with respect to D, up to a constant per row,
    are (n_tables, n_nodes). `correlation` (n_tables,) is the posterior mean of rho, and `centre`, `reach` and `alpha`
    (n_tables, 1) are c, R and alpha.
    """

    x: FloatArray
    nodes: FloatArray
    slope: FloatArray
    density: FloatArray
    correlation: FloatArray
    centre: FloatArray
    reach: FloatArray
    alpha: FloatArray


def difference_grid(tables: FloatArray, n_nodes: int, n_inner: int) -> DifferenceGrid:
    """Tabulate the posterior densities of the difference for tables of shape (n_tables, 4)."""
    size = max(1, _MAX_CELLS // (n_nodes * n_inner**2))
    parts = [_grid(tables[start : start + size], n_nodes, n_inner) for start in range(0, len(tables), size)]
    return DifferenceGrid(*(np.concatenate([getattr(grid, name) for grid in parts]) for name in _FIELDS))


_FIELDS = DifferenceGrid.__slots__


def _grid(tables: FloatArray, n_nodes: int, n_inner: int) -> DifferenceGrid:
    low, high = _support(tables)
    difference, spread = _rough_moments(tables)
    near_zero = (low < 0) & (high > 0) & (np.abs(difference) < 2.5 * spread)
    alpha = np.where(near_zero, np.clip((tables[:, [1]] + tables[:, [2]]) / 16, 0.1, 1.0), 1.0)
    centre = np.where(alpha < 1, 0.0, (low + high) / 2)
    reach = np.maximum(high - centre, centre - low)
    first, last = _unstretch((low - centre) / reach, alpha), _unstretch((high - centre) / reach, alpha)
    x = first + (last - first) * np.linspace(0, 1, n_nodes)
    nodes, slope = centre + reach * _stretch(x, alpha), reach * (alpha + 3 * (1 - alpha) * x**2)
    log_density, rho = _integrate(nodes, tables, n_inner)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    weight = density * slope
    correlation = np.sum(weight * rho, axis=1) / weight.sum(axis=1)
    return DifferenceGrid(x, nodes, slope, density, correlation, centre, reach, alpha)


def _rough_moments(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Starting values: mean and sd of the difference, (n_tables, 1), under Dirichlet(1/2, 1/2, 1/2, 1/2) cells."""
    n = tables.sum(axis=1, keepdims=True)
    mean = (tables[:, [1]] - tables[:, [2]]) / (n + 2)
    return mean, np.sqrt(((tables[:, [1]] + tables[:, [2]] + 1) / (n + 2) - mean**2) / (n + 3))


def _support(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits, shape (n_tables, 1), of the region where Laplace's approximation of the density is not negligible."""
    difference, spread = _rough_moments(tables)
    steps = np.sinh(np.linspace(-3, 3, _COARSE_NODES)) / np.sinh(3) * _COARSE_REACH
    nodes = np.clip(difference + spread * steps, -_EDGE, _EDGE)
    mode = _conditional_modes(nodes, tables)
    log_density = mode.value - 0.5 * np.log(mode.precision_determinant)
    above = log_density - log_density.max(axis=1, keepdims=True) + _NEGLIGIBLE
    return _outer_crossing(nodes, above), -_outer_crossing(-nodes[:, ::-1], above[:, ::-1])


def _outer_crossing(nodes: FloatArray, above: FloatArray) -> FloatArray:
    """First position, shape (n_rows, 1), where `above` becomes positive, by linear interpolation between nodes.

    If the preceding node is at the edge of the scale, that node is returned, because interpolation errs inwards.
    """
    rows = np.arange(len(nodes))
    first = (above > 0).argmax(axis=1)
    last = np.maximum(first - 1, 0)
    rise = above[rows, first] - above[rows, last]
    share = np.divide(above[rows, first], rise, out=np.zeros(len(nodes)), where=rise > 0)
    crossing = nodes[rows, first] - share * (nodes[rows, first] - nodes[rows, last])
    return np.asarray(np.where(nodes[rows, last] <= -_EDGE, nodes[rows, last], crossing)[:, None])


def _stretch(x: FloatArray, alpha: FloatArray) -> FloatArray:
    return np.asarray(alpha * x + (1 - alpha) * x**3)


def _unstretch(y: FloatArray, alpha: FloatArray) -> FloatArray:
    """Solve alpha x + (1 - alpha) x^3 = y for |y| <= 1 by Newton's method from |x| >= the root."""
    x = np.sign(y) * np.cbrt(np.abs(y)) ** np.where(alpha < 1, 1.0, 3.0)
    for _ in range(12):
        x = x - (_stretch(x, alpha) - y) / (alpha + 3 * (1 - alpha) * x**2)
    return np.asarray(x)


@dataclass(frozen=True, slots=True, eq=False)
class _Mode:
    """Mode of (t, z) at each difference, the log density there and the 2 x 2 information."""

    t: FloatArray
    z: FloatArray
    value: FloatArray
    tt: FloatArray
    tz: FloatArray
    zz: FloatArray

    @property
    def precision_determinant(self) -> FloatArray:
        return np.asarray(self.tt * self.zz - self.tz**2)


def _conditional_modes(nodes: FloatArray, tables: FloatArray) -> _Mode:
    """Modes over (t, z) given D by Fisher scoring; a step that lowers the density is rejected and shortened."""
    counts = tables[:, None, :]
    t = np.broadcast_to(special.ndtri((tables[:, [0]] + 1) / (tables[:, [0]] + tables[:, [3]] + 2)), nodes.shape)
    z = np.full(nodes.shape, 0.8)
    best, step_t, step_z = _score(nodes, t, z, counts)
    damping = np.ones(nodes.shape)
    for _ in range(_SCORING_STEPS):
        trial_t = best.t + damping * np.clip(step_t, -2, 2)
        trial_z = best.z + damping * np.clip(step_z, -2, 2)
        trial, next_t, next_z = _score(nodes, trial_t, trial_z, counts)
        better = trial.value >= best.value
        best = _Mode(*(np.where(better, getattr(trial, name), getattr(best, name)) for name in _Mode.__slots__))
        step_t, step_z = np.where(better, next_t, step_t), np.where(better, next_z, step_z)
        damping = np.where(better, np.minimum(1, 2 * damping), 0.25 * damping)
    return best


def _score(nodes: FloatArray, t: FloatArray, z: FloatArray, counts: FloatArray) -> tuple[_Mode, FloatArray, FloatArray]:
    """Log density at (D, t, z), expected information and the scoring step in t and z."""
    a, b = _probits(nodes, t)
    cells = np.stack(quadrant_probabilities(a, b, z), axis=-1)
    rho, complement = np.tanh(z), 1 / np.cosh(z)
    margin = (1 - np.abs(nodes)) * np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
    both_t = margin * (special.ndtr((b - rho * a) / complement) + special.ndtr((a - rho * b) / complement))
    both_z = np.exp(-0.5 * (a**2 + ((b - rho * a) / complement) ** 2)) * complement / (2 * np.pi)
    by_t = _log_slope(np.stack([both_t, margin - both_t, margin - both_t, both_t - 2 * margin], axis=-1), cells)
    by_z = _log_slope(both_z[..., None] * np.array([1.0, -1.0, -1.0, 1.0]), cells)
    expected = counts.sum(axis=-1, keepdims=True) * cells
    tt, tz = 1 + np.sum(expected * by_t**2, axis=-1), np.sum(expected * by_t * by_z, axis=-1)
    zz = 0.3 + 6 * complement**2 + np.sum(expected * by_z**2, axis=-1)
    slope_t, slope_z = np.sum(counts * by_t, axis=-1) - t, np.sum(counts * by_z, axis=-1) + 2 - 6 * rho
    determinant = tt * zz - tz**2
    mode = _Mode(t, z, np.sum(counts * np.log(cells), axis=-1) + _log_prior(nodes, t, z), tt, tz, zz)
    return mode, (zz * slope_t - tz * slope_z) / determinant, (tt * slope_z - tz * slope_t) / determinant


def _log_slope(slope: FloatArray, cells: FloatArray) -> FloatArray:
    """Derivative of log p from dp and p; bounded, because a tiny p is accurate only to 1e-16 of its margin."""
    return np.asarray(np.clip(slope / np.maximum(cells, 1e-200), -1e9, 1e9))


def _probits(nodes: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probits of theta_A and theta_B at (D, t), computed from the smaller tail."""
    gap = np.abs(nodes)
    small, rest = (1 - gap) * special.ndtr(t), (1 - gap) * special.ndtr(-t)
    lower = np.where(small < 0.5, special.ndtri(small), -special.ndtri(np.minimum(rest + gap, 1.0)))
    upper = np.where(rest < 0.5, -special.ndtri(rest), special.ndtri(np.minimum(small + gap, 1.0)))
    return np.where(nodes >= 0, upper, lower), np.where(nodes >= 0, lower, upper)


def _log_prior(nodes: FloatArray, t: FloatArray, z: FloatArray) -> FloatArray:
    """Log prior: uniform thetas as a density in (D, t), and rho = 2 Beta(4, 2) - 1 as a density in z."""
    log_rho = -4 * np.log1p(np.exp(-2 * z)) - 2 * np.log1p(np.exp(2 * z))
    return np.asarray(np.log1p(-np.abs(nodes)) - t**2 / 2 + log_rho)


def _integrate(nodes: FloatArray, tables: FloatArray, n_inner: int) -> tuple[FloatArray, FloatArray]:
    """Log of the density's integral over (t, z) at each node, and the conditional mean of rho there."""
    mode = _conditional_modes(nodes, tables)
    x = np.linspace(-1, 1, n_inner) * 5.0
    step, weight = 2 * np.sinh(x / 2), np.cosh(x / 2) * (x[1] - x[0])
    sd_t = np.sqrt(mode.zz / mode.precision_determinant)[..., None, None]
    slope, sd_z = (-mode.tz / mode.zz)[..., None, None], np.sqrt(1 / mode.zz)[..., None, None]
    t = mode.t[..., None, None] + sd_t * step[:, None]
    z = mode.z[..., None, None] + slope * sd_t * step[:, None] + sd_z * step
    wide = nodes[..., None, None]
    a, b = _probits(wide, t)
    log_density = quadrant_log_likelihood(tables[:, None, None, None, :], a, b, z) + _log_prior(wide, t, z)
    mass = np.exp(log_density - mode.value[..., None, None]) * weight[:, None] * weight
    total = mass.sum(axis=(-1, -2))
    rho = np.sum(mass * np.tanh(z), axis=(-1, -2)) / total
    return mode.value + np.log(total * (sd_t * sd_z)[..., 0, 0]), rho
