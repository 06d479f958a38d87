"""Variation between runs of one system, and distributions of scores and differences that allow for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats

_N_NODES = 200
_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(_N_NODES)[i] / 2 + (0.5, 0.0)[i] for i in (0, 1))


class Distribution(Protocol):
    """A distribution of a score or of a difference of scores."""

    @property
    def mean(self) -> float:
        """Mean."""

    @property
    def sd(self) -> float:
        """Standard deviation."""

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of a value of at most `x`."""


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal distribution."""

    mean: float
    sd: float

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of a value of at most `x`."""
        return np.asarray(special.ndtr((np.asarray(x, float) - self.mean) / self.sd))


@dataclass(frozen=True, slots=True)
class RunVariation:
    """Variation of the mean score over runs on the same questions.

    `mean_square` is the variance of the runs' mean scores, and `trial_variance` the part that is expected from the
    noise of answers to single questions. `df` is the number of runs minus 1, or the sum of these numbers over several
    systems.
    """

    df: int
    mean_square: float
    trial_variance: float

    @property
    def run_variance(self) -> float:
        """Estimated variance between runs that affects all questions together, at least 0."""
        return max(0.0, self.mean_square - self.trial_variance)

    def run_variances(self) -> tuple[FloatArray, FloatArray]:
        """Values of the variance between runs that the data support, and their weights; float (n_nodes,)."""
        # the nodes are dense where the chi-square variable is small, because the variance is large there
        chi_square = special.chdtri(self.df, 1 - _NODES**3)
        values = self.mean_square * self.df / np.maximum(chi_square, 1e-300) - self.trial_variance
        return np.maximum(values, 0.0), 3 * _NODES**2 * _WEIGHTS


def run_variation(scores: ArrayLike) -> RunVariation:
    """Estimate the variation between runs of one system on the same questions.

    `scores` (n_runs, n_questions) are mean scores of each question in each run. Raises DataError if the shape is wrong
    or a score is missing; NotEstimableError if there are fewer than two runs or questions.

    The model is that of a two-way layout without replication: score = question + run + residual. The mean square of
    the residuals, divided by the number of questions, estimates the part due to single questions (Searle, Casella and
    McCulloch 1992, Variance Components, section 4.3).

    >>> found = run_variation([[1, 0, 1, 0], [1, 1, 1, 1]])
    >>> found.df, found.mean_square, round(found.trial_variance, 4)
    (1, 0.125, 0.0417)
    """
    x = as_floats(scores, "scores")
    if x.ndim != 2 or not np.isfinite(x).all():
        raise DataError(f"scores must have shape (n_runs, n_questions) and no missing values; got {x.shape}")
    n_runs, n_questions = x.shape
    if n_runs < 2 or n_questions < 2:
        raise NotEstimableError(f"the variation between runs requires two runs and two questions; got {x.shape}")
    means = x.mean(axis=1)
    residuals = x - x.mean(axis=0) - means[:, None] + means.mean()
    residual_variance = float((residuals**2).sum()) / ((n_runs - 1) * (n_questions - 1))
    return RunVariation(n_runs - 1, float(means.var(ddof=1)), residual_variance / n_questions)


def pooled_variation(parts: Sequence[RunVariation]) -> RunVariation:
    """Pool the variations of several systems whose runs vary equally.

    >>> pooled_variation([RunVariation(1, 0.4, 0.1), RunVariation(3, 0.2, 0.1)])
    RunVariation(df=4, mean_square=0.25, trial_variance=0.1)
    """
    weights = np.array([part.df for part in parts], float)
    squares, noise = ([getattr(part, name) for part in parts] for name in ("mean_square", "trial_variance"))
    return RunVariation(
        int(weights.sum()), float(np.average(squares, weights=weights)), float(np.average(noise, weights=weights))
    )


@dataclass(frozen=True, slots=True, eq=False)
class DistributionOverRuns:
    """Distribution of a score, or of the difference of two systems' scores, over future runs.

    The questions' part is a posterior that ignores the variation between runs. Its deviations from the mean are
    stretched, so that their variance includes 1 / R times the variance between runs of each system, where R is the
    number of its runs and the runs of all systems vary equally. This variance is unknown: it is
    averaged over its fiducial distribution, in which the variance of a run's mean is ``mean_square * df / chi2`` with
    df degrees of freedom, and at least the variance due to single questions (Weerahandi 1993). If nothing but the runs
    varies, this is a t distribution with df degrees of freedom.

    `questions` is the distribution without variation between runs, and `n_runs` the number of runs of each system.
    Source: Weerahandi (1993), Generalized confidence intervals, J. American Statistical Association 88, 899-905.
    """

    questions: Distribution
    runs: RunVariation
    n_runs: tuple[int, ...]

    @property
    def _multiple(self) -> float:
        """Multiple of the variance between runs that enters the variance."""
        return sum(1 / n for n in self.n_runs)

    @property
    def mean(self) -> float:
        """Mean."""
        return self.questions.mean

    @property
    def run_sd(self) -> float:
        """Standard deviation due to the runs, at the estimated variance between runs."""
        return float(np.sqrt(self._multiple * self.runs.run_variance))

    @property
    def sd(self) -> float:
        """Standard deviation at the estimated variance between runs."""
        return float(np.hypot(self.questions.sd, self.run_sd))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of a value of at most `x`."""
        variances, weights = self.runs.run_variances()
        sd = self.questions.sd
        shrunk = sd / np.sqrt(sd**2 + self._multiple * variances)
        deviation = np.asarray(x, float)[..., None] - self.mean
        return np.asarray(np.asarray(self.questions.cdf(self.mean + deviation * shrunk)) @ weights)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Value below which the score or difference lies with probability `p`."""
        wanted = np.asarray(p, float)
        widest = self.sd * 10.0 ** np.arange(1, 8)[:, None]
        width = float(
            widest[np.argmax((self.cdf(self.mean + widest) - self.cdf(self.mean - widest)) > 1 - 1e-6)].item()
        )
        low, high = np.full(wanted.shape, self.mean - width), np.full(wanted.shape, self.mean + width)
        for _ in range(60):
            middle = (low + high) / 2
            is_below = self.cdf(middle) < wanted
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray((low + high) / 2)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval (low, high)."""
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2]).tolist()
        return low, high
