"""Posteriors of metrics of a confusion matrix with K classes: macro F1, micro F1, kappa and multi-class MCC.

The K x K cells have a Dirichlet prior of total mass 2, with 1/K on each diagonal cell and 1 / (K (K-1)) on each other
cell. Accuracy is therefore Beta(1 + right, 1 + wrong) for every K. One pseudo-count per cell, with total mass K^2,
would dominate the data.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes.clustered_confusion import effective_clusters, pseudo_cell_parts, widen_for_few_clusters
from harness_uq.stats.classes.confusion import cluster_counts, divide
from harness_uq.stats.classes.dirichlet import (
    N_DRAWS,
    Part,
    cluster_parts,
    draws_posterior,
    harmonic_posterior,
    ratio_posterior,
)
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior, Posterior
from harness_uq.stats.common.validate_arrays import MAX_EXACT_COUNT, FloatArray, IntArray, as_floats, check_finite
from harness_uq.stats.common.validate_scalars import MAX_CLASSES, MAX_DRAWS, check_rng, check_whole

MulticlassMetric = Literal[
    "macro_f1", "micro_f1", "weighted_f1", "accuracy", "balanced_accuracy", "mcc", "kappa", "ac1"
]


def confusion_matrix(targets: ArrayLike, predictions: ArrayLike, *, n_classes: int | None = None) -> FloatArray:
    """Number of questions by target (row) and prediction (column).

    Parameters
    ----------
    targets : array_like of int, shape (n_questions,)
        Classes 0, ..., K - 1.
    predictions : array_like of int, shape (n_questions,)
        Classes; negative if the prediction is missing or is not a class.
    n_classes : int, optional
        K (default: one more than the largest class).

    Returns
    -------
    ndarray, shape (K, K) or (K, K + 1)
        Counts. If predictions are missing, the last column counts them.

    Raises
    ------
    DataError
        If lengths differ, there is no question, a label is not a whole number or not in 0, ..., K - 1, or K < 2.

    Examples
    --------
    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, -1]).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    if n_classes is not None:
        check_whole(n_classes, "n_classes", 1, MAX_CLASSES)
    cells, shape = _cells(targets, predictions, n_classes)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def multiclass_score(matrix: ArrayLike, metric: MulticlassMetric = "macro_f1") -> float:
    """Metric of a confusion matrix, as defined by scikit-learn.

    Parameters
    ----------
    matrix : array_like, shape (K, K) or (K, K + 1)
        Counts with targets in rows; an additional last column counts missing predictions.
    metric : str, optional
        As in `multiclass_posterior`.

    Returns
    -------
    float
        Metric. Classes with neither targets nor predictions are excluded from averages, and a ratio 0/0 is 0.

    Raises
    ------
    DataError
        If the matrix or the metric is invalid.

    Examples
    --------
    Agreement is 0.8, and 0.5 by chance:

    >>> round(multiclass_score([[8, 2], [2, 8]], "kappa"), 12)
    0.6
    """
    return float(_METRICS[_check_metric(metric)](_check_matrix(matrix)[None])[0])


