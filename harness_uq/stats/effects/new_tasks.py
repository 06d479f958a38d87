"""Posterior of the expected score on new tasks, if the tasks of a group are a sample of tasks."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, IntervalKind, QuantilePosterior
from harness_uq.stats.common.validate_arrays import FloatArray, check_finite
from harness_uq.stats.common.validate_scalars import check_number, check_range
from harness_uq.stats.means.bounded import clustered_bounded_posterior, default_atom_mass

LARGE_SPREAD, STEEPNESS = 1.5, 6.0  # relative spread of task means at which both methods have the same weight


class NewTasksPosterior(QuantilePosterior):
    """Average of the quantiles of a Student t on the logit scale and of a Dirichlet process over tasks.

    Attributes
    ----------
    mean, sd : float
        Mean and standard deviation.
    process_weight : float
        Weight of the Dirichlet process, between 0 and 1.
    """

    def __init__(
        self, process: BetaPosterior, process_weight: float, *, score: float, logit: float, std_error: float, df: float
    ) -> None:
        self._process, self.process_weight = process, process_weight
        self._score, self._logit, self._std_error, self._df = score, logit, std_error, df
        super().__init__()

    def quantile(self, p: ArrayLike) -> FloatArray:
        return np.asarray(self._averaged(self._process.quantile(p), np.asarray(p, float)))

    def interval(self, level: float = 0.95, kind: IntervalKind = "quantile") -> tuple[float, float]:
        """Average of both intervals, which contains the score; with ``hdi`` the narrowest one of the Dirichlet process.

        Arguments and errors are those of `Posterior.interval`.
        """
        ends = np.array(self._process.interval(level, kind))
        low, high = self._averaged(ends, np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
        return min(float(low), self._score), max(float(high), self._score)

    def _averaged(self, of_process: FloatArray, p: FloatArray) -> FloatArray:
        width = self._process.high - self._process.low
        student = special.expit(self._logit + self._std_error * special.stdtrit(self._df, p))
        of_student = self._process.low + width * student
        return np.asarray(self.process_weight * of_process + (1.0 - self.process_weight) * of_student)


def new_tasks_posterior(
    means: ArrayLike, weights: ArrayLike, n_questions: float, low: float = 0.0, high: float = 1.0
) -> NewTasksPosterior:
    """Posterior of the expected score on new tasks, from the mean scores of tasks.

    Parameters
    ----------
    means : array_like, shape (n_tasks,)
        Mean score of each task, between `low` and `high`.
    weights : array_like, shape (n_tasks,)
        Positive weight of each task in the score.
    n_questions : float
        Number of questions of all tasks, positive.
    low, high : float, optional
        Bounds of the score (default 0 and 1).

    Returns
    -------
    NewTasksPosterior
        Distribution on [low, high].

    Raises
    ------
    DataError
        If lengths differ, a mean is outside the bounds, or a weight or `n_questions` is not positive.

    Notes
    -----
    On the scale from 0 to 1, with weight shares w, c = 1 / sum w^2 and N questions, let m be the weighted mean,
    s^2 = c^2 / (c - 1) sum w^2 (y - m)^2 + 1 / N^2 the variance of the task means y, and m' = (N m + 1) / (N + 2).

    If tasks are alike, the logit of the mean has approximately a Student t distribution with c - 1 degrees of freedom,
    centre logit m' and standard error s / (sqrt(c) m' (1 - m')) (delta method). If they differ much and the mean is
    near a bound, tasks at the other bound may be missing from the sample; `clustered_bounded_posterior` accounts for
    them with prior tasks at both bounds, which would make the interval of similar tasks several times as wide. The
    quantiles of both are averaged. The weight of the latter is v^6 / (v^6 + 1.5^6) with the relative spread
    v = s / min(m', 1 - m'). For c < 2, c - 1 is replaced by 1.

    Examples
    --------
    For similar tasks the interval is that of Student's t:

    >>> posterior = new_tasks_posterior([0.48, 0.5, 0.52], [1, 1, 1], 300)
    >>> low, high = posterior.interval(0.95)
    >>> half_width = 4.302653 * 0.02 / 3**0.5
    >>> round(low, 3), round(high, 3), round(half_width, 3), posterior.process_weight < 1e-8
    (0.45, 0.55, 0.05, True)
    """
    check_range(low, high)
    check_number(n_questions, "n_questions", above=0)
    y, w = check_finite(means, "means", 1), check_finite(weights, "weights", 1)
    if not (y.shape == w.shape and y.size and w.min() > 0):
        raise DataError(f"weights must be positive, one per task; got {w.tolist()} for {y.size} tasks")
    if y.min() < low or y.max() > high:
        raise DataError(f"means must lie in [{low:g}, {high:g}]; got {y.min():g} to {y.max():g}")
    totals, sizes = w * len(w) / w.sum() * y, w * len(w) / w.sum()
    at_bounds = default_atom_mass(totals, sizes, low, high)
    process = clustered_bounded_posterior(totals, sizes, low, high, atom_mass=at_bounds)
    y, w = (y - low) / (high - low), w / w.sum()
    c = float(1.0 / (w @ w))
    df = max(c - 1.0, 1.0)
    m = float(w @ y)
    centre = (n_questions * m + 1.0) / (n_questions + 2.0)
    spread = float(np.sqrt(c**2 / df * (w**2 @ (y - m) ** 2) + n_questions**-2.0))
    relative = (spread / min(centre, 1.0 - centre) / LARGE_SPREAD) ** STEEPNESS
    return NewTasksPosterior(
        process,
        relative / (1.0 + relative),
        score=low + (high - low) * m,
        logit=float(special.logit(centre)),
        std_error=spread / (np.sqrt(c) * centre * (1.0 - centre)),
        df=df,
    )
