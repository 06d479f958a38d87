"""Simultaneous confidence sets for the ranks of many systems, from tests of all pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, check_level, validated_codes
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_bounds, check_number, check_rng, check_whole
from harness_uq.stats.pairs.empirical_likelihood import likelihood_roots

_MAX_ENUMERATED = 12
_LONG_TAIL = 1.5  # skewness of differences; with normal differences it stays below 4 sqrt(6 / n)
_ROUNDING = 1e-9
_BLOCK = 2**17  # values of a block of draws that stays in the cache

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RankSets:
    """Confidence sets for ranks that simultaneously contain all ranks with probability `level` or more.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_systems,)
        Best and worst rank of each system; rank 1 is the highest score.
    above : ndarray of bool, shape (n_systems, n_systems)
        [i, j] is True if system i is significantly better than system j.
    critical : float
        Critical value of the last step; inf if no pair can be significant, NaN if there is none.
    level : float
        Simultaneous nominal coverage.
    """

    low: IntArray
    high: IntArray
    above: BoolArray
    critical: float
    level: float

    def mirrored(self) -> "RankSets":
        """Confidence sets with rank 1 for the lowest score."""
        n = len(self.low)
        return RankSets(n + 1 - self.high, n + 1 - self.low, self.above.T, self.critical, self.level)


def rank_sets(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
    n_draws: int = 4000,
    rng: np.random.Generator | None = None,
) -> RankSets:
    """Simultaneous confidence sets for the ranks of systems on the same questions.

    The statistic of a pair is the sum of its differences over the root of their sum of squares, by question or cluster,
    or the root of the empirical likelihood ratio with pseudo-observations at the widest differences if that is smaller.
    The latter prevents small differences without a large one among them from being significant too easily.

    The largest statistic over all pairs is compared with its distribution under random signs of questions or clusters,
    common to all systems (all sign vectors if there are at most 12). Pairs that differ significantly leave the family,
    and the others are tested again.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions)
        Scores; means over trials.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels. The default is independent questions.
    bounds : tuple of float, optional
        Bounds (low, high) of a score, which define the widest possible difference. By default it is the largest
        observed difference of the pair.
    level : float, optional
        Probability that all ranks are in their sets (default 0.95).
    n_draws : int, optional
        Number of sign vectors if there are more than 12 questions or clusters (default 4000).
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0).

    Returns
    -------
    RankSets
        Confidence sets.

    Raises
    ------
    DataError
        If the scores are not a finite two-dimensional array, or `bounds` or `level` is invalid.

    Notes
    -----
    Tied systems share the ranks that they occupy, and their sets contain all of these. The test of a pair is exact if
    its differences are symmetric about 0 under equality (as with binary scores), and asymptotic otherwise.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Rev. Econ. Stud. 91, 476-518, algorithm 3.2, on ranks from pairs; Romano
    and Wolf (2005), J. Am. Stat. Assoc. 100, 94-108, on the stepwise method; Cameron, Gelbach and Miller (2008), Rev.
    Econ. Stat. 90, 414-427, on random signs of clusters; for the empirical likelihood see `likelihood_roots`.

    Examples
    --------
    >>> ranks = rank_sets([[1] * 12, [1] * 12, [0] * 12])
    >>> ranks.low.tolist(), ranks.high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    if bounds is not None:
        check_bounds(bounds)
    y = check_finite(scores, "scores", 2)
    if not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    totals = _totals(y, clusters)
    squares = _square_distances(totals)
    widest = None if bounds is None else (bounds[1] - bounds[0]) * y.shape[1] / totals.shape[1]
    signs = _signs(totals.shape[1], n_draws, check_rng(rng))
    scale = _inverse_root(squares)
    return _stepped(_statistic(totals, scale, widest), signs @ totals.T, scale, check_level(level))


