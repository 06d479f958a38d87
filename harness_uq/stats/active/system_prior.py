"""Prior of a new system's factors, learned from the factors of earlier systems, and its posterior."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from harness_uq.stats.active.factor_model import FactorModel
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray

NEAR: Final = (0.05, 0.2, 0.5)  # variances around an earlier system, relative to that of all systems
FAR: Final = (1.0, 4.0)  # variances around the mean of all systems; the second gives heavier tails
_LEAST_WEIGHT = 0.05  # of the components around the mean, together
_EXPECTATION_STEPS = 20
_SHRINKAGE = 4.0  # pseudo-systems with the mean variance of all factors
_NEWTON_STEPS = 25
_TOLERANCE = 1e-4
_REFINED = 6
_NEGLIGIBLE = 0.02
_NOT_REFINED = 1e-3  # approximate weight, relative to the largest, below which a component is ignored


@dataclass(frozen=True, slots=True, eq=False)
class SystemPrior:
    """Mixture of normal distributions of a new system's factors.

    Component i is N(centres[i], scales[i] * S), where S is the covariance of the factors of earlier systems. The
    components are centred at each earlier system, since many systems are variants of another one, and at their mean.
    `centres` are (n_components, rank), `scales` and the logarithms of the mixture weights (n_components,), and
    `precision` is the inverse of S.
    """

    centres: FloatArray
    scales: FloatArray
    log_weights: FloatArray
    precision: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SystemPosterior:
    """Mixture of normal approximations to the posterior of a new system's factors.

    `modes` (n_components, rank) are those of the components, most probable first, `covariances`
    (n_components, rank, rank) the inverse curvatures there, and `weights` (n_components,) the probabilities of the
    components.
    """

    modes: FloatArray
    covariances: FloatArray
    weights: FloatArray


def system_prior(model: FactorModel) -> SystemPrior:
    """Prior of a new system's factors, from the factors of the systems in the history.

    The weights of the components maximize the likelihood of the factors of each earlier system given those of the
    others (expectation-maximization); at least 0.05 remains on the components around the mean. Source: Habbema, Hermans
    and van den Broek (1974), COMPSTAT, for the choice of kernel widths by leave-one-out likelihood.
    """
    factors = model.factors.astype(float)
    n, rank = factors.shape
    centre = factors.mean(axis=0)
    deviations = factors - centre
    typical = (deviations**2).mean() if rank else 1.0
    covariance = (deviations.T @ deviations + _SHRINKAGE * (typical + 1e-6) * np.eye(rank)) / (n + _SHRINKAGE)
    precision = np.linalg.inv(covariance)
    groups = _group_weights(deviations @ np.linalg.cholesky(precision))
    scales = np.concatenate([FAR, np.repeat(NEAR, n)])
    centres = np.vstack([np.tile(centre, (len(FAR), 1)), np.tile(factors, (len(NEAR), 1))])
    weights = np.concatenate([groups[: len(FAR)], np.repeat(groups[len(FAR) :] / n, n)])
    return SystemPrior(centres, scales, np.log(weights), precision)


def _group_weights(whitened: FloatArray) -> FloatArray:
    """Weights of the components FAR and of the groups NEAR; `whitened` has the factors with unit covariance."""
    n, rank = whitened.shape
    if n < 2 or not rank:
        return np.append(np.full(len(FAR), 0.5 * (1 - 1e-9)), np.full(len(NEAR), 1e-9 / len(NEAR)))
    squared = (whitened**2).sum(axis=1)
    distances = np.maximum(squared[:, None] + squared - 2.0 * whitened @ whitened.T, 0.0)
    np.fill_diagonal(distances, np.inf)
    far = [-0.5 * (squared / scale + rank * np.log(scale)) for scale in FAR]
    near = [
        special.logsumexp(-0.5 * (distances / scale + rank * np.log(scale)), axis=1) - np.log(n - 1) for scale in NEAR
    ]
    log_density = np.array([*far, *near])
    weights = np.full(len(log_density), 1.0 / len(log_density))
    for _ in range(_EXPECTATION_STEPS):
        weights = special.softmax(log_density + np.log(weights)[:, None], axis=0).mean(axis=1)
        weights = np.maximum(weights, _LEAST_WEIGHT / len(FAR) * np.append(np.ones(len(FAR)), np.full(len(NEAR), 1e-6)))
        weights /= weights.sum()
    return weights


def system_posterior(
    model: FactorModel, prior: SystemPrior, questions: IntArray, scores: FloatArray
) -> SystemPosterior:
    """Posterior of a new system's factors given its scores on some questions.

    Each component of the prior gives a normal approximation at its posterior mode (Laplace's method), whose weight is
    its marginal likelihood. The components to refine are selected by a single quadratic approximation of the
    likelihood at the mode of the broad component.

    `questions` (n,) are those with a score, and `scores` (n,) are in [0, 1].
    """
    x, offset = model.loadings[questions].astype(float), model.intercepts[questions].astype(float)
    precision = prior.precision
    mode, curvature, _ = _mode(x, offset, scores, prior.centres[0], precision / prior.scales[0], prior.centres[0])
    likelihood_curvature = curvature - precision / prior.scales[0]
    likelihood_gradient = x.T @ (scores - special.expit(offset + x @ mode))
    log_weights, starts = prior.log_weights.copy(), np.empty_like(prior.centres)
    for scale in np.unique(prior.scales):
        of = prior.scales == scale
        evidence, shifts = _quadratic_evidence(
            prior.centres[of] - mode, likelihood_gradient, likelihood_curvature, precision / scale
        )
        log_weights[of] += evidence
        starts[of] = mode + shifts
    chosen = np.argsort(-log_weights, kind="stable")[:_REFINED]
    chosen = chosen[log_weights[chosen] > log_weights[chosen[0]] + np.log(_NOT_REFINED)]
    fits = [_mode(x, offset, scores, prior.centres[i], precision / prior.scales[i], starts[i]) for i in chosen]
    weights = special.softmax(np.array([fit[2] for fit in fits]) + prior.log_weights[chosen])
    order = [i for i in np.argsort(-weights, kind="stable") if weights[i] >= _NEGLIGIBLE]
    return SystemPosterior(
        np.array([fits[i][0] for i in order]),
        np.array([np.linalg.inv(fits[i][1]) for i in order]),
        weights[order] / weights[order].sum(),
    )


def _mode(
    x: FloatArray, offset: FloatArray, y: FloatArray, centre: FloatArray, precision: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Posterior mode, curvature and log evidence with the prior N(centre, precision^-1), by damped Newton steps."""
    u = start
    for _ in range(_NEWTON_STEPS):
        mean = special.expit(offset + x @ u)
        curvature = (x * (mean * (1.0 - mean))[:, None]).T @ x + precision
        step = np.linalg.solve(curvature, x.T @ (y - mean) - precision @ (u - centre))
        largest = float(np.abs(step).max(initial=0.0))
        u = u + step / max(1.0, largest / 2.0)
        if largest < _TOLERANCE:
            break
    log_odds, deviation = offset + x @ u, u - centre
    likelihood = float((y * log_odds - np.logaddexp(0.0, log_odds)).sum())
    determinants = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(curvature)[1]
    return u, curvature, likelihood + 0.5 * float(determinants - deviation @ precision @ deviation)


def _quadratic_evidence(
    deviations: FloatArray, gradient: FloatArray, likelihood_curvature: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log evidence of priors N(mode + deviation, precision^-1), and the distances of their posterior modes from `mode`.

    The log-likelihood is taken to be quadratic around the mode.
    """
    curvature = likelihood_curvature + precision
    linear = gradient + deviations @ precision
    shifts = linear @ np.linalg.inv(curvature)
    log_integral = 0.5 * (shifts * linear).sum(axis=1)
    determinants = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(curvature)[1]
    evidence = log_integral - 0.5 * ((deviations @ precision) * deviations).sum(axis=1) + 0.5 * determinants
    return np.asarray(evidence), np.asarray(shifts)


def predicted_means(model: FactorModel, posterior: SystemPosterior, questions: IntArray | None = None) -> FloatArray:
    """Posterior mean of the new system's mean score on all questions, or on those given.

    For a component with log-odds N(m, v), E expit is approximated by expit(m / sqrt(1 + pi v / 8)). Source: MacKay
    (1992), Neural Computation 4, 720-736, eq. 10.
    """
    x, offset = (model.loadings, model.intercepts)
    if questions is not None:
        x, offset = x[questions], offset[questions]
    means = np.zeros(len(x))
    for mode, covariance, weight in zip(posterior.modes, posterior.covariances, posterior.weights, strict=True):
        spread = x @ np.linalg.cholesky(covariance).astype(np.float32)
        variance = np.einsum("ij,ij->i", spread, spread)
        means += weight * special.expit((offset + x @ mode.astype(np.float32)) / np.sqrt(1.0 + np.pi / 8.0 * variance))
    return means
