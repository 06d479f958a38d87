"""Test of the Beta shape that a hierarchy assumes of the questions' success rates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.common.outcomes import check_question_counts

_ORDERS = (3, 4)  # two parameters fit the moments 1 and 2 of any mixture; the next two show skewness and two humps
_SEEN = 1e-9  # share of a moment's variance that the two parameters must leave


@dataclass(frozen=True, slots=True)
class BetaShape:
    """Whether success counts look like Beta-binomial ones.

    Attributes
    ----------
    statistic : float; chi-squared with `df` degrees of freedom where success rates are Beta-distributed
    df : int; 2, 1 where no question has four trials, 0 where none has three and every mixture fits
    p_value : float; 1 where df is 0
    """

    statistic: float
    df: int
    p_value: float


def beta_shape_test(successes: ArrayLike, trials: ArrayLike) -> BetaShape:
    """Test that the questions' success rates have a Beta distribution.

    Neyman's C(alpha) test of the third and fourth moments: m_j(s) = C(s, j) / C(n, j) estimates E[pi^j] without bias
    (Chen et al. 2021 for the complement). Summed over questions, less its expectation under BetaBinomial(n, theta, rho)
    and less its regression on the scores of theta and rho, it has mean 0 for any consistent theta and rho; they are
    taken at their posterior means. All covariances are exact sums over the n + 1 counts.

    Parameters
    ----------
    successes, trials : (M,) whole numbers, broadcast together; right trials and all trials of each question

    Raises
    ------
    DataError : counts that are negative, fractional or inconsistent

    Neyman (1959), Optimal asymptotic tests of composite statistical hypotheses.

    Forty questions of success rate .95 and ten of none, 16 trials each; then 50 counts spread evenly:

    >>> beta_shape_test([15, 16, 14, 16] * 10 + [0] * 10, 16).p_value < 1e-6
    True
    >>> beta_shape_test(list(range(17)) * 3, 16).p_value > 0.5
    True
    """
    s, n = check_question_counts(successes, trials)
    s, n = s[n > 0], n[n > 0]
    grid = beta_binomial_grid(s, n)
    theta = float(grid.weights.sum(axis=1) @ grid.theta)
    total, covariance = np.zeros(2 + len(_ORDERS)), np.zeros((2 + len(_ORDERS), 2 + len(_ORDERS)))
    for size in np.unique(n):
        seen = np.bincount(s[n == size].astype(int), minlength=int(size) + 1)
        values, spread = _terms(int(size), theta, grid.icc_mean)
        total += values @ seen
        covariance += seen.sum() * spread
    return _chi_squared(total, covariance)


def _terms(n: int, theta: float, rho: float) -> tuple[FloatArray, FloatArray]:
    """Scores of (theta, rho) and moments less their expectations, for s = 0..n; (4, n + 1), and their covariance."""
    log_p, scores = _beta_binomial(n, theta, rho)
    s = np.arange(n + 1.0)
    moments = [special.binom(s, j) / special.binom(n, j) if n >= j else np.zeros(n + 1) for j in _ORDERS]
    terms, p = np.vstack([scores, moments]), np.exp(log_p)
    centred = terms - (terms @ p)[:, None]
    return centred, (centred * p) @ centred.T


def _beta_binomial(n: int, theta: float, rho: float) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of s = 0..n, (n + 1,), and their derivatives in theta and rho = 1 / (1 + d), (2, n + 1).

    p(s) = C(n, s) prod_{i<s} (theta (1 - rho) + i rho) prod_{i<n-s} ((1 - theta) (1 - rho) + i rho)
    / prod_{i<n} (1 - rho + i rho), which is smooth at rho = 0.
    """
    i = np.arange(float(n))
    s = np.arange(n + 1)
    right, wrong, all_ = theta * (1 - rho) + i * rho, (1 - theta) * (1 - rho) + i * rho, 1 - rho + i * rho
    log_choose = special.gammaln(n + 1) - special.gammaln(s + 1) - special.gammaln(n - s + 1)
    log_p = log_choose + _sums(np.log(right))[s] + _sums(np.log(wrong))[n - s] - np.log(all_).sum()
    in_theta = _sums((1 - rho) / right)[s] - _sums((1 - rho) / wrong)[n - s]
    in_rho = _sums((i - theta) / right)[s] + _sums((i - 1 + theta) / wrong)[n - s] - ((i - 1) / all_).sum()
    return log_p, np.stack([in_theta, in_rho])


def _sums(terms: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, … of the terms."""
    return np.concatenate([[0.0], np.cumsum(terms)])


def _chi_squared(total: FloatArray, covariance: FloatArray) -> BetaShape:
    slopes = covariance[2:, :2] @ np.linalg.pinv(covariance[:2, :2], rcond=1e-10, hermitian=True)
    left = total[2:] - slopes @ total[:2]
    spread = covariance[2:, 2:] - slopes @ covariance[:2, 2:]
    kept = np.diag(spread) > _SEEN * np.diag(covariance)[2:]
    if not kept.any():
        return BetaShape(0.0, 0, 1.0)
    sd = np.sqrt(np.diag(spread)[kept])
    z, correlation = left[kept] / sd, spread[np.ix_(kept, kept)] / np.outer(sd, sd)
    statistic = float(z @ np.linalg.pinv(correlation, rcond=1e-10, hermitian=True) @ z)
    df = int(np.linalg.matrix_rank(correlation, tol=1e-10, hermitian=True))
    return BetaShape(statistic, df, float(special.chdtrc(df, statistic)))
