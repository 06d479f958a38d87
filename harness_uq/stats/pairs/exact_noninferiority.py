"""Exact unconditional test of non-inferiority for paired right-or-wrong answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.common.validate_scalars import check_number
from harness_uq.stats.units.contrasts import check_table

_LARGEST_EXACT = 5000
_LARGEST_SHARED = 100  # number of questions up to which tests share probabilities, which take up to 33 MB
_GRID = 401
_REFINEMENTS = 3
_NEGLIGIBLE = 1e-13
_TIE = 1e-7  # posterior probabilities that differ by less are equal
_RESOLUTION = 2e-4  # of limits
_COARSE_GRID = 41
_LARGEST_COARSE = 60


def _gauss_legendre(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return nodes / 2 + 0.5, weights / 2


_NODES, _WEIGHTS = _gauss_legendre(48)
_COARSE = _gauss_legendre(16), _gauss_legendre(24)  # for up to 60 questions, and for more


@dataclass(frozen=True, slots=True)
class NoninferiorityTest:
    """One-sided p-values of the two null hypotheses about the difference A - B at a margin.

    `p_noninferior` tests that A is worse than B by at least the margin; small values show that it is not. `p_inferior`
    tests that A is worse by at most the margin; small values show that it is worse.
    """

    p_noninferior: float
    p_inferior: float


def noninferiority_test(table: ArrayLike, margin: float) -> NoninferiorityTest:
    """Test whether A is worse than B by more than a margin, from the paired answers to the same questions.

    Tables are ordered by the posterior probability that A is worse than B by at least the margin, with cells ~
    Dirichlet(1/2, 1/2, 1/2, 1/2). A p-value is the supremum of the probability of a table at least as extreme over the
    remaining nuisance parameter, the probability of a gain, if the probability of a loss exceeds it by exactly the
    margin. The size of the test is therefore at most its nominal level for every number of questions, and wherever a
    rule that compares the posterior probability with a limit has that size, this test rejects at least as often. Above
    5,000 questions the score test with the restricted maximum-likelihood estimate is used.

    Parameters
    ----------
    table : array_like of int, shape (4,)
        Numbers of questions that both systems, only A, only B and neither answered correctly.
    margin : float
        Largest acceptable drop of A below B, in [0, 1).

    Returns
    -------
    NoninferiorityTest
        Both p-values, in [0, 1].

    Raises
    ------
    DataError
        If the table does not have four non-negative integers with a positive sum, or the margin is not in [0, 1).

    References
    ----------
    Hsueh, Liu and Chen (2001), Biometrics 57, 478-483 (the exact unconditional test, ordered by the score statistic).
    Tango (1998), Statistics in Medicine 17, 891-908, eq. 8 (the score statistic).

    Examples
    --------
    None of 59 questions lost: a system that loses 5 % of the questions shows no loss in 0.95^59 of runs.

    >>> test = noninferiority_test([50, 0, 0, 9], 0.05)
    >>> print(f"{test.p_noninferior:.4f} {0.95**59:.4f}")
    0.0485 0.0485
    """
    counts = check_table(table)
    check_number(margin, "margin", lowest=0, below=1)
    if (counts != np.floor(counts)).any():
        raise DataError(f"table must have integers; got {counts.tolist()}")
    n = int(counts.sum())
    if n > _LARGEST_EXACT:
        z = float(score_statistic(counts[1], counts[2], n, margin))
        return NoninferiorityTest(float(special.ndtr(-z)), float(special.ndtr(z)))
    won, lost = int(counts[1]), int(counts[2])
    tables = _shared_tables(n, margin) if n <= _LARGEST_SHARED else _Tables(n, margin)
    fewest, most = _rejection_limits(tables, won, won + lost)
    at_least = _supremum(lambda gain: tables.prob_at_least(fewest, gain), tables.grid)
    at_most = _supremum(lambda gain: 1.0 - tables.prob_at_least(most + 1, gain), tables.grid)
    return NoninferiorityTest(at_least, at_most)


@lru_cache(maxsize=4096)
def difference_limits(table: tuple[int, int, int, int], tail: float) -> tuple[float, float]:
    """Limits of the differences A - B that `noninferiority_test` does not reject, to 2e-4.

    The lower limit is a bound such that "the difference is at most the bound" is rejected, and "at most 2e-4 more" is
    not. The upper limit is that of the exchanged systems with the opposite sign. `table`: integers, as for
    `noninferiority_test`. `tail`: error probability of each limit.

    Examples
    --------
    None of 59 questions lost excludes losses of 5 % (see `noninferiority_test`).

    >>> print(f"{difference_limits((50, 0, 0, 9), 0.05)[0]:.3f}")
    -0.050
    """
    both, won, lost, neither = table
    n = both + won + lost + neither
    return _lower_limit(n, won, lost, tail), -_lower_limit(n, lost, won, tail)


@lru_cache(maxsize=8192)
def _lower_limit(n: int, won: int, lost: int, tail: float) -> float:
    """Lower limit of the difference: that of the score test, or an exact one that is searched from there."""
    critical = float(special.ndtri(1.0 - tail))
    low, high = -1.0 + _RESOLUTION, 1.0 - _RESOLUTION
    while high - low > _RESOLUTION / 2:
        middle = (low + high) / 2
        low, high = (middle, high) if _score_of_bound(n, won, lost, middle) >= critical else (low, middle)
    if n > _LARGEST_EXACT:
        return low
    bounds = _Bounds(n, won, lost)

    def excess(bound: float) -> float:
        return -float(special.ndtri(np.clip(bounds.p_value(bound), 1e-300, 1 - 1e-12))) - critical

    lowest, highest = -1.0 + _RESOLUTION, 1.0 - _RESOLUTION
    slope = n / np.sqrt(won + lost + 2.0)
    at, value = low, excess(low)
    rejected = not_rejected = (at, value)
    if value >= 0:
        while value >= 0 and at < highest:
            rejected = at, value
            at = min(at + 1.2 * value / slope + _RESOLUTION, highest)
            value = excess(at)
        not_rejected = at, value
    else:
        while value < 0 and at > lowest:
            not_rejected = at, value
            at = max(at + 1.2 * value / slope - _RESOLUTION, lowest)
            value = excess(at)
        rejected = at, value
    if value < 0 and at == lowest:
        return -1.0
    is_halved = False
    while not_rejected[0] - rejected[0] > _RESOLUTION:
        # secants and halves in turn, because p-values of tables jump
        share = rejected[1] / (rejected[1] - not_rejected[1]) if np.isfinite(rejected[1]) else 0.5
        share, is_halved = (0.5 if is_halved else min(max(share, 0.05), 0.95)), not is_halved
        at = rejected[0] + (not_rejected[0] - rejected[0]) * share
        if (value := excess(at)) >= 0:
            rejected = at, value
        else:
            not_rejected = at, value
    return float(rejected[0])


def _score_of_bound(n: int, won: int, lost: int, bound: float) -> float:
    """Score statistic of the hypothesis that the difference is at most a bound, which decreases in the bound."""
    only_a, only_b = np.array([won], float), np.array([lost], float)
    if bound <= 0:
        return float(score_statistic(only_a, only_b, n, -bound)[0])
    return -float(score_statistic(only_b, only_a, n, bound)[0])


class _Bounds:
    """P-values of the hypotheses that the difference is at most a bound, for one table and many bounds.

    Tables as extreme as the observed one change little from bound to bound, so that they are searched among those of
    the former bound first.
    """

    def __init__(self, n: int, won: int, lost: int) -> None:
        self.n, self.won, self.lost = n, won, lost
        self._nodes = _COARSE[n > _LARGEST_COARSE]
        self._limits: dict[bool, IntArray] = {}

    def p_value(self, bound: float) -> float:
        """P-value of the hypothesis that the difference is at most this bound."""
        n, each, is_gain, margin = self.n, np.arange(self.n + 1), bound > 0, abs(bound)
        # a gain by more than the bound is a loss of the exchanged systems
        won = self.lost if is_gain else self.won

        def worse(gains: IntArray, discordant: IntArray) -> FloatArray:
            return prob_worse(np.minimum(gains, discordant), discordant, n, margin, *self._nodes)

        observed = float(worse(np.array([won]), np.array([self.won + self.lost]))[0])
        highest = observed - _TIE if is_gain else observed + _TIE

        def is_extreme(gains: IntArray, discordant: IntArray) -> NDArray[np.bool_]:
            return (gains > discordant) | (worse(gains, discordant) < highest)

        low, high = 0 * each, each + 1
        if (former := self._limits.get(is_gain)) is not None:
            is_high = is_extreme(former, each)
            is_low = (former == 0) | ~is_extreme(np.maximum(former - 1, 0), each)
            low = np.where(is_high, np.where(is_low, former, 0), former + 1)
            high = np.where(is_high, np.where(is_low, former, former - 1), each + 1)
        fewest = self._limits[is_gain] = _first(is_extreme, each, low, high)
        grid = (1.0 - margin) / 2.0 * np.linspace(0.0, 1.0, _COARSE_GRID) ** 2
        if is_gain:
            return _supremum(lambda gain: 1.0 - _prob_at_least(fewest, n, margin, gain).sum(axis=0), grid)
        return _supremum(lambda gain: _prob_at_least(fewest, n, margin, gain).sum(axis=0), grid)


def score_statistic(won: FloatArray, lost: FloatArray, n: int, margin: float) -> FloatArray:
    """Score statistic of the restriction P(loss) - P(gain) = margin; 0 if the data and the margin have no variation.

    Z = (won - lost + n m) / sqrt(n (2 g + m - m^2)), where the gain probability g > 0 solves 2 n g^2 - b g - won m
    (1 - m) = 0 with b = won (1 - 3 m) + lost (1 - m) - 2 m (n - won - lost). `won` and `lost` are the numbers of
    questions that only A and only B answered correctly, and the margin m is in [0, 1).
    """
    b = won * (1 - 3 * margin) + lost * (1 - margin) - 2 * margin * (n - won - lost)
    root = np.sqrt(b**2 + 8.0 * n * won * margin * (1 - margin))
    # for negative b, the other form of the solution avoids the difference of two nearly equal numbers
    small = np.divide(2.0 * won * margin * (1 - margin), root - b, out=np.zeros_like(root), where=root - b > 0)
    gain = np.where(b < 0, small, (b + root) / (4.0 * n))
    variance = n * (2.0 * gain + margin - margin**2)
    difference = won - lost + n * margin
    return np.asarray(np.divide(difference, np.sqrt(variance), out=np.zeros(np.shape(difference)), where=variance > 0))


def prob_worse(
    won: IntArray,
    discordant: IntArray,
    n: int,
    margin: float,
    nodes: FloatArray = _NODES,
    weights: FloatArray = _WEIGHTS,
) -> FloatArray:
    """Posterior probability that the difference A - B is at most -margin, of several tables of n questions.

    The difference is s (2 r - 1) with independent s ~ Beta(d + 1, n - d + 1) and r ~ Beta(w + 1/2, d - w + 1/2), for d
    discordant questions of which A won w. The expectation over s of P(r <= (1 - margin / s) / 2) is computed by
    Gauss-Legendre quadrature.

    `won` and `discordant` (n_tables,) are w and d. `nodes` and `weights` are those of the quadrature on [0, 1].
    """
    lowest, highest, normalizer = (values[discordant] for values in _discordance(n))
    low = np.maximum(margin, lowest)[:, None]
    high = np.maximum(margin, highest)[:, None]
    # the square removes the root with which the probability begins at s = margin
    s = low + (high - low) * nodes**2
    log_density = special.xlogy(discordant[:, None], s) + special.xlog1py(n - discordant[:, None], -s)
    density = np.exp(log_density - normalizer[:, None])
    share = np.maximum(1.0 - margin / s, 0.0) / 2.0
    below = special.betainc(won[:, None] + 0.5, (discordant - won)[:, None] + 0.5, share)
    return np.asarray(((high - low) * 2.0 * nodes * weights * density * below).sum(axis=1))


@lru_cache(maxsize=4)
def _discordance(n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each number of discordant questions: the range of their probability, and the logarithm of its normalizer."""
    a, b = np.arange(n + 1) + 1.0, n - np.arange(n + 1) + 1.0
    lowest, highest = (np.asarray(end(a, b, _NEGLIGIBLE), float) for end in (special.betaincinv, special.betainccinv))
    return lowest, highest, np.asarray(special.betaln(a, b))


