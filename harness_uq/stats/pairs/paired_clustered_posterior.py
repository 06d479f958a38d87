"""Posterior of the difference of two systems on the same clustered questions."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.common.dirichlet_mean import DirichletRatioPosterior
from harness_uq.stats.common.posterior import DifferencePosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, check_weights, validated_codes
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.pairs.dirichlet_multinomial import dirichlet_multinomial_posterior
from harness_uq.stats.pairs.paired import check_differences, paired_posterior

ClusteredPairedModel = Literal["dirichlet_process", "dirichlet_multinomial"]

_SIGNS = np.array([-1.0, 0.0, 1.0])
_RELATIVE_ROUNDING = 1e-12


def paired_clustered_posterior(
    tables: ArrayLike, model: ClusteredPairedModel = "dirichlet_process"
) -> DifferencePosterior:
    """Posterior of theta_A - theta_B from one 2 x 2 table per cluster.

    Parameters
    ----------
    tables : array_like, shape (n_clusters, 4)
        Numbers of questions of each cluster that [both, only A, only B, neither] got right; empty clusters are ignored.
    model : {"dirichlet_process", "dirichlet_multinomial"}, optional
        Dirichlet process on cluster totals (default), see `paired_clustered_difference_posterior`; or
        Dirichlet-multinomial cells with one intraclass correlation, see `dirichlet_multinomial_posterior`. If each
        system has its own cluster effect, the latter declares equal systems different in 7 to 11 % of simulations at a
        nominal 5 %.

    Returns
    -------
    DifferencePosterior
        Posterior on [-1, 1]. If every cluster is one question, it is that of ``paired_posterior(..., "dirichlet")``.

    Raises
    ------
    DataError
        If the tables are not counts or contain no question, or the model is unknown.

    Examples
    --------
    In four passages of five questions, only A is right on two questions of one passage and on one of another. The
    clusters have mass 3 and mean 0.15, the prior has mass 1/2 and mean 0:

    >>> posterior = paired_clustered_posterior([[3, 2, 0, 0], [4, 1, 0, 0], [5, 0, 0, 0], [3, 0, 0, 2]])
    >>> round(posterior.mean, 6)
    0.128571
    """
    counts = _check_tables(tables)
    if model not in ("dirichlet_process", "dirichlet_multinomial"):
        raise DataError(f"model must be 'dirichlet_multinomial' or 'dirichlet_process'; got {model!r}")
    sizes = counts.sum(axis=1)
    if (sizes == 1).all():
        return paired_posterior(counts.sum(axis=0), "dirichlet")
    if model == "dirichlet_multinomial":
        return dirichlet_multinomial_posterior(
            np.column_stack([counts[:, 1], counts[:, 2], counts[:, 0] + counts[:, 3]])
        )
    return _cluster_process(counts[:, 1] - counts[:, 2], sizes, 1.0)


def cluster_tables(correct_a: ArrayLike, correct_b: ArrayLike, clusters: ArrayLike) -> FloatArray:
    """One 2 x 2 table per cluster, in the order of the labels.

    Parameters
    ----------
    correct_a, correct_b : array_like, shape (n_questions,)
        0, 1 or NaN; questions that either system did not answer are ignored.
    clusters : array_like, shape (n_questions,)
        Cluster labels.

    Returns
    -------
    ndarray, shape (n_clusters, 4)
        Numbers of questions that [both, only A, only B, neither] got right.

    Raises
    ------
    DataError
        If the shapes differ or a value is not 0, 1 or NaN.

    Examples
    --------
    >>> cluster_tables([1, 1, 0, 1], [1, 0, 0, 0], ["x", "x", "y", "y"]).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    a, b = as_floats(correct_a, "correct_a"), as_floats(correct_b, "correct_b")
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"correct_a and correct_b need the same questions; got shapes {a.shape} and {b.shape}")
    codes = validated_codes(clusters, (len(a),))
    if not (np.isin(np.stack([a, b]), (0.0, 1.0)) | np.isnan(np.stack([a, b]))).all():
        raise DataError("answers must be 0, 1 or NaN; for other scores use paired_clustered_difference_posterior")
    both = ~(np.isnan(a) | np.isnan(b))
    cell = (2 * (a[both] == 0) + (b[both] == 0)).astype(int)
    counts = np.bincount(4 * codes[both] + cell, minlength=4 * (int(codes.max(initial=0)) + 1))
    return np.asarray(counts.reshape(-1, 4), float)


