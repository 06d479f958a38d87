"""Importance sampling with diagnostics of its reliability.

Self-normalized weights (Bowyer et al. 2025, eqs. 56-60) degenerate if the proposal and the target differ. The
effective sample size and the tail shape of the weights (Vehtari et al. 2024, Pareto smoothed importance sampling)
detect this.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, UnreliableError
from harness_uq.stats.common.mode import find_mode
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_rng, check_whole

MIN_ESS = 400.0
MAX_PARETO_K = 0.7
_NEGLIGIBLE = 1e-200  # weights below this fraction of the largest weight have underflowed

LogDensity = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class ImportanceSample:
    """Weighted draws from a target distribution.

    `points` (n, dim) are from the proposal, and the importance `weights` (n,) have the sum 1. Above 0.7 of their tail
    shape `pareto_k`, estimates converge too slowly to be used; it is infinite if fewer than 5 draws have positive
    weight.
    """

    points: FloatArray
    weights: FloatArray
    pareto_k: float

    @property
    def importance_ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2 (Kish), from 1 to n."""
        return float(1 / np.sum(self.weights**2))

    @property
    def is_reliable(self) -> bool:
        """Whether `importance_ess` is at least 400 and `pareto_k` at most 0.7."""
        return self.importance_ess >= MIN_ESS and self.pareto_k <= MAX_PARETO_K

    def require_reliable(self) -> "ImportanceSample":
        """Return the sample if it is reliable; otherwise raise UnreliableError with both diagnostics."""
        if not self.is_reliable:
            raise UnreliableError(
                f"importance sampling failed: effective sample size {self.importance_ess:.3g} of {len(self.weights)} "
                f"draws (at least {MIN_ESS:g} needed), Pareto k {self.pareto_k:.2f} (at most {MAX_PARETO_K:g}); "
                "quadrature has no such limits"
            )
        return self


def importance_sample(
    log_target: LogDensity, proposal: "StudentTMixture", *, n_draws: int = 10_000, rng: np.random.Generator
) -> ImportanceSample:
    """Draw from `proposal` and weight the draws by the ratio of target to proposal density.

    `log_target` maps points (n, dim) to log densities (n,), up to an additive constant; -inf outside the support. Check
    `is_reliable` or call `require_reliable` before using the draws. Raises DataError if the target density is 0 or
    undefined at every draw. Source: Bowyer et al. (2025), appendix E, eqs. 56-60.
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    points = proposal.draw(n_draws, rng)
    log_weights = log_target(points) - proposal.log_density(points)
    top = float(log_weights.max())
    if not np.isfinite(top):
        raise DataError(f"the target density is zero or undefined at all {n_draws} draws of the proposal")
    weights = np.exp(log_weights - top)
    return ImportanceSample(points, weights / weights.sum(), pareto_k(weights))


def pareto_k(weights: ArrayLike) -> float:
    """Shape of the generalized Pareto distribution fitted to the largest importance weights.

    The min(n / 5, 3 sqrt(n)) largest weights, minus the next smaller one, are fitted by the method of Zhang and
    Stephens. The estimate is then shrunk towards 1/2 with the weight of 10 additional observations. The weights w (n,),
    at least 25, are on any scale. They have about 1/k finite moments, and k < 0 means a bounded tail. k is -inf if the
    largest weights are equal, and inf if fewer than 5 of them are positive. Raises DataError if there are fewer than 25
    weights, a weight is negative, or none is positive. Sources: Zhang and Stephens (2009), Technometrics 51, section 3;
    Vehtari et al. (2024), JMLR 25(72), appendix C.

    >>> ranks = (np.arange(10_000) + 0.5) / 10_000
    >>> round(pareto_k(ranks**-0.3), 1)  # weights of tail shape 0.3
    0.3
    """
    w = np.sort(check_finite(weights, "weights", 1))
    if len(w) < 25 or w[0] < 0 or w[-1] == 0:
        raise DataError(f"Pareto k needs at least 25 weights >= 0, one of them positive; got {len(w)} from {w[:1]}")
    size = int(np.ceil(min(len(w) / 5, 3 * np.sqrt(len(w)))))
    tail = (w[-size:] - w[-size - 1]) / w[-1]
    if tail[-1] == 0:
        return -np.inf
    tail = tail[tail > _NEGLIGIBLE]
    if len(tail) < 5:
        return np.inf
    return (_generalised_pareto_shape(tail) * len(tail) + 0.5 * 10) / (len(tail) + 10)


def _generalised_pareto_shape(x: FloatArray) -> float:
    """Posterior mean of Zhang and Stephens (2009) from exceedances x > 0 in increasing order.

    The profile likelihood of b = -k / sigma is averaged over their data-dependent prior.
    """
    n = len(x)
    m = 30 + int(np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    b = 1 / x[-1] + (1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-b[:, None] * x).mean(axis=1)
    log_profile = n * (np.log(-b / shape) - shape - 1)
    share = special.softmax(log_profile)
    return float(np.log1p(-(share @ b) * x).mean())


@dataclass(frozen=True, slots=True, eq=False)
class StudentTMixture:
    """Mixture of multivariate t distributions, sampled by quasi-Monte Carlo.

    `locations` are (m, dim), and the scale matrices are ``factor @ factor.T`` with the lower triangular `factors`
    (m, dim, dim); `shares` (m,) are the mixture weights, and `degrees` the degrees of freedom of all components.
    """

    locations: FloatArray
    factors: FloatArray
    shares: FloatArray
    degrees: float

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        dim = self.locations.shape[1]
        uniforms = _shifted_lattice(n_draws, dim + 2, rng)
        component = np.searchsorted(np.cumsum(self.shares)[:-1], uniforms[:, 0], side="right")
        stretch = np.sqrt(self.degrees / special.chdtri(self.degrees, uniforms[:, 1]))
        steps = np.einsum("nij,nj->ni", self.factors[component], special.ndtri(uniforms[:, 2:]))
        return np.asarray(self.locations[component] + stretch[:, None] * steps)

    def log_density(self, points: FloatArray) -> FloatArray:
        dim, df = self.locations.shape[1], self.degrees
        parts = []
        for location, factor, share in zip(self.locations, self.factors, self.shares, strict=True):
            z = np.linalg.solve(factor, (points - location).T)
            volume = np.log(np.diag(factor)).sum()
            parts.append(np.log(share) - volume - (df + dim) / 2 * np.log1p((z * z).sum(axis=0) / df))
        return np.asarray(special.logsumexp(parts, axis=0))


def _shifted_lattice(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """First n points of an additive recurrence in (0, 1)^dim, shifted at random.

    The recurrence uses the generalized golden ratio, the root of x^(dim + 1) = x + 1 (Roberts 2018). The random
    shift makes averages unbiased (Cranley and Patterson 1976).
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dim + 1))
    points = (rng.random(dim) + np.arange(1, n + 1)[:, None] * ratio ** -np.arange(1.0, dim + 1)) % 1
    return np.asarray(np.clip(points, 1e-12, 1 - 1e-12))


