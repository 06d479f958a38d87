"""Differences of all pairs of many systems on the same questions, without a posterior object for each pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.units.contour import prob_linear_form_positive
from harness_uq.stats.units.contrasts import cluster_mass, snap_to_width
from harness_uq.stats.units.priors import PRIORS
from harness_uq.stats.units.process import ratio_moments

_ROUNDING = 1e-12
_DECIMALS = 11  # differences that agree to this number of decimals are one atom


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Differences between all pairs of systems; entry [i, j] refers to theta_i - theta_j.

    Attributes
    ----------
    mean, sd : ndarray, shape (n_systems, n_systems)
        Posterior mean and standard deviation, 0 on the diagonal.
    prob_positive : ndarray, shape (n_systems, n_systems)
        P(theta_i > theta_j), 1/2 on the diagonal.
    """

    mean: FloatArray
    sd: FloatArray
    prob_positive: FloatArray


def pair_table(scores: ArrayLike, low: float, high: float, *, clusters: ArrayLike | None = None) -> PairTable:
    """Posterior differences of all pairs of systems, without random draws.

    Each pair has the posterior of `paired_difference_posterior`, which is not widened for unseen subpopulations.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_questions)
        Scores in [low, high]; means over trials.
    low, high : float
        Bounds of a score.
    clusters : array_like, shape (n_questions,), optional
        Cluster labels (default: independent questions).

    Returns
    -------
    PairTable
        Means, standard deviations and probabilities.

    Raises
    ------
    DataError
        If a score is missing, or a difference exceeds the bounds.

    Examples
    --------
    The discordant share has the posterior Beta(5/2, 1/2):

    >>> pair_table([[1, 1, 1, 0], [0, 1, 0, 0]], 0, 1).prob_positive.round(4).tolist()
    [[0.5, 0.9244], [0.0756, 0.5]]
    """
    check_range(low, high)
    y = check_finite(scores, "scores", 2)
    codes = None if clusters is None else validated_codes(clusters, (y.shape[1],))
    if codes is not None and codes.max() + 1 == y.shape[1]:
        codes = None
    units = _Units(np.ones(y.shape[1]), None) if codes is None else _Units(np.bincount(codes).astype(float), codes)
    table = np.zeros((3, len(y), len(y)))
    table[2] = 0.5
    for i in range(len(y) - 1):
        gaps = snap_to_width(y[i] - y[i + 1 :], low, high) / (high - low)
        mean, sd, prob = units.summarize(gaps)
        table[:, i, i + 1 :] = mean, sd, prob
        table[:, i + 1 :, i] = -mean, sd, 1.0 - prob
    return PairTable(table[0] * (high - low), table[1] * (high - low), table[2])


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Units that are common to all systems.

    Attributes
    ----------
    sizes : float (n_units,); numbers of questions
    codes : int (n_questions,); unit of each question, None if each question is a unit
    """

    sizes: FloatArray
    codes: IntArray | None

    def summarize(self, gaps: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means, standard deviations and P(A > B) for rows of differences, in units of the range of a score."""
        totals = gaps
        if self.codes is not None:
            totals = gaps @ (self.codes[:, None] == np.arange(len(self.sizes))).astype(float)
        ratios = totals / self.sizes
        is_extreme = (np.abs(ratios - np.rint(ratios)) <= _ROUNDING).all(axis=1)
        result = np.empty((3, len(gaps)))
        for kind in (True, False):
            rows = np.flatnonzero(is_extreme == kind)
            if len(rows):
                result[:, rows] = self._summarize(totals[rows], kind)
        return result[0], result[1], result[2]

    def _summarize(self, totals: FloatArray, is_extreme: bool) -> FloatArray:
        n, n_units = totals.shape
        mass = 1.0 if self.codes is None else cluster_mass(self.sizes) / n_units
        size = float(self.sizes.mean())
        points, prior = PRIORS["pair"].atoms(is_extreme)
        mean, variance = ratio_moments(
            np.column_stack([totals, np.broadcast_to(size * points, (n, len(points)))]),
            np.append(self.sizes, np.full(len(points), size)),
            np.append(np.full(n_units, mass), prior),
        )
        if is_extreme and self.codes is None:
            only_a, only_b = (totals > 0).sum(axis=1), (totals < 0).sum(axis=1)
            prob = special.betainc(only_b + prior[0], only_a + prior[2], 0.5)
        else:
            prob = _prob_positive(totals, mass, size * points, prior)
        return np.stack([mean, np.sqrt(variance), prob])


def _prob_positive(totals: FloatArray, mass: float, points: FloatArray, prior: FloatArray) -> FloatArray:
    """P(A > B) for rows of totals and atoms of the prior; equal differences are one atom if they are few."""
    values = np.unique(totals.round(_DECIMALS))
    forms, masses = totals, np.full(totals.shape, mass)
    if 2 * len(values) < totals.shape[1]:
        codes = np.searchsorted(values, totals.round(_DECIMALS)) + len(values) * np.arange(len(totals))[:, None]
        counts = np.bincount(codes.ravel(), minlength=len(totals) * len(values)).reshape(len(totals), -1)
        # a difference that does not occur is replaced by 0, which does not affect any sign
        forms, masses = np.where(counts > 0, values, 0.0), mass * np.maximum(counts, 1.0)
    ends, end_masses = (np.tile(part[points != 0], (len(totals), 1)) for part in (points, prior))
    return prob_linear_form_positive(np.hstack([forms, ends]), np.hstack([masses, end_masses]))
