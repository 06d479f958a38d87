"""Posteriors of the differences of two systems on the same questions, for one pair or a batch of pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.beta_quantile import beta_quantile
from harness_uq.stats.common.posterior import DensityPosterior, DifferencePosterior, WithLazyMoments
from harness_uq.stats.common.splines import cubic_spline
from harness_uq.stats.common.unseen_subpopulations import UnseenSubpopulations
from harness_uq.stats.common.validate_arrays import (
    FloatArray,
    IntArray,
    as_floats,
    check_finite,
    check_weights,
    validated_codes,
)
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.units.priors import PRIORS, UnitScores
from harness_uq.stats.units.process import Batch, DirichletRatioPosterior, cdfs
from harness_uq.stats.units.rare_losses import RareLoss, rare_loss

_SIGNS, _CELLS = (np.array(part) for part in (PRIORS["pair"].points, PRIORS["pair"].masses))
_RELATIVE_ROUNDING = 1e-12

_REACH, _NODES, _FINER = 8.5, 69, 6  # table: reach in standard deviations, number of exact values, refinement
_LEAST = 1e-13  # smallest tail probability that is used


@dataclass(frozen=True, slots=True, eq=False)
class PairedDifferences:
    """Differences of the scores of two systems on the same questions.

    `differences` (n_questions,) are scores of A minus B within ±(high - low), NaN for unmatched questions, which are
    ignored. `clusters` are None if the questions are independent, and the positive `weights` of the questions None if
    they are equal. `n_answers` is the number of answers of one system if all answers are right or wrong and units
    (clusters, or questions with several trials) have several of them. The posterior then allows for unseen
    subpopulations. `is_robust` says whether the prior atoms stay at the ends of the range for all scores.
    """

    differences: FloatArray
    low: float
    high: float
    clusters: IntArray | None = None
    weights: FloatArray | None = None
    n_answers: int | None = None
    is_robust: bool = False


def contrast_posteriors(pairs: Sequence[PairedDifferences]) -> list[DifferencePosterior]:
    """Posteriors of the mean differences of many pairs of systems.

    Each is that of `paired_difference_posterior` and, if `n_answers` is given, is widened for unseen subpopulations.
    Limits of equal-tailed intervals and probabilities P(A > B) of all pairs are computed together when those of one
    pair are needed first, and pairs with equal atoms, such as equal 2 x 2 tables, are computed once.

    The posterior of a pair is a `DirichletCellsPosterior` if all differences of independent questions are
    -(high - low), 0 or high - low. Raises DataError if the data of a pair are invalid; see
    `paired_difference_posterior`.

    >>> pair = PairedDifferences(np.array([1.0, 1.0, 0.0, 0.0]), 0, 1)
    >>> [round(posterior.prob_positive, 4) for posterior in contrast_posteriors([pair, pair])]
    [0.9244, 0.9244]
    """
    units = [_Units.of(pair) for pair in pairs]
    posteriors = [one.posterior() for one in units]
    Batch(posteriors)
    wide = {
        k: WidenedDifferencePosterior(posteriors[k], units[k].means, pair.n_answers, units[k].width)
        for k, pair in enumerate(pairs)
        if pair.n_answers is not None
    }
    _WideBatch(list(wide.values()))
    return [wide.get(k, posterior) for k, posterior in enumerate(posteriors)]


def rare_loss_of_differences(pair: PairedDifferences) -> RareLoss | None:
    """Rare differences of the whole range that this sample would probably not contain; None if it suggests them, or
    the posterior allows for them.

    >>> gaps = np.array([0.02, 0.05, -0.01, 0.03, 0.04, 0.0, 0.02, 0.03])
    >>> found = rare_loss_of_differences(PairedDifferences(gaps, 0, 1))
    >>> found.end, round(found.largest, 4), round(found.shift, 3)
    (-1.0, 0.0325, 0.085)
    """
    units = _Units.of(pair)
    if units.is_cells or pair.n_answers is not None:
        return None
    found = rare_loss(units.scores, units.prior()[0], low=-1.0, high=1.0)
    return None if found is None else found.scaled(units.width)


def solve_together(posteriors: Iterable[object]) -> None:
    """Let posteriors from several calls of `contrast_posteriors` compute their limits together.

    Those of other classes are left out.
    """
    known = list(posteriors)
    wide = [one for one in known if isinstance(one, WidenedDifferencePosterior)]
    Batch([one for one in known if isinstance(one, DirichletRatioPosterior)])
    Batch([one.posterior for one in wide])
    _WideBatch(wide)


def paired_difference_posterior(
    differences: ArrayLike,
    low: float,
    high: float,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> DirichletRatioPosterior:
    """Posterior of the (weighted) mean difference of scores on the same questions.

    A Dirichlet process on units, which are questions or clusters of questions: with D_c the sum of the differences of
    unit c and N_c its number of questions, the mean is sum w_c D_c / sum w_c N_c with Dirichlet weights w. The total
    mass of the units is one more than the degrees of freedom of the mean: n for n independent questions, T for T
    clusters of equal size. Three pseudo-units of the mean size have masses 1/2, 1 and 1/2. If every observed difference
    is -(high - low), 0 or high - low, as with one right-or-wrong answer per question, they are at these values, which
    makes theta_A and theta_B uniform (see `DirichletCellsPosterior`). Otherwise they move to the differences, so that
    the variance of the mean is at least that of Student's t (see `UnitPrior.positions`).

    With question weights of mean 1, D_c and N_c are weighted sums, and the pseudo-clusters are larger by
    sum w^2 / sum w. If every cluster is one question, the questions have total mass `question_mass`, and the
    pseudo-questions have size sum w^3 / sum w^2.

    Parameters
    ----------
    differences : array_like, shape (n_questions,)
        Score of A minus score of B; NaN for unmatched questions, which are ignored.
    low, high : float
        Bounds of a score; differences lie within ±(high - low).
    clusters : array_like, shape (n_questions,), optional
        Cluster labels (default: independent questions).
    weights : array_like, shape (n_questions,), optional
        Positive weights of the questions in the score (default: equal).

    Returns
    -------
    DirichletRatioPosterior
        Posterior on ±(high - low), with an exact distribution function.

    Raises
    ------
    DataError
        If shapes differ, no difference is left, one lies outside ±(high - low), or a weight is not positive.

    References
    ----------
    Ferguson (1973), Annals of Statistics 1, 209-230.

    Notes
    -----
    In simulations at a nominal 5 % (25 passages of 20 questions, intraclass correlation 0.33, equal systems) it
    declared a difference in 5.0 to 5.6 % (docs/decisions/008-paired-clustered.md). With equally weighted tasks of 5 to
    1,000 questions it did so in 0 to 6 % (docs/decisions/021-weighted-comparisons.md).

    Examples
    --------
    With one difference, the outer atoms are at the ends of the range, and the inner one is at the difference:

    >>> round(paired_difference_posterior([0.3], 0, 1).mean, 6)
    0.2

    The interval of scores that differ little is about as wide as that of Student's t, 0.033 here:

    >>> low, high = paired_difference_posterior([0.02, 0.05, -0.01, 0.03, 0.04, 0.0, 0.02, 0.03], 0, 1).interval()
    >>> 0.03 < high - low < 0.06
    True
    """
    check_range(low, high)
    array = as_floats(differences, "differences")
    if array.ndim != 1:
        raise DataError(f"differences must have shape (n_questions,); got {array.shape}")
    codes = None if clusters is None else validated_codes(clusters, (len(array),))
    w = None if weights is None else check_weights(weights, len(array))
    return _Units.of(PairedDifferences(array, low, high, codes, w)).posterior()


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Differences by unit.

    `totals` and `sizes` (n_units,) are the weighted sum of the differences and the sum of the weights, and `means`
    unweighted mean differences. `mass` is the total mass of the units, `size` that of the pseudo-units, and `width` the
    bound of a difference. `is_cells` says whether all differences of independent questions with equal weights are
    -width, 0 or width, and `is_robust` is that of `PairedDifferences`.
    """

    totals: FloatArray
    sizes: FloatArray
    means: FloatArray
    mass: float
    size: float
    width: float
    is_cells: bool
    is_robust: bool

    @classmethod
    def of(cls, pair: PairedDifferences) -> "_Units":
        values, width = _check_differences(pair.differences, pair.low, pair.high)
        n, present = len(values), ~np.isnan(pair.differences)
        codes = np.arange(n) if pair.clusters is None else np.unique(pair.clusters[present], return_inverse=True)[1]
        counts = np.bincount(codes).astype(float)
        w = np.ones(n) if pair.weights is None else pair.weights[present] / pair.weights[present].mean()
        totals, sizes, plain = (np.asarray(np.bincount(codes, x), float) for x in (w * values, w, values))
        if len(counts) < n:
            mass, size = cluster_mass(sizes) + 1.0, sizes.mean() * np.mean(w**2)
        else:
            mass, size = question_mass(sizes), np.sum(w**3) / np.sum(w**2)
        is_cells = len(counts) == n and np.ptp(w) == 0 and bool(np.isin(values, [-width, 0.0, width]).all())
        return cls(totals, sizes, plain / counts, mass, float(size), width, is_cells, pair.is_robust)

    @property
    def scores(self) -> UnitScores:
        """The differences in units of the range."""
        return UnitScores.of(self.totals, self.sizes, self.mass, self.means).in_units_of(self.width)

    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Points of the prior atoms, in units of the range, and their masses."""
        prior = PRIORS["pair"]
        if not self.is_robust:
            return prior.positions(self.scores), _CELLS
        is_extreme = bool(np.isin(self.means, [-self.width, 0.0, self.width]).all())
        return _SIGNS, (1.0 if is_extreme else prior.graded) * _CELLS

    def posterior(self) -> DirichletRatioPosterior:
        if self.is_cells:
            only_a, only_b = float((self.means > 0).sum()), float((self.means < 0).sum())
            return DirichletCellsPosterior([0.0, only_a, only_b, len(self.means) - only_a - only_b], self.width)
        points, masses = self.prior()
        return DirichletRatioPosterior(
            np.append(self.totals, self.size * self.width * points),
            np.append(np.full(len(self.sizes), self.mass / len(self.sizes)), masses),
            np.append(self.sizes, np.full(len(points), self.size)),
        )


def _check_differences(array: FloatArray, low: float, high: float) -> tuple[FloatArray, float]:
    """Return the differences that are not NaN, and the width high - low that bounds them.

    A difference within rounding error of -width, 0 or width (of means over trials) is set to that value. Raises
    DataError if there is no difference, or one is infinite or outside the bounds.
    """
    if np.isinf(array).any():
        raise DataError(f"differences must be finite, or NaN where unmatched; got {array[np.isinf(array)][0]}")
    width = float(high) - float(low)
    if not 0 < width < np.inf:
        raise DataError(f"bounds of a score need low < high, both finite; got {low} and {high}")
    values = array[~np.isnan(array)]
    if not values.size:
        raise DataError("there is no matched question: every difference is NaN or the list is empty")
    values = snap_to_width(values, low, high)
    if (np.abs(values) > width).any():
        raise DataError(f"a difference of {values[np.abs(values) > width][0]} exceeds the bounds ±{width} of scores")
    return values, width


def snap_to_width(differences: FloatArray, low: float, high: float) -> FloatArray:
    """Set differences within rounding error of -(high - low), 0 or high - low to these values."""
    width = float(high) - float(low)
    end = width * np.rint(differences / width)
    is_near = np.abs(differences - end) <= _RELATIVE_ROUNDING * max(abs(low), abs(high))
    return np.where(is_near, end, differences) if is_near.any() else differences


def cluster_mass(sizes: FloatArray) -> float:
    """Total mass of T clusters: (T + T_eff) / 2 - 1, at least 1, with T_eff = (sum N)^2 / sum N^2.

    One unit is subtracted for the estimated mean, as in the C - 1 degrees of freedom of a cluster-robust t. A few large
    clusters carry less information than equally many clusters of equal size. The formula was chosen by simulation
    (docs/decisions/008-paired-clustered.md).

    >>> cluster_mass(np.array([4.0, 4.0, 4.0])), cluster_mass(np.array([1.0, 1.0, 8.0])) < 2
    (2.0, True)
    """
    effective = float(sizes.sum() ** 2 / np.sum(sizes**2))
    return max(1.0, (len(sizes) + effective) / 2 - 1)


def question_mass(weights: FloatArray) -> float:
    """Total mass of n independent questions: (n + 2) v / (v + 2), with v = (sum w^2)^2 / sum w^4.

    v is Satterthwaite's number of degrees of freedom of their weighted variance. The formula was chosen by simulation
    (docs/decisions/021-weighted-comparisons.md).

    Here v = 12^2 / 84 = 12 / 7, so that 6 v / (v + 2) = 36 / 13:

    >>> question_mass(np.ones(4)), round(13 * question_mass(np.array([3.0, 1.0, 1.0, 1.0])), 9)
    (4.0, 36.0)
    """
    v = float(np.sum(weights**2) ** 2 / np.sum(weights**4))
    return (len(weights) + 2) * v / (v + 2)


def check_table(table: ArrayLike) -> FloatArray:
    """Return the four counts [both, only A, only B, neither] as floats; DataError if one is negative or all are 0."""
    counts = check_finite(table, "table", 1)
    if counts.shape != (4,) or (counts < 0).any() or not counts.sum() > 0:
        raise DataError(
            "table must be four counts [both right, only A, only B, both wrong] with at least one question; "
            f"got {counts.tolist()}"
        )
    return counts


class DirichletCellsPosterior(DirichletRatioPosterior):
    """Posterior of theta_A - theta_B with cells ~ Dirichlet(1/2, 1/2, 1/2, 1/2).

    The difference of the two discordant cells is s (2 r - 1) with independent s ~ Beta(c10 + c01 + 1, c11 + c00 + 1)
    and r ~ Beta(c10 + 1/2, c01 + 1/2). It is the mean of -1, 0, 1 under Dirichlet(c01 + 1/2, c11 + c00 + 1, c10 + 1/2)
    weights, whose distribution function is computed to rounding error.

    The table has the numbers of questions that [both, only A, only B, neither] got right, and `width` is the difference
    of a right and a wrong answer. Source: Altham (1971), Biometrika 58, 561-576, on the Bayesian analysis of matched
    pairs.
    """

    def __init__(self, table: ArrayLike, width: float = 1.0) -> None:
        both, only_a, only_b, neither = check_table(table).tolist()
        self._only_a, self._only_b = only_a, only_b
        super().__init__(width * _SIGNS, _CELLS + np.array([only_b, both + neither, only_a]))

    @property
    def prob_positive(self) -> float:
        """P(A > B) = P(r > 1/2), exact."""
        return float(special.betainc(self._only_b + 0.5, self._only_a + 0.5, 0.5))

    def odds_ratio_quantile(self, p: ArrayLike) -> FloatArray:
        """Quantiles of the matched-pair odds ratio r / (1 - r), the odds that a discordant question is won by A."""
        probability = np.asarray(p, float)
        share_a = beta_quantile(self._only_a + 0.5, self._only_b + 0.5, probability)
        share_b = beta_quantile(self._only_b + 0.5, self._only_a + 0.5, 1 - probability)
        with np.errstate(divide="ignore"):
            return np.asarray(share_a / share_b)


class WidenedDifferencePosterior(WithLazyMoments, DifferencePosterior):
    """Posterior of a difference of two scores that allows for unseen subpopulations.

    In such a subpopulation one system is right on all questions and the other one is wrong on all of them. The
    posterior is mapped from ±`width` to the range from 0 to 1 and is passed to `UnseenSubpopulations.widen`.
    `posterior` is on ±`width` and has a smooth distribution function. `unit_means` (n_units,) are the mean differences
    of independent units, questions with repeated trials or clusters, and `n_answers` is the number of answers of one
    system on all of them.

    Ten questions with eight trials, of which one system answers one more trial right:

    >>> means = np.array([0.125, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> narrow = paired_difference_posterior(means, 0, 1)
    >>> wide = WidenedDifferencePosterior(narrow, means, 80, 1)
    >>> (low, high), (narrow_low, narrow_high) = wide.interval(), narrow.interval()
    >>> low < narrow_low < narrow_high < high
    True
    """

    def __init__(
        self, posterior: DirichletRatioPosterior, unit_means: FloatArray, n_answers: float, width: float
    ) -> None:
        self.posterior, self.width = posterior, width
        self.unseen = UnseenSubpopulations.of((unit_means / width + 1.0) / 2.0, n_answers)
        self._batch: _WideBatch | None = None
        self._place = 0

    @cached_property
    def _share(self) -> DensityPosterior:
        return self.unseen.widen((self._batch or _WideBatch([self])).tables[self._place])

    @cached_property
    def _moments(self) -> tuple[float, float]:
        mean, sd = self.unseen.moments(
            (self.posterior.mean / self.width + 1.0) / 2.0, self.posterior.sd / (2.0 * self.width)
        )
        return self.width * (2.0 * mean - 1.0), 2.0 * self.width * sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self.width * (2.0 * self._share.quantile(p) - 1.0)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._share.cdf((np.asarray(x, float) / self.width + 1.0) / 2.0)


class _WideBatch:
    """Widened posteriors whose distribution functions are tabulated together."""

    def __init__(self, members: Sequence[WidenedDifferencePosterior]) -> None:
        self._members = tuple(members)
        for place, member in enumerate(self._members):
            member._batch, member._place = self, place

    @cached_property
    def tables(self) -> list[DensityPosterior]:
        """Distributions of (difference / width + 1) / 2, on the logit scale.

        The normal quantile of the distribution function is interpolated, which is nearly linear. Quantiles are
        accurate to 1e-4 of a standard deviation.
        """
        reach = np.linspace(-_REACH, _REACH, _NODES)
        moments = [((m.posterior.mean / m.width + 1.0) / 2.0, m.posterior.sd / (2.0 * m.width)) for m in self._members]
        mean, sd = np.array(moments).T[:, :, None]
        exact = special.logit(mean) + sd / (mean * (1.0 - mean)) * reach * (1 + np.abs(reach) / 10)
        width = np.array([m.width for m in self._members])[:, None]
        below = cdfs([m.posterior for m in self._members], width * (2.0 * special.expit(exact) - 1.0))
        return [_table(*row) for row in zip(exact, below, moments, strict=True)]


def _table(exact: FloatArray, cdf: FloatArray, moments: tuple[float, float]) -> DensityPosterior:
    is_inside = (cdf > _LEAST) & (cdf < 1.0 - _LEAST)
    score = cubic_spline(exact[is_inside], special.ndtri(cdf[is_inside]))
    nodes = np.linspace(exact[is_inside][0], exact[is_inside][-1], _FINER * _NODES)
    density = np.exp(-(score(nodes) ** 2) / 2) * np.maximum(score.derivative()(nodes), 0.0)
    return DensityPosterior(nodes, density, "logit", moments)
