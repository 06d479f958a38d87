"""pass@k, pass^k, G-pass@k, mG-pass@k and maj@k: unbiased estimates, and posteriors over questions."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError, UnreliableError
from harness_uq.stats.clusters.quadrature import BetaBinomialGrid, beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray, as_array, label_codes
from harness_uq.stats.common.outcomes import (
    check_outcomes,
    check_question_counts,
    count_right,
    count_trials,
    distinct_counts,
)
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, Posterior
from harness_uq.stats.common.scalars import MOST_TRIALS, check_number, check_whole
from harness_uq.stats.trials.count_scores import (
    PassKind,
    beta_moments,
    count_score,
    expected_scores,
    log_beta_binomial_sums,
)
from harness_uq.stats.trials.plurality import plurality_score

FloatValue: TypeAlias = np.float64 | FloatArray
PassScope = Literal["population", "benchmark"]
PassReach = Literal["within", "all_trials", "extrapolated"]

_NEGLIGIBLE = 1e-12  # mass of a node, or of a column relative to the largest, that is left out
_DENSITY_NODES = 801
_FINER = 4


def pass_at_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Probability that at least one of k trials is right, averaged over questions: unbiased for k <= N.

    Parameters
    ----------
    outcomes : (..., M, N) 0 or 1; NaN is a missing trial. Leading axes, such as systems, are worked through at once
    k : int, 1 <= k <= N

    Returns
    -------
    float in [0, 1], or an array with the leading axes of `outcomes`

    Raises
    ------
    DataError : outcomes other than 0, 1, NaN; k not a whole number
    NotEstimableError : a question has fewer than k trials: no unbiased estimate exists

    Notes
    -----
    1 - C(n - c, k) / C(n, k) for c right of n trials: Chen et al. (2021); Hariri et al. (2025), eq. 21.

    Examples
    --------
    Two right of four: of the six pairs of trials, one has both wrong.

    >>> round(float(pass_at_k([[1, 1, 0, 0]], 2)), 12) == round(5 / 6, 12)
    True
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    return _mean_score(outcomes, count_score("at", k))


def pass_hat_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """Probability that all of k trials are right (pass^k), averaged over questions: unbiased for k <= N.

    Parameters, returns and errors as in `pass_at_k`. Hariri et al. (2025), eq. 22.

    >>> round(float(pass_hat_k([[1, 1, 0, 0]], 2)), 12) == round(1 / 6, 12)
    True
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    return _mean_score(outcomes, count_score("hat", k))


def g_pass_at_k(outcomes: ArrayLike, k: int, tau: float) -> FloatValue:
    """Probability that at least the share `tau` of k trials is right (G-Pass@k_tau), averaged over questions.

    Parameters
    ----------
    outcomes, k : as in `pass_at_k`
    tau : float in (0, 1]; 1 is pass^k, and anything up to 1 / k is pass@k

    Returns and errors as in `pass_at_k`. Hariri et al. (2025), eq. 23.

    >>> round(float(g_pass_at_k([[1, 1, 0, 0]], 2, tau=0.5)), 12) == round(5 / 6, 12)
    True
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    check_number(tau, "tau")
    return _mean_score(outcomes, count_score("g", k, tau))


def mg_pass_at_k(outcomes: ArrayLike, k: int) -> FloatValue:
    """G-Pass@k averaged over tau from 1/2 to 1 (mG-Pass@k): unbiased for k <= N.

    2/k times the sum of G-Pass@k_{i/k} over i = ceil(k/2) + 1..k, so that its largest value is 1 for even k,
    (k - 1) / k for odd k, and it is 0 for k = 1. Parameters, returns and errors as in `pass_at_k`.
    Hariri et al. (2025), eq. 24.

    >>> round(float(mg_pass_at_k([[1, 1, 1, 0]], 2)), 12)  # half of the six pairs are both right
    0.5
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    return _mean_score(outcomes, count_score("mg", k))


