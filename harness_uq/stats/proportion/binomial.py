"""Posteriors and confidence intervals for one proportion from independent questions."""

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.beta_quantile import beta_quantile
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, IntervalKind, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_counts, check_level
from harness_uq.stats.common.validate_scalars import MAX_COUNT, check_number, check_pair, check_whole

BinomialMethod: TypeAlias = Literal["beta", "hdi", "jeffreys", "wilson", "clopper_pearson", "agresti_coull", "clt", "t"]
Ends: TypeAlias = tuple[FloatArray, FloatArray]

_TABLE_SIZE = 2**20
_HALF_WINDOW_SD = 40.0


def binomial_interval(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95, method: BinomialMethod = "beta"
) -> Ends:
    """Interval for a proportion from counts.

    Parameters
    ----------
    successes, trials : array_like
        Counts that broadcast together, with ``0 <= successes <= trials`` and ``trials >= 1``.
    level : float, optional
        Nominal coverage, strictly between 0 and 1 (default 0.95).
    method : str, optional
        With S successes, F failures, n = S + F and p = S / n:

        ``beta``             equal-tailed interval of Beta(1 + S, 1 + F) (default) [1]_, eq. 7
        ``hdi``              highest-density interval of Beta(1 + S, 1 + F), on the scale of the proportion
        ``jeffreys``         equal-tailed interval of Beta(1/2 + S, 1/2 + F)
        ``wilson``           score interval [2]_; [1]_, eq. 12
        ``clopper_pearson``  inverted exact tests [3]_; [1]_, eqs. 21-25
        ``agresti_coull``    Wald interval around (S + z^2/2) / (n + z^2) [4]_
        ``clt``              p ± z sqrt(p (1 - p) / n)
        ``t``                p ± t(n - 1) sqrt(p (1 - p) / (n - 1))

    Returns
    -------
    low, high : ndarray
        Interval limits. ``agresti_coull``, ``clt`` and ``t`` are computed as published: they can exceed [0, 1], and the
        last two have zero width at 0 and at n successes.

    Raises
    ------
    DataError
        If a count is negative or not finite, successes exceed trials, or `level` or `method` is invalid.
    NotEstimableError
        If an entry has no trials, or fewer than two with ``t``.

    References
    ----------
    .. [1] Bowyer, Aitchison & Ivanova (2025), Don't use the CLT in LLM evals with fewer than a few hundred datapoints
    .. [2] Wilson (1927), JASA 22, 209-212
    .. [3] Clopper & Pearson (1934), Biometrika 26, 404-413
    .. [4] Agresti & Coull (1998), American Statistician 52, 119-126

    Examples
    --------
    Without failures the posterior is Beta(21, 1), and 0.05^(1/21) = 0.867:

    >>> low, high = binomial_interval(20, 20, method="hdi")
    >>> round(float(low), 3), float(high)
    (0.867, 1.0)
    >>> float(binomial_interval(0, 10, method="wilson")[0])
    0.0
    """
    s, n = check_counts(successes, trials)
    check_level(level)
    if not isinstance(method, str) or method not in _METHODS:
        raise DataError(f"unknown binomial method {method!r}; available are {', '.join(sorted(_METHODS))}")
    _require_trials(n, 2 if method == "t" else 1)
    low, high = _METHODS[method](s, n, level)
    return np.asarray(low), np.asarray(high)


def beta_posterior(successes: float, trials: float, *, prior: tuple[float, float] = (1.0, 1.0)) -> BetaPosterior:
    """Posterior Beta(a + S, b + F) of a proportion under the prior Beta(a, b).

    Parameters
    ----------
    successes, trials : float
        Counts with ``0 <= successes <= trials`` and ``trials >= 1``.
    prior : tuple of float, optional
        Positive parameters (a, b); the default (1, 1) is uniform.

    Returns
    -------
    BetaPosterior
        Posterior of the proportion.

    Raises
    ------
    DataError
        If the counts or the prior are out of range.
    NotEstimableError
        If there are no trials.

    References
    ----------
    Bowyer et al. (2025), eqs. 5-7.

    Examples
    --------
    >>> beta_posterior(20, 20).mean == 21 / 22
    True
    """
    check_number(successes, "successes", lowest=0)
    check_number(trials, "trials", lowest=0)
    check_pair(prior, "prior")
    s, n = check_counts(successes, trials)
    _require_trials(n, 1)
    return BetaPosterior(prior[0] + float(s), prior[1] + float(n - s))


