"""An alarm for a change of the score over repeated runs of the same questions, valid after every run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_level

_SIZES = np.array([1.5, 4.0])  # prior standard deviations of the change, in standard deviations of a run's mean
_RUN_VARIANCES = np.array([0.0, 1.0, 4.0])  # variance between runs, relative to the trial variance
# with normal contrasts and any variance between runs, the e-value exceeds this share of 1 / alpha in the first 300
# runs with a probability of less than alpha, for alpha from 0.01 to 0.1 (`benchmarks/sim_history_limit.py`)
_LIMIT = 0.15
_FIRST = 31.0  # the change comes before run _FIRST with probability 1/2


@dataclass(frozen=True, slots=True, eq=False)
class LevelChange:
    """Evidence for a change of the mean score over runs.

    `log_e` (n_runs,) is the logarithm of the evidence for a change after each run, `alarm` the first run after which it
    reaches the limit, and `start` the first run with the new level, most probable after the alarm; both are None
    without an alarm. `trial_sd` is the standard deviation of a run's mean score due to the trials, and `run_sd` a
    further one between runs before the change.
    """

    log_e: FloatArray
    alarm: int | None
    start: int | None
    trial_sd: float
    run_sd: float


def level_change(scores: ArrayLike, *, level: float = 0.95) -> LevelChange:
    """Detect a change of the mean score of repeated runs on the same questions.

    `scores` (n_runs, n_questions) are the mean scores of the questions, in the order of the runs. alpha = 1 - `level`
    is the highest probability of an alarm over the whole sequence without a change. Raises DataError if the shape is
    wrong or a score is missing; NotEstimableError if there are fewer than two runs.

    With m_t the mean score of run t, the contrasts h_t = sqrt((t - 1) / t) (m_t - mean(m_1..m_{t-1})), t >= 2, are
    independent with mean 0 and the variance of m_t, if m_t are independent and normal with equal means. This variance
    is s^2 + r^2: s^2 is that of the trials, estimated from the squared differences between successive runs of each
    question (von Neumann 1941), and r^2 >= 0 is a further variance between runs, such as that of a back end. If the
    mean changes by d at run k, the contrasts from h_k on have the mean d (k - 1) / sqrt(t (t - 1)).

    The e-value is the likelihood under a mixture of changes, divided by the largest likelihood without a change over
    all r (universal inference, Wasserman, Ramdas and Balakrishnan 2020). The mixture has times k with probabilities
    31 / ((k + 29) (k + 30)), normal changes with standard deviations of 1.5 and 4 times sqrt(s^2 + r^2), and r^2 of 0,
    1 and 4 times s^2. By Ville's inequality the e-value exceeds 1 / alpha after any run with a probability of at most
    alpha, for normal means and the true s^2. This limit is conservative, because the likelihood without a change is
    maximized. The limit here is 0.15 / alpha, which holds for the first 300 runs by simulation with any r. Sources:
    Wasserman, Ramdas and Balakrishnan (2020), PNAS 117, 16880-16890, theorem 3 and section 8; von Neumann (1941),
    Annals of Mathematical Statistics 12, 367-395.

    >>> rng = np.random.default_rng(0)
    >>> runs = rng.random((30, 300)) < np.where(np.arange(30) < 20, 0.8, 0.7)[:, None]
    >>> found = level_change(runs)
    >>> found.alarm >= 20, found.start
    (True, 20)
    """
    x = as_floats(scores, "scores")
    check_level(level)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise DataError(f"scores must have shape (n_runs, n_questions) and no missing values; got {x.shape}")
    n_runs, n_questions = x.shape
    if n_runs < 2 or n_questions < 2:
        raise NotEstimableError(
            f"a change requires at least two runs and two questions; got {n_runs} and {n_questions}"
        )
    contrasts = _contrasts(x.mean(axis=1))
    variances = _trial_variances(x)
    log_e = np.zeros(n_runs)
    for t in range(2, n_runs + 1):
        log_e[t - 1] = _log_e(contrasts[: t - 1], variances[t - 1])
    alarms = np.flatnonzero(log_e >= np.log(_LIMIT / (1 - level)))
    if not len(alarms):
        return LevelChange(log_e, None, None, float(np.sqrt(variances[-1])), _run_sd(contrasts, variances[-1]))
    at = int(alarms[0])
    start = _most_probable_start(contrasts[:at], variances[at])
    before = _run_sd(contrasts[: max(0, start - 1)], variances[at])
    return LevelChange(log_e, at, start, float(np.sqrt(variances[at])), before)


def _contrasts(means: FloatArray) -> FloatArray:
    """Contrasts h_2 to h_T of the means of T runs."""
    t = np.arange(2, len(means) + 1)
    earlier = np.cumsum(means)[:-1] / (t - 1)
    return np.asarray(np.sqrt((t - 1) / t) * (means[1:] - earlier))


def _trial_variances(x: FloatArray) -> FloatArray:
    """Variance of a run's mean due to trials, from the runs up to each one; at least that of half a question."""
    n_runs, n = x.shape
    squares = (np.diff(x, axis=0) ** 2).sum(axis=1) / 2
    steps = np.arange(1, n_runs)
    estimates = np.cumsum(squares) / steps / n**2
    smallest = (np.ptp(x) / 2 / n) ** 2 or 1e-12
    return np.concatenate([[smallest], np.maximum(estimates, smallest)])


