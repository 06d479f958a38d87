"""Posterior and intervals of the difference of two proportions, on different questions or on the same ones."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.roots import invert_increasing
from harness_uq.stats.common.validate_arrays import FloatArray, check_counts, check_level
from harness_uq.stats.pairs.independent import IndependentPosterior
from harness_uq.stats.units.contrasts import check_table


def independent_posterior(
    successes_a: float, trials_a: float, successes_b: float, trials_b: float
) -> "IndependentPosterior":
    """Posterior of theta_A - theta_B from two independent binomial scores, each with prior Beta(1, 1).

    Parameters
    ----------
    successes_a, trials_a, successes_b, trials_b : float
        Counts with ``0 <= successes <= trials``.

    Returns
    -------
    IndependentPosterior
        Posterior of the difference, with quantiles of the odds ratio.

    Raises
    ------
    DataError
        If a count is negative or not finite, or successes exceed trials.

    References
    ----------
    Bowyer et al. (2025), section 3.3; a one-dimensional integral replaces their 2,000 draws.

    Examples
    --------
    Without data the difference of two uniform variables is triangular, so P(D <= 1/2) = 1 - (1/2)^2 / 2:

    >>> round(float(independent_posterior(0, 0, 0, 0).cdf(0.5)), 8)
    0.875
    """
    (s_a, s_b), (n_a, n_b) = check_counts([successes_a, successes_b], [trials_a, trials_b])
    return IndependentPosterior((s_a + 1, n_a - s_a + 1), (s_b + 1, n_b - s_b + 1))


def newcombe_interval(
    successes_a: float, trials_a: float, successes_b: float, trials_b: float, *, level: float = 0.95
) -> tuple[float, float]:
    """Newcombe's hybrid score interval for a difference of independent proportions.

    The Wilson limits of the two proportions are combined as if they were normal limits.

    Parameters
    ----------
    successes_a, trials_a, successes_b, trials_b : float
        Counts with ``0 <= successes <= trials`` and at least one trial per system.
    level : float, optional
        Nominal coverage (default 0.95).

    Returns
    -------
    low, high : float
        Interval limits, between -1 and 1.

    Raises
    ------
    DataError
        If the counts are invalid or a system has no trial.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.

    Examples
    --------
    >>> [round(x, 4) for x in newcombe_interval(56, 70, 48, 80)]
    [0.0524, 0.3339]
    """
    s, n = _check_two(successes_a, trials_a, successes_b, trials_b)
    z2 = float(special.ndtri((1 + check_level(level)) / 2)) ** 2
    p = s / n
    centre, half = (p + z2 / (2 * n)) / (1 + z2 / n), np.sqrt(z2 * (p * (1 - p) + z2 / (4 * n)) / n) / (1 + z2 / n)
    low, high = centre - half, centre + half
    difference = p[0] - p[1]
    below, above = np.hypot(p[0] - low[0], high[1] - p[1]), np.hypot(high[0] - p[0], p[1] - low[1])
    return max(-1.0, float(difference - below)), min(1.0, float(difference + above))


def miettinen_nurminen_interval(
    successes_a: float, trials_a: float, successes_b: float, trials_b: float, *, level: float = 0.95
) -> tuple[float, float]:
    """Miettinen-Nurminen score interval for a difference of independent proportions.

    The interval contains the differences that the score test does not reject. The variance of the test is that at the
    restricted maximum likelihood estimate, times N / (N - 1).

    Parameters
    ----------
    successes_a, trials_a, successes_b, trials_b : float
        Counts with ``0 <= successes <= trials`` and at least one trial per system.
    level : float, optional
        Nominal coverage (default 0.95).

    Returns
    -------
    low, high : float
        Interval limits, between -1 and 1.

    Raises
    ------
    DataError
        If the counts are invalid or a system has no trial.

    References
    ----------
    Miettinen and Nurminen (1985), Statistics in Medicine 4, 213-226.

    Examples
    --------
    >>> [round(x, 4) for x in miettinen_nurminen_interval(56, 70, 48, 80)]
    [0.0528, 0.3382]
    """
    s, n = _check_two(successes_a, trials_a, successes_b, trials_b)
    z = float(special.ndtri((1 + check_level(level)) / 2))
    observed = s[0] / n[0] - s[1] / n[1]

    def score(d: FloatArray) -> FloatArray:
        p_b = _restricted_estimate(d, s, n)
        p_a = p_b + d
        variance = (p_a * (1 - p_a) / n[0] + p_b * (1 - p_b) / n[1]) * n.sum() / (n.sum() - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(d == observed, 0.0, (d - observed) / np.sqrt(np.maximum(variance, 0.0))))

    low, high = invert_increasing(score, [-z, z], low=-1.0, high=1.0, guess=observed, scale=0.05)
    return float(low), float(high)


def _restricted_estimate(d: FloatArray, s: FloatArray, n: FloatArray) -> FloatArray:
    """Maximum likelihood theta_B given theta_A - theta_B = d, by bisection on the decreasing score function."""
    low, high = np.maximum(0.0, -d), np.minimum(1.0, 1.0 - d)
    for _ in range(60):
        p = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = _ratio(s[0], p + d) + _ratio(s[1], p)
            losses = _ratio(n[0] - s[0], 1 - p - d) + _ratio(n[1] - s[1], 1 - p)
        low, high = np.where(gains > losses, p, low), np.where(gains > losses, high, p)
    return (low + high) / 2


def _ratio(count: float, p: FloatArray) -> FloatArray:
    return np.zeros_like(p) if count == 0 else np.asarray(count / np.maximum(p, 0.0))


def _check_two(
    successes_a: float, trials_a: float, successes_b: float, trials_b: float
) -> tuple[FloatArray, FloatArray]:
    s, n = check_counts([successes_a, successes_b], [trials_a, trials_b])
    if not (n > 0).all():
        raise DataError(f"both systems need at least one trial; got {n[0]:g} and {n[1]:g}")
    return s, n


def tango_interval(table: ArrayLike, *, level: float = 0.95) -> tuple[float, float]:
    """Tango's score interval for theta_A - theta_B on the same questions.

    The interval contains the differences d that the score test (c10 - c01 - n d) / sqrt(n (2 q + d (1 - d))) does not
    reject, where q is the restricted maximum likelihood estimate of P(only B). It never has zero width and never leaves
    [-1, 1].

    Parameters
    ----------
    table : array_like, shape (4,)
        Numbers of questions that [both, only A, only B, neither] got right.
    level : float, optional
        Nominal coverage (default 0.95).

    Returns
    -------
    low, high : float
        Interval limits, between -1 and 1.

    Raises
    ------
    DataError
        If the table is not four counts.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908, eqs. 5-8.

    Examples
    --------
    >>> [round(x, 3) for x in tango_interval([1, 1, 7, 12])]
    [-0.517, -0.026]
    """
    counts = check_table(table)
    n, only_a, only_b = counts.sum(), counts[1], counts[2]
    z = float(special.ndtri((1 + check_level(level)) / 2))
    observed = (only_a - only_b) / n

    def score(d: FloatArray) -> FloatArray:
        b, c = (2 * n - only_a + only_b) * d - only_a - only_b, -only_b * d * (1 - d)
        q = (np.sqrt(np.maximum(b**2 - 8 * n * c, 0.0)) - b) / (4 * n)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (d - observed) * np.sqrt(n) / np.sqrt(np.maximum(2 * q + d * (1 - d), 0.0))
        return np.asarray(np.where(d == observed, 0.0, value))

    scale = max(0.1, only_a + only_b) ** 0.5 / n
    low, high = invert_increasing(score, [-z, z], low=-1.0, high=1.0, guess=observed, scale=scale)
    return float(low), float(high)
