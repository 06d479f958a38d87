"""Joint draws of the scores of systems on the same questions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_finite
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_range, check_rng, check_whole
from harness_uq.stats.units.priors import PRIORS
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
    prior_mass: ArrayLike | None = None,
    n_draws: int = 4000,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Joint posterior draws of the mean scores of systems on the same questions.

    A Dirichlet process on the questions' score vectors, with one weight per question for all systems. The prior is a
    gamma process of points at which each system scores `low` or `high` with probability 1/2; a system with a smaller
    prior mass has a random subset of them. Therefore, the draws of a system depend on its own scores and mass only, and
    the difference of two systems of equal mass has the posterior of `paired_difference_posterior` with that mass.
    Binary scores have Beta(1 + S, 1 + F) posteriors, so that a system without errors is not certain to be best. Unequal
    masses shrink systems by different amounts towards the middle; for ranks, use one mass for all systems.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions)
        Scores in [low, high]; means over trials, NaN if not answered.
    low, high : float
        Bounds of a score.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels.
    prior_mass : array_like, shape () or (n_systems,), optional
        Positive prior mass (default: `default_prior_mass`).
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
        If a score is out of bounds, a system has no score, or a prior mass is not positive.

    References
    ----------
    Ferguson (1973); Rubin (1981), Annals of Statistics 9, 130-134, on the weights; Sethuraman (1994), Statistica Sinica
    4, 639-650, on draws from the prior; Kingman (1993), Poisson Processes, sections 5.2 and 9.2, on subsets of a gamma
    process.
    """
    check_range(low, high)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    units = unit_totals(scores, low, high, clusters)
    mass_array = _mass_of(units) if prior_mass is None else as_floats(prior_mass, "prior_mass")
    if mass_array.shape not in ((), (len(units.totals),)):
        raise DataError(f"prior_mass must be one number, or one per row of scores; got shape {mass_array.shape}")
    masses = np.broadcast_to(mass_array, len(units.totals))
    if not ((masses > 0) & np.isfinite(masses)).all():
        raise DataError(f"prior_mass must be positive and finite; got {masses.min():g}")
    rng = check_rng(rng)
    draws = np.empty((len(units.totals), n_draws))
    step = max(1, _MAX_CELLS // (units.totals.shape[1] + _STICKS * len(draws)))
    for start in range(0, n_draws, step):
        block = slice(start, min(start + step, n_draws))
        draws[:, block] = _draw(units, masses, block.stop - start, rng)
    return low + (high - low) * draws


def default_prior_mass(scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None) -> FloatArray:
    """Prior mass of each system: 2 if every question (or cluster) is at a bound, 1/2 otherwise.

    Arguments and errors are those of `joint_draws`.

    >>> default_prior_mass([[1, 0, 1], [1, 0.5, 1]], 0, 1).tolist()
    [2.0, 0.5]
    """
    check_range(low, high)
    return _mass_of(unit_totals(scores, low, high, clusters))


def _mass_of(units: UnitTotals) -> FloatArray:
    return np.array([PRIORS["joint draws"].mass(kind) for kind in units.is_extreme.tolist()])


def _draw(units: UnitTotals, prior_mass: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of weighted totals to weighted sizes, shape (n_systems, n_draws)."""
    weights = rng.standard_gamma(units.mass, (units.totals.shape[1], n_draws))
    totals, sizes = units.totals @ weights, units.sizes @ weights
    heaviest = prior_mass.max()
    points = _prior_points(heaviest, n_draws, rng) * rng.standard_gamma(heaviest, (n_draws, 1))
    coins = rng.integers(0, 256, (n_draws, len(totals), _STICKS // 8), dtype=np.uint8)  # eight coins in each number
    marks = rng.random(points.shape) * heaviest if (prior_mass < heaviest).any() else np.zeros_like(points)
    size = units.sizes.mean(axis=1, keepdims=True)
    for mass in np.unique(prior_mass):
        with_mass = prior_mass == mass
        visible = np.where(marks < mass, points, 0.0)
        totals[with_mass] += size[with_mass] * _heads(coins[:, with_mass], visible).T
        sizes[with_mass] += size[with_mass] * visible.sum(axis=1)
    return np.asarray(totals / sizes)


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
