"""The difference of two systems' scores: which method fits, and what it finds.

Everything works on `Pair`: question scores of both systems on the same questions, whatever task they came from.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray, IntArray
from harness_uq.results.about import About
from harness_uq.results.estimate import IntervalKind, Posterior
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.pairs.paired import DirichletCellsPosterior, paired_posterior
from harness_uq.stats.pairs.paired_clustered import paired_clustered_difference_posterior
from harness_uq.stats.pairs.paired_frequentist import mcnemar_test, score_correlation, variance_saved

CompareMethod = Literal["dirichlet", "latent_normal", "t", "independent"]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Scores of two systems on the same questions.

    Attributes
    ----------
    a, b : float (n_questions,); means over each question's trials
    units : int (n_questions,); questions of equal label are not independent; None where all are
    weights : float (n_questions,), > 0; of the questions in the score, None where equal
    bounds : range of a score; None where unknown
    is_single_binary : one trial a question, scored 0 or 1
    """

    a: FloatArray
    b: FloatArray
    units: IntArray | None
    weights: FloatArray | None
    bounds: tuple[float, float] | None
    is_single_binary: bool

    @property
    def differences(self) -> FloatArray:
        """A - B of each question."""
        return self.a - self.b

    @property
    def values(self) -> tuple[float, float]:
        """Plain scores of A and of B."""
        return float(np.average(self.a, weights=self.weights)), float(np.average(self.b, weights=self.weights))

    @property
    def table(self) -> tuple[int, int, int, int] | None:
        """Questions both right, only A, only B, both wrong; None where scores are not single and 0/1."""
        if not self.is_single_binary:
            return None
        right_a, right_b = self.a == 1, self.b == 1
        cells = (right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~right_a & ~right_b)
        both, only_a, only_b, neither = (int(cell.sum()) for cell in cells)
        return both, only_a, only_b, neither

    @property
    def labels(self) -> IntArray:
        """Of the independent units: the clusters', or one a question."""
        return np.arange(len(self.a)) if self.units is None else self.units

    @property
    def n_units(self) -> int | None:
        """Number of clusters; None where questions are independent."""
        return None if self.units is None else len(np.unique(self.units))


@dataclass(frozen=True, slots=True)
class DifferenceFinding:
    """A posterior of A - B, or a t distribution that plays its part.

    Attributes
    ----------
    method : name for the report
    kind : of its interval
    odds_ratio : posterior median, None where there is none
    p_value : two-sided test of no difference; None where there is none
    notes : why this method
    about : of the estimator of both scores, where that gave the difference
    """

    posterior: Posterior
    method: str
    kind: IntervalKind = "quantile"
    odds_ratio: float | None = None
    p_value: float | None = None
    notes: tuple[str, ...] = ()
    about: About | None = None

    @property
    def std_error(self) -> float:
        """Of the difference: s / sqrt(n) and its like where the posterior is Student's t, else the posterior sd."""
        return self.posterior.std_error if isinstance(self.posterior, StudentPosterior) else self.posterior.sd

    @property
    def prob_positive(self) -> float | None:
        """P(A > B | data); None where the interval is a confidence interval."""
        if self.kind == "confidence":
            return None
        return float(getattr(self.posterior, "prob_positive", 1.0 - float(self.posterior.cdf(0.0))))

    def detectable(self, level: float, power: float) -> float:
        """Difference that an interval of this level would have told from 0 with this power.

        (z_{(1 + level) / 2} + z_power) std_error, Miller (2024), section 5; with the quantiles of t in the place of
        the normal ones where the interval takes them too.
        """
        tails = np.array([(1 + level) / 2, power])
        t = self.posterior
        quantiles = special.stdtrit(t.df, tails) if isinstance(t, StudentPosterior) else special.ndtri(tails)
        return self.std_error * float(quantiles.sum())


def paired_difference(pair: Pair, method: CompareMethod) -> DifferenceFinding:
    """Difference on new questions of the kind, from the same questions answered by both.

    Raises
    ------
    NotEstimableError : if the data have no answer, such as one question of an unbounded score
    """
    if method == "t" or pair.bounds is None:
        note = () if method == "t" else ("the scores have no known range, so the difference is Student's t",)
        return _student(pair, note)
    if method == "latent_normal":
        if pair.is_single_binary and pair.units is None and pair.weights is None and (table := pair.table):
            posterior = paired_posterior(table, "latent_normal")
            return DifferenceFinding(posterior, "latent-normal", p_value=mcnemar_test(table))
        note = ("latent_normal is made for independent questions, right or wrong once; dirichlet stands in",)
        return _dirichlet(pair, pair.bounds, note)
    return _dirichlet(pair, pair.bounds, ())


def _dirichlet(pair: Pair, bounds: tuple[float, float], notes: tuple[str, ...]) -> DifferenceFinding:
    if (table := pair.table) is not None and pair.units is None and pair.weights is None:
        cells = DirichletCellsPosterior(table)
        ratio = float(cells.odds_ratio_quantile(0.5))
        return DifferenceFinding(cells, "dirichlet", odds_ratio=ratio, p_value=mcnemar_test(table), notes=notes)
    posterior = paired_clustered_difference_posterior(pair.differences, pair.labels, *bounds, weights=pair.weights)
    name = "dirichlet-process" if pair.units is None else "clustered-dirichlet-process"
    return DifferenceFinding(posterior, name, p_value=_p_value(pair), notes=notes)


def _student(pair: Pair, notes: tuple[str, ...]) -> DifferenceFinding:
    fit = cluster_robust(pair.differences, pair.labels, weights=pair.weights)
    name = "t" if pair.units is None else "clustered-t"
    return DifferenceFinding(fit.posterior, name, "confidence", p_value=_two_sided(fit.posterior), notes=notes)


def _p_value(pair: Pair) -> float | None:
    try:
        return _student(pair, ()).p_value
    except NotEstimableError:
        return None


def _two_sided(posterior: StudentPosterior) -> float:
    return float(2 * special.stdtr(posterior.df, -abs(posterior.mean) / posterior.std_error))


def correlation(pair: Pair) -> float | None:
    """Correlation of the two systems' question scores; None where one of them does not vary."""
    try:
        return score_correlation(pair.a, pair.b)
    except NotEstimableError:
        return None


def saved(pair: Pair) -> float | None:
    """Share of the difference's variance that pairing removed; None where neither system's scores vary."""
    try:
        return variance_saved(pair.a, pair.b)
    except NotEstimableError:
        return None
