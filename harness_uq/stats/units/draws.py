"""Joint draws of the scores of systems on the same questions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_range, check_rng, check_whole
from harness_uq.stats.units.priors import PRIORS, UnitScores, student_factor
from harness_uq.stats.units.totals import UnitTotals, unit_totals

_STICKS = 48  # stick-breaking terms of the prior, a multiple of 8
_MAX_CELLS = 4_000_000
_NEGLIGIBLE = 1e-9  # eigenvalue of the covariance of draws, relative to the largest, that counts as 0


def calibrated_draws(draws: ArrayLike, means: ArrayLike, sds: ArrayLike) -> FloatArray:
    """Shift and rotate joint draws so that differences of systems have given means and standard deviations.

    The common part of a draw, which is the mean of all systems, is not changed. The deviations from it are multiplied
    by T^(1/2) C^(-1/2), where C is their covariance and T the covariance that the standard deviations of all
    differences imply. If the given moments are not consistent with a joint distribution, those of the draws are close
    to them: means are averaged over pairs, and negative eigenvalues of T count as 0.

    `draws` are (n_systems, n_draws); `means` and `sds` (n_systems, n_systems) are those of the difference of the row's
    and the column's system. Raises DataError if the arrays are not finite or do not fit together.

    >>> x = np.random.default_rng(0).standard_normal((3, 1000))
    >>> means, sds = np.array([[0.0, 1, 3], [-1, 0, 2], [-3, -2, 0]]), np.array([[0.0, 1, 2], [1, 0, 2], [2, 2, 0]])
    >>> gap = np.subtract(*calibrated_draws(x, means, sds)[[0, 2]])
    >>> round(float(gap.mean()), 9), round(float(gap.std(ddof=1)), 9)
    (3.0, 2.0)
    """
    x, centre, spread = check_finite(draws, "draws", 2), check_finite(means, "means", 2), check_finite(sds, "sds", 2)
    k = len(x)
    if x.shape[1] < 2 or centre.shape != (k, k) or spread.shape != (k, k):
        raise DataError(
            "draws need at least two columns, and means and sds one row and column per system; "
            f"got {x.shape}, {centre.shape} and {spread.shape}"
        )
    common = x.mean(axis=0)
    errors = x - common
    errors -= errors.mean(axis=1, keepdims=True)
    centring = np.eye(k) - 1.0 / k
    target = -0.5 * centring @ spread**2 @ centring
    values, vectors = np.linalg.eigh(np.cov(errors))
    is_positive = values > _NEGLIGIBLE * values[-1]
    inverse = np.where(is_positive, 1.0 / np.sqrt(np.where(is_positive, values, 1.0)), 0.0)
    rotation = _square_root(target) @ (vectors * inverse) @ vectors.T
    return np.asarray(centre.mean(axis=1)[:, None] + common + rotation @ errors)


def _square_root(covariance: FloatArray) -> FloatArray:
    """Symmetric square root; negative eigenvalues count as 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def joint_draws(
    scores: ArrayLike,
    low: float,
    high: float,
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 4000,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Joint posterior draws of the mean scores of systems on the same questions.

    A Dirichlet process on the units' vectors of scores, with one weight per unit for all systems and a prior of mass 2.
    For right-or-wrong scores, each system scores `low` or `high` with probability 1/2 at a point of the prior. Scores
    then have Beta(1 + S, 1 + F) posteriors, so that a system without errors is not certain to be best, and differences
    those of `paired_difference_posterior`. For other scores, a point of the prior is the vector of means plus or minus
    kappa times the vector of residuals of a random unit, where

        kappa^2 = M / 2 ((t / z)^2 (M + 2) (M + 3) / (M (M - 1)) - 1)

    gives all contrasts the variance of Student's t, with the mass M of the units and the 97.5 % quantiles of t with
    M - 1 degrees of freedom and of the normal distribution. Scores of both kinds have a mixture of these points, whose
    weight is the mean over systems of the share by which atoms stay at the bounds (see `UnitPrior`).

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions)
        Scores in [low, high]; means over trials.
    low, high : float
        Bounds of a score.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels.
    n_draws : int, optional
        Number of draws (default 4000). The Monte Carlo error of a probability p is sqrt(p (1 - p) / n_draws).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal data give equal results).

    Returns
    -------
    ndarray, shape (n_systems, n_draws)
        Draws of the mean scores.

    Raises
    ------
    DataError
        If a score is missing or out of bounds.

    References
    ----------
    Ferguson (1973); Rubin (1981), Annals of Statistics 9, 130-134, on the weights; Sethuraman (1994), Statistica Sinica
    4, 639-650, on draws from the prior.
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    units = unit_totals(scores, low, high, clusters)
    at_bounds = float(np.mean(PRIORS["mean"].stay(UnitScores.of(units.totals, units.sizes, units.mass))))
    rng = check_rng(rng)
    draws = np.empty((len(units.totals), n_draws))
    step = max(1, _MAX_CELLS // (units.totals.shape[1] + _STICKS * len(draws)))
    for start in range(0, n_draws, step):
        block = slice(start, min(start + step, n_draws))
        draws[:, block] = _draw(units, at_bounds, block.stop - start, rng)
    return low + (high - low) * draws


def _draw(units: UnitTotals, at_bounds: float, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of weighted totals to weighted sizes, shape (n_systems, n_draws).

    `at_bounds` is the probability that a point of the prior has all scores at a bound.
    """
    prior, n_units, size = PRIORS["mean"], len(units.sizes), float(units.sizes.mean())
    weights = rng.standard_gamma(units.mass / n_units, (n_units, n_draws))
    points = _prior_points(prior.total, n_draws, rng) * rng.standard_gamma(prior.total, (n_draws, 1))
    sizes = units.sizes @ weights + size * points.sum(axis=1)
    corners = points
    if at_bounds == 1.0:
        totals = units.totals @ weights
    else:
        corners = np.where(rng.random(points.shape) < at_bounds, points, 0.0)
        spread = points - corners
        signed = _signed_weights(units, spread, rng)
        centre = units.totals.sum(axis=1, keepdims=True) / units.sizes.sum()
        totals = units.totals @ (weights + signed) + centre * (size * spread.sum(axis=1) - units.sizes @ signed)
    if at_bounds > 0.0:
        coins = rng.integers(0, 256, (n_draws, len(totals), _STICKS // 8), dtype=np.uint8)  # eight coins in each number
        totals += size * _heads(coins, corners).T
    return np.asarray(totals / sizes)


def _signed_weights(units: UnitTotals, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Weights of the residuals of units, (n_units, n_draws): points, (n_draws, _STICKS), of random units and signs.

    Residuals are stretched by kappa; see `joint_draws`.
    """
    df = max(units.mass - 1.0, 1.0)
    kappa = np.sqrt(student_factor(units.mass, PRIORS["mean"].total, df) / 2.0)
    signed = points * (kappa * (1.0 - 2.0 * rng.integers(0, 2, points.shape)))
    unit = rng.integers(0, len(units.sizes), points.shape)
    weights: FloatArray = np.zeros((len(units.sizes), len(points)))
    np.add.at(weights, (unit, np.arange(len(points))[:, None]), signed)
    return weights


def _heads(coins: NDArray[np.uint8], points: FloatArray) -> FloatArray:
    """Sums of the points, shape (n_draws, _STICKS), whose coin shows a head; shape (n_draws, n_systems).

    The sum of four points is looked up among the 16 sums that their coins can have.
    """
    bits = np.unpackbits(np.arange(16, dtype=np.uint8)[:, None], axis=1)[:, 4:]
    sums = points.reshape(len(points), _STICKS // 4, 4) @ bits.T.astype(float)
    heads = np.zeros(coins.shape[:2])
    for k in range(_STICKS // 4):
        four = coins[:, :, k // 2] >> 4 if k % 2 == 0 else coins[:, :, k // 2] & 15
        heads += np.take_along_axis(sums[:, k], four.astype(np.intp), axis=1)
    return heads


def _prior_points(mass: float, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Weights, shape (n_draws, _STICKS), of a Dirichlet process of the given mass, by stick-breaking."""
    stick = rng.beta(1.0, mass, (n_draws, _STICKS))
    stick[:, -1] = 1.0
    return np.asarray(stick * np.column_stack([np.ones(n_draws), np.cumprod(1 - stick[:, :-1], axis=1)]))
