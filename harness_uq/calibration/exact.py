"""Exact coverage of methods for one proportion: sums over the n + 1 possible numbers of right answers."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

from harness_uq.calibration import published
from harness_uq.calibration.scores import ScoreData
from harness_uq.data import FloatArray
from harness_uq.stats.binomial import BinomialMethod, binomial_interval

Ends = tuple[FloatArray, FloatArray]

CLOSED: dict[str, BinomialMethod] = {
    "beta, equal tails": "beta",
    "jeffreys": "jeffreys",
    "wilson": "wilson",
    "clopper-pearson": "clopper_pearson",
    "agresti-coull": "agresti_coull",
    "clt": "clt",
    "t": "t",
}


def coverage_at(theta: float, ends: Ends) -> tuple[float, float]:
    """Coverage and mean width at a fixed theta of intervals (low_k, high_k) given k right of n, k = 0..n.

    Wald's interval for n = 1 is a point at 0 or 1 and never holds a theta between:

    >>> coverage_at(0.5, (np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    (0.0, 0.0)
    """
    low, high = ends
    k, n = np.arange(float(len(low))), len(low) - 1
    p = np.exp(special.xlogy(k, theta) + special.xlog1py(n - k, -theta) + _log_choose(n, k))
    held = (low - 1e-12 <= theta) & (theta <= high + 1e-12)
    return float(p @ held), float(p @ (high - low))


def coverage_averaged(prior: tuple[float, float], ends: Ends) -> tuple[float, float]:
    """Coverage and mean width averaged over theta ~ Beta(a, b).

    sum_k P(k) P(low_k <= theta <= high_k | k), where theta given k is Beta(a + k, b + n - k).

    >>> coverage_averaged((1, 1), (np.array([0.0, 0.0]), np.array([1.0, 1.0])))
    (1.0, 1.0)
    """
    low, high = (np.clip(end, 0.0, 1.0) for end in ends)
    k, n = np.arange(float(len(low))), len(low) - 1
    a, b = prior[0] + k, prior[1] + n - k
    p = np.exp(_log_choose(n, k) + special.betaln(a, b) - special.betaln(*prior))
    held = special.betainc(a, b, high) - special.betainc(a, b, low)
    return float(p @ held), float(p @ (ends[1] - ends[0]))


def _log_choose(n: int, k: FloatArray) -> FloatArray:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def interval_table(method: str, n: int, level: float) -> Ends:
    """Intervals of a method for k = 0..n right of n; `bayes` is what `harness-uq estimate` prints."""
    if method == "bayes":
        return _estimated_table(n, level)
    if method == "bootstrap":
        return _by_count(n, lambda k: published.pooled_bootstrap(np.array([k]), np.array([float(n)]), level))
    k = np.arange(n + 1.0)
    return binomial_interval(k, np.full(n + 1, float(n)), level, CLOSED[method])


def _estimated_table(n: int, level: float) -> Ends:
    def interval(k: float) -> tuple[float, float]:
        values = (np.arange(n) < k).astype(float)[:, None]
        answer = ScoreData(k / n, values).answer("bayes", (level,), np.random.default_rng(0))
        return (np.nan, np.nan) if answer is None else answer.ends[0]

    return _by_count(n, interval)


def warnings_of(n: int) -> tuple[str, ...]:
    """What the software says beside the interval of n questions, whatever their score."""
    answer = ScoreData(0.0, np.zeros((n, 1))).answer("bayes", (0.95,), np.random.default_rng(0))
    return () if answer is None else answer.warnings


def _by_count(n: int, interval: Callable[[float], tuple[float, float]]) -> Ends:
    ends = np.array([interval(float(k)) for k in range(n + 1)])
    return ends[:, 0], ends[:, 1]


cached_table = lru_cache(maxsize=256)(interval_table)