def rank_sets_of_normal(
    estimates: ArrayLike,
    covariance: ArrayLike,
    *,
    df: float = np.inf,
    level: float = 0.95,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> RankSets:
    """Simultaneous confidence sets for the ranks of estimates with normal errors of known covariance.

    `covariance` is ``np.diag(s**2)`` for independent estimates with standard errors s, with `df` degrees of freedom.
    `level` is the probability that all ranks are in their sets, and `n_draws` the number of draws of the largest
    statistic. Raises DataError if the covariance has the wrong shape, is not symmetric or is not positive semidefinite.
    Source: Mogstad, Romano, Shaikh and Wilhelm (2024), with their stepwise method. With a single step, independent
    estimates and equal variances it is Tukey's honestly significant difference, as in Mohamad, Goeman and van Zwet
    (2022), Biometrics 78, 238-247.

    >>> ranks = rank_sets_of_normal([5.0, 1.0, 0.9], np.diag([0.1, 0.1, 0.1]) ** 2)
    >>> ranks.low.tolist(), ranks.high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    x, sigma = check_finite(estimates, "estimates", 1), check_finite(covariance, "covariance", 2)
    if sigma.shape != (len(x), len(x)) or not len(x):
        raise DataError(f"covariance must have one row and column per estimate; got {sigma.shape} for {len(x)}")
    if df != np.inf:
        check_number(df, "df", above=0)
    root = _square_root(sigma)
    source = check_rng(rng)
    errors = source.standard_normal((n_draws, len(x))) @ root
    if np.isfinite(df):
        errors *= np.sqrt(df / source.chisquare(df, (n_draws, 1)))
    scale = _inverse_root(_square_distances(root.T))
    return _stepped((x[:, None] - x) * scale, errors, scale, check_level(level))


def has_long_tails(scores: ArrayLike, *, clusters: ArrayLike | None = None) -> bool:
    """Whether differences are so skewed that `rank_sets` without bounds may be too narrow.

    Arguments and errors are those of `rank_sets`. This is so if the skewness of a pair's differences is at least 1.5,
    four standard errors of a normal sample's skewness, and a tenth of the root of the number of questions or clusters.

    >>> has_long_tails([[0.0] * 40, [*range(40)]]), has_long_tails([[0.0] * 40, [0.0] * 39 + [9.0]])
    (False, True)
    """
    totals = _totals(check_finite(scores, "scores", 2), clusters)
    n = totals.shape[1]
    limit = max(_LONG_TAIL, 4 * np.sqrt(6 / n), np.sqrt(n) / 10)
    return any(_skewness(totals[i] - totals[i + 1 :]).max() >= limit for i in range(len(totals) - 1))


def _skewness(rows: FloatArray) -> FloatArray:
    """Absolute skewness of each row, 0 for a constant one."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1)
    return np.asarray(np.abs((centred**3).mean(axis=1)) * _inverse_root(variance) ** 3)


# ---------------------------------------------------------------- sums and signs


def _totals(scores: FloatArray, clusters: ArrayLike | None) -> FloatArray:
    """Sums over each unit minus the mean of all systems, which cancels in differences; shape (n_systems, n_units)."""
    centred = np.asarray(scores - scores.mean(axis=0))
    if clusters is None:
        return centred
    codes = validated_codes(clusters, (scores.shape[1],))
    return np.stack([np.bincount(codes, row) for row in centred])


def _square_distances(rows: FloatArray) -> FloatArray:
    """Squared distances of all rows; those within rounding error of 0 are 0."""
    products = rows @ rows.T
    norms = np.diag(products)
    squares = norms[:, None] + norms - 2 * products
    return np.asarray(np.where(squares > 1e-12 * (norms[:, None] + norms), squares, 0.0), float)


def _statistic(totals: FloatArray, scale: FloatArray, widest: float | None) -> FloatArray:
    """Scaled sums of differences, limited by the roots of their likelihood ratios; shape (n_systems, n_systems)."""
    sums = totals.sum(axis=1)
    statistic = (sums[:, None] - sums) * scale
    for i, row in enumerate(statistic):
        (lower,) = np.nonzero(row > 0)
        gaps = totals[i] - totals[lower]
        ends = np.abs(gaps).max(axis=1) if widest is None else np.full(len(gaps), widest)
        row[lower] = np.minimum(row[lower], likelihood_roots(gaps, ends))
    return np.asarray(statistic)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """1 / sqrt, and 0 for 0: systems that never differ are never distinguished."""
    return np.asarray(np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0), float)


