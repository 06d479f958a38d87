"""Power of a comparison: required number of questions, minimum detectable effect, and probability of detection.

The score of a question is x + noise, with expected score x and noise of variance sigma^2 over trials, which K trials
reduce to sigma^2 / K (Miller 2024). Variances are those of single questions, in squared units of the score.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import (
    MAX_EXACT_COUNT,
    FloatArray,
    IntArray,
    as_floats,
    broadcast_floats,
    check_level,
)
from harness_uq.stats.common.validate_scalars import check_number

Alternative = Literal["two-sided", "one-sided"]


def paired_variance(
    omega2: ArrayLike,
    sigma2_a: ArrayLike = 0.0,
    sigma2_b: ArrayLike = 0.0,
    *,
    trials_a: ArrayLike = 1,
    trials_b: ArrayLike = 1,
    design_effect: ArrayLike = 1.0,
) -> FloatArray:
    """Variance of one question's difference of mean scores for two systems on the same questions.

    It is design_effect * (omega^2 + sigma_A^2 / K_A + sigma_B^2 / K_B). With one trial per question only this sum is
    identified: pass the variance of the observed differences as `omega2`.

    Parameters
    ----------
    omega2 : array_like
        Var(x_A) + Var(x_B) - 2 Cov(x_A, x_B), the variance over questions of the difference of expected scores.
    sigma2_a, sigma2_b : array_like, optional
        Mean variance over trials of each system's score of one question (default 0).
    trials_a, trials_b : array_like, optional
        Trials per question, at least 1 and possibly infinite (default 1).
    design_effect : array_like, optional
        Design effect of the differences: variance of their mean with clusters over that without (default 1).

    Returns
    -------
    ndarray
        Variances; all arguments broadcast together.

    Raises
    ------
    DataError
        If an argument is out of range.

    References
    ----------
    Miller (2024), section 5.

    Examples
    --------
    Here the variance is 1/9 + 1/12 + 1/12:

    >>> float(paired_variance(1 / 9, 1 / 6, 1 / 6, trials_a=2, trials_b=2).round(6))
    0.277778
    """
    omega2, sigma2_a, sigma2_b, trials_a, trials_b, design_effect = broadcast_floats(
        omega2=omega2,
        sigma2_a=sigma2_a,
        sigma2_b=sigma2_b,
        trials_a=trials_a,
        trials_b=trials_b,
        design_effect=design_effect,
    )
    return _deff(design_effect) * (
        check_variance(omega2, "omega2") + _noise(sigma2_a, trials_a, "a") + _noise(sigma2_b, trials_b, "b")
    )


def required_questions(
    effect: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> IntArray:
    """Number of questions needed to detect a difference.

    It is (z_{alpha/2} + z_beta)^2 variance / effect^2, rounded up.

    Parameters
    ----------
    effect : array_like
        Non-zero difference in mean score; its sign has no effect.
    variance : array_like
        Variance of one question's difference, from `paired_variance`.
    level : float, optional
        Nominal coverage of the interval that must exclude 0; 1 - level is the type I error rate (default 0.95).
    power : float, optional
        Probability of detecting `effect` (default 0.8).
    alternative : {"two-sided", "one-sided"}, optional
        ``one-sided`` if only a difference of the expected sign counts.

    Returns
    -------
    ndarray of int
        Number of questions, at least 1; per system for unpaired designs.

    Raises
    ------
    DataError
        If an argument is out of range.
    NotEstimableError
        If more than 2^53 questions are needed.

    References
    ----------
    Miller (2024), section 5.

    Examples
    --------
    >>> int(required_questions(0.03, paired_variance(1 / 9)))
    969
    """
    check_number(power, "power", above=0, below=1)
    delta, variance = broadcast_floats(effect=effect, variance=variance)
    if not ((delta != 0) & np.isfinite(delta)).all():
        raise DataError("effect must be finite and not 0")
    n = _z_sum(level, power, alternative) ** 2 * check_variance(variance, "variance") / delta**2
    if (n > MAX_EXACT_COUNT).any():
        raise NotEstimableError(f"an effect of {delta[n > MAX_EXACT_COUNT][0]:g} needs more than 2^53 questions")
    return np.asarray(np.maximum(np.ceil(n * (1 - 1e-12)), 1)).astype(np.int64)


def minimum_detectable_effect(
    n_questions: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Smallest difference that is detected with probability `power`.

    It is (z_{alpha/2} + z_beta) sqrt(variance / n).

    Parameters
    ----------
    n_questions : array_like
        Positive number of questions; per system for unpaired designs.
    variance, level, power, alternative
        As in `required_questions`.

    Returns
    -------
    ndarray
        Minimum detectable effect in units of the score.

    Raises
    ------
    DataError
        If an argument is out of range.

    References
    ----------
    Miller (2024), section 5.

    Examples
    --------
    >>> mde = minimum_detectable_effect(198, paired_variance(1 / 9, 1 / 6, 1 / 6))
    >>> round(float(mde), 5)
    0.13273
    """
    check_number(power, "power", above=0, below=1)
    return np.asarray(_z_sum(level, power, alternative) * _std_error(n_questions, variance))


