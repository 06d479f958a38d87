"""Joint posterior draws of many systems' scores, the posterior of their ranks, and tied ranks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats.common.validate_arrays import (
    FloatArray,
    IntArray,
    as_floats,
    broadcast_floats,
    check_finite,
    check_level,
)
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_number, check_range, check_rng, check_whole
from harness_uq.stats.pairs.unit_totals import UnitTotals, unit_totals

EXTREME_MASS, GRADED_MASS = 2.0, 0.5
_STICKS = 48  # stick-breaking terms of the prior
_MAX_CELLS = 4_000_000


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

    Returns
    -------
    ndarray, shape (n_systems,)
        Prior masses.

    Examples
    --------
    >>> default_prior_mass([[1, 0, 1], [1, 0.5, 1]], 0, 1).tolist()
    [2.0, 0.5]
    """
    check_range(low, high)
    return _mass_of(unit_totals(scores, low, high, clusters))


def _mass_of(units: UnitTotals) -> FloatArray:
    return np.where(units.is_extreme, EXTREME_MASS, GRADED_MASS)


def _draw(units: UnitTotals, prior_mass: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Ratios of weighted totals to weighted sizes, shape (n_systems, n_draws)."""
    weights = rng.standard_gamma(units.mass, (units.totals.shape[1], n_draws))
    totals, sizes = units.totals @ weights, units.sizes @ weights
    heaviest = prior_mass.max()
    points = _prior_points(heaviest, n_draws, rng)
    coins = rng.integers(0, 2, (len(totals), _STICKS, n_draws), dtype=np.int8)
    points *= rng.standard_gamma(heaviest, n_draws)
    marks = rng.random(points.shape) * heaviest if (prior_mass < heaviest).any() else np.zeros_like(points)
    size = units.sizes.mean(axis=1, keepdims=True)
    for mass in np.unique(prior_mass):
        with_mass = prior_mass == mass
        visible = np.where(marks < mass, points, 0.0)
        totals[with_mass] += size[with_mass] * np.einsum("skd,kd->sd", coins[with_mass], visible)
        sizes[with_mass] += size[with_mass] * visible.sum(axis=0)
    return np.asarray(totals / sizes)


def _prior_points(mass: float, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Weights, shape (_STICKS, n_draws), of a Dirichlet process of the given mass, by stick-breaking."""
    stick = rng.beta(1.0, mass, (_STICKS, n_draws))
    stick[-1] = 1.0
    return np.asarray(stick * np.concatenate([np.ones((1, n_draws)), np.cumprod(1 - stick[:-1], axis=0)]))


@dataclass(frozen=True, slots=True, eq=False)
class RankPosterior:
    """Posterior of the ranks of systems; rank 1 is the highest score.

    Attributes
    ----------
    probability : ndarray, shape (n_systems, n_systems)
        [i, r] is P(rank of system i = r + 1).
    prob_better : ndarray, shape (n_systems, n_systems)
        [i, j] is P(system i ranks before j), an upper bound of P(i is best); 1/2 on the diagonal.
    expected : ndarray, shape (n_systems,)
        Posterior mean rank.
    prob_best : ndarray, shape (n_systems,)
        P(rank = 1).
    low, high : ndarray of int, shape (n_systems,)
        Limits of the equal-tailed interval of the rank with probability at least `level`.
    mc_error : ndarray, shape (n_systems,)
        Monte Carlo standard error of `prob_best`.
    level : float
        Probability of the rank intervals.
    """

    probability: FloatArray
    prob_better: FloatArray
    expected: FloatArray
    prob_best: FloatArray
    low: IntArray
    high: IntArray
    mc_error: FloatArray
    level: float


def rank_posterior(draws: ArrayLike, *, level: float = 0.95, rng: np.random.Generator | None = None) -> RankPosterior:
    """Posterior of ranks from joint draws of the systems' scores.

    Parameters
    ----------
    draws : array_like, shape (n_systems, n_draws)
        Draws from `joint_draws`, or independent draws of each score.
    level : float, optional
        Probability of the rank intervals (default 0.95).
    rng : numpy.random.Generator, optional
        Random generator that breaks ties within a draw (default: seed 0).

    Returns
    -------
    RankPosterior
        Posterior of the ranks.

    Raises
    ------
    DataError
        If the draws are not a finite two-dimensional array.

    Examples
    --------
    >>> posterior = rank_posterior([[0.9, 0.8], [0.1, 0.2], [0.5, 0.9]])
    >>> posterior.prob_best.tolist(), posterior.expected.tolist()
    ([0.5, 0.0, 0.5], [1.5, 3.0, 1.5])
    """
    rng = check_rng(rng)
    x = check_finite(draws, "draws", 2)
    n_systems, n_draws = x.shape
    if not x.size:
        raise DataError("draws must have at least one system and one draw")
    order = np.lexsort((rng.random(x.shape), -x), axis=0)
    counts = np.stack([np.bincount(place, minlength=n_systems) for place in order], axis=1)
    probability = counts / n_draws
    better = _counts_before(order) / n_draws
    np.fill_diagonal(better, 0.5)
    below = np.cumsum(probability, axis=1)
    tail = (1 - check_level(level)) / 2
    best = probability[:, 0]
    return RankPosterior(
        probability=probability,
        prob_better=better,
        expected=probability @ np.arange(1.0, n_systems + 1),
        prob_best=best,
        low=np.asarray((below > tail).argmax(axis=1) + 1, np.int64),
        high=np.asarray((below >= 1 - tail - 1e-12).argmax(axis=1) + 1, np.int64),
        mc_error=np.sqrt(best * (1 - best) / n_draws),
        level=level,
    )


def _counts_before(order: IntArray) -> IntArray:
    """Number of draws in which each system precedes each other system, shape (n_systems, n_systems)."""
    places = np.empty(order.shape, np.int32)
    np.put_along_axis(places, order, np.arange(len(order), dtype=np.int32)[:, None], axis=0)
    return np.stack([np.count_nonzero(place < places, axis=1) for place in places])


def ranking_z_score(
    mean_a: ArrayLike, sd_a: ArrayLike, mean_b: ArrayLike, sd_b: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Absolute z-score of the difference of two scores, and the confidence rho in their order.

    Scores on the same questions are correlated in the population scope; use `paired_posterior` there.

    Parameters
    ----------
    mean_a, sd_a, mean_b, sd_b : array_like
        Posterior moments of independent scores, which broadcast together.

    Returns
    -------
    z : ndarray
        |mean_a - mean_b| / sqrt(sd_a^2 + sd_b^2).
    rho : ndarray
        (1 + erf(z / sqrt 2)) / 2, from 1/2 to 1.

    Raises
    ------
    DataError
        If a mean is not finite or a standard deviation is not positive.

    References
    ----------
    Hariri et al. (2025), section 2.5.

    Examples
    --------
    >>> z, rho = ranking_z_score(0.6458, 0.0640, 0.6042, 0.0655)
    >>> round(float(z), 2), round(float(rho), 3)
    (0.45, 0.675)
    """
    a, spread_a, b, spread_b = broadcast_floats(mean_a=mean_a, sd_a=sd_a, mean_b=mean_b, sd_b=sd_b)
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise DataError("mean_a and mean_b must be finite")
    sd = np.hypot(spread_a, spread_b)
    if not (sd > 0).all():
        raise DataError("standard deviations (sd_a, sd_b, sds) must be positive")
    z = np.abs(a - b) / sd
    return np.asarray(z), np.asarray(special.ndtr(z))


def tied_ranks(means: ArrayLike, sds: ArrayLike, *, z: float = 1.645) -> IntArray:
    """Dense ranks with ties: neighbours in the order of the means share a rank if their z-score is below `z`.

    Ranks are dense (1, 2, 2, 3). Ties chain, so the first and last system of a group may differ significantly, and the
    rule does not control an error rate.

    Parameters
    ----------
    means, sds : array_like, shape (n_systems,)
        Posterior means and standard deviations.
    z : float, optional
        Threshold; the default 1.645 corresponds to a confidence of 0.95 in the order of two neighbours.

    Returns
    -------
    ndarray of int, shape (n_systems,)
        Ranks, from 1.

    Raises
    ------
    DataError
        If shapes differ or a standard deviation is not positive.

    References
    ----------
    Hariri et al. (2025), section 2.9.

    Examples
    --------
    >>> tied_ranks([0.6458, 0.6042, 0.3750], [0.0640, 0.0655, 0.0651]).tolist()
    [1, 1, 2]
    """
    check_number(z, "z", lowest=0)
    mu, sd = check_finite(means, "means", 1), check_finite(sds, "sds", 1)
    if mu.shape != sd.shape or not mu.size:
        raise DataError(f"means and sds must have one value per system; got {mu.size} and {sd.size}")
    order = np.argsort(-mu, kind="stable")
    scores, _ = ranking_z_score(mu[order[:-1]], sd[order[:-1]], mu[order[1:]], sd[order[1:]])
    ranks = np.empty(mu.size, np.int64)
    ranks[order] = 1 + np.concatenate([[0], np.cumsum(scores >= z)])
    return ranks