class _Tables:
    """Probabilities of tables of n questions, which tests with the same margin share.

    Gain probabilities on `grid` are those at which a supremum is searched first.
    """

    def __init__(self, n: int, margin: float) -> None:
        self.n, self.margin = n, margin
        # gains are rare in most evaluations, so that the grid is denser near 0
        self.grid = (1.0 - margin) / 2.0 * np.linspace(0.0, 1.0, _GRID) ** 2
        self._is_shared = n <= _LARGEST_SHARED
        if self._is_shared:
            self._worse = np.full((n + 1, n + 1), np.nan)
            self._on_grid = np.full((n + 1, n + 2, _GRID), np.nan)

    def prob_worse(self, won: IntArray, discordant: IntArray) -> FloatArray:
        """As the function `prob_worse`."""
        if not self._is_shared:
            return prob_worse(won, discordant, self.n, self.margin)
        new = np.isnan(self._worse[discordant, won])
        self._worse[discordant[new], won[new]] = prob_worse(won[new], discordant[new], self.n, self.margin)
        return np.asarray(self._worse[discordant, won])

    def prob_at_least(self, fewest: IntArray, gain: FloatArray) -> FloatArray:
        """P(gains >= fewest[discordant]) for each gain probability; float (n_gains,)."""
        if gain is not self.grid or not self._is_shared:
            return np.asarray(_prob_at_least(fewest, self.n, self.margin, gain).sum(axis=0))
        discordant, fewest = np.arange(self.n + 1), np.maximum(fewest, 0)
        if np.isnan(self._on_grid[discordant, fewest, 0]).any():
            self._on_grid[discordant, fewest] = _prob_at_least(fewest, self.n, self.margin, gain)
        return np.asarray(self._on_grid[discordant, fewest].sum(axis=0))


