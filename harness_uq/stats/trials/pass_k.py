"""pass@k, pass^k, G-pass@k, mG-pass@k and maj@k: unbiased estimates, and posteriors over questions."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError, UnreliableError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, Posterior, ScaledPosterior
from harness_uq.stats.common.splines import cubic_spline, refine
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_outcomes import check_question_counts, count_successes, distinct_counts
from harness_uq.stats.common.validate_scalars import check_number
from harness_uq.stats.trials.pass_k_family import (
    PassKind,
    beta_moments,
    count_score,
    expected_scores,
    log_beta_binomial_sums,
)

FloatValue: TypeAlias = np.float64 | FloatArray
PassScope = Literal["population", "benchmark"]
PassReach = Literal["within", "all_trials", "extrapolated"]

_NEGLIGIBLE = 1e-12  # nodes of smaller mass, and columns of smaller relative mass, are omitted
_DENSITY_NODES = 801
_FINER = 4


def pass_at_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Unbiased estimate of the probability that at least one of k trials is right, averaged over questions.

    The estimate is 1 - C(n - c, k) / C(n, k) for a question with c of n trials right.

    Parameters
    ----------
    outcomes : array_like, shape (..., n_questions, n_trials)
        0, 1 or NaN (missing trial). Leading axes, such as systems, are vectorized.
    k : int
        Number of trials, from 1 to the smallest number of trials of a question.

    Returns
    -------
    float or ndarray
        Estimates between 0 and 1, with the leading axes of `outcomes`.

    Raises
    ------
    DataError
        If an outcome is not 0, 1 or NaN, or k is not a whole number.
    NotEstimableError
        If a question has fewer than k trials, so that no unbiased estimate exists.

    References
    ----------
    Chen et al. (2021); Hariri et al. (2025), eq. 21.

    Examples
    --------
    With two of four trials right, one of the six pairs of trials has both wrong:

    >>> round(float(pass_at_k([[1, 1, 0, 0]], 2)), 12) == round(5 / 6, 12)
    True
    """
    return _mean_score(outcomes, count_score("at", k))


def pass_hat_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Unbiased estimate of the probability that all of k trials are right (pass^k), averaged over questions.

    Arguments, result and errors are those of `pass_at_k`.

    References
    ----------
    Hariri et al. (2025), eq. 22.

    Examples
    --------
    >>> round(float(pass_hat_k([[1, 1, 0, 0]], 2)), 12) == round(1 / 6, 12)
    True
    """
    return _mean_score(outcomes, count_score("hat", k))


def g_pass_at_k(outcomes: ArrayLike, k: int, tau: float) -> FloatValue:
    """Unbiased estimate of the probability that at least a share `tau` of k trials is right (G-Pass@k_tau).

    Result and errors are those of `pass_at_k`.

    Parameters
    ----------
    outcomes, k
        As in `pass_at_k`.
    tau : float
        Share in (0, 1]; 1 gives pass^k, and values up to 1 / k give pass@k.

    References
    ----------
    Hariri et al. (2025), eq. 23.

    Examples
    --------
    >>> round(float(g_pass_at_k([[1, 1, 0, 0]], 2, tau=0.5)), 12) == round(5 / 6, 12)
    True
    """
    check_number(tau, "tau")
    return _mean_score(outcomes, count_score("g", k, tau))


def mg_pass_at_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Unbiased estimate of G-Pass@k averaged over tau from 1/2 to 1 (mG-Pass@k).

    It is 2/k times the sum of G-Pass@k_{i/k} over i = ceil(k/2) + 1, ..., k. Its largest value is therefore 1 for even
    k and (k - 1) / k for odd k, and it is 0 for k = 1. Arguments, result and errors are those of `pass_at_k`.

    References
    ----------
    Hariri et al. (2025), eq. 24.

    Examples
    --------
    Both trials are right in half of the six pairs:

    >>> round(float(mg_pass_at_k([[1, 1, 1, 0]], 2)), 12)
    0.5
    """
    return _mean_score(outcomes, count_score("mg", k))


