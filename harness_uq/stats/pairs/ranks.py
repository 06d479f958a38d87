"""Posterior of the ranks of systems, and tied ranks."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, check_finite, check_level
from harness_uq.stats.common.validate_scalars import check_number, check_rng


@dataclass(frozen=True, eq=False)
class RankPosterior:
    """Posterior of the ranks of systems; rank 1 is the highest score.

    `probability` [i, r] is P(rank of system i = r + 1), `expected` the posterior mean rank, and `prob_best` P(rank = 1)
    with the Monte Carlo standard error `mc_error`. `low` and `high` are the limits of the equal-tailed interval of the
    rank with probability at least `level`. `ranks` (n_systems, n_draws) are the ranks in each draw, from 0; no draws if
    they are not needed.
    """

    probability: FloatArray
    expected: FloatArray
    prob_best: FloatArray
    low: IntArray
    high: IntArray
    mc_error: FloatArray
    level: float
    ranks: IntArray

    def of_systems(self, order: IntArray) -> "RankPosterior":
        """The ranks of the systems in this order; their order does not change the ranks."""
        names = ("probability", "expected", "prob_best", "low", "high", "mc_error", "ranks")
        return replace(self, **{name: getattr(self, name)[order] for name in names})

    @cached_property
    def prob_better(self) -> FloatArray:
        """[i, j] is P(system i ranks before j), an upper bound of P(i is best); 1/2 on the diagonal."""
        n_systems, n_draws = self.ranks.shape
        places, better = self.ranks.astype(np.int32), np.full((n_systems, n_systems), 0.5)
        for i in range(n_systems - 1):
            before = np.count_nonzero(places[i] < places[i + 1 :], axis=1)
            better[i, i + 1 :], better[i + 1 :, i] = before / n_draws, (n_draws - before) / n_draws
        return better


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
    order, tie_breakers = np.argsort(-x, axis=0), rng.random(x.shape)
    ordered = np.take_along_axis(x, order, axis=0)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((tie_breakers, -x), axis=0)
    counts = np.stack([np.bincount(place, minlength=n_systems) for place in order], axis=1)
    probability = counts / n_draws
    ranks = np.empty(order.shape, np.int64)
    np.put_along_axis(ranks, order, np.arange(n_systems)[:, None], axis=0)
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
        ranks=ranks,
    )


def ranks_of_pair(prob_better: ArrayLike, level: float = 0.95) -> RankPosterior:
    """Posterior of the ranks of two systems, which follows from the probability that one is better.

    `prob_better` [i, j] is P(system i is better than system j). There is no Monte Carlo error.

    >>> posterior = ranks_of_pair([[0.5, 0.9], [0.1, 0.5]])
    >>> posterior.prob_best.tolist(), posterior.expected.round(1).tolist(), posterior.high.tolist()
    ([0.9, 0.1], [1.1, 1.9], [2, 2])
    """
    better = as_floats(prob_better, "prob_better")
    if better.shape != (2, 2):
        raise DataError(f"prob_better must have shape (2, 2); got {better.shape}")
    first = np.array([better[0, 1], better[1, 0]])
    tail = (1 - check_level(level)) / 2
    return RankPosterior(
        probability=np.stack([first, 1 - first], axis=1),
        expected=2 - first,
        prob_best=first,
        low=np.where(first > tail, 1, 2),
        high=np.where(first >= 1 - tail - 1e-12, 1, 2),
        mc_error=np.zeros(2),
        level=level,
        ranks=np.empty((2, 0), np.int64),
    )


def tied_ranks(means: ArrayLike, sds: ArrayLike, *, z: float = 1.645) -> IntArray:
    """Dense ranks with ties: neighbours in the order of the means share a rank if their z-score is below `z`.

    The z-score of two systems is the difference of their means over the root of the sum of their variances. Ranks are
    dense (1, 2, 2, 3). Ties chain, so the first and last system of a group may differ significantly, and the rule does
    not control an error rate.

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
    spread = np.hypot(sd[order[:-1]], sd[order[1:]])
    if not (spread > 0).all():
        raise DataError("standard deviations (sds) must be positive")
    ranks = np.empty(mu.size, np.int64)
    ranks[order] = 1 + np.concatenate([[0], np.cumsum(-np.diff(mu[order]) / spread >= z)])
    return ranks