def _log_likelihood(contrasts: FloatArray, variance: float) -> float:
    return float(-0.5 * (len(contrasts) * np.log(2 * np.pi * variance) + contrasts @ contrasts / variance))


def _log_e(contrasts: FloatArray, trial_variance: float) -> float:
    mixture = []
    for ratio in _RUN_VARIANCES:
        variance = trial_variance * (1 + ratio)
        changes = special.logsumexp(_log_changes(contrasts, variance))
        mixture.append(_log_likelihood(contrasts, variance) + float(changes))
    largest = max(trial_variance, float(contrasts @ contrasts) / len(contrasts))
    alternative = float(special.logsumexp(mixture)) - float(np.log(len(_RUN_VARIANCES)))
    return alternative - _log_likelihood(contrasts, largest)


def _log_changes(contrasts: FloatArray, variance: float) -> FloatArray:
    """Logarithm of probability times Bayes factor of a change at each run from the second on, and after the last."""
    n_runs = len(contrasts) + 1
    k = np.arange(2, n_runs + 1)
    # with c_t = (k - 1) / sqrt(t (t - 1)) for t >= k: sum of c_t^2 and of c_t h_t
    squares = (k - 1) * (n_runs - k + 1) / n_runs
    scaled = contrasts / np.sqrt(k * (k - 1.0))
    sums = (k - 1) * np.cumsum(scaled[::-1])[::-1]
    spread = 1 + _SIZES[:, None] ** 2 * squares
    log_factor = -0.5 * np.log(spread) + _SIZES[:, None] ** 2 * sums**2 / (2 * variance * spread)
    prior = _FIRST / ((k + _FIRST - 2) * (k + _FIRST - 1))
    later = _FIRST / (n_runs + _FIRST - 1)  # the change comes after the last run, or never
    by_time = np.log(prior) + special.logsumexp(log_factor, axis=0) - np.log(len(_SIZES))
    return np.append(by_time, np.log(later))


def _most_probable_start(contrasts: FloatArray, trial_variance: float) -> int:
    """Index of the first run after the most probable change."""
    variance = trial_variance + _run_sd(contrasts[: len(contrasts) // 2], trial_variance) ** 2
    return int(np.argmax(_log_changes(contrasts, variance)[:-1])) + 1


def _run_sd(contrasts: FloatArray, trial_variance: float) -> float:
    if not len(contrasts):
        return 0.0
    return float(np.sqrt(max(0.0, float(contrasts @ contrasts) / len(contrasts) - trial_variance)))
