"""The difference of two systems' scores: which method fits, and what it finds.

Everything works on `Pair`: question scores of both systems on the same questions, whatever task they came from.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from harness_uq.data import FloatArray, IntArray
from harness_uq.errors import NotEstimableError
from harness_uq.results import IntervalKind, Posterior
from harness_uq.stats.cluster_robust import cluster_robust
from harness_uq.stats.dirichlet_mean import DirichletRatioPosterior
from harness_uq.stats.paired import DirichletCellsPosterior, paired_difference_posterior, paired_posterior
from harness_uq.stats.paired_frequentist import mcnemar_test, score_correlation, variance_saved
from harness_uq.stats.student import StudentPosterior

CompareMethod = Literal["dirichlet", "latent_normal", "t", "independent"]

# Prior masses of the atoms -R, 0, R. On clusters, those of single questions gave 6.2 to 6.8 % false alarms at 5 %
# (25 clusters of 20, ICC .33), twice these 4.5 to 6.0 %.
_CELL_MASSES = np.array([0.5, 1.0, 0.5])
_QUESTION_MASSES = _CELL_MASSES / 4
_CLUSTER_MASSES = _CELL_MASSES / 2
_SIGNS = np.array([-1.0, 0.0, 1.0])


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
    def n_units(self) -> int | None:
        """Number of clusters; None where questions are independent."""
        return None if self.units is None else len(np.unique(self.units))


@dataclass(frozen=True, slots=True)
class Found:
    """A posterior of A - B, or a t distribution that plays its part.

    Attributes
    ----------
    method : name for the report
    kind : of its interval
    odds_ratio : posterior median, None where there is none
    p_value : two-sided test of no difference; None where there is none
    notes : why this method
    """

    posterior: Posterior
    method: str
    kind: IntervalKind = "quantile"
    odds_ratio: float | None = None
    p_value: float | None = None
    notes: tuple[str, ...] = ()


def paired_difference(pair: Pair, method: CompareMethod) -> Found:
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
            return Found(posterior, "latent-normal", p_value=mcnemar_test(table))
        note = ("latent_normal is made for independent questions, right or wrong once; dirichlet stands in",)
        return _dirichlet(pair, pair.bounds, note)
    return _dirichlet(pair, pair.bounds, ())


def _dirichlet(pair: Pair, bounds: tuple[float, float], notes: tuple[str, ...]) -> Found:
    table = pair.table
    if pair.units is None and pair.weights is None:
        if table is not None:
            cells = DirichletCellsPosterior(table)
            ratio = float(cells.odds_ratio_quantile(0.5))
            return Found(cells, "dirichlet", odds_ratio=ratio, p_value=mcnemar_test(table), notes=notes)
        process = paired_difference_posterior(pair.differences, *bounds)
        return Found(process, "dirichlet-process", p_value=_p_value(pair), notes=notes)
    posterior = clustered_difference_posterior(pair.differences, pair.units, pair.weights, *bounds)
    name = "dirichlet-process" if pair.units is None else "clustered-dirichlet-process"
    return Found(posterior, name, p_value=_p_value(pair), notes=notes)


def clustered_difference_posterior(
    differences: FloatArray, units: IntArray | None, weights: FloatArray | None, low: float, high: float
) -> DirichletRatioPosterior:
    """Posterior of the (weighted) mean difference of questions that come in clusters.

    A Dirichlet process on clusters (total D_c, size N_c) with pseudo-clusters of the mean size whose questions all
    differ by -(high - low), by 0 and by high - low: the ratio sum g_c D_c / sum g_c N_c, whose distribution function is
    exact. Where every cluster's mean is one of those three, as with clusters of one binary question, the masses are
    1/2, 1, 1/2 and the posterior is that of the Dirichlet cells.

    Parameters
    ----------
    differences : (n_questions,), within ±(high - low)
    units : (n_questions,) labels of clusters; None where every question is its own
    weights : (n_questions,), > 0; None for equal weights
    low, high : range of a score

    >>> posterior = clustered_difference_posterior(np.array([1.0, 0, 0, 0]), np.arange(4), None, 0, 1)
    >>> round(posterior.prob_positive, 6) == round(DirichletCellsPosterior([3, 1, 0, 0]).prob_positive, 6)
    True
    """
    w = np.ones(len(differences)) if weights is None else weights / weights.mean()
    codes = np.arange(len(differences)) if units is None else np.unique(units, return_inverse=True)[1]
    totals, sizes = np.bincount(codes, w * differences), np.bincount(codes, w)
    width, size = high - low, float(sizes.mean())
    return DirichletRatioPosterior(
        np.append(totals, width * size * _SIGNS),
        np.append(np.ones(len(totals)), _prior_masses(differences / width, codes)),
        np.append(sizes, np.full(3, size)),
    )


def _prior_masses(differences: FloatArray, codes: IntArray) -> FloatArray:
    """Masses of -1, 0 and 1: the cells' where all questions of a cluster differ by the same one of these."""
    sizes = np.bincount(codes)
    total, spread = np.bincount(codes, differences), np.bincount(codes, np.abs(differences))
    if bool(((np.abs(total) == sizes) | (spread == 0)).all()):
        return _CELL_MASSES
    return _QUESTION_MASSES if len(sizes) == len(codes) else _CLUSTER_MASSES


def _student(pair: Pair, notes: tuple[str, ...]) -> Found:
    units = np.arange(len(pair.a)) if pair.units is None else pair.units
    fit = cluster_robust(pair.differences, units, weights=pair.weights)
    name = "t" if pair.units is None else "clustered-t"
    return Found(fit.posterior, name, "confidence", p_value=_two_sided(fit.posterior), notes=notes)


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