def adapted_proposal(
    log_target: LogDensity, start: FloatArray, *, n_pilot: int = 2000, rng: np.random.Generator
) -> StudentTMixture:
    """Proposal adapted to a low-dimensional target: a widened Laplace approximation and two rounds of moment matching.

    Coordinates of `log_target` are unbounded and of natural scale at most 1 (logits, logarithms). The weighted mean and
    covariance of each of two pilot rounds of `n_pilot` draws define a further component. All components have 4 degrees
    of freedom, so that their tails are heavier than those of any target with exponential tails. `start` is where the
    search for the mode begins. Raises DataError if `start` is empty or not a finite one-dimensional array.
    """
    check_whole(n_pilot, "n_pilot", 25, MAX_DRAWS)
    rng = check_rng(rng)
    start = check_finite(start, "start", 1)
    if not start.size:
        raise DataError("start must have at least one coordinate; it is empty")
    mode, curvature = find_mode(log_target, start)
    laplace = _factor_of(_positive_inverse(-curvature))
    proposal = _t_mixture([mode, mode], [laplace, 3 * laplace])
    for _ in range(2):
        pilot = importance_sample(log_target, proposal, n_draws=n_pilot, rng=rng)
        mean = pilot.weights @ pilot.points
        spread = pilot.points - mean
        matched = _factor_of((pilot.weights[:, None] * spread).T @ spread + 1e-6 * laplace @ laplace.T)
        proposal = _t_mixture([mode, mean, mean], [laplace, matched, 2.5 * matched])
    return proposal


def _t_mixture(locations: list[FloatArray], factors: list[FloatArray]) -> StudentTMixture:
    shares = np.full(len(locations), 1 / len(locations))
    return StudentTMixture(np.array(locations), np.array(factors), shares, 4.0)


def _positive_inverse(information: FloatArray) -> FloatArray:
    """Inverse of a symmetric matrix, with eigenvalues raised to at least 0.1 so that no scale exceeds about 3."""
    values, vectors = np.linalg.eigh(information)
    return np.asarray((vectors / np.maximum(values, 0.1)) @ vectors.T)


def _factor_of(covariance: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.cholesky(covariance))