def detection_power(
    effect: ArrayLike,
    n_questions: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Probability that the interval of a difference excludes 0.

    It is Phi(|effect| / se - z) + Phi(-|effect| / se - z). The second term, the probability of a difference with the
    wrong sign, is omitted in `required_questions` (it is 1e-6 at power 0.8) and in the one-sided power.

    Parameters
    ----------
    effect : array_like
        True difference in mean score.
    n_questions : array_like
        Positive number of questions; per system for unpaired designs.
    variance : array_like
        Positive variance of one question's difference.
    level, alternative
        As in `required_questions`.

    Returns
    -------
    ndarray
        Probabilities in (0, 1).

    Raises
    ------
    DataError
        If an argument is out of range.

    Examples
    --------
    Without a difference the power is the type I error rate:

    >>> float(detection_power(0.0, 100, 1.0).round(12))
    0.05
    """
    shift, n, variance = broadcast_floats(effect=effect, n_questions=n_questions, variance=variance)
    if np.isnan(shift).any():
        raise DataError("effect must not be NaN")
    std_error = _std_error(n, variance)
    if not (std_error > 0).all():
        raise DataError("variance must be positive")
    shift, z = shift / std_error, _z(level, alternative)
    if alternative == "one-sided":
        return np.asarray(special.ndtr(shift - z))
    return np.asarray(special.ndtr(np.abs(shift) - z) + special.ndtr(-np.abs(shift) - z))


def _z(level: float, alternative: Alternative) -> float:
    if alternative not in ("two-sided", "one-sided"):
        raise DataError(f"alternative must be 'one-sided' or 'two-sided'; got {alternative!r}")
    level = check_level(level)
    return float(special.ndtri((1 + level) / 2 if alternative == "two-sided" else level))


def _z_sum(level: float, power: float, alternative: Alternative) -> float:
    total = _z(level, alternative) + float(special.ndtri(power))
    if total <= 0:
        raise DataError(f"power {power} must exceed the type I error rate at level {level}")
    return total


def _std_error(n_questions: ArrayLike, variance: ArrayLike) -> FloatArray:
    n, variance = broadcast_floats(n_questions=n_questions, variance=variance)
    if not (n > 0).all():
        raise DataError(f"n_questions must be positive; got {n.min()}")
    return np.asarray(np.sqrt(check_variance(variance, "variance") / n))


def check_variance(value: ArrayLike, name: str) -> FloatArray:
    """Return variances as floats; DataError if one is negative or not finite."""
    array = as_floats(value, name)
    if not ((array >= 0) & np.isfinite(array)).all():
        raise DataError(f"{name} must be finite and non-negative; got {array[~(array >= 0) | ~np.isfinite(array)]}")
    return array


def _noise(sigma2: ArrayLike, trials: ArrayLike, who: str) -> FloatArray:
    k = as_floats(trials, f"trials_{who}")
    if not (k >= 1).all():
        raise DataError(f"trials_{who} must be at least 1; got {k.min()}")
    return np.asarray(check_variance(sigma2, f"sigma2_{who}") / k)


def _deff(design_effect: ArrayLike) -> FloatArray:
    array = as_floats(design_effect, "design_effect")
    if not ((array > 0) & np.isfinite(array)).all():
        raise DataError(f"design_effect must be positive and finite; got {array}")
    return array