def finite_population_posterior(successes: int, trials: int, population: int) -> Posterior:
    """Posterior of the score on a whole benchmark from a random sample of its questions.

    The N - n questions outside the sample have K successes with K ~ BetaBinomial(N - n, 1 + S, 1 + F), so the score on
    all N is (S + K) / N. For up to 2^20 such values the distribution is tabulated exactly. For more, a spline through
    its probabilities changes the distribution function by less than 1e-8 and values by at most 1 / (2 N).

    Parameters
    ----------
    successes, trials : int
        Counts for the n sampled questions, drawn at random from the benchmark.
    population : int
        Number N of questions in the benchmark, larger than n.

    Returns
    -------
    Posterior
        Posterior of the score on all N questions.

    Raises
    ------
    DataError
        If the counts are out of range or fractional, or the benchmark is smaller than the sample.
    NotEstimableError
        If the sample is empty, or is the whole benchmark, whose score is then known exactly.

    Examples
    --------
    With one success in one of two questions, the other succeeds with probability 2/3:

    >>> posterior = finite_population_posterior(1, 1, 2)
    >>> round(posterior.mean, 6), round(float(posterior.cdf(0.5)), 6)
    (0.833333, 0.333333)
    """
    check_whole(successes, "successes", 0, MAX_COUNT)
    check_whole(trials, "trials", 0, MAX_COUNT)
    check_whole(population, "population", 1, MAX_COUNT)
    s, n, size = _whole_counts(successes, trials, population)
    a, b, unseen = 1.0 + s, 1.0 + n - s, size - n
    spread = np.sqrt(a * b * unseen * (a + b + unseen) / ((a + b) ** 2 * (a + b + 1)))
    centre = unseen * a / (a + b)
    first = max(0.0, np.floor(centre - _HALF_WINDOW_SD * spread))
    last = min(float(unseen), np.ceil(centre + _HALF_WINDOW_SD * spread))
    if last - first <= _TABLE_SIZE:
        k = np.arange(first, last + 1)
        return TablePosterior((s + k) / size, np.exp(_log_beta_binomial(k, unseen, a, b)))
    # the mass of a value is spread over half a step on each side; the outermost cells are compressed into the range
    cells = np.linspace(first - 0.5, last + 0.5, 2**13 + 1)
    values = (s + np.linspace(first, last, 2**13 + 1)) / size
    return DensityPosterior(values, np.exp(_log_beta_binomial(cells, unseen, a, b)))


class TablePosterior(Posterior):
    """Exact distribution on finitely many values.

    Its intervals have probability at least `level`; ``hdi`` is the shortest such range of values. `values` (n,) are
    increasing, and `masses` (n,) are normalized.
    """

    def __init__(self, values: FloatArray, masses: FloatArray) -> None:
        self.values, self.masses = values, masses / masses.sum()
        self._upper = np.cumsum(self.masses)
        self._upper[-1] = 1.0

    @property
    def mean(self) -> float:
        return float(self.masses @ self.values)

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.masses @ (self.values - self.mean) ** 2))

    def quantile(self, p: ArrayLike) -> FloatArray:
        index = np.searchsorted(self._upper, np.asarray(p, float), side="left")
        return np.asarray(self.values[np.minimum(index, len(self.values) - 1)])

    def cdf(self, x: ArrayLike) -> FloatArray:
        index = np.searchsorted(self.values, np.asarray(x, float), side="right")
        return np.asarray(np.concatenate([[0.0], self._upper])[index])

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        if kind != "hdi":
            return super().interval(level, kind)
        check_level(level)
        below = np.concatenate([[0.0], self._upper[:-1]])
        starts = np.flatnonzero(below <= 1.0 - level)
        ends = np.minimum(np.searchsorted(self._upper, below[starts] + level, side="left"), len(self.values) - 1)
        order = np.lexsort((-(self._upper[ends] - below[starts]), self.values[ends] - self.values[starts]))
        best = order[0]
        return float(self.values[starts[best]]), float(self.values[ends[best]])


def _require_trials(trials: FloatArray, minimum: int) -> None:
    if (trials < minimum).any():
        bad = np.flatnonzero(np.atleast_1d(trials) < minimum)[0]
        raise NotEstimableError(f"a proportion needs at least {minimum} trial(s); entry {bad} has {trials.flat[bad]:g}")


def _whole_counts(successes: int, trials: int, population: int) -> tuple[int, int, int]:
    s, n = check_counts(successes, trials)
    _require_trials(n, 1)
    if population < n:
        raise DataError(f"population must be at least the {n:g} questions asked; got {population}")
    if population == n:
        raise NotEstimableError(
            f"all {n:g} questions of the benchmark were asked, so that their score is {float(s / n):g} exactly; "
            "use the population scope (new questions) or the benchmark scope (new trials) instead"
        )
    return int(s), int(n), int(population)


def _log_beta_binomial(k: FloatArray, n: float, a: float, b: float) -> FloatArray:
    """Log probabilities up to a constant, with maximum 0."""
    logs = special.gammaln(k + a) - special.gammaln(k + 1.0) + special.gammaln(n - k + b) - special.gammaln(n - k + 1.0)
    return np.asarray(logs - logs.max())


