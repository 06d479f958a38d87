"""Confidence sets for the ranks of many systems that hold all at once, from tests of every pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError
from harness_uq.stats.clusters.cluster_robust import cluster_codes
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_finite, check_level
from harness_uq.stats.common.scalars import MOST_DRAWS, check_bounds, check_number, check_range, check_whole, generator
from harness_uq.stats.pairs.likelihood_roots import likelihood_roots

_MOST_ENUMERATED = 12
_LONG_TAIL = 1.5  # skewness of differences; that of normal ones stays below 4 sqrt(6 / n)
_ROUNDING = 1e-9

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RankSets:
    """Ranks that each system may have; all hold at once with probability `level` or more.

    Attributes
    ----------
    low, high : int (n_systems,); the best and the worst rank, 1 is the highest score
    above : bool (n_systems, n_systems); [i, j] where system i is shown to score higher than system j
    critical : float; value of the statistic that the last step of the tests asked for, inf where none could be passed
    level : float
    """

    low: IntArray
    high: IntArray
    above: BoolArray
    critical: float
    level: float

    def mirrored(self) -> "RankSets":
        """The same with rank 1 for the lowest score."""
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
    """Simultaneous confidence sets for the ranks of systems that answered the same questions.

    The statistic of a pair is its sum of differences over the root of their sum of squares, by question or cluster, or,
    where that is less, the root of the empirical likelihood ratio with half a unit at the widest difference
    either way: small differences without a single large one among them are not taken for certain.
    Its largest value over all pairs is compared with that of the same differences under random signs, one a question
    or cluster and the same for all systems (every choice of signs where there are at most 12); pairs shown to differ
    leave the family, and the rest are tested again.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions); means over trials
    clusters : array_like, shape (n_questions,) of labels; None where questions are independent
    bounds : (low, high) of a score, which give the widest difference of an average unit; without them it is the
        pair's largest one
    level : float in (0, 1); probability that every system's rank lies in its set
    n_draws : int; choices of signs where there are more than 12 questions or clusters
    rng : generator; None takes a fixed seed

    Raises
    ------
    DataError : if the scores are not a finite two-dimensional array, or bounds or level are not as stated

    Tied systems share the ranks that their number takes, and each set then holds all of them. A pair whose differences
    are symmetric about 0 where the two are equally good (0/1 scores are) is tested exactly; others as questions or
    clusters grow. Mogstad, Romano, Shaikh and Wilhelm (2024), Rev. Econ. Stud. 91, 476-518, algorithm 3.2, for ranks
    from pairs; Romano and Wolf (2005), J. Am. Stat. Assoc. 100, 94-108, for the steps; Cameron, Gelbach and Miller
    (2008), Rev. Econ. Stat. 90, 414-427, for random signs of clusters; `likelihood_roots` for its sources.

    >>> found = rank_sets([[1] * 12, [1] * 12, [0] * 12])
    >>> found.low.tolist(), found.high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    if bounds is not None:
        check_bounds(bounds)
    y = check_finite(scores, "scores", 2)
    if not y.size:
        raise DataError(f"scores must have shape (n_systems, n_questions); got {y.shape}")
    totals = _totals(y, clusters)
    squares = _square_distances(totals)
    widest = None if bounds is None else _width(bounds) * y.shape[1] / totals.shape[1]
    signs = _signs(totals.shape[1], n_draws, generator(rng))
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
    """Simultaneous confidence sets for the ranks of estimates whose errors are normal with a known covariance.

    Parameters
    ----------
    estimates : array_like, shape (n_systems,)
    covariance : array_like, (n_systems, n_systems); of the estimates' errors. Standard errors s of independent ones:
        `np.diag(s**2)`
    df : float > 0; degrees of freedom of the covariance as a whole, infinite where it is known
    level : float in (0, 1); probability that every system's rank lies in its set
    n_draws : int; of the largest statistic
    rng : generator; None takes a fixed seed

    Raises
    ------
    DataError : if the covariance is not a matrix of one row and column a system, or not a covariance

    Mogstad, Romano, Shaikh and Wilhelm (2024), with their steps; with one step it is Tukey's honestly significant
    difference for independent estimates of equal variance, as in Mohamad, Goeman and van Zwet (2022), Biometrics 78,
    238-247.

    >>> found = rank_sets_of_normal([5.0, 1.0, 0.9], np.diag([0.1, 0.1, 0.1]) ** 2)
    >>> found.low.tolist(), found.high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    x, sigma = check_finite(estimates, "estimates", 1), check_finite(covariance, "covariance", 2)
    if sigma.shape != (len(x), len(x)) or not len(x):
        raise DataError(f"covariance must have one row and column an estimate; got {sigma.shape} for {len(x)}")
    if df != np.inf:
        check_number(df, "df", above=0)
    root = _square_root(sigma)
    source = generator(rng)
    errors = source.standard_normal((n_draws, len(x))) @ root
    if np.isfinite(df):
        errors *= np.sqrt(df / source.chisquare(df, (n_draws, 1)))
    scale = _inverse_root(_square_distances(root.T))
    return _stepped((x[:, None] - x) * scale, errors, scale, check_level(level))


def have_long_tails(scores: ArrayLike, *, clusters: ArrayLike | None = None) -> bool:
    """Whether differences of two of the systems are so skew that `rank_sets` without bounds may be too narrow.

    Parameters and errors as in `rank_sets`. True where the skewness of a pair's differences is at least 1.5, four
    standard errors of a normal sample's, and a tenth of the root of the number of questions or clusters.

    >>> have_long_tails([[0.0] * 40, [*range(40)]]), have_long_tails([[0.0] * 40, [0.0] * 39 + [9.0]])
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
    """Sums over each unit, less the systems' mean there, which no difference contains; (n_systems, n_units)."""
    centred = np.asarray(scores - scores.mean(axis=0))
    if clusters is None:
        return centred
    codes = cluster_codes(clusters, scores.shape[1])
    return np.stack([np.bincount(codes, row) for row in centred])