def _signs(n_units: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Sign vectors, shape (n_rows, n_units): all 2^n of them for at most 12 units, otherwise random ones."""
    if n_units <= _MAX_ENUMERATED:
        return np.asarray(1.0 - 2.0 * (np.arange(2**n_units)[:, None] >> np.arange(n_units) & 1))
    random_signs = 1.0 - 2.0 * rng.integers(0, 2, (n_draws - 1, n_units))
    return np.vstack([np.ones(n_units), random_signs])


def _square_root(sigma: FloatArray) -> FloatArray:
    """A matrix R with R' R = sigma."""
    values, vectors = np.linalg.eigh(sigma)
    if not np.allclose(sigma, sigma.T) or values[0] < -1e-9 * max(values[-1], 0.0):
        raise DataError("covariance must be symmetric, and no combination of estimates may have a negative variance")
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


# ---------------------------------------------------------------- steps


def _stepped(statistic: FloatArray, errors: FloatArray, scale: FloatArray, level: float) -> RankSets:
    """Stepwise test: reject statistics above the critical value, and repeat with the remaining pairs.

    The family consists of the ordered hypotheses "i does not score higher than j". A rejected hypothesis leaves the
    family and its mirror image stays, as in Mogstad et al., so that wrong directions count as errors.
    """
    n = len(statistic)
    open_pairs: BoolArray = ~np.eye(n, dtype=bool)
    critical = np.inf
    bounds: FloatArray = np.full(len(errors), np.inf)
    # the smallest value that at most a fraction 1 - level of the statistics exceed
    place = len(errors) + 1 - int(np.ceil(level * len(errors) - _ROUNDING))
    while True:
        limit = _nth_largest(bounds, errors, scale, open_pairs, place)
        rejected = open_pairs & (statistic > limit * (1 + _ROUNDING))
        critical = min(critical, limit)
        if not rejected.any():
            break
        open_pairs &= ~rejected
    above = ~open_pairs & ~np.eye(n, dtype=bool)
    return RankSets(1 + above.sum(axis=0), n - above.sum(axis=1), above, critical, level)


def _nth_largest(bounds: FloatArray, errors: FloatArray, scale: FloatArray, open_pairs: BoolArray, place: int) -> float:
    """The largest statistic of each draw, sorted: the value at a place, where 1 is the largest.

    No draw's statistic exceeds its value in `bounds`, as the open pairs only become fewer. Draws are taken in the order
    of their bounds, which become their statistics, until the bounds of all others are too small to matter.
    """
    order = np.argsort(-bounds, kind="stable")
    taken, value = 0, -np.inf
    while taken < len(order) and value < bounds[order[taken]]:
        rows = order[taken : taken + 2 * place]
        bounds[rows] = _largest(errors[rows], scale, open_pairs)
        taken += len(rows)
        known = bounds[order[:taken]]
        value = float(np.partition(known, -place)[-place]) if taken >= place else -np.inf
    return value


def _largest(errors: FloatArray, scale: FloatArray, open_pairs: BoolArray) -> FloatArray:
    """Largest scaled difference of each draw over the open pairs, shape (n_draws,); 0 if all are negative."""
    n = len(scale)
    either, forward, backward = (scale * kind for kind in (open_pairs & open_pairs.T, open_pairs, open_pairs.T))
    is_one_way = open_pairs != open_pairs.T
    one_way = [i + 1 + np.flatnonzero(is_one_way[i, i + 1 :]) for i in range(n)]
    largest: FloatArray = np.zeros(len(errors))
    step = max(1, _BLOCK // n)
    for start in range(0, len(errors), step):
        block = np.ascontiguousarray(errors[start : start + step].T)
        top = largest[start : start + step]
        for i in range(n - 1):
            gaps = block[i] - block[i + 1 :]
            if len(rest := one_way[i]):
                signed = gaps[rest - i - 1]
                signed *= np.where(forward[i, rest] > 0, forward[i, rest], -backward[i, rest])[:, None]
                np.maximum(top, signed.max(axis=0), out=top)
            np.abs(gaps, out=gaps)
            gaps *= either[i, i + 1 :, None]
            np.maximum(top, gaps.max(axis=0), out=top)
    return largest
