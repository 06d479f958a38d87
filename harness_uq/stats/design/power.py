"""Power of a comparison: how many questions it needs, what it can detect, how often it will.

A question's score is x + noise: x its expected score, noise of variance sigma^2 over trials, of which K trials leave
sigma^2 / K (Miller 2024). Variances are those of single questions, in squared units of the score.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.common.arrays import MOST, FloatArray, IntArray, check_level, fitted, numbers
from harness_uq.stats.common.scalars import check_number

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
    """Variance of one question's difference of mean scores, both systems answering the same questions.

    Parameters
    ----------
    omega2 : >= 0; Var(x_A) + Var(x_B) - 2 Cov(x_A, x_B), variance over questions of the difference of expected scores
    sigma2_a, sigma2_b : >= 0; mean variance over trials of each system's score of one question
    trials_a, trials_b : >= 1; trials a question, may be infinite
    design_effect : > 0; of the *differences*: variance of their mean with clusters over that without

    Returns
    -------
    ndarray, the arguments broadcast together

    Raises
    ------
    DataError : an argument out of range

    design_effect * (omega^2 + sigma_A^2 / K_A + sigma_B^2 / K_B), Miller (2024), section 5. With one trial a question
    only that sum is identified: pass the variance of the observed differences as `omega2`.

    >>> float(paired_variance(1 / 9, 1 / 6, 1 / 6, trials_a=2, trials_b=2).round(6))  # 1/9 + 1/12 + 1/12
    0.277778
    """
    omega2, sigma2_a, sigma2_b, trials_a, trials_b, design_effect = fitted(
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


def unpaired_variance(
    variance_a: ArrayLike,
    variance_b: ArrayLike,
    sigma2_a: ArrayLike = 0.0,
    sigma2_b: ArrayLike = 0.0,
    *,
    trials_a: ArrayLike = 1,
    trials_b: ArrayLike = 1,
    design_effect: ArrayLike = 1.0,
) -> FloatArray:
    """Variance of the difference of scores of two systems, each on its own question.

    Parameters
    ----------
    variance_a, variance_b : >= 0; variance over questions of each system's expected score, Var(x)
    sigma2_a, sigma2_b, trials_a, trials_b : as in `paired_variance`
    design_effect : > 0; of the mean score

    Returns
    -------
    ndarray, the arguments broadcast together; `required_questions` then counts the questions of each system

    Raises
    ------
    DataError : an argument out of range

    Miller (2024), section 4: without pairing the covariance term of omega^2 is lost.

    >>> float(unpaired_variance(0.25, 0.25))
    0.5
    """
    a, b, *_ = fitted(
        variance_a=variance_a,
        variance_b=variance_b,
        sigma2_a=sigma2_a,
        sigma2_b=sigma2_b,
        trials_a=trials_a,
        trials_b=trials_b,
        design_effect=design_effect,
    )
    omega2 = check_variance(a, "variance_a") + check_variance(b, "variance_b")
    return paired_variance(
        omega2, sigma2_a, sigma2_b, trials_a=trials_a, trials_b=trials_b, design_effect=design_effect
    )


def required_questions(
    effect: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> IntArray:
    """Questions needed to detect a difference.

    Parameters
    ----------
    effect : difference in mean score, not 0; its sign does not matter
    variance : >= 0; of one question's difference, from `paired_variance` or `unpaired_variance`
    level : float in (0, 1); of the interval that must exclude 0, 1 - level is the rate of false alarms
    power : float in (0, 1); probability of detecting `effect`
    alternative : `one-sided` where only a difference of the expected sign counts

    Returns
    -------
    ndarray of int, >= 1; of each system where unpaired

    Raises
    ------
    DataError : an argument out of range

    n = (z_{alpha/2} + z_beta)^2 variance / effect^2, rounded up; Miller (2024), section 5.

    >>> int(required_questions(0.03, paired_variance(1 / 9)))
    969
    """
    check_number(power, "power", above=0, below=1)
    delta, variance = fitted(effect=effect, variance=variance)
    if not ((delta != 0) & np.isfinite(delta)).all():
        raise DataError("effect must be finite and not 0: no number of questions detects no difference")
    n = _z_sum(level, power, alternative) ** 2 * check_variance(variance, "variance") / delta**2
    if (n > MOST).any():
        raise NotEstimableError(f"an effect of {delta[n > MOST][0]:g} needs more than 2^53 questions")
    return np.asarray(np.maximum(np.ceil(n * (1 - 1e-12)), 1)).astype(np.int64)


def minimum_detectable_effect(
    n_questions: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Smallest difference that would be detected with probability `power`.

    Parameters
    ----------
    n_questions : > 0; of each system where unpaired
    variance, level, power, alternative : as in `required_questions`

    Returns
    -------
    ndarray, >= 0, in units of the score

    Raises
    ------
    DataError : an argument out of range

    (z_{alpha/2} + z_beta) sqrt(variance / n), Miller (2024), section 5.

    >>> once = minimum_detectable_effect(198, paired_variance(1 / 9, 1 / 6, 1 / 6))
    >>> round(float(once), 5)
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

    Parameters
    ----------
    effect : true difference in mean score
    n_questions : > 0; of each system where unpaired
    variance : > 0
    level, alternative : as in `required_questions`

    Returns
    -------
    ndarray, in (0, 1)

    Raises
    ------
    DataError : an argument out of range

    Phi(|effect| / se - z) + Phi(-|effect| / se - z); the second term, a difference of the wrong sign, is left out of
    `required_questions` (at power .8 it is 1e-6) and of the one-sided power.

    >>> float(detection_power(0.0, 100, 1.0).round(12))  # the rate of false alarms
    0.05
    """
    shift, n, variance = fitted(effect=effect, n_questions=n_questions, variance=variance)
    if np.isnan(shift).any():
        raise DataError("effect must hold numbers; got NaN")
    std_error = _std_error(n, variance)
    if not (std_error > 0).all():
        raise DataError("variance must be positive: without variance every difference is detected")
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
        raise DataError(f"power {power} is no more than the rate of false alarms at level {level}")
    return total


def _std_error(n_questions: ArrayLike, variance: ArrayLike) -> FloatArray:
    n, variance = fitted(n_questions=n_questions, variance=variance)
    if not (n > 0).all():
        raise DataError(f"n_questions must be positive; got {n.min()}")
    return np.asarray(np.sqrt(check_variance(variance, "variance") / n))


def check_variance(value: ArrayLike, name: str) -> FloatArray:
    """Return variances as floats, finite and not negative."""
    array = numbers(value, name)
    if not ((array >= 0) & np.isfinite(array)).all():
        raise DataError(
            f"{name} is a variance, finite and not negative; got {array[~(array >= 0) | ~np.isfinite(array)]}"
        )
    return array


def _noise(sigma2: ArrayLike, trials: ArrayLike, who: str) -> FloatArray:
    k = numbers(trials, f"trials_{who}")
    if not (k >= 1).all():
        raise DataError(f"trials_{who} must be at least 1; got {k.min()}")
    return np.asarray(check_variance(sigma2, f"sigma2_{who}") / k)


def _deff(design_effect: ArrayLike) -> FloatArray:
    array = numbers(design_effect, "design_effect")
    if not ((array > 0) & np.isfinite(array)).all():
        raise DataError(f"design_effect must be positive and finite; got {array}")
    return array
