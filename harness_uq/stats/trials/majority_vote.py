"""Probability that the most frequent answer among k logged trials is right: maj@k, exact over all subsets."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray


def plurality_score(answers: NDArray[np.generic], right: FloatArray, k: int) -> float:
    """Expected score of the most frequent answer in a random k-subset of one question's trials.

    `answers` (n,) are codes or texts; equal entries are the same answer. `right` (n,) is 1 for a right trial, and an
    answer scores the mean over its trials. Tied answers share the vote equally.
    """
    _, index, counts = np.unique(answers, return_inverse=True, return_counts=True)
    value = np.bincount(index, right) / counts
    if value.min() == value.max():
        return float(value[0])
    others = [tuple(sorted(np.delete(counts, i).tolist())) for i in range(len(counts))]
    wins = [_win_probability(n_own, n_others, k) for n_own, n_others in zip(counts.tolist(), others, strict=True)]
    return float(np.clip(value @ wins, 0.0, 1.0))


@lru_cache(maxsize=4096)  # many questions share a few patterns of counts
def _win_probability(own: int, others: tuple[int, ...], k: int) -> float:
    """Probability that an answer given `own` times has the most votes among k trials, with ties shared equally.

    If it has t votes, the other answers have at most t each. If r of them have exactly t, its share is 1 / (1 + r),
    the integral of y^r over [0, 1], which Gauss-Legendre quadrature computes exactly. The number of k-subsets is
    therefore the coefficient of x^k in C(own, t) x^t times the product over the other answers of
    sum_{j<t} C(m, j) x^j + y C(m, t) x^t, for all t and y at once.
    """
    n = own + sum(others)
    y, y_weights = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    votes = np.arange(1, min(k, own) + 1)
    ways = np.zeros(
        (len(votes), len(y), k + 1)
    )  # counts are scaled by probabilities of Bin(m, k / n) to prevent overflow
    ways[np.arange(len(votes)), :, votes] = _binomial(own, k / n)[votes][:, None]
    for m in others:
        ways = _times(ways, _binomial(m, k / n), votes, (y + 1) / 2)
    return float(ways[:, :, k].sum(axis=0) @ y_weights / 2 / _binomial(n, k / n)[k])


def _times(ways: FloatArray, p: FloatArray, votes: IntArray, y: FloatArray) -> FloatArray:
    """Multiply by the polynomial of one other answer, with its term in x^t times y and higher terms omitted."""
    product = np.zeros_like(ways)
    for j in range(min(len(p), ways.shape[2])):
        rivals = votes[:, None]
        mark = np.where(rivals > j, 1.0, np.where(rivals == j, y, 0.0))
        product[:, :, j:] += p[j] * mark[:, :, None] * ways[:, :, : ways.shape[2] - j]
    return product


def _binomial(n: int, share: float) -> FloatArray:
    """Probabilities of Bin(n, share), shape (n + 1,)."""
    j = np.arange(n + 1.0)
    log_choose = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    return np.asarray(np.exp(log_choose + special.xlogy(j, share) + special.xlog1py(n - j, -share)))