def paired_clustered_difference_posterior(
    differences: ArrayLike, clusters: ArrayLike, low: float, high: float, *, weights: ArrayLike | None = None
) -> DifferencePosterior:
    """Posterior of the (weighted) mean difference over clustered questions.

    A Dirichlet process on cluster totals: with D_c the sum of the differences of cluster c and N_c its number of
    questions, the mean is sum w_c D_c / sum w_c N_c with Dirichlet weights w. The T clusters have total mass
    `cluster_mass`, which is T - 1 for clusters of equal size. Three pseudo-clusters of the mean size, with all
    differences equal to -(high - low), 0 or high - low, have masses 1/8, 1/4 and 1/8, or 1/2, 1 and 1/2 if every
    observed cluster has one of these forms.

    With question weights of mean 1, D_c and N_c are weighted sums, and the pseudo-clusters are larger by
    sum w^2 / sum w. If every cluster is one question, the questions have total mass `question_mass`, which is n without
    weights, and the pseudo-questions have size sum w^3 / sum w^2.

    Parameters
    ----------
    differences : array_like, shape (n_questions,)
        Score of A minus score of B; NaN for unmatched questions, which are ignored.
    clusters : array_like, shape (n_questions,)
        Cluster labels.
    low, high : float
        Bounds of a score.
    weights : array_like, shape (n_questions,), optional
        Positive weights of the questions in the score (default: equal).

    Returns
    -------
    DirichletRatioPosterior
        Exact posterior on ±(high - low). If every cluster is one question and weights are equal, it is that of
        `paired_difference_posterior`.

    Raises
    ------
    DataError
        If shapes differ, no difference is left, one lies outside ±(high - low), or a weight is not positive.

    Notes
    -----
    In simulations at a nominal 5 % (25 passages of 20 questions, intraclass correlation 0.33, equal systems) it
    declared a difference in 5.0 to 5.6 % (docs/decisions/008-paired-clustered.md). With equally weighted tasks of 5 to
    1,000 questions it did so in 0 to 6 % (docs/decisions/021-weighted-comparisons.md).

    Examples
    --------
    Two clusters with means 0.3 and 0.6 have mass 1/2 each, and the prior around 0 has mass 1/2:

    >>> round(paired_clustered_difference_posterior([0.3, 0.3, 0.6, 0.6], ["x", "x", "y", "y"], 0, 1).mean, 12)
    0.3
    """
    check_range(low, high)
    array = as_floats(differences, "differences")
    values, width = check_differences(array, low, high)
    present = ~np.isnan(array)
    codes = np.unique(validated_codes(clusters, (len(array),))[present], return_inverse=True)[1]
    w = check_weights(weights, len(array))[present]
    w = w / w.mean()
    counts, unweighted_totals = _sums(codes, np.ones(len(values))), _sums(codes, values)
    sizes, totals = _sums(codes, w), _sums(codes, w * values)
    if counts.max() > 1:
        mass, size = cluster_mass(sizes), sizes.mean() * np.mean(w**2)
    else:
        mass, size = question_mass(sizes), np.sum(w**3) / np.sum(w**2)
    return _process(totals, sizes, mass, float(size), width, _prior_share(unweighted_totals, counts, width))


def _sums(codes: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(codes, values), float)


def cluster_mass(sizes: FloatArray) -> float:
    """Total mass of T clusters: (T + T_eff) / 2 - 1, at least 1, with T_eff = (sum N)^2 / sum N^2.

    One unit is subtracted for the estimated mean, as in the C - 1 degrees of freedom of a cluster-robust t. A few large
    clusters carry less information than equally many clusters of equal size. The formula was chosen by simulation
    (docs/decisions/008-paired-clustered.md).

    Examples
    --------
    >>> cluster_mass(np.array([4.0, 4.0, 4.0])), cluster_mass(np.array([1.0, 1.0, 8.0])) < 2
    (2.0, True)
    """
    effective = float(sizes.sum() ** 2 / np.sum(sizes**2))
    return max(1.0, (len(sizes) + effective) / 2 - 1)


def question_mass(weights: FloatArray) -> float:
    """Total mass of n independent questions: (n + 2) v / (v + 2), with v = (sum w^2)^2 / sum w^4.

    v is Satterthwaite's number of degrees of freedom of their weighted variance. The formula was chosen by simulation
    (docs/decisions/021-weighted-comparisons.md).

    Examples
    --------
    Here v = 12^2 / 84 = 12 / 7, so that 6 v / (v + 2) = 36 / 13:

    >>> question_mass(np.ones(4)), round(13 * question_mass(np.array([3.0, 1.0, 1.0, 1.0])), 9)
    (4.0, 36.0)
    """
    v = float(np.sum(weights**2) ** 2 / np.sum(weights**4))
    return (len(weights) + 2) * v / (v + 2)


def _prior_share(totals: FloatArray, counts: FloatArray, width: float) -> float:
    """Prior mass factor: 1 if the differences of each cluster are all -width, all 0 or all width, else 1/4."""
    ratios = totals / (width * counts)
    return 1.0 if (np.abs(ratios - np.rint(ratios)) <= _RELATIVE_ROUNDING).all() else 0.25


def _cluster_process(totals: FloatArray, sizes: FloatArray, width: float) -> DirichletRatioPosterior:
    share, mass = _prior_share(totals, sizes, width), cluster_mass(sizes)
    return _process(totals, sizes, mass, float(sizes.mean()), width, share)


def _process(
    totals: FloatArray, sizes: FloatArray, mass: float, size: float, width: float, share: float
) -> DirichletRatioPosterior:
    """Dirichlet process on totals / sizes with total mass `mass`, and pseudo-clusters of one size."""
    return DirichletRatioPosterior(
        np.concatenate([totals, size * width * _SIGNS]),
        np.concatenate([np.full(len(sizes), mass / len(sizes)), share * np.array([0.5, 1.0, 0.5])]),
        np.concatenate([sizes, np.full(3, size)]),
    )


def _check_tables(tables: ArrayLike) -> FloatArray:
    counts = as_floats(tables, "tables")
    if counts.ndim != 2 or counts.shape[1] != 4:
        raise DataError(f"tables must have shape (n_clusters, 4); got {counts.shape}")
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts % 1 == 0).all()):
        raise DataError("tables must be non-negative whole counts [both right, only A, only B, both wrong]")
    if not counts.any():
        raise DataError("the tables contain no question")
    return np.asarray(counts[counts.sum(axis=1) > 0])
