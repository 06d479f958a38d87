"""Differences of all pairs of many systems on the same questions, without a posterior object for each pair.

Each pair has the posterior of `contrast_posteriors`, which does not depend on the other systems.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.unseen_subpopulations import widened_moments
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_range, check_whole
from harness_uq.stats.units.contrasts import cluster_mass, snap_to_width
from harness_uq.stats.units.gamma_contour_integral import prob_linear_form_positive
from harness_uq.stats.units.priors import PRIORS, UnitScores
from harness_uq.stats.units.process import ratio_moments

MAX_CELLS = 1_000_000
_ROUNDING = 1e-12
_DECIMALS = 11  # differences that agree to this number of decimals are one atom


def pair_moments(
    scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None, n_answers: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Posterior means and standard deviations of the differences of all pairs of systems.

    `scores` (n_systems, n_questions) are means over trials in [low, high]. `n_answers` is the number of answers of one
    system, if posteriors are widened for unseen subpopulations; see `PairedDifferences`. The moments
    (n_systems, n_systems) are those of row - column, 0 on the diagonal. Raises DataError if a score is missing.

    >>> pair_moments([[1, 1, 1, 0], [0, 1, 0, 0]], 0, 1)[0].round(6).tolist()
    [[0.0, 0.333333], [-0.333333, 0.0]]
    """
    means, sds = np.zeros((2, len(np.atleast_2d(scores)), len(np.atleast_2d(scores))))
    for i, rows, pairs in _pairs(scores, low, high, clusters):
        mean, sd = pairs.moments()
        if n_answers is not None:
            shares = (pairs.totals / pairs.sizes + 1.0) / 2.0
            mean, sd = widened_moments(
                (mean + 1.0) / 2.0,
                sd / 2.0,
                shares.min(axis=1),
                shares.max(axis=1),
                n_units=len(pairs.sizes),
                n_answers=n_answers,
            )
            mean, sd = 2.0 * mean - 1.0, 2.0 * sd
        means[i, rows], means[rows, i] = mean, -mean
        sds[i, rows] = sds[rows, i] = sd
    return (high - low) * means, (high - low) * sds


def prob_better(
    scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None, most_cells: int = MAX_CELLS
) -> FloatArray:
    """P(row > column) for all pairs of systems on the same questions, without random draws or widening.

    If the number of pairs times the number of distinct differences exceeds `most_cells`, pairs with differences other
    than -1, 0 and 1 times the range are NaN. Other arguments are those of `pair_moments`; the diagonal is 1/2. Raises
    DataError if a score is missing.

    The discordant share has the posterior Beta(5/2, 1/2):

    >>> prob_better([[1, 1, 1, 0], [0, 1, 0, 0]], 0, 1).round(4).tolist()
    [[0.5, 0.9244], [0.0756, 0.5]]
    """
    check_whole(most_cells, "most_cells", 1)
    n = len(np.atleast_2d(scores))
    table = np.full((n, n), 0.5)
    for i, rows, pairs in _pairs(scores, low, high, clusters):
        is_small = pairs.is_extreme or n * (n - 1) // 2 * pairs.atoms[0].shape[1] <= most_cells
        better = pairs.prob_positive() if is_small else np.full(len(rows), np.nan)
        table[i, rows], table[rows, i] = better, 1.0 - better
    return table


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Differences of one system from others on common units, in units of the range of a score.

    `totals` are (n_pairs, n_units), `sizes` (n_units,) are numbers of questions, `mass` is that of all units, and
    `is_extreme` says whether all differences are -1, 0 or 1.
    """

    totals: FloatArray
    sizes: FloatArray
    mass: float
    is_extreme: bool

    def prior_totals(self) -> FloatArray:
        """Totals of the prior atoms of each pair, which have the mean size."""
        points = PRIORS["pair"].positions(UnitScores.of(self.totals, self.sizes, self.mass))
        return np.asarray(float(self.sizes.mean()) * points)

    @property
    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Totals and masses of the units of each pair; equal totals are one atom if they are few."""
        values = np.unique(self.totals.round(_DECIMALS))
        n, n_units = self.totals.shape
        if 2 * len(values) >= n_units:
            return self.totals, np.full(self.totals.shape, self.mass / n_units)
        codes = np.searchsorted(values, self.totals.round(_DECIMALS)) + len(values) * np.arange(n)[:, None]
        counts = np.bincount(codes.ravel(), minlength=n * len(values)).reshape(n, -1)
        # a total that does not occur is replaced by 0, which does not affect any sign
        return np.where(counts > 0, values, 0.0), self.mass / n_units * np.maximum(counts, 1.0)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations."""
        masses, n_units = PRIORS["pair"].masses, len(self.sizes)
        mean, variance = ratio_moments(
            np.hstack([self.totals, self.prior_totals()]),
            np.append(self.sizes, np.full(len(masses), self.sizes.mean())),
            np.append(np.full(n_units, self.mass / n_units), masses),
        )
        return mean, np.sqrt(variance)

    def prob_positive(self) -> FloatArray:
        """Probabilities of a positive difference."""
        masses = PRIORS["pair"].masses
        if self.is_extreme and self.sizes.max() == 1.0:
            only_a, only_b = (self.totals > 0).sum(axis=1), (self.totals < 0).sum(axis=1)
            return np.asarray(special.betainc(only_b + masses[0], only_a + masses[-1], 0.5))
        totals, unit_masses = self.atoms
        return prob_linear_form_positive(
            np.hstack([totals, self.prior_totals()]), np.hstack([unit_masses, np.tile(masses, (len(totals), 1))])
        )


def _pairs(
    scores: ArrayLike, low: float, high: float, clusters: ArrayLike | None
) -> Iterator[tuple[int, IntArray, _Pairs]]:
    """Each system with the later ones from which it differs by -1, 0 and 1 only, and with the other later ones."""
    check_range(low, high)
    y = check_finite(scores, "scores", 2)
    codes = np.arange(y.shape[1]) if clusters is None else validated_codes(clusters, (y.shape[1],))
    sizes = np.bincount(codes).astype(float)
    is_clustered = len(sizes) < len(codes)
    members = (codes[:, None] == np.arange(len(sizes))).astype(float) if is_clustered else None
    mass = cluster_mass(sizes) + 1.0 if is_clustered else float(len(sizes))
    for i in range(len(y) - 1):
        gaps = snap_to_width(y[i] - y[i + 1 :], low, high) / (high - low)
        totals = gaps if members is None else gaps @ members
        ratios = gaps if members is None else totals / sizes
        is_extreme = (np.abs(ratios - np.rint(ratios)) <= _ROUNDING).all(axis=1)
        for kind in (True, False):
            rows = np.flatnonzero(is_extreme == kind)
            if len(rows):
                yield i, rows + i + 1, _Pairs(totals if len(rows) == len(totals) else totals[rows], sizes, mass, kind)