def _width(bounds: tuple[float, float]) -> float:
    low, high = bounds
    check_range(low, high)
    return high - low


def _square_distances(rows: FloatArray) -> FloatArray:
    """Squared distances of all rows; those within rounding of 0 are 0."""
    products = rows @ rows.T
    own = np.diag(products)
    squares = own[:, None] + own - 2 * products
    return np.asarray(np.where(squares > 1e-12 * (own[:, None] + own), squares, 0.0), float)


def _statistic(totals: FloatArray, scale: FloatArray, widest: float | None) -> FloatArray:
    """Scaled sums of differences, no larger than the roots of their likelihood ratios; (n_systems, n_systems)."""
    sums = totals.sum(axis=1)
    found = (sums[:, None] - sums) * scale
    for i, row in enumerate(found):
        (better_than,) = np.nonzero(row > 0)
        gaps = totals[i] - totals[better_than]
        ends = np.abs(gaps).max(axis=1) if widest is None else np.full(len(gaps), widest)
        row[better_than] = np.minimum(row[better_than], likelihood_roots(gaps, ends))
    return np.asarray(found)


def _inverse_root(squares: FloatArray) -> FloatArray:
    """1 / sqrt, and 0 for 0: systems that never differ are never told apart."""
    return np.asarray(np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0), float)


def _signs(n_units: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Rows of signs (n_rows, n_units): all 2^n of them for few units."""
    if n_units <= _MOST_ENUMERATED:
        return np.asarray(1.0 - 2.0 * (np.arange(2**n_units)[:, None] >> np.arange(n_units) & 1))
    drawn = 1.0 - 2.0 * rng.integers(0, 2, (n_draws - 1, n_units))
    return np.vstack([np.ones(n_units), drawn])


def _square_root(sigma: FloatArray) -> FloatArray:
    """A matrix R with R' R = sigma."""
    values, vectors = np.linalg.eigh(sigma)
    if not np.allclose(sigma, sigma.T) or values[0] < -1e-9 * max(values[-1], 0.0):
        raise DataError("covariance must be symmetric, and no combination of estimates may have a negative variance")
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


# ---------------------------------------------------------------- steps


def _stepped(statistic: FloatArray, errors: FloatArray, scale: FloatArray, level: float) -> RankSets:
    """Reject what exceeds the largest statistic under no difference, and test the rest anew until nothing is rejected.

    The family is of ordered pairs, "i does not score higher than j": one that is rejected leaves it, its mirror image
    stays, as in Mogstad et al., so that wrong directions count as errors.
    """
    n = len(statistic)
    open_pairs: BoolArray = ~np.eye(n, dtype=bool)
    critical = np.inf
    while True:
        limit = _limit(_largest(errors, scale, open_pairs), level)
        rejected = open_pairs & (statistic > limit * (1 + _ROUNDING))
        critical = min(critical, limit)
        if not rejected.any():
            break
        open_pairs &= ~rejected
    above = ~open_pairs & ~np.eye(n, dtype=bool)
    return RankSets(1 + above.sum(axis=0), n - above.sum(axis=1), above, critical, level)


def _largest(errors: FloatArray, scale: FloatArray, open_pairs: BoolArray) -> FloatArray:
    """Largest scaled difference of each draw over the pairs that are open, (n_draws,); 0 where all are negative."""
    by_system = np.ascontiguousarray(errors.T)
    forth, back = scale * open_pairs, scale * open_pairs.T
    found: FloatArray = np.zeros(len(errors))
    for i in range(len(scale) - 1):
        gaps = by_system[i] - by_system[i + 1 :]
        found = np.maximum(found, (forth[i, i + 1 :, None] * gaps).max(axis=0))
        found = np.maximum(found, (-back[i, i + 1 :, None] * gaps).max(axis=0))
    return found


def _limit(largest: FloatArray, level: float) -> float:
    """The smallest value that no more than 1 - level of them exceed."""
    return float(np.sort(largest)[int(np.ceil(level * len(largest) - _ROUNDING)) - 1])