def multiclass_posterior(
    matrix: ArrayLike,
    metric: MulticlassMetric = "macro_f1",
    *,
    n_draws: int = N_DRAWS,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """Posterior of a metric of a confusion matrix with K classes.

    Parameters
    ----------
    matrix : array_like, shape (K, K) or (K, K + 1)
        Non-negative counts with targets in rows, K >= 2; an additional last column counts missing predictions.
    metric : str, optional
        ``macro_f1`` (default), ``micro_f1``, ``weighted_f1`` (weighted by the share of each target), ``accuracy``,
        ``balanced_accuracy`` (mean recall), ``mcc`` (Gorodkin's R_K), ``kappa`` (Cohen's) or ``ac1`` (Gwet's). A
        missing prediction is wrong: it lowers recall and accuracy, but not precision.
    n_draws : int, optional
        Number of draws (default 20,000), whose Monte Carlo error is `mc_error`; ``accuracy`` and ``micro_f1`` are
        exact.
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0).

    Returns
    -------
    Posterior
        Posterior on [-1, 1] for ``mcc``, ``kappa`` and ``ac1``, on [0, 1] for the others.

    Raises
    ------
    DataError
        If the matrix has another shape or an entry that is negative or not finite, or the metric is unknown.

    Notes
    -----
    The prior has total mass 2: 1/K on each diagonal cell, and mass 1 spread evenly over the others. With two classes
    that is 1/2 in each cell, whereas `confusion_posterior` has 1. Draws are corrected for the bias of averages over
    classes, once at the lower end and twice at the upper end (see `_correct_bias`).

    References
    ----------
    Bowyer et al. (2025), eq. 9, extended to K classes.

    Examples
    --------
    >>> multiclass_posterior([[3, 1, 0], [0, 4, 0], [0, 0, 2]], "accuracy").mean == (9 + 1) / (10 + 2)
    True
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    counts, metric = _check_matrix(matrix), _check_metric(metric)
    masses = counts + _prior(counts.shape)
    right = float(np.trace(masses))
    missing = float(masses[:, len(masses) :].sum())
    wrong = float(masses.sum()) - right - missing
    if metric == "accuracy" or (metric == "micro_f1" and not missing):
        return BetaPosterior(right, wrong + missing)
    if metric == "micro_f1":
        return harmonic_posterior(right, (wrong, missing), (1.0, 0.5))
    return _sampled_posterior(metric, [(masses.ravel(), 1.0)], masses.shape, n_draws, rng)


def clustered_multiclass_posterior(
    targets: ArrayLike,
    predictions: ArrayLike,
    clusters: ArrayLike,
    metric: MulticlassMetric = "macro_f1",
    *,
    n_classes: int | None = None,
    n_draws: int = N_DRAWS,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """Posterior of a metric of a confusion matrix with K classes for clustered questions.

    Parameters
    ----------
    targets, predictions, n_classes
        As in `confusion_matrix`.
    clusters : array_like, shape (n_questions,)
        Cluster labels.
    metric, n_draws, rng
        As in `multiclass_posterior`.

    Returns
    -------
    Posterior
        Prefer its equal-tailed interval, see docs/methods/confusion.md.

    Raises
    ------
    DataError
        As in `confusion_matrix`, or if the metric is unknown.

    Notes
    -----
    Clusters have Dirichlet-process weights and pseudo-cells as in `clustered_confusion_posterior`, and the posterior is
    widened in the same way. Clusters of one question give `multiclass_posterior`. Accuracy and micro F1 are not
    widened, and their prior is that of `cluster_parts`.

    Examples
    --------
    >>> clusters_of_one = clustered_multiclass_posterior([0, 1, 2], [0, 1, 1], ["a", "b", "c"], "accuracy")
    >>> matrix = confusion_matrix([0, 1, 2], [0, 1, 1])
    >>> round(clusters_of_one.mean, 9) == round(multiclass_posterior(matrix, "accuracy").mean, 9)
    True
    """
    if n_classes is not None:
        check_whole(n_classes, "n_classes", 1, MAX_CLASSES)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    rng = check_rng(rng)
    metric = _check_metric(metric)
    cells, shape = _cells(targets, predictions, n_classes)
    prior = _prior(shape)
    counts = cluster_counts(cells, clusters, prior.size)
    if metric in ("accuracy", "micro_f1"):
        weights = np.ones(shape)
        if metric == "micro_f1":
            weights[:, shape[0] :] = 0.5  # a missing prediction is only missing from the recall
        return ratio_posterior(np.eye(*shape).ravel(), weights.ravel(), cluster_parts(counts, prior.ravel()))
    matrices, classes = counts.reshape(-1, *shape), np.full(shape[0], True)
    posterior = _sampled_posterior(metric, pseudo_cell_parts(matrices, prior, classes), shape, n_draws, rng)
    lowest = -1.0 if metric in _SIGNED else 0.0
    return widen_for_few_clusters(posterior, *effective_clusters(matrices, classes), lowest)


def _sampled_posterior(
    metric: MulticlassMetric, parts: list[Part], shape: tuple[int, int], n_draws: int, rng: np.random.Generator | None
) -> Posterior:
    score = _METRICS[metric]
    posterior = draws_posterior(lambda cells: score(cells.reshape(-1, *shape)), parts, n_draws=n_draws, rng=rng)
    centre = sum(masses * atoms if isinstance(atoms, float) else masses @ atoms for masses, atoms in parts)
    at_centre = float(score(np.reshape(centre, (-1, *shape)))[0])
    return _correct_bias(posterior, at_centre, 0.0 if metric not in _SIGNED else -1.0)


def _correct_bias(posterior: DrawsPosterior, centre: float, lowest: float) -> DrawsPosterior:
    """Draws shifted by b = `centre` minus their mean, once at one end and twice at the other.

    Noise in the counts lowers a mean over classes of ratios. Draws contain this noise once more than their centre, the
    score of the mean cells, and the observed counts of that centre contain it too, which the data show least if classes
    are rare. The shift therefore increases with the rank, from b at the near end to 2 b at the far end.
    """
    bias = centre - posterior.mean
    rank = (np.arange(len(posterior.draws)) + 0.5) / len(posterior.draws)
    return DrawsPosterior(np.clip(posterior.draws + bias * (1.0 + (rank if bias > 0 else 1.0 - rank)), lowest, 1.0))


def _prior(shape: tuple[int, int]) -> FloatArray:
    """Mass 1 on the diagonal and mass 1 off the diagonal, each spread evenly."""
    diagonal = np.eye(*shape)
    return np.asarray(diagonal / diagonal.sum() + (1 - diagonal) / (1 - diagonal).sum())


def _margins(matrix: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Right answers, targets and predictions of each class, each of shape (n, K)."""
    n_classes = matrix.shape[1]
    return np.einsum("nkk->nk", matrix[:, :, :n_classes]), matrix.sum(axis=2), matrix.sum(axis=1)[:, :n_classes]


def _macro_f1(matrix: FloatArray) -> FloatArray:
    right, targets, predictions = _margins(matrix)
    present = targets + predictions > 0
    return divide(divide(2 * right, targets + predictions).sum(axis=1), present.sum(axis=1).astype(float))


def _weighted_f1(matrix: FloatArray) -> FloatArray:
    right, targets, predictions = _margins(matrix)
    return divide((targets * divide(2 * right, targets + predictions)).sum(axis=1), targets.sum(axis=1))


def _micro_f1(matrix: FloatArray) -> FloatArray:
    right, targets, predictions = _margins(matrix)
    return divide(2 * right.sum(axis=1), (targets + predictions).sum(axis=1))


def _accuracy(matrix: FloatArray) -> FloatArray:
    right, targets, _ = _margins(matrix)
    return divide(right.sum(axis=1), targets.sum(axis=1))


def _balanced_accuracy(matrix: FloatArray) -> FloatArray:
    right, targets, _ = _margins(matrix)
    return divide(divide(right, targets).sum(axis=1), (targets > 0).sum(axis=1).astype(float))


def _mcc(matrix: FloatArray) -> FloatArray:
    """(c s - t . p) / sqrt((s^2 - p . p) (s^2 - t . t)), Gorodkin (2004); missing predictions are a further class."""
    right, targets, predictions = _margins(matrix)
    s, given = targets.sum(axis=1), matrix.sum(axis=1)
    above = right.sum(axis=1) * s - (targets * predictions).sum(axis=1)
    spread = (s**2 - (given**2).sum(axis=1)) * (s**2 - (targets**2).sum(axis=1))
    return divide(above, np.sqrt(np.maximum(spread, 0.0)))


def _kappa(matrix: FloatArray) -> FloatArray:
    right, targets, predictions = _margins(matrix)
    s = targets.sum(axis=1)
    chance = (targets * predictions).sum(axis=1)
    return divide(right.sum(axis=1) * s - chance, s**2 - chance)


def _ac1(matrix: FloatArray) -> FloatArray:
    """(p - e) / (1 - e) with e = sum_k pi_k (1 - pi_k) / (K - 1), pi_k the mean of both margins; Gwet (2008), eq. 3."""
    right, targets, predictions = _margins(matrix)
    s = targets.sum(axis=1)
    shares = (targets + predictions) / np.maximum(2 * s, 1e-300)[:, None]
    chance = (shares * (1 - shares)).sum(axis=1) / (matrix.shape[1] - 1)
    return divide(divide(right.sum(axis=1), s) - chance, 1 - chance)


_MAX_CLASSES = 4096  # a matrix of 128 MB

_SIGNED = frozenset({"mcc", "kappa", "ac1"})
_METRICS: dict[MulticlassMetric, Callable[[FloatArray], FloatArray]] = {
    "macro_f1": _macro_f1,
    "micro_f1": _micro_f1,
    "weighted_f1": _weighted_f1,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "mcc": _mcc,
    "kappa": _kappa,
    "ac1": _ac1,
}


def _cells(targets: ArrayLike, predictions: ArrayLike, n_classes: int | None) -> tuple[IntArray, tuple[int, int]]:
    """Cell of each question in the flattened matrix, and the shape of that matrix."""
    t, p = _check_labels(targets, "targets"), _check_labels(predictions, "predictions")
    if t.shape != p.shape or not t.size:
        raise DataError(f"targets and predictions must have one length > 0; got {t.size} and {p.size}")
    if t.min() < 0:
        raise DataError(f"targets must be classes 0 to K - 1; position {int(t.argmin())} is {t.min()}")
    largest = int(max(t.max(), p.max()))
    n = largest + 1 if n_classes is None else n_classes
    if not 2 <= n <= _MAX_CLASSES:
        raise DataError(f"targets and predictions must have 2 to {_MAX_CLASSES} classes (n_classes); got {n}")
    if largest >= n:
        raise DataError(f"n_classes must be greater than the largest class {largest}; got {n}")
    n_columns = n + bool((p < 0).any())
    return t * n_columns + np.where(p < 0, n, p), (n, n_columns)


def _check_labels(labels: ArrayLike, name: str) -> IntArray:
    array = check_finite(labels, name, 1)
    bad = array[(array % 1 > 0) | (np.abs(array) > MAX_EXACT_COUNT)]
    if bad.size:
        raise DataError(f"{name} must be one list of whole numbers; got {bad[0]}")
    return array.astype(np.int64)


def _check_metric(metric: MulticlassMetric) -> MulticlassMetric:
    if metric not in get_args(MulticlassMetric):
        raise DataError(f"metric must be one of {', '.join(sorted(get_args(MulticlassMetric)))}; got {metric!r}")
    return metric


def _check_matrix(matrix: ArrayLike) -> FloatArray:
    counts = as_floats(matrix, "matrix")
    if counts.ndim != 2 or counts.shape[0] < 2 or counts.shape[1] - counts.shape[0] not in (0, 1):
        raise DataError(f"a confusion matrix has shape (K, K) or (K, K+1), K >= 2; got {counts.shape}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise DataError(f"a confusion matrix must have finite counts >= 0; got {counts.min()} to {counts.max()}")
    return counts
