"""Exact coverage of methods for one proportion: sums over the n + 1 possible numbers of right answers."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

from benchmarks.calibration import reference_methods
from benchmarks.calibration.scenarios.scores import ScoreData
from benchmarks.calibration.scenarios.types import Answer
from harness_uq.data.task_log import FloatArray
from harness_uq.messages import Message
from harness_uq.stats.proportion.binomial import BinomialMethod, Ends, binomial_interval
from harness_uq.stats.proportion.coverage import success_probabilities

CLOSED: dict[str, BinomialMethod] = {
    "beta, equal tails": "beta",
    "jeffreys": "jeffreys",
    "wilson": "wilson",
    "clopper-pearson": "clopper_pearson",
    "agresti-coull": "agresti_coull",
    "clt": "clt",
    "t": "t",
}


def chances(theta: float | tuple[float, float], n: int) -> FloatArray:
    """Probabilities of k right answers of n, k = 0..n, for a fixed theta or theta ~ Beta(a, b).

    Examples
    --------
    >>> chances((1.0, 1.0), 1).round(12).tolist()
    [0.5, 0.5]
    """
    if isinstance(theta, float):
        return success_probabilities(theta, n)
    (a, b), k = theta, np.arange(n + 1.0)
    log_choose = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(log_choose + special.betaln(a + k, b + n - k) - special.betaln(a, b)))


def coverage_averaged(prior: tuple[float, float], ends: Ends) -> float:
    """Coverage averaged over theta ~ Beta(a, b).

    It is sum_k P(k) P(low_k <= theta <= high_k | k), where theta given k is Beta(a + k, b + n - k).

    Examples
    --------
    >>> coverage_averaged((1, 1), (np.array([0.0, 0.0]), np.array([1.0, 1.0])))
    1.0
    """
    low, high = (np.clip(end, 0.0, 1.0) for end in ends)
    k, n = np.arange(float(len(low))), len(low) - 1
    a, b = prior[0] + k, prior[1] + n - k
    return float(chances(prior, n) @ (special.betainc(a, b, high) - special.betainc(a, b, low)))


def interval_table(method: str, n: int, level: float) -> Ends:
    """Intervals of a method for k = 0..n right answers of n; ``bayes`` is the default of `harness-uq estimate`."""
    if method == "bayes":
        return _estimated_table(n, level)
    if method == "bootstrap":
        return _by_count(n, lambda k: reference_methods.pooled_bootstrap(np.array([k]), np.array([float(n)]), level))
    k = np.arange(n + 1.0)
    return binomial_interval(k, np.full(n + 1, float(n)), level, CLOSED[method])


def _estimated_table(n: int, level: float) -> Ends:
    def interval(k: float) -> tuple[float, float]:
        answer = _estimated(k, n, level)
        return (np.nan, np.nan) if answer is None else answer.ends[0]

    return _by_count(n, interval)


def _estimated(k: float, n: int, level: float) -> Answer | None:
    values = (np.arange(n) < k).astype(float)[:, None]
    return ScoreData(k / n, values).answer("bayes", (level,), np.random.default_rng(0))


def warnings_table(n: int) -> list[tuple[Message, ...]]:
    """Warnings beside the 95 % interval of k correct answers of n, k = 0..n."""
    return [() if (answer := _estimated(k, n, 0.95)) is None else answer.warnings for k in range(n + 1)]


def _by_count(n: int, interval: Callable[[float], tuple[float, float]]) -> Ends:
    ends = np.array([interval(float(k)) for k in range(n + 1)])
    return ends[:, 0], ends[:, 1]


cached_table = lru_cache(maxsize=256)(interval_table)