@lru_cache(maxsize=4)
def _shared_tables(n: int, margin: float) -> _Tables:
    return _Tables(n, margin)


def _rejection_limits(tables: _Tables, won: int, discordant: int) -> tuple[IntArray, IntArray]:
    """For each number of discordant questions 0..n: the fewest gains as extreme as these, and the most gains.

    The probability that A is worse decreases with the number of gains among a given number of discordant questions.
    """
    worse = tables.prob_worse
    observed = float(worse(np.array([won]), np.array([discordant]))[0])
    each = np.arange(tables.n + 1)
    fewest = _first(lambda gains, of: worse(gains, of) <= observed + _TIE, each, 0 * each, each + 1)
    # only tables that are as extreme as the observed one lie between the two limits
    is_more = worse(np.minimum(fewest, each), each) < observed - _TIE
    highest = np.where(is_more & (fewest <= each), fewest, each + 1)
    most = _first(lambda gains, of: worse(gains, of) < observed - _TIE, each, fewest, highest) - 1
    return fewest, most


def _first(
    is_extreme: Callable[[IntArray, IntArray], NDArray[np.bool_]], discordant: IntArray, low: IntArray, high: IntArray
) -> IntArray:
    """Fewest gains between `low` and `high` for which the condition holds, by bisection; `high` if it never holds."""
    low, high = low.copy(), high.copy()
    while (searched := np.flatnonzero(low < high)).size:
        middle = (low[searched] + high[searched]) // 2
        holds = is_extreme(middle, discordant[searched])
        high[searched[holds]] = middle[holds]
        low[searched[~holds]] = middle[~holds] + 1
    return low


