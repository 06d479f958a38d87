"""Scores of k trials that depend on the number of right trials only: pass@k and related metrics.

Such a score is a vector v_0..v_k. Its expectation over k of n logged trials is hypergeometric. Over k new trials of a
question with pi ~ Beta(a, b) it is beta-binomial. Every estimate and moment of `pass_k` is one of these two sums.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_scalars import MAX_TRIALS, check_whole

PassKind = Literal["at", "hat", "g", "mg", "maj"]


def count_score(kind: PassKind, k: int, tau: float | None = None) -> FloatArray:
    """Score v_j of j right among k trials, shape (k + 1,), non-decreasing in j and between 0 and 1.

    The kinds are ``at`` (at least one right), ``hat`` (all right), ``g`` (at least tau k right), ``mg`` (2/k times the
    sum of ``g`` over tau = i / k, i from ceil(k/2) + 1) and ``maj`` (more than half right). Raises DataError if k,
    `kind` or `tau` is invalid. Source: Hariri et al. (2025), eqs. 21-24.
    """
    check_whole(k, "k", 1, MAX_TRIALS)
    if kind == "mg":
        return np.asarray(2 / k * np.maximum(np.arange(k + 1.0) - (k + 1) // 2, 0.0))
    return np.asarray(np.arange(k + 1) >= _threshold(kind, k, tau), float)


def _threshold(kind: PassKind, k: int, tau: float | None) -> int:
    if kind == "g":
        if tau is None or not 0 < tau <= 1:
            raise DataError(f"G-Pass@k needs a share tau in (0, 1] of right trials; got {tau!r}")
        return int(np.ceil(tau * k - 1e-9))  # 0.7 * 10 exceeds 7 in floating point
    if kind not in ("at", "hat", "maj"):
        raise DataError(f"kind must be 'at', 'g', 'hat', 'maj' or 'mg'; got {kind!r}")
    return {"at": 1, "hat": k, "maj": k // 2 + 1}[kind]


def expected_in_subset(score: FloatArray, n: int) -> FloatArray:
    """Expected score of k trials drawn without replacement from n with c right, for c = 0..n; shape (n + 1,)."""
    k = len(score) - 1
    c, j = np.arange(n + 1.0)[:, None], np.arange(k + 1.0)
    feasible = (j <= c) & (k - j <= n - c)
    log_p = _log_choose(c, j) + _log_choose(n - c, k - j)
    p = np.where(feasible, np.exp(log_p - _log_choose(np.array(float(n)), np.array(float(k)))), 0.0)
    top = score[-1]
    lower, upper = p @ score, top - p @ (top - score)
    return np.asarray(np.where(lower < top / 2, lower, upper))  # exactly 0 or `top` if no other score is possible


def expected_scores(score: FloatArray, right: FloatArray, trials: FloatArray) -> FloatArray:
    """Unbiased estimate for each question: the expected score of k of its trials, of which there are at least k."""
    values = np.empty_like(trials)
    for n in np.unique(trials).tolist():
        of_size = trials == n
        values[of_size] = expected_in_subset(score, int(n))[right[of_size].astype(np.intp)]
    return values


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Logarithm of the binomial coefficient; undefined unless 0 <= k <= n."""
    inside = np.clip(k, 0, n)
    return np.asarray(special.gammaln(n + 1) - special.gammaln(inside + 1) - special.gammaln(n - inside + 1))


def beta_moments(score: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moments of g(pi) = E[v_J] with J ~ Bin(k, pi) and pi ~ Beta(a, b), for a score between 0 and 1.

    The results E[g], E[1 - g] and Var[g] are sums of positive terms or the smaller of two such differences, so that no
    digits are lost near 0 or 1.
    """
    pair = np.stack([score, 1 - score])
    mean, complement = beta_binomial_sums(pair, a, b)
    second, second_complement = beta_binomial_sums(np.stack([squared_score(v) for v in pair]), a, b)
    variance = np.where(mean < complement, second - mean**2, second_complement - complement**2)
    return mean, complement, np.maximum(variance, 0.0)


def squared_score(score: FloatArray) -> FloatArray:
    """Score of 2k trials with expectation g(pi)^2: the mean of v_i v_j over all splits into two halves of k trials."""
    k = len(score) - 1
    m, j = np.arange(2.0 * k + 1)[:, None], np.arange(k + 1.0)
    feasible = (j <= m) & (m - j <= k)
    log_share = _log_choose(m, j) + _log_choose(2 * k - m, k - j) - _log_choose(np.array(2.0 * k), np.array(float(k)))
    other = np.clip(m - j, 0, k).astype(int)
    return np.asarray(np.sum(np.where(feasible, np.exp(log_share), 0.0) * score * score[other], axis=1))


def beta_binomial_sums(scores: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Expectation of each row of `scores`, shape (R, k + 1), under BetaBinomial(k, a, b).

    The result has shape (R, ...) with the shape of `a` and `b`.
    """
    total = np.zeros((len(scores), *np.broadcast_shapes(a.shape, b.shape)))
    for j, log_p in enumerate(_log_probabilities(scores.shape[1] - 1, a, b)):
        p = np.exp(log_p)
        for row in np.flatnonzero(scores[:, j]):
            total[row] += scores[row, j] * p
    return total


def log_beta_binomial_sums(scores: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Logarithm of `beta_binomial_sums`, which may be smaller than the smallest float."""
    total = np.full((len(scores), *np.broadcast_shapes(a.shape, b.shape)), -np.inf)
    for j, log_p in enumerate(_log_probabilities(scores.shape[1] - 1, a, b)):
        for row in np.flatnonzero(scores[:, j]):
            total[row] = np.logaddexp(total[row], np.log(scores[row, j]) + log_p)
    return total


def _log_probabilities(k: int, a: FloatArray, b: FloatArray) -> Iterator[FloatArray]:
    """Log probabilities of 0..k under BetaBinomial(k, a, b), as a sequence of arrays.

    log p_{j+1} - log p_j = log[(k - j)(a + j)] - log[(j + 1)(b + k - 1 - j)] does not involve a difference of large
    log-gammas, so that a and b may be from 1e-300 to 1e300.
    """
    log_p = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for i in range(k):
        log_p -= np.log1p(a / (b + i))
    yield log_p
    for j in range(k):
        log_p = log_p + (np.log((k - j) / (j + 1)) + np.log(a + j) - np.log(b + (k - 1 - j)))
        yield log_p
