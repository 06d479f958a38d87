"""Select a method for the difference of two systems' scores, and estimate the difference.

All functions take a `Pair`: the scores of both systems on the same questions of one or several tasks.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.errors import NotEstimableError
from harness_uq.messages.catalogue.comparison import LATENT_NORMAL_REPLACED, STUDENT_DIFFERENCE
from harness_uq.messages.message import Message
from harness_uq.results.estimate import IntervalKind, Posterior
from harness_uq.results.method_info import MethodInfo
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.pairs.paired_frequentist import mcnemar_test
from harness_uq.stats.units.contrasts import DirichletCellsPosterior, PairedDifferences, contrast_posteriors


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Scores of two systems on the same questions.

    Attributes
    ----------
    a, b : float (n_questions,); mean score over the trials of each question
    units : int (n_questions,); cluster labels: questions with equal labels are dependent; None if all questions are
        independent
    weights : float (n_questions,), > 0; weight of each question in the score, None if all weights are equal
    bounds : range of a score; None if unknown
    is_single_binary : whether each question has one trial that is scored 0 or 1
    n_repeated : trials per question if there are several, all scored 0 or 1; otherwise 1
    """

    a: FloatArray
    b: FloatArray
    units: IntArray | None
    weights: FloatArray | None
    bounds: tuple[float, float] | None
    is_single_binary: bool
    n_repeated: int = 1

    @property
    def differences(self) -> FloatArray:
        """Difference A - B of each question."""
        return self.a - self.b

    @property
    def values(self) -> tuple[float, float]:
        """Observed scores of A and of B."""
        return float(np.average(self.a, weights=self.weights)), float(np.average(self.b, weights=self.weights))

    @property
    def table(self) -> tuple[int, int, int, int] | None:
        """Numbers of questions that both, only A, only B and neither answered correctly; None for other scores."""
        if not self.is_single_binary:
            return None
        right_a, right_b = self.a == 1, self.b == 1
        cells = (right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~right_a & ~right_b)
        both, only_a, only_b, neither = (int(cell.sum()) for cell in cells)
        return both, only_a, only_b, neither

    @property
    def has_repeated_answers(self) -> bool:
        """Whether scores are 0 or 1, and questions are in clusters or were tried several times."""
        return self.n_repeated > 1 or (self.is_single_binary and self.units is not None)

    @property
    def labels(self) -> IntArray:
        """Labels of the independent units: the clusters, or a label per question."""
        return np.arange(len(self.a)) if self.units is None else self.units

    @property
    def n_units(self) -> int | None:
        """Number of clusters; None if the questions are independent."""
        return None if self.units is None else len(np.unique(self.units))


@dataclass(frozen=True, slots=True)
class DifferenceResult:
    """A posterior of A - B, or a t distribution that is used as its confidence distribution.

    Attributes
    ----------
    method : name of the method in the report
    kind : kind of its interval
    odds_ratio : posterior median of the odds ratio; None if not available
    p_value : p-value of the two-sided test of no difference; None if not available
    messages : reasons for choosing this method
    info : description of the method of both scores, if the difference was computed from them
    """

    posterior: Posterior
    method: str
    kind: IntervalKind = "quantile"
    odds_ratio: float | None = None
    p_value: float | None = None
    messages: tuple[Message, ...] = ()
    info: MethodInfo | None = None

    @property
    def std_error(self) -> float:
        """Standard error of the difference."""
        return std_error_of(self.posterior)

    @property
    def prob_positive(self) -> float | None:
        """P(A > B | data); None if the interval is a confidence interval."""
        if self.kind == "confidence":
            return None
        return float(getattr(self.posterior, "prob_positive", 1.0 - float(self.posterior.cdf(0.0))))

    def interval(self, level: float, value: float) -> tuple[float, float]:
        """Return the interval, extended to the observed difference.

        An equal-tailed interval of a few questions can exclude an observed difference at the end of its range.
        """
        low, high = self.posterior.interval(level)
        return min(low, value), max(high, value)

    def detectable(self, level: float, power: float) -> float:
        """Return the minimum detectable difference: intervals of this level exclude 0 with this power.

        (z_{(1 + level) / 2} + z_power) std_error, Miller (2024), section 5. If the interval uses quantiles of
        Student's t, they replace the normal quantiles.
        """
        tails = np.array([(1 + level) / 2, power])
        t = self.posterior
        quantiles = special.stdtrit(t.df, tails) if isinstance(t, StudentPosterior) else special.ndtri(tails)
        return self.std_error * float(quantiles.sum())


def std_error_of(posterior: Posterior) -> float:
    """Return the scale of a Student t posterior, otherwise the posterior standard deviation."""
    return posterior.std_error if isinstance(posterior, StudentPosterior) else posterior.sd


def paired_difference(pair: Pair, method: str) -> DifferenceResult:
    """Estimate the difference on the population of questions from the questions that both systems answered.

    Raises
    ------
    NotEstimableError : if the data are insufficient, such as one question with an unbounded score
    """
    if method == "t" or pair.bounds is None:
        return _student(pair, () if method == "t" else (STUDENT_DIFFERENCE(),))
    if method == "latent-normal":
        if pair.is_single_binary and pair.units is None and pair.weights is None and (table := pair.table):
            posterior = paired_posterior(table, "latent_normal")
            return DifferenceResult(posterior, "latent-normal", p_value=mcnemar_test(table))
        return _dirichlet(pair, pair.bounds, (LATENT_NORMAL_REPLACED(),))
    return _dirichlet(pair, pair.bounds, ())


def _dirichlet(pair: Pair, bounds: tuple[float, float], messages: tuple[Message, ...]) -> DifferenceResult:
    if (table := pair.table) is not None and pair.units is None and pair.weights is None:
        cells = DirichletCellsPosterior(table)
        ratio = float(cells.odds_ratio_quantile(0.5))
        return DifferenceResult(cells, "dirichlet", odds_ratio=ratio, p_value=mcnemar_test(table), messages=messages)
    n_answers = len(pair.differences) * pair.n_repeated if pair.has_repeated_answers else None
    (posterior,) = contrast_posteriors(
        [PairedDifferences(pair.differences, *bounds, pair.units, pair.weights, n_answers)]
    )
    name = "dirichlet-process" if pair.units is None else "clustered-dirichlet-process"
    try:
        p_value = _student(pair, ()).p_value
    except NotEstimableError:
        p_value = None
    return DifferenceResult(posterior, name, p_value=p_value, messages=messages)


def _student(pair: Pair, messages: tuple[Message, ...]) -> DifferenceResult:
    fit = cluster_robust(pair.differences, pair.labels, weights=pair.weights)
    name = "t" if pair.units is None else "clustered-t"
    t = fit.posterior
    p_value = float(2 * special.stdtr(t.df, -abs(t.mean) / t.std_error))
    return DifferenceResult(t, name, "confidence", p_value=p_value, messages=messages)
