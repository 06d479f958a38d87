"""Planning of a run: expected interval width, from variances or from a pilot run."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import BetaPosterior, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray, broadcast_floats, check_level
from harness_uq.stats.common.validate_scalars import check_number, check_range
from harness_uq.stats.design.power import check_variance, paired_variance
from harness_uq.stats.proportion.binomial import binomial_interval

_PREDICTIVE_NODES = 33


def expected_width(
    n_questions: ArrayLike, *, variance: ArrayLike, level: float = 0.95, design_effect: ArrayLike = 1.0
) -> FloatArray:
    """Width of the interval of a mean score over M questions, 2 z sqrt(design_effect variance / M).

    Parameters
    ----------
    n_questions : array_like
        Positive. All array arguments broadcast together.
    variance : array_like
        Variance of the score of one question, non-negative. With N trials it is Var(x) + E[sigma^2] / N, the variance
        of expected scores over questions plus the mean variance over trials divided by N.
    level : float, optional
        Nominal coverage (default 0.95).
    design_effect : array_like, optional
        Positive design effect (default 1).

    Returns
    -------
    ndarray
        Widths in units of the score. For scores near a bound use `predict_width`.

    Raises
    ------
    DataError
        If an argument is out of range.

    References
    ----------
    Miller (2024), section 3.

    Examples
    --------
    For uniformly distributed difficulty a second trial reduces the variance by a third:

    >>> wide, narrow = expected_width(100, variance=[1 / 12 + 1 / 6, 1 / 12 + 1 / 12])
    >>> round(float((narrow / wide) ** 2), 12)
    0.666666666667
    """
    z = float(special.ndtri((1 + check_level(level)) / 2))
    n, variance, deff = broadcast_floats(n_questions=n_questions, variance=variance, design_effect=design_effect)
    if not (n > 0).all():
        raise DataError(f"n_questions must be positive; got {n.min()}")
    return np.asarray(2 * z * np.sqrt(paired_variance(check_variance(variance, "variance"), design_effect=deff) / n))


def predict_width(pilot: Posterior, ratio: float, *, low: float = 0.0, high: float = 1.0, level: float = 0.95) -> float:
    """Expected interval width of a run that is `ratio` times as large as a pilot.

    Parameters
    ----------
    pilot : Posterior
        Posterior of the mean score of the pilot, of which only the mean and sd are used.
    ratio : float
        Positive ratio of the numbers of questions (or clusters), for equal numbers of trials per question.
    low, high : float, optional
        Range of the score (default 0 and 1).
    level : float, optional
        Probability of the highest-density interval (default 0.95).

    Returns
    -------
    float
        Width in units of the score.

    Raises
    ------
    DataError
        If `ratio` is not positive, or the moments of the pilot are incompatible with the range.
    NotEstimableError
        If the run has at most one effective question.

    Notes
    -----
    The Beta(1 + S, 1 + F) with the pilot's mean and sd has n = S + F effective questions, which accounts for clusters
    and trials; the run has ratio * n. Its mean score S' / (ratio n) is a beta-binomial proportion with theta ~ Beta(1/2
    + S, 1/2 + F). This is Jeffreys' posterior, which shrinks high scores less than Beta(1 + S, 1 + F). The proportion
    is approximated by a Beta with the same moments, and the width of Beta(1 + S', 1 + F') is averaged over its
    quantiles.

    No method removes the pilot's own noise. With f failures (or successes, if fewer) the median relative error of the
    width predicted for a run three times as large is 0.4 / sqrt(f), which is 10 % for f = 15.

    Examples
    --------
    >>> pilot = BetaPosterior(1 + 80, 1 + 20)
    >>> 0.5 < predict_width(pilot, 3) / (pilot.interval(kind="hdi")[1] - pilot.interval(kind="hdi")[0]) < 0.65
    True
    """
    check_range(low, high)
    check_number(ratio, "ratio", above=0, below=1e9)
    fitted = BetaPosterior.from_moments(pilot.mean, pilot.sd**2, low, high)
    questions = ratio * (fitted.a + fitted.b - 2)
    if questions <= 1:
        raise NotEstimableError(
            f"{questions:.2g} effective questions ({ratio:.3g} times the pilot's) are too few to predict a width"
        )
    theta = BetaPosterior(max(fitted.a - 0.5, 0.25), max(fitted.b - 0.5, 0.25))
    noise = (theta.mean * (1 - theta.mean) - theta.sd**2) / questions
    predictive = BetaPosterior.from_moments(theta.mean, theta.sd**2 + noise)
    scores = predictive.quantile((np.arange(_PREDICTIVE_NODES) + 0.5) / _PREDICTIVE_NODES)
    with np.errstate(divide="ignore", invalid="ignore"):  # if a limit rounds to 0 or 1, the search bisects
        below, above = binomial_interval(questions * scores, questions, level, "hdi")
    return float((high - low) * np.mean(above - below))