def _beta(s: FloatArray, n: FloatArray, level: float, prior: float = 1.0) -> Ends:
    tail = np.full_like(s, (1.0 - level) / 2.0)
    return _beta_ends(prior + s, prior + n - s, tail, tail)


def _beta_ends(a: FloatArray, b: FloatArray, below: FloatArray, above: FloatArray) -> Ends:
    """Interval with probability `below` under the lower limit and `above` over the upper limit."""
    low: FloatArray = np.asarray(beta_quantile(a, b, below), np.float64)
    high: FloatArray = 1.0 - beta_quantile(b, a, above)
    return low, high


def _hdi(s: FloatArray, n: FloatArray, level: float) -> Ends:
    """Highest-density interval, one-sided at 0 and n successes; otherwise both limits have equal density."""
    a, b = 1.0 + s, 1.0 + n - s
    inside = (s > 0) & (s < n)
    tail = _equal_density_tail(np.where(inside, a, 2.0), np.where(inside, b, 2.0), level)
    tail = np.where(s == 0, 0.0, np.where(s == n, 1.0 - level, tail))
    return _beta_ends(a, b, tail, 1.0 - level - tail)


def _equal_density_tail(a: FloatArray, b: FloatArray, level: float) -> FloatArray:
    """Lower tail probability of the highest-density interval of Beta(a, b) with a, b > 1.

    With tail = (1 - level) expit(u), log f(high) - log f(low) decreases in u from +inf to -inf and is nearly linear.
    Newton steps are used, and bisection if a step leaves its bracket. Rounding in x limits the accuracy of u to 1e-15
    (a + b).
    """
    low, high = np.full_like(a, -50.0), np.full_like(a, 50.0)
    u = np.zeros_like(a)
    for _ in range(60):
        share = special.expit(u)
        tail = (1.0 - level) * share
        x, y = _beta_ends(a, b, tail, 1.0 - level - tail)
        gap = (a - 1.0) * np.log(y / x) + (b - 1.0) * (np.log1p(-y) - np.log1p(-x))
        low, high = np.where(gap > 0, u, low), np.where(gap > 0, high, u)
        slope = (_log_density_slope(y, a, b) - _log_density_slope(x, a, b)) * tail * (1.0 - share)
        step = u - gap / slope
        proposal = np.where((step >= low) & (step <= high), step, (low + high) / 2.0)
        done = np.abs(step - u) <= 1e-10 + 1e-15 * (a + b)
        u = proposal
        if done.all():
            break
    return np.asarray((1.0 - level) * special.expit(u))


def _log_density_slope(x: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Derivative of log f at the quantile x(p) with respect to p."""
    log_density = (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - special.betaln(a, b)
    return np.asarray(((a - 1.0) / x - (b - 1.0) / (1.0 - x)) / np.exp(log_density))


def wilson_score(s: FloatArray, n: FloatArray, z: float) -> Ends:
    """Wilson interval for s successes in n trials (possibly effective numbers) at the critical value z."""
    centre = (s + z**2 / 2.0) / (n + z**2)
    half = z * np.sqrt(s * (n - s) / n + z**2 / 4.0) / (n + z**2)
    return np.where(s == 0, 0.0, centre - half), np.where(s == n, 1.0, centre + half)


def _clopper_pearson(s: FloatArray, n: FloatArray, level: float) -> Ends:
    tail = (1.0 - level) / 2.0
    low = np.where(s == 0, 0.0, beta_quantile(np.maximum(s, 1.0), n - s + 1.0, tail))
    high = np.where(s == n, 1.0, 1.0 - beta_quantile(np.maximum(n - s, 1.0), s + 1.0, tail))
    return low, high


def _agresti_coull(s: FloatArray, n: FloatArray, level: float) -> Ends:
    z = special.ndtri((1.0 + level) / 2.0)
    size = n + z**2
    return _wald((s + z**2 / 2.0) / size, size, z)


def _wald(p: FloatArray, size: FloatArray, critical: ArrayLike) -> Ends:
    half = np.asarray(critical) * np.sqrt(p * (1.0 - p) / size)
    return p - half, p + half


_METHODS: dict[str, Callable[[FloatArray, FloatArray, float], Ends]] = {
    "beta": _beta,
    "hdi": _hdi,
    "jeffreys": partial(_beta, prior=0.5),
    "wilson": lambda s, n, level: wilson_score(s, n, float(special.ndtri((1.0 + level) / 2.0))),
    "clopper_pearson": _clopper_pearson,
    "agresti_coull": _agresti_coull,
    "clt": lambda s, n, level: _wald(s / n, n, special.ndtri((1.0 + level) / 2.0)),
    "t": lambda s, n, level: _wald(s / n, n - 1.0, special.stdtrit(n - 1.0, (1.0 + level) / 2.0)),
}