def _prob_at_least(fewest: IntArray, n: int, margin: float, gain: FloatArray) -> FloatArray:
    """P(gains >= fewest[discordant], discordant) for each gain probability; float (n + 1, n_gains)."""
    discordance = 2.0 * gain + margin
    discordant = np.arange(n + 1)
    weights = np.exp(
        special.gammaln(n + 1)
        - special.gammaln(discordant + 1)
        - special.gammaln(n - discordant + 1)
        + special.xlogy(discordant, discordance[:, None])
        + special.xlog1py(n - discordant, -np.minimum(discordance, 1.0)[:, None])
    )
    share = np.divide(gain, discordance, out=np.full_like(gain, 0.5), where=discordance > 0)
    # almost all combinations of a discordance and a number of discordant questions are impossible to within rounding
    at, discordant_at = np.nonzero(weights > _NEGLIGIBLE)
    k = fewest[discordant_at]
    tails = (k <= 0).astype(float)
    is_uncertain = (k > 0) & (k <= discordant_at)
    k, t, p = k[is_uncertain], discordant_at[is_uncertain], share[at[is_uncertain]]
    tails[is_uncertain] = special.betainc(k, t - k + 1, p)
    probabilities = np.zeros(weights.T.shape)
    probabilities[discordant_at, at] = weights[at, discordant_at] * tails
    return probabilities


def _supremum(probability: Callable[[FloatArray], FloatArray], grid: FloatArray) -> float:
    """Largest value over the gain probability in [0, (1 - margin) / 2], on a grid that is refined at its maximum."""
    best = 0.0
    for _ in range(_REFINEMENTS):
        values = probability(grid)
        best = max(best, float(values.max()))
        at = int(values.argmax())
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        grid = np.linspace(low, high, 21)
    return min(best, 1.0)
