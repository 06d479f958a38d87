"""Difference of two proportions from clustered matched pairs: Dirichlet-multinomial cells, by quadrature.

In cluster c the shares of questions that only A, only B, and both or neither got right are Dirichlet(d p), with
p = (p_A, p_B, p_tie) ~ Dirichlet(1/2, 1/2, 1) and a uniform intraclass correlation 1 / (1 + d). A single question thus
has the prior of the unclustered model. With n^j_k the number of clusters with more than k questions in cell j (Bowyer
et al. 2025, eq. 8, extended to more than two outcomes),

    log L = sum_j sum_k n^j_k log(p_j + k / d) - sum_k n_k log(1 + k / d).

The density of D = p_A - p_B is integrated over (v, eta): eta = -log d, and v is the log-odds of the relative position
of p_A + p_B between |D| and 1.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.clusters.beta_binomial_likelihood import RisingSum
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.common.posterior import DensityPosterior, DifferencePosterior
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray

_NODES = 161
_COARSE_NODES = 49
_INNER = 19
_REACH = 30.0
_NEGLIGIBLE = 25.0
_EDGE = 1 - 1e-9
_NEWTON_STEPS = 16


def dirichlet_multinomial_posterior(cells: ArrayLike) -> DifferencePosterior:
    """Posterior of p_A - p_B from clusters of matched pairs.

    Its mean is not the mean over questions: the weights of clusters lie between equal weights and their numbers of
    questions. The single intraclass correlation is estimated from ties and wins together.

    Parameters
    ----------
    cells : array_like, shape (n_clusters, 3)
        Numbers of questions in each cluster that only A, only B, and both or neither got right; at least one question
        per cluster.

    Returns
    -------
    DifferencePosterior
        Posterior on [-1, 1].

    Raises
    ------
    DataError
        If the shape is wrong or a cluster is empty.

    Examples
    --------
    Clusters of one question carry no information on the correlation and give the unclustered posterior:

    >>> posterior = dirichlet_multinomial_posterior([[1, 0, 0]] * 2 + [[0, 0, 1]] * 18)
    >>> round(posterior.mean, 4), round(2 / 22, 4)
    (0.0909, 0.0909)
    """
    counts = np.asarray(cells, float)
    if counts.ndim != 2 or counts.shape[1] != 3 or not (counts.sum(axis=1) > 0).all():
        raise DataError(f"cells must have shape (n_clusters, 3) with a question in each cluster; got {counts.shape}")
    return DirichletMultinomialPosterior(counts) if counts[:, :2].any() else AllTiedPosterior(counts[:, 2])


class DirichletMultinomialPosterior(DensityPosterior, DifferencePosterior):
    """The posterior of `dirichlet_multinomial_posterior` if at least one question is discordant."""

    def __init__(self, cells: FloatArray) -> None:
        model = _LogDensity(cells)
        nodes = _nodes(model)
        log_density = _integrate(model, nodes)
        super().__init__(nodes, np.exp(log_density - log_density.max()))


class AllTiedPosterior(DifferencePosterior):
    """Posterior of p_A - p_B if no question is discordant; `sizes` are the clusters' numbers of questions.

    Given s = p_A + p_B the difference is s cos(phi) with phi uniform on (0, pi), since p_A / s keeps its prior
    Beta(1/2, 1/2). 1 - s has the posterior of a clustered proportion with successes only.
    """

    def __init__(self, sizes: FloatArray) -> None:
        self._tie = clustered_posterior(sizes, sizes)
        self._nodes, self._weights = special.roots_legendre(200)

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def sd(self) -> float:
        return float(np.sqrt((self._tie.sd**2 + (1 - self._tie.mean) ** 2) / 2))

    def cdf(self, x: ArrayLike) -> FloatArray:
        values = np.asarray(x, float)
        reach = np.arccos(np.clip(np.abs(values), 0.0, 1.0))[..., None]
        angle = reach * (self._nodes + 1) / 2
        above = self._tie.cdf(np.clip(1 - np.abs(values)[..., None] / np.cos(angle), 0.0, 1.0))
        tail = np.sum(above * self._weights * reach / 2, axis=-1) / np.pi
        return np.asarray(np.where(values > 0, 1 - tail, np.where(values < 0, tail, 0.5)))

    def quantile(self, p: ArrayLike) -> FloatArray:
        probability = np.asarray(p, float)
        guess = self.sd * np.clip(special.ndtri(np.clip(probability, 0, 1)), -9, 9)
        x = invert_increasing(self.cdf, probability, low=-1.0, high=1.0, guess=guess, scale=self.sd / 8)
        return np.asarray(np.where(probability <= 0, -1.0, np.where(probability >= 1, 1.0, x)))


class _LogDensity:
    """Log posterior density of (D, v, eta), up to a constant; the arguments broadcast together."""

    def __init__(self, cells: FloatArray) -> None:
        self.cells = cells
        self._only_a, self._only_b, self._tie = (RisingSum(column) for column in cells.T)
        self._size = RisingSum(cells.sum(axis=1))

    def __call__(self, difference: FloatArray, v: FloatArray, eta: FloatArray) -> FloatArray:
        d, gap, _ = np.broadcast_arrays(np.exp(-eta), np.abs(difference), v)
        rest = 1 - gap
        smaller, tie = rest * special.expit(v) / 2, rest * special.expit(-v)
        larger = gap + smaller
        p_a, p_b = np.where(difference > 0, larger, smaller), np.where(difference > 0, smaller, larger)
        likelihood = self._only_a(p_a, d) + self._only_b(p_b, d) + self._tie(tie, d) - self._size(np.ones_like(d), d)
        prior = -0.5 * np.log(p_a * p_b) + np.log(rest) + special.log_expit(v) + special.log_expit(-v)
        return np.asarray(likelihood + prior + special.log_expit(eta) + special.log_expit(-eta))


def _nodes(model: _LogDensity) -> FloatArray:
    """Differences with non-negligible density; denser at 0, if there is a kink if few clusters have winners."""
    totals = model.cells.sum(axis=0)
    n, n_clusters = totals.sum(), len(model.cells)
    mean = (totals[0] - totals[1]) / (n + 2)
    spread = np.sqrt(((totals[0] + totals[1] + 1) / (n + 2) - mean**2) / (n_clusters + 3))
    coarse = np.clip(mean + spread * _graded(np.linspace(-1, 1, _COARSE_NODES), 4.0) * _REACH, -_EDGE, _EDGE)
    mode = _conditional_modes(model, coarse)
    log_density = mode[0] - 0.5 * np.log(np.linalg.det(mode[3]))
    relevant = np.flatnonzero(log_density > log_density.max() - _NEGLIGIBLE)
    low, high = coarse[max(relevant[0] - 1, 0)], coarse[min(relevant[-1] + 1, _COARSE_NODES - 1)]
    share = np.linspace(0, 1, _NODES)
    winners = np.sum(model.cells[:, :2].sum(axis=1) > 0)
    if not (low < 0 < high and winners < 10 and abs(mean) < 2.5 * spread):
        first, last = np.arctanh([low, high])
        reaches_edge = max(-low, high) >= _EDGE
        return np.asarray(np.tanh(first + (last - first) * share) if reaches_edge else low + (high - low) * share)
    sharpness, reach = 4.0, max(-low, high)
    first, last = (np.arcsinh(end / reach * np.sinh(sharpness)) / sharpness for end in (low, high))
    return np.asarray(reach * _graded(first + (last - first) * share, sharpness))


def _graded(x: FloatArray, sharpness: float) -> FloatArray:
    return np.asarray(np.sinh(sharpness * x) / np.sinh(sharpness))


def _conditional_modes(model: _LogDensity, nodes: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Log density, v, eta and -Hessian at the mode over (v, eta) for each difference, by safeguarded Newton steps."""
    x = np.zeros((len(nodes), 2))
    x[:, 0] = special.logit((model.cells[:, :2].sum() + 1) / (model.cells.sum() + 2))
    scale, damping = np.ones_like(x), np.ones(len(nodes))
    value, gradient, information = _differences(model, nodes, x, scale)
    for _ in range(_NEWTON_STEPS):
        step = scale * np.clip(np.linalg.solve(information, gradient[..., None])[..., 0], -3, 3)
        trial = x + damping[:, None] * step
        better = model(nodes, trial[:, 0], trial[:, 1]) >= value
        x = np.where(better[:, None], trial, x)
        damping = np.where(better, np.minimum(1.0, 2 * damping), damping / 4)
        curvature = np.diagonal(information, axis1=1, axis2=2)
        scale = np.clip(scale / np.sqrt(curvature), scale / 8, np.minimum(4 * scale, 1.5))
        value, gradient, information = _differences(model, nodes, x, scale)
    return value, x[:, 0], x[:, 1], information / (scale[:, :, None] * scale[:, None, :])


