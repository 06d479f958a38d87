"""Joint draws of several systems' scores under a prior by which the systems may be alike."""

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import check_rng

_SCALE = 0.5  # scale of the half-Cauchy prior, in standard errors of a difference
_GRID = np.geomspace(0.02, 20.0, 41)  # standard deviations between systems, in standard errors of a difference


def shrunk_draws(draws: ArrayLike, *, rng: np.random.Generator | None = None) -> FloatArray:
    """Draw the scores of systems under a hierarchical normal prior, from draws under a flat prior.

    The true scores are normal with an unknown mean, which has a flat prior, and a standard deviation tau, which has a
    half-Cauchy prior with half of a typical standard error of a difference as its scale. The likelihood is normal with
    the mean and the covariance of the given draws. If the systems differ by little more than their standard errors, tau
    is small and the systems are drawn as nearly equal, so that none of them is best with a high probability. If they
    differ by much more, the draws hardly change. tau is integrated on a grid, and draws for each tau are made by
    conditional simulation, which retains the shape of the given draws.

    `draws` (n_systems, n_draws) are joint posterior draws of the scores under a flat prior. They are returned if there
    are fewer than three systems, or if the draws of all systems differ by constants only. The default seed is 0, so
    that equal data give equal results. Raises DataError if draws are not finite, or there are fewer than two draws.
    Source: Gelman (2006), Bayesian Analysis 1, 515-534, section 3.2 (the half-Cauchy prior). Efron and Morris (1975),
    JASA 70, 311-319 (shrinkage of several means). Chiles and Delfiner (2012), Geostatistics, section 7.3 (conditional
    simulation).
    """
    table = check_finite(draws, "draws", 2)
    if table.shape[1] < 2:
        raise DataError(f"draws must have at least two columns; got {table.shape[1]}")
    rng = check_rng(rng)
    mean, covariance = table.mean(axis=1), np.cov(table)
    scale = _typical_error(covariance) if len(table) > 2 else 0.0
    if not scale > 0:
        return table
    spreads = scale * _GRID
    shares = _posterior_of_spread(mean, covariance, spreads, _SCALE * scale)
    sizes = np.diff(np.round(np.concatenate(([0.0], np.cumsum(shares))) * table.shape[1]).astype(int))
    order, start = rng.permutation(table.shape[1]), 0
    errors = np.take(table.T, order, axis=0) - mean  # one row per draw, so that a share of the draws is one block
    shrunk = np.empty_like(errors)
    variances, vectors = np.linalg.eigh(covariance)
    for spread, size in zip(spreads, sizes, strict=True):
        block = slice(start, start + size)
        start += size
        prior = spread * rng.standard_normal((len(table), size)).T
        estimate = _shrink(np.vstack([mean, prior + errors[block]]), variances, vectors, spread)
        shrunk[block] = estimate[:1] + prior - estimate[1:]
    result = np.empty_like(shrunk)
    result[order] = shrunk
    return np.ascontiguousarray(result.T)


def _typical_error(covariance: FloatArray) -> float:
    """Root mean variance of the difference of two systems."""
    k = len(covariance)
    mean_variance, mean_all = float(np.trace(covariance)) / k, float(covariance.mean())
    return float(np.sqrt(max(2.0 * (mean_variance - mean_all) * k / (k - 1), 0.0)))


def _posterior_of_spread(mean: FloatArray, covariance: FloatArray, spreads: FloatArray, scale: float) -> FloatArray:
    """Posterior probabilities of the standard deviations between systems, given the contrasts of the means."""
    k = len(mean)
    contrasts = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    eigenvalues, vectors = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    squares = (vectors.T @ contrasts.T @ mean) ** 2
    variances = np.maximum(eigenvalues, 0.0)[None, :] + spreads[:, None] ** 2
    log_likelihood = -0.5 * (np.log(variances) + squares / variances).sum(axis=1)
    # the grid is even in log tau, so that the density of tau is multiplied by tau
    log_prior = np.log(spreads) - np.log1p((spreads / scale) ** 2)
    weights = np.exp(log_likelihood + log_prior - (log_likelihood + log_prior).max())
    return np.asarray(weights / weights.sum())


def _shrink(scores: FloatArray, variances: FloatArray, vectors: FloatArray, spread: float) -> FloatArray:
    """Posterior means of the true scores for each row of observed scores, with a flat prior on their mean.

    `variances` and `vectors` are the eigenvalues and eigenvectors of the covariance of the scores.
    """
    precision = 1.0 / (np.maximum(variances, 0.0) + spread**2)
    rows = np.vstack([np.ones(scores.shape[1]), scores])
    solved = ((rows @ vectors) * precision) @ vectors.T
    centre = solved[1:].sum(axis=1, keepdims=True) / solved[0].sum()
    return np.asarray(centre + spread**2 * (solved[1:] - solved[0] * centre))