def maj_at_k(outcomes: ArrayLike, k: int, *, answers: ArrayLike | None = None) -> FloatValue:
    """Probability that a majority vote of k trials is right, averaged over questions: unbiased for k <= N.

    Parameters
    ----------
    outcomes, k : as in `pass_at_k`
    answers : array of the shape of `outcomes`, codes or texts, or None; entries that are equal are the same answer.
        With answers the most frequent one wins and ties share the vote equally; one answer judged right in some
        trials and wrong in others scores the mean. Without, the vote is right where more than half of the trials
        are: the least it can be, since wrong trials may disagree with each other

    Returns and errors as in `pass_at_k`. Exact over all C(N, k) subsets, not sampled.

    Examples
    --------
    Right answer "7" twice; wrong answers "5" and "6" once. Of the four triples two hold both sevens (right), and
    two hold three different answers (right one time in three).

    >>> correct, said = [[1, 1, 0, 0]], [["7", "7", "5", "6"]]
    >>> round(float(maj_at_k(correct, 3, answers=said)), 12) == round((2 + 2 / 3) / 4, 12)
    True
    >>> round(float(maj_at_k(correct, 3)), 12)
    0.5
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    score = count_score("maj", k)
    if answers is None:
        return _mean_score(outcomes, score)
    right, missing = check_outcomes(outcomes, 1)
    said, seen = as_array(answers), np.ones(right.shape, bool) if missing is None else ~missing
    if said.shape != right.shape:
        raise DataError(f"answers must have the shape of outcomes, {right.shape}; got {said.shape}")
    _check_enough(count_trials(right, missing), k)
    codes = np.full(right.shape, -1)
    codes[seen] = label_codes(said[seen], (int(seen.sum()),), "answers")
    questions = list(np.ndindex(right.shape[:-1]))
    votes = [plurality_score(codes[q][seen[q]], right[q][seen[q]].astype(float), k) for q in questions]
    return _average(np.reshape(votes, right.shape[:-1]))


def bayes_pass_k(
    outcomes: ArrayLike, k: int, *, kind: PassKind = "at", tau: float | None = None
) -> tuple[FloatValue, FloatValue]:
    """Posterior mean and standard deviation on exactly these questions, each pi_q ~ Beta(1, 1) on its own.

    The form that accompanies Bayes@N; like it, it pulls every question to a prior (pass@2 of 2/3). For an interval
    see `pass_k_posterior`.

    Parameters
    ----------
    outcomes : (..., M, N) 0, 1 or NaN, as in `pass_at_k`
    k : int >= 1
    kind : `at`, `hat`, `g` (with `tau`), `mg`, `maj` (more than half right)

    Returns
    -------
    mean, sd : float, or arrays with the leading axes of `outcomes`

    Raises
    ------
    DataError : outcomes other than 0, 1, NaN; k not a whole number; tau missing or out of range
    NotEstimableError : a question without a trial

    >>> mean, sd = bayes_pass_k([[1]], 2)  # Beta(2, 1): E[1 - (1 - pi)^2] = 1 - 1/6, second moment 1 - 2/6 + 1/15
    >>> round(float(mean), 6), round(float(sd) ** 2, 6)
    (0.833333, 0.038889)
    """
    check_whole(k, "k", 1, MOST_TRIALS)
    score = count_score(kind, k, tau)
    s, n = count_right(outcomes)
    _check_enough(n, 1)
    distinct_s, distinct_n, which, _ = distinct_counts(s, n)
    mean, _, variance = beta_moments(score, 1 + distinct_s, 1 + distinct_n - distinct_s)
    return _average(mean[which]), np.sqrt(variance[which].sum(axis=-1)) / s.shape[-1]


class PassKPosterior(Posterior):
    """Posterior of pass@k or a relative.

    Attributes
    ----------
    scope : `population` (a new question of the same kind) or `benchmark` (these questions)
    kind, k : which score of how many trials
    reach : `within` (k under the trials a question has), `all_trials` (k equals them: where the questions' spread
        is not Beta-shaped, coverage fell to about .8, so callers should warn) or `extrapolated` (k exceeds them: the
        answer rests on the Beta shape alone)
    """

    def __init__(
        self, inner: Posterior, top: float, *, scope: PassScope, kind: PassKind, k: int, reach: PassReach
    ) -> None:
        self._inner, self._top = inner, top
        self.scope, self.kind, self.k, self.reach = scope, kind, k, reach

    @property
    def mean(self) -> float:
        return self._top * self._inner.mean

    @property
    def sd(self) -> float:
        return self._top * self._inner.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._top * self._inner.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._inner.cdf(np.asarray(x, float) / self._top)


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
    """Posterior of pass@k (or pass^k, G-pass@k, mG-pass@k, maj@k) under a hierarchy over questions.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question
    k : int >= 1
    scope : `population`, the score expected on a new question; `benchmark`, the mean over exactly these questions
    kind : `at`, `hat`, `g` (with `tau`), `mg`, `maj` (more than half right)
    extrapolate : allow k to exceed the trials that the median question has

    Returns
    -------
    PassKPosterior ; its `reach` says whether k is within, equal to or beyond the trials at hand

    Raises
    ------
    DataError : counts that are negative, fractional or inconsistent; k or tau out of range
    NotEstimableError : k exceeds the trials and `extrapolate` is False; mG-pass@1, which is 0 by definition
    UnreliableError : the score is 0 or 1 to the last digit

    Notes
    -----
    pi_q ~ Beta(d theta, d (1 - theta)), theta and the ICC uniform (Bowyer et al. 2025, appendix D and eq. 8).
    Population: the score is 1 - B(d theta, d (1 - theta) + k) / B(d theta, d (1 - theta)) for pass@k, and likewise
    for the others, increasing in theta for every d: the posterior of (theta, d) is carried over to a density.
    Benchmark: given (theta, d), pi_q ~ Beta(d theta + s_q, d (1 - theta) + n_q - s_q), whose first and second moments
    of the score are closed forms (the second from 2k trials); they are mixed over the grid and a Beta is matched.

    Examples
    --------
    >>> posterior = pass_k_posterior([4, 4, 3, 0, 1, 2], 4, 2)
    >>> low, high = posterior.interval(0.95)
    >>> posterior.reach, 0 < low < posterior.mean < high < 1
    ('within', True)
    """
    score = scored_event(k, kind, tau, scope)
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


def scored_event(k: int, kind: PassKind, tau: float | None, scope: PassScope) -> FloatArray:
    """Score of each number right among k trials, the last above 0; refuses a k, tau or scope that there is not."""
    check_whole(k, "k", 1, MOST_TRIALS)
    score = count_score(kind, k, tau)
    if score[-1] == 0:
        raise NotEstimableError("mG-pass@1 is 0 by definition, whatever the system: take k >= 2")
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
        f"k = {k} exceeds the {typical:g} trials of the median question: the data say nothing of so many trials; "
        "take a smaller k, or ask for extrapolation, which rests on the assumed Beta shape"
    )


def _population_posterior(score: FloatArray, grid: BetaBinomialGrid) -> DensityPosterior:
    """Density of the logit of the score, summed over the columns (values of d) of the grid.

    Nodes and log masses are smooth in the index of the grid's rows: they are interpolated to a finer index first.
    """
    from scipy.interpolate import CubicSpline, make_interp_spline

    columns = np.flatnonzero(grid.weights.max(axis=0) > _NEGLIGIBLE * grid.weights.max())
    d = grid.dispersion[columns]
    a, b = d * grid.theta[:, None], d * special.expit(-grid.logit_theta)[:, None]
    log_value, log_complement = log_beta_binomial_sums(np.stack([score, 1 - score]), a, b)
    index = np.arange(len(a), dtype=float)
    fine = np.linspace(0.0, index[-1], _FINER * (len(a) - 1) + 1)
    logit = make_interp_spline(index, log_value - log_complement, k=7)
    mass = np.exp(make_interp_spline(index, np.log(np.maximum(grid.weights[:, columns], 1e-300)), k=7)(fine))
    values, density = logit(fine), mass / logit.derivative()(fine)
    nodes = _spread_nodes(values, mass)
    total = np.zeros_like(nodes)
    for g, f, m in zip(values.T, density.T, mass.T, strict=True):
        held = np.flatnonzero(m > _NEGLIGIBLE * m.max())
        part = slice(max(held[0] - 2, 0), held[-1] + 3)
        total += np.nan_to_num(CubicSpline(g[part], f[part], extrapolate=False)(nodes))
    return DensityPosterior(nodes, np.maximum(total, 0.0), "logit")


def _spread_nodes(values: FloatArray, mass: FloatArray) -> FloatArray:
    """Nodes over the range that holds the mass, dense where it lies and sparse in the tails (a sinh spacing)."""
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
        raise UnreliableError(f"the score differs from {round(average)} by less than a rounding error")
    return BetaPosterior.from_moments(average, variance)


def _mean_score(outcomes: ArrayLike, score: FloatArray) -> FloatValue:
    """Mean over questions of the expected score of k of their trials."""
    right, trials = count_right(outcomes)
    _check_enough(trials, len(score) - 1)
    return _average(expected_scores(score, right, trials))


def _average(values: FloatArray) -> FloatValue:
    average: FloatValue = values.mean(axis=-1)
    return average


def _check_enough(trials: FloatArray, k: int) -> None:
    short = np.argwhere(trials < k)
    if len(short):
        place = tuple(short[0].tolist())
        raise NotEstimableError(
            f"k = {k} trials cannot be drawn from question {place[-1]}, which has {trials[place]:g}; "
            f"{len(short)} of {trials.size} questions have too few: take a smaller k or leave them out"
        )
