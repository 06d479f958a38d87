"""Test of the assumption that success rates of questions have a Beta distribution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_outcomes import check_question_counts

_ORDERS = (3, 4)  # two parameters fit the first two moments of any mixture; the next two detect skewness and two modes
_MIN_RESIDUAL = 1e-9  # smallest share of a moment's variance that is not explained by the two parameters


@dataclass(frozen=True, slots=True)
class BetaShape:
    """Result of the test that success counts are beta-binomial.

    `statistic` is chi-squared with `df` degrees of freedom if success rates have a Beta distribution. `df` is 2; 1 if
    no question has four trials; 0 if none has three, so that every mixture fits and the p-value is 1.
    """

    statistic: float
    df: int
    p_value: float


def beta_shape_test(successes: ArrayLike, trials: ArrayLike) -> BetaShape:
    """Test that success rates of questions have a Beta distribution.

    It is Neyman's C(alpha) test of the third and fourth moments. m_j(s) = C(s, j) / C(n, j) is an unbiased estimate of
    E[pi^j] (Chen et al. 2021 for the complement). Its sum over questions, minus the expectation under
    BetaBinomial(n, theta, rho) and minus the regression on the scores of theta and rho, has mean 0 for any consistent
    estimates of theta and rho; their posterior means are used. All covariances are exact sums over the n + 1 counts.

    Parameters
    ----------
    successes, trials : array_like, shape (n_questions,)
        Right trials and all trials of each question, whole numbers that broadcast together.

    Returns
    -------
    BetaShape
        Statistic, degrees of freedom and p-value.

    Raises
    ------
    DataError
        If counts are negative, fractional or inconsistent.

    References
    ----------
    Neyman (1959), Optimal asymptotic tests of composite statistical hypotheses.

    Examples
    --------
    Forty questions with success rate 0.95 and ten with 0 are not Beta-distributed; evenly spread counts may be:

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
        frequency = np.bincount(s[n == size].astype(int), minlength=int(size) + 1)
        values, term_covariance = _terms(int(size), theta, grid.icc_mean)
        total += values @ frequency
        covariance += frequency.sum() * term_covariance
    return _chi_squared(total, covariance)


def _terms(n: int, theta: float, rho: float) -> tuple[FloatArray, FloatArray]:
    """Scores of (theta, rho) and moments minus expectations for s = 0..n, shape (4, n + 1), and their covariance."""
    log_p, scores = _beta_binomial(n, theta, rho)
    s = np.arange(n + 1.0)
    moments = [special.binom(s, j) / special.binom(n, j) if n >= j else np.zeros(n + 1) for j in _ORDERS]
    terms, p = np.vstack([scores, moments]), np.exp(log_p)
    centred = terms - (terms @ p)[:, None]
    return centred, (centred * p) @ centred.T


def _beta_binomial(n: int, theta: float, rho: float) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of s = 0..n, shape (n + 1,), and derivatives in theta and rho = 1 / (1 + d), shape (2, n + 1).

    p(s) = C(n, s) prod_{i<s} (theta (1 - rho) + i rho) prod_{i<n-s} ((1 - theta) (1 - rho) + i rho)
    / prod_{i<n} (1 - rho + i rho), which is smooth at rho = 0.
    """
    i = np.arange(float(n))
    s = np.arange(n + 1)
    right, wrong, total = theta * (1 - rho) + i * rho, (1 - theta) * (1 - rho) + i * rho, 1 - rho + i * rho
    log_choose = special.gammaln(n + 1) - special.gammaln(s + 1) - special.gammaln(n - s + 1)
    log_p = log_choose + _sums(np.log(right))[s] + _sums(np.log(wrong))[n - s] - np.log(total).sum()
    by_theta = _sums((1 - rho) / right)[s] - _sums((1 - rho) / wrong)[n - s]
    by_rho = _sums((i - theta) / right)[s] + _sums((i - 1 + theta) / wrong)[n - s] - ((i - 1) / total).sum()
    return log_p, np.stack([by_theta, by_rho])


def _sums(terms: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, ... terms."""
    return np.concatenate([[0.0], np.cumsum(terms)])


def _chi_squared(total: FloatArray, covariance: FloatArray) -> BetaShape:
    slopes = covariance[2:, :2] @ np.linalg.pinv(covariance[:2, :2], rcond=1e-10, hermitian=True)
    residual = total[2:] - slopes @ total[:2]
    residual_covariance = covariance[2:, 2:] - slopes @ covariance[:2, 2:]
    free = np.diag(residual_covariance) > _MIN_RESIDUAL * np.diag(covariance)[2:]
    if not free.any():
        return BetaShape(0.0, 0, 1.0)
    sd = np.sqrt(np.diag(residual_covariance)[free])
    z, correlation = (
        residual[free] / sd,
        residual_covariance[np.ix_(free, free)] / np.outer(sd, sd),
    )
    statistic = float(z @ np.linalg.pinv(correlation, rcond=1e-10, hermitian=True) @ z)
    df = int(np.linalg.matrix_rank(correlation, tol=1e-10, hermitian=True))
    return BetaShape(statistic, df, float(special.chdtrc(df, statistic)))