def _differences(
    model: _LogDensity, nodes: FloatArray, x: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log density, gradient and positive definite -Hessian in units of `scale`, by central differences."""
    h = 0.5
    offsets = h * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]])
    points = x + offsets[:, None, :] * scale
    f = model(nodes, points[..., 0], points[..., 1])
    gradient = np.stack([f[1] - f[2], f[3] - f[4]], axis=-1) / (2 * h)
    vv, ee = (2 * f[0] - f[1] - f[2]) / h**2, (2 * f[0] - f[3] - f[4]) / h**2
    ve = -(f[5] + f[6] - f[7] - f[8]) / (4 * h**2)
    vv, ee = np.maximum(vv, 0.02), np.maximum(ee, 0.02)
    limit = 0.95 * np.sqrt(vv * ee)
    ve = np.clip(ve, -limit, limit)
    return f[0], gradient, np.stack([np.stack([vv, ve], axis=-1), np.stack([ve, ee], axis=-1)], axis=-1)


def _integrate(model: _LogDensity, nodes: FloatArray) -> FloatArray:
    """Log of the density's integral over (v, eta) for each difference."""
    value, v, eta, information = _conditional_modes(model, nodes)
    factor = np.linalg.cholesky(np.linalg.inv(information))
    x = np.linspace(-1, 1, _INNER) * 6.5
    step, weight = 2 * np.sinh(x / 2), np.cosh(x / 2) * (x[1] - x[0])
    wide_v = v[:, None, None] + factor[:, 0, 0, None, None] * step[:, None]
    wide_eta = eta[:, None, None] + factor[:, 1, 0, None, None] * step[:, None] + factor[:, 1, 1, None, None] * step
    log_density = model(nodes[:, None, None], wide_v, wide_eta)
    mass = np.exp(log_density - value[:, None, None]) * weight[:, None] * weight
    return np.asarray(value + np.log(mass.sum(axis=(1, 2)) * factor[:, 0, 0] * factor[:, 1, 1]))
