"""Many systems: joint draws of their scores, the posterior of their ranks, ties, and corrections for many tests."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError
from harness_uq.stats._arrays import FloatArray, IntArray, check_finite, check_level
from harness_uq.stats.cluster_robust import cluster_codes
from harness_uq.stats.paired_clustered import cluster_mass

_STICKS = 48
_CELLS_AT_ONCE = 4_000_000


def joint_draws(
    scores: ArrayLike,
    low: float,
    high: float,
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 4000,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Posterior draws of the mean scores of systems that answered the same questions, correlated as the questions are.

    A Dirichlet process on the questions' score vectors, one weight a question for all systems. Its prior draws each
    system's score at `low` or `high` by a fair coin, with total mass 2 where every score is at a bound and 1/2
    otherwise. Scores of 0 and 1 then have Beta(1 + S, 1 + F) posteriors, and each difference has exactly that of
    `paired_posterior(.., "dirichlet")` or `paired_difference_posterior`; with clusters, of
    `paired_clustered_difference_posterior`. A system that is right everywhere is therefore not certain to be best.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions), in [low, high]; means over trials; NaN is not answered
    low, high : float; bounds of a score
    clusters : array_like, shape (n_questions,) of labels, or None
    n_draws : int; the Monte Carlo error of a probability p is sqrt(p (1 - p) / n_draws)
    rng : generator; None takes a fixed seed, so that the same data give the same numbers

    Returns
    -------
    ndarray, shape (n_systems, n_draws)

    Raises
    ------
    DataError : if a score is out of bounds, or a system has no score

    Ferguson (1973); Rubin (1981), Annals of Statistics 9, 130-134, for the weights; Sethuraman (1994), Statistica
    Sinica 4, 639-650, for drawing the prior's part.
    """
    y, width = _unit_scores(scores, low, high)
    totals, sizes, data_mass, extreme = _group(y, clusters)
    prior_mass = 2.0 if extreme else 0.5
    rng = rng or np.random.default_rng(0)
    draws = np.empty((len(y), n_draws))
    step = max(1, _CELLS_AT_ONCE // (totals.shape[1] + _STICKS * len(y)))
    for start in range(0, n_draws, step):
        part = slice(start, min(start + step, n_draws))
        draws[:, part] = _draw(totals, sizes, data_mass, prior_mass, part.stop - start, rng)
    return low + width * draws


def _unit_scores(scores: ArrayLike, low: float, high: float) -> tuple[FloatArray, float]:
    y = np.asarray(scores, float)
    if y.ndim != 2 or not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    if not (np.isfinite([low, high]).all() and low < high):
        raise DataError(f"bounds must be finite with low < high; got {low} and {high}")
    if (y < low).any() or (y > high).any():
        raise DataError(f"scores must lie in [{low:g}, {high:g}]; got {np.nanmin(y):g} to {np.nanmax(y):g}")
    empty = np.isnan(y).all(axis=1)
    if empty.any():
        raise DataError(f"system {int(np.flatnonzero(empty)[0])} has no score on any question")
    return (y - low) / (high - low), high - low


def _group(y: FloatArray, clusters: ArrayLike | None) -> tuple[FloatArray, FloatArray, float, bool]:
    """Totals and sizes (n_systems, n_clusters), the mass of one cluster, and whether all cluster means are 0 or 1."""
    present = ~np.isnan(y)
    totals, sizes, mass = np.where(present, y, 0.0), present.astype(float), 1.0
    if clusters is not None:
        codes = cluster_codes(clusters, y.shape[1])
        n_clusters = int(codes.max()) + 1
        if n_clusters < y.shape[1]:
            starts = np.concatenate([[0], np.flatnonzero(np.diff(np.sort(codes))) + 1])
            order = np.argsort(codes, kind="stable")
            totals, sizes = (np.add.reduceat(part[:, order], starts, axis=1) for part in (totals, sizes))
            mass = cluster_mass(np.asarray(np.bincount(codes), float)) / n_clusters
    return totals, sizes, mass, bool((np.isclose(totals, 0) | np.isclose(totals, sizes)).all())


def _draw(
    totals: FloatArray, sizes: FloatArray, data_mass: float, prior_mass: float, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Ratios of weighted totals to weighted sizes, (n_systems, n_draws), prior part by stick-breaking."""
    weights = rng.standard_gamma(data_mass, (totals.shape[1], n_draws))
    stick = rng.beta(1.0, prior_mass, (_STICKS, n_draws))
    stick[-1] = 1.0
    share = stick * np.concatenate([np.ones((1, n_draws)), np.cumprod(1 - stick[:-1], axis=0)])
    coins = rng.integers(0, 2, (len(totals), _STICKS, n_draws), dtype=np.int8)
    size = sizes.mean(axis=1, keepdims=True)
    prior = rng.standard_gamma(prior_mass, n_draws) * size
    return np.asarray((totals @ weights + prior * np.einsum("skd,kd->sd", coins, share)) / (sizes @ weights + prior))


@dataclass(frozen=True, slots=True, eq=False)
class RankPosterior:
    """Posterior of the ranks of systems; rank 1 is the highest score.

    Attributes
    ----------
    probability : (n_systems, n_systems); [i, r] is P(rank of system i = r + 1)
    expected : (n_systems,); posterior mean rank
    prob_best : (n_systems,); P(rank = 1)
    low, high : (n_systems,) of int; quantile interval of the rank with probability at least `level`
    mc_error : (n_systems,); Monte Carlo standard error of `prob_best`
    level : float
    """

    probability: FloatArray
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
    draws : array_like, shape (n_systems, n_draws); `joint_draws`, or independent draws of each score
    level : float in (0, 1); probability of the rank intervals
    rng : generator that breaks ties within a draw; None takes a fixed seed

    Raises
    ------
    DataError : if the draws are not a finite two-dimensional array

    >>> posterior = rank_posterior([[0.9, 0.8], [0.1, 0.2], [0.5, 0.9]])
    >>> posterior.prob_best.tolist(), posterior.expected.tolist()
    ([0.5, 0.0, 0.5], [1.5, 3.0, 1.5])
    """
    x = check_finite(draws, "draws", 2)
    n_systems, n_draws = x.shape
    if not x.size:
        raise DataError("draws must hold at least one system and one draw")
    order = np.lexsort(((rng or np.random.default_rng(0)).random(x.shape), -x), axis=0)
    counts = np.stack([np.bincount(place, minlength=n_systems) for place in order], axis=1)
    probability = counts / n_draws
    below = np.cumsum(probability, axis=1)
    tail = (1 - check_level(level)) / 2
    best = probability[:, 0]
    return RankPosterior(
        probability=probability,
        expected=probability @ np.arange(1.0, n_systems + 1),
        prob_best=best,
        low=np.asarray((below > tail).argmax(axis=1) + 1, np.int64),
        high=np.asarray((below >= 1 - tail - 1e-12).argmax(axis=1) + 1, np.int64),
        mc_error=np.sqrt(best * (1 - best) / n_draws),
        level=level,
    )


def expected_ranks(prob_positive: ArrayLike) -> FloatArray:
    """Posterior mean ranks from all pairs, 1 + sum_j P(theta_j > theta_i), exactly and without draws.

    Parameters
    ----------
    prob_positive : array_like, shape (n_systems, n_systems); [i, j] is P(theta_i > theta_j); the diagonal is ignored

    Raises
    ------
    DataError : if it is not a square matrix of probabilities

    >>> expected_ranks([[0.5, 0.9], [0.1, 0.5]]).tolist()
    [1.1, 1.9]
    """
    p = np.asarray(prob_positive, float)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise DataError(f"prob_positive must be square, one row a system; got {p.shape}")
    off_diagonal = np.where(np.eye(len(p), dtype=bool), 0.0, p)
    if not ((off_diagonal >= 0) & (off_diagonal <= 1)).all():
        raise DataError(
            "prob_positive must hold probabilities of every pair; a pair without matched questions has none"
        )
    return np.asarray(1 + off_diagonal.sum(axis=0))


def ranking_z_score(
    mean_a: ArrayLike, sd_a: ArrayLike, mean_b: ArrayLike, sd_b: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Absolute z-score of two scores and the confidence rho that their order is right.

    Parameters
    ----------
    mean_a, sd_a, mean_b, sd_b : array_like, broadcast together; posterior moments of independent scores

    Returns
    -------
    z : |mean_a - mean_b| / sqrt(sd_a^2 + sd_b^2)
    rho : (1 + erf(z / sqrt 2)) / 2, in [1/2, 1]

    Raises
    ------
    DataError : if a standard deviation is not positive

    Hariri et al. (2025), section 2.5. Scores on shared questions are correlated in the population scope: use
    `paired_posteriors` there.

    >>> z, rho = ranking_z_score(0.6458, 0.0640, 0.6042, 0.0655)
    >>> round(float(z), 2), round(float(rho), 3)
    (0.45, 0.675)
    """
    sd = np.hypot(np.asarray(sd_a, float), np.asarray(sd_b, float))
    if not (sd > 0).all():
        raise DataError("standard deviations must be positive; a score of zero width cannot be ranked with confidence")
    z = np.abs(np.asarray(mean_a, float) - np.asarray(mean_b, float)) / sd
    return np.asarray(z), np.asarray(special.ndtr(z))


def tied_ranks(means: ArrayLike, sds: ArrayLike, *, z: float = 1.645) -> IntArray:
    """Ranks with ties: in order of the means, neighbours share a rank where their z-score is below `z`.

    Ranks are dense (1, 2, 2, 3). Ties chain: the first and the last of a group may well be distinguishable, and the
    rule controls no error rate.

    Parameters
    ----------
    means, sds : array_like, shape (n_systems,)
    z : float > 0; 1.645 for a confidence of 0.95 in the order of two neighbours

    Raises
    ------
    DataError : if shapes differ or a standard deviation is not positive

    Hariri et al. (2025), section 2.9.

    >>> tied_ranks([0.6458, 0.6042, 0.3750], [0.0640, 0.0655, 0.0651]).tolist()
    [1, 1, 2]
    """
    mu, sd = check_finite(means, "means", 1), check_finite(sds, "sds", 1)
    if mu.shape != sd.shape or not mu.size:
        raise DataError(f"means and sds must hold one value a system; got {mu.size} and {sd.size}")
    order = np.argsort(-mu, kind="stable")
    scores, _ = ranking_z_score(mu[order[:-1]], sd[order[:-1]], mu[order[1:]], sd[order[1:]])
    ranks = np.empty(mu.size, np.int64)
    ranks[order] = 1 + np.concatenate([[0], np.cumsum(scores >= z)])
    return ranks


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values: reject where <= alpha, and the chance of any false rejection is at most alpha.

    Parameters
    ----------
    p_values : array_like, any shape, in [0, 1]; the whole array is one family

    Raises
    ------
    DataError : if a value is not a probability

    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _check_p(p_values)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _restore(steps, order, np.shape(p_values))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini-Hochberg adjusted p-values: reject where <= q, and at most a share q of rejections is false.

    Parameters
    ----------
    p_values : array_like, any shape, in [0, 1]; the whole array is one family

    Raises
    ------
    DataError : if a value is not a probability

    For independent or positively dependent tests; all pairs of systems are neither, and the rate is then only
    approximate. Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.04, 0.04]
    """
    p = _check_p(p_values)
    order = np.argsort(p)
    ratios = p[order] * p.size / np.arange(1, p.size + 1)
    steps = np.minimum.accumulate(ratios[::-1])[::-1]
    return _restore(steps, order, np.shape(p_values))


def _check_p(p_values: ArrayLike) -> FloatArray:
    p = np.asarray(p_values, float).ravel()
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError("p-values must lie in [0, 1]")
    return p


def _restore(steps: FloatArray, order: IntArray, shape: tuple[int, ...]) -> FloatArray:
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted.reshape(shape)