def maj_at_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Unbiased estimate of the probability that a majority vote of k trials is right, averaged over questions.

    The vote is right if more than half of the trials are. This is a lower bound, since votes are split among different
    wrong answers. Arguments, result and errors are those of `pass_at_k`.

    Examples
    --------
    Two of the four triples have both right trials:

    >>> round(float(maj_at_k([[1, 1, 0, 0]], 3)), 12)
    0.5
    """
    return _mean_score(outcomes, count_score("maj", k))


class PassKPosterior(ScaledPosterior):
    """Posterior of pass@k or a related metric.

    `scope` is ``population`` (new questions) or ``benchmark`` (exactly these questions), and `kind` is that of
    `pass_k_posterior`. `reach` is ``within`` if k is smaller than the number of trials per question. It is
    ``all_trials`` if k is equal; coverage then fell to about 0.8 if success rates are not Beta-distributed, so callers
    should warn. It is ``extrapolated`` if k is larger; the result then depends on the Beta shape.
    """

    def __init__(
        self, inner: Posterior, top: float, *, scope: PassScope, kind: PassKind, k: int, reach: PassReach
    ) -> None:
        super().__init__(inner, top)
        self.scope, self.kind, self.k, self.reach = scope, kind, k, reach


def pass_k_posterior(
    successes: ArrayLike,
    trials: ArrayLike,
    k: int,
    *,
    scope: PassScope = "population",
    kind: PassKind = "at",
    tau: float | None = None,
    extrapolate: bool = False,
) -> PassKPosterior:
    """Posterior of pass@k (or pass^k, G-pass@k, mG-pass@k, maj@k) under a hierarchical Beta model over questions.

    Parameters
    ----------
    successes, trials : array_like, shape (n_questions,)
        Right trials and all trials of each question, whole numbers that broadcast together.
    k : int
        Number of trials, at least 1.
    scope : {"population", "benchmark"}, optional
        Score expected on a new question (default), or mean over exactly these questions.
    kind : {"at", "hat", "g", "mg", "maj"}, optional
        pass@k (default), pass^k, G-Pass@k (with `tau`), mG-Pass@k, or a majority (more than half) right.
    tau : float, optional
        Share in (0, 1] for ``g``.
    extrapolate : bool, optional
        Allow k to exceed the number of trials of the median question (default False).

    Returns
    -------
    PassKPosterior
        Its `reach` reports whether k is smaller than, equal to or larger than the number of trials.

    Raises
    ------
    DataError
        If counts are negative, fractional or inconsistent, or k or `tau` is out of range.
    NotEstimableError
        If k exceeds the number of trials and `extrapolate` is False, or for mG-pass@1, which is 0 by definition.
    UnreliableError
        If the score equals 0 or 1 in double precision.

    Notes
    -----
    pi_q ~ Beta(d theta, d (1 - theta)) with uniform theta and ICC.

    *Population:* the score is 1 - B(d theta, d (1 - theta) + k) / B(d theta, d (1 - theta)) for pass@k, and similar for
    the other metrics. It increases in theta for every d, so that the posterior of (theta, d) is transformed to a
    density.

    *Benchmark:* given (theta, d), pi_q ~ Beta(d theta + s_q, d (1 - theta) + n_q - s_q). The first and second moments
    of the score have closed forms (the second from 2k trials). They are mixed over the grid, and a Beta is matched.

    References
    ----------
    Bowyer et al. (2025), appendix D and eq. 8.

    Examples
    --------
    >>> posterior = pass_k_posterior([4, 4, 3, 0, 1, 2], 4, 2)
    >>> low, high = posterior.interval(0.95)
    >>> posterior.reach, 0 < low < posterior.mean < high < 1
    ('within', True)
    """
    score = checked_count_score(k, kind, tau, scope)
    top = float(score[-1])
    s, n = check_question_counts(successes, trials)
    reach = _reach(n, k, extrapolate)
    grid = beta_binomial_grid(s, n)
    inner = (
        _population_posterior(score / top, grid)
        if scope == "population"
        else _benchmark_posterior(score / top, s, n, grid)
    )
    return PassKPosterior(inner, top, scope=scope, kind=kind, k=int(k), reach=reach)


def checked_count_score(k: int, kind: PassKind, tau: float | None, scope: PassScope) -> FloatArray:
    """Score of each number of right answers among k trials; its last element is positive.

    Raises DataError if k, `tau`, `kind` or `scope` is invalid; NotEstimableError for mG-pass@1, which is 0 by
    definition.
    """
    score = count_score(kind, k, tau)
    if score[-1] == 0:
        raise NotEstimableError("mG-pass@1 is 0 by definition. Use k >= 2")
    if scope not in ("population", "benchmark"):
        raise DataError(f"scope must be 'benchmark' or 'population'; got {scope!r}")
    return score


def _reach(trials: FloatArray, k: int, extrapolate: bool) -> PassReach:
    typical = float(np.median(trials[trials > 0]))
    if k < typical:
        return "within"
    if k == typical:
        return "all_trials"
    if extrapolate:
        return "extrapolated"
    raise NotEstimableError(
        f"k = {k} exceeds the {typical:g} trials of the median question. Use a smaller k, or allow extrapolation, "
        "which depends on the assumed Beta shape"
    )


def _population_posterior(score: FloatArray, grid: BetaBinomialGrid) -> DensityPosterior:
    """Density of the logit of the score, summed over the columns (values of d) of the grid.

    Nodes and log masses are smooth in the index of the grid's rows and are interpolated to a finer index.
    """
    columns = np.flatnonzero(grid.weights.max(axis=0) > _NEGLIGIBLE * grid.weights.max())
    d = grid.dispersion[columns]
    a, b = d * grid.theta[:, None], d * special.expit(-grid.logit_theta)[:, None]
    log_value, log_complement = log_beta_binomial_sums(np.stack([score, 1 - score]), a, b)
    values, spacing = refine(log_value - log_complement, _FINER)
    mass = np.exp(refine(np.log(np.maximum(grid.weights[:, columns], 1e-300)), _FINER)[0])
    density = mass / spacing
    nodes = _spread_nodes(values, mass)
    total = np.zeros_like(nodes)
    for g, f, m in zip(values.T, density.T, mass.T, strict=True):
        occupied = np.flatnonzero(m > _NEGLIGIBLE * m.max())
        block = slice(max(occupied[0] - 2, 0), occupied[-1] + 3)
        covered = (nodes >= g[block][0]) & (nodes <= g[block][-1])
        total[covered] += cubic_spline(g[block], f[block])(nodes[covered])
    return DensityPosterior(nodes, np.maximum(total, 0.0), "logit")


def _spread_nodes(values: FloatArray, mass: FloatArray) -> FloatArray:
    """Nodes over the range of the mass with sinh spacing: dense in its centre and sparse in the tails."""
    order = np.argsort(values, axis=None)
    x, cumulative = values.ravel()[order], np.cumsum(mass.ravel()[order])
    low, q1, centre, q3, high = np.interp([1e-11, 0.25, 0.5, 0.75, 1 - 1e-11], cumulative / cumulative[-1], x)
    scale = max(q3 - q1, 1e-12 * (1 + abs(centre)))
    ends = np.arcsinh(np.array([low - centre, high - centre]) / scale)
    return np.asarray(centre + scale * np.sinh(np.linspace(ends[0], ends[1], _DENSITY_NODES)))


def _benchmark_posterior(score: FloatArray, s: FloatArray, n: FloatArray, grid: BetaBinomialGrid) -> BetaPosterior:
    """Beta with the moments of the mean score over these questions, mixed over every second node of the grid."""
    weights = grid.weights[::2, ::2]
    i, j = np.nonzero(weights > _NEGLIGIBLE)
    w = weights[i, j] / weights[i, j].sum()
    d, u = grid.dispersion[::2][j], grid.logit_theta[::2][i]
    distinct_s, distinct_n, _, counts = distinct_counts(s, n)
    share = counts / len(s)
    a = d * special.expit(u) + distinct_s[:, None]
    b = d * special.expit(-u) + (distinct_n - distinct_s)[:, None]
    mean, complement, within = beta_moments(score, a, b)
    low, high = share @ mean, share @ complement
    average, missing = float(w @ low), float(w @ high)
    spread = (low - average) if average < missing else (high - missing)
    variance = float(w @ (share @ within / len(s) + spread**2))
    if not (0 < average < 1 and variance > 0):
        raise UnreliableError(f"the score differs from {round(average)} by less than the rounding error")
    return BetaPosterior.from_moments(average, variance)


def _mean_score(outcomes: ArrayLike, score: FloatArray) -> FloatValue:
    """Mean over questions of the expected score of k of their trials."""
    right, trials = count_successes(outcomes)
    _check_enough(trials, len(score) - 1)
    return _average(expected_scores(score, right, trials))


def _average(values: FloatArray) -> FloatValue:
    average: FloatValue = values.mean(axis=-1)
    return average


def _check_enough(trials: FloatArray, k: int) -> None:
    n_short = int(np.sum(trials < k))
    if n_short:
        raise NotEstimableError(
            f"{n_short} of {trials.size} questions have fewer than k = {k} trials; the smallest number of trials is "
            f"{trials.min():g}. Use a smaller k, or leave these questions out"
        )
