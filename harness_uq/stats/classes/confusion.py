"""Posteriors of metrics of a binary confusion matrix, such as F1, precision, recall and MCC.

The cells (TP, FP, FN, TN) have the prior Dirichlet(1, 1, 1, 1) (Bowyer et al. 2025, eq. 9). Prevalence is part of that
model. If it was fixed by design, precision, F1 and MCC are conditional on it.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes.clustered_confusion import effective_clusters, pseudo_cell_parts, widen_for_few_clusters
from harness_uq.stats.classes.dirichlet import (
    N_DRAWS,
    cluster_parts,
    draws_posterior,
    geometric_posterior,
    harmonic_posterior,
    mapped_beta,
    mean_of_betas_posterior,
    ratio_posterior,
)
from harness_uq.stats.common.posterior import BetaPosterior, Posterior, ScaledPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, broadcast_floats, validated_codes
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_number, check_whole

ConfusionMetric = Literal[
    "f1", "f_beta", "precision", "recall", "specificity", "accuracy", "balanced_accuracy", "informedness", "g", "mcc"
]

_PRIOR = np.ones(4)
# numerator and denominator of metrics that are ratios of sums of the cells TP, FP, FN, TN
_RATIOS = {
    "f1": ([2, 0, 0, 0], [2, 1, 1, 0]),
    "precision": ([1, 0, 0, 0], [1, 1, 0, 0]),
    "recall": ([1, 0, 0, 0], [1, 0, 1, 0]),
    "specificity": ([0, 0, 0, 1], [0, 1, 0, 1]),
    "accuracy": ([1, 0, 0, 1], [1, 1, 1, 1]),
}
_BY_TARGET = [3, 1, 2, 0]  # order of the cells TP, FP, FN, TN in a flattened matrix by target and prediction, and back
# classes whose precision or recall enters the metric, if not only the positive class
_CLASSES = {"specificity": (0,), "balanced_accuracy": (0, 1), "informedness": (0, 1), "mcc": (0, 1)}


def confusion_score(
    tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, metric: ConfusionMetric = "f1", *, beta: float = 1.0
) -> FloatArray:
    """Metric of a binary confusion matrix; 0 if its denominator is 0, as in scikit-learn.

    Parameters
    ----------
    tp, fp, fn, tn : array_like
        Non-negative counts that broadcast together.
    metric, beta
        As in `confusion_posterior`.

    Returns
    -------
    ndarray
        Values in [-1, 1] for ``informedness`` and ``mcc``, in [0, 1] for the others.

    Raises
    ------
    DataError
        If a count is negative or not finite, the metric is unknown, or `beta` is not positive.

    Examples
    --------
    Precision and recall are both 6/8:

    >>> float(confusion_score(6, 2, 2, 90))
    0.75
    """
    check_number(beta, "beta", above=0)
    _check_metric(metric)
    return _score(_check_cells(tp, fp, fn, tn), metric, beta)


def confusion_posterior(
    tp: float,
    fp: float,
    fn: float,
    tn: float,
    metric: ConfusionMetric = "f1",
    *,
    beta: float = 1.0,
    n_draws: int = 10 * N_DRAWS,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """Posterior of a metric of a binary confusion matrix under the prior Dirichlet(1, 1, 1, 1).

    Parameters
    ----------
    tp, fp, fn, tn : float
        Non-negative numbers of true positives, false positives, false negatives and true negatives.
    metric : str, optional
        ``f1`` (default), ``f_beta``, ``precision``, ``recall``, ``specificity``, ``accuracy``, ``balanced_accuracy``,
        ``informedness`` = recall + specificity - 1, ``g`` = sqrt(precision * recall), or ``mcc``.
    beta : float, optional
        Positive weight of recall in ``f_beta`` (default 1).
    n_draws : int, optional
        Number of draws for ``mcc``, whose posterior has an `mc_error`; the other metrics are exact.
    rng : numpy.random.Generator, optional
        Random generator for ``mcc`` (default: seed 0).

    Returns
    -------
    Posterior
        Posterior on [-1, 1] for ``informedness`` and ``mcc``, on [0, 1] for the others.

    Raises
    ------
    DataError
        If a count is negative or not finite, the metric is unknown, or `beta` is not positive.

    Notes
    -----
    Precision, recall, specificity and accuracy are Betas. J = TP / (TP + FP + FN) is Beta(N_TP + 1, N_FP + N_FN + 2),
    and F1 = 2 J / (1 + J). F_beta, g, balanced accuracy and informedness need one integral each. MCC is sampled.

    References
    ----------
    Bowyer et al. (2025), eq. 9.

    Examples
    --------
    >>> confusion_posterior(8, 2, 1, 9, "precision").mean == (8 + 1) / (8 + 2 + 2)
    True
    """
    check_number(beta, "beta", above=0)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    _check_metric(metric)
    masses = _check_cells(tp, fp, fn, tn) + _PRIOR
    if masses.ndim != 1:
        raise DataError(f"tp, fp, fn and tn must belong to one confusion matrix; got shape {masses.shape[:-1]}")
    a, b, c, d = map(float, masses)
    match metric:
        case "f1":
            return mapped_beta(BetaPosterior(a, b + c), lambda j: 2 * j / (1 + j), _jaccard_of_f1)
        case "f_beta":
            return harmonic_posterior(a, (b, c), (1 / (1 + beta**2), beta**2 / (1 + beta**2)))
        case "g":
            return geometric_posterior(a, (b, c))
        case "balanced_accuracy":
            return mean_of_betas_posterior((a, c), (d, b))
        case "informedness":
            return ScaledPosterior(mean_of_betas_posterior((a, c), (d, b)), 2.0, -1.0)
        case "mcc":
            return draws_posterior(_mcc, [(masses, 1.0)], n_draws=n_draws, rng=rng)
    numerator, denominator = _ratio_form(metric, beta)
    return BetaPosterior(float(masses @ numerator), float(masses @ (denominator - numerator)))


def clustered_confusion_posterior(
    targets: ArrayLike,
    predictions: ArrayLike,
    clusters: ArrayLike,
    metric: ConfusionMetric = "f1",
    *,
    beta: float = 1.0,
    n_draws: int = N_DRAWS,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """Posterior of a binary confusion metric for clustered questions.

    Parameters
    ----------
    targets, predictions : array_like, shape (n_questions,)
        Classes, 0 or 1.
    clusters : array_like, shape (n_questions,)
        Cluster labels.
    metric, beta
        As in `confusion_posterior`.
    n_draws : int, optional
        Number of draws for ``balanced_accuracy``, ``informedness``, ``g`` and ``mcc``, whose posteriors have an
        `mc_error`; the other metrics are exact.
    rng : numpy.random.Generator, optional
        Random generator for the same metrics (default: seed 0).

    Returns
    -------
    Posterior
        Prefer its equal-tailed interval, see docs/methods/confusion.md.

    Raises
    ------
    DataError
        If lengths differ, there is no question, a value is not 0 or 1, the metric is unknown, or `beta` is not
        positive.

    Notes
    -----
    The posterior is that of the metric of sum_t w_t c_t with the cells c_t of cluster t and Dirichlet-process weights
    w, with mass 1 per cluster. The prior consists of one pseudo-cell of mass 1 per cell, whose size is that cell's
    plausible share of a mean cluster (`pseudo_cell_parts`). The posterior is widened around its median if few clusters
    have questions of the positive class (`WidenedPosterior`). Clusters of one question give `confusion_posterior`.
    Ratios of sums of cells (``f1``, ``f_beta``, ``precision``, ``recall``, ``specificity``, ``accuracy``) are exact, by
    one contour integral. Accuracy is not widened, and its prior is that of `cluster_parts`.

    Examples
    --------
    >>> clusters_of_one = clustered_confusion_posterior([1, 1, 0], [1, 0, 0], ["a", "b", "c"], "accuracy")
    >>> round(clusters_of_one.mean, 9) == round(confusion_posterior(1, 0, 1, 1, "accuracy").mean, 9)
    True
    """
    check_number(beta, "beta", above=0)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    _check_metric(metric)
    truth, predicted = _check_binary(targets, "targets"), _check_binary(predictions, "predictions")
    if truth.shape != predicted.shape:
        raise DataError(f"targets and predictions differ in length: {truth.size} and {predicted.size}")
    counts = cluster_counts(2 * truth + predicted, clusters, 4)
    if metric == "accuracy":
        return ratio_posterior(np.array([1.0, 0.0, 0.0, 1.0]), np.ones(4), cluster_parts(counts, _PRIOR))
    matrices, classes = counts.reshape(-1, 2, 2), np.isin((0, 1), _CLASSES.get(metric, (1,)))
    parts = pseudo_cell_parts(matrices, np.ones((2, 2)), classes)
    posterior: Posterior
    if metric == "f_beta" or metric in _RATIOS:
        numerator, denominator = _ratio_form(metric, beta)
        posterior = ratio_posterior(numerator[_BY_TARGET], denominator[_BY_TARGET], parts)
    else:
        posterior = draws_posterior(
            lambda cells: _score(cells[:, _BY_TARGET], metric, beta), parts, n_draws=n_draws, rng=rng
        )
    lowest = -1.0 if metric in ("mcc", "informedness") else 0.0
    return widen_for_few_clusters(posterior, *effective_clusters(matrices, classes), lowest)


def cluster_counts(cells: IntArray, clusters: ArrayLike, n_scores: int) -> FloatArray:
    """Number of questions of each cluster in each cell.

    The cell of each question is in 0..n_scores - 1; the counts are (n_clusters, n_scores).
    """
    index = validated_codes(clusters, cells.shape)
    if not cells.size:
        raise DataError("targets, predictions and clusters must have at least one question")
    n_clusters = int(index.max()) + 1
    return np.bincount(index * n_scores + cells, minlength=n_clusters * n_scores).reshape(-1, n_scores).astype(float)


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Elementwise ratio, 0 if the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(denominator)), where=denominator > 0)


def _score(cells: FloatArray, metric: ConfusionMetric, beta: float) -> FloatArray:
    """Metric of cells with shape (..., 4)."""
    if metric in _OTHERS:
        return _OTHERS[metric](cells)
    numerator, denominator = _ratio_form(metric, beta)
    return divide(cells @ numerator, cells @ denominator)


def _ratio_form(metric: ConfusionMetric, beta: float) -> tuple[FloatArray, FloatArray]:
    if metric == "f_beta":
        return np.array([1 + beta**2, 0.0, 0.0, 0.0]), np.array([1 + beta**2, 1.0, beta**2, 0.0])
    numerator, denominator = _RATIOS[metric]
    return np.array(numerator, float), np.array(denominator, float)


def _balanced_accuracy(cells: FloatArray) -> FloatArray:
    return (_score(cells, "recall", 1.0) + _score(cells, "specificity", 1.0)) / 2


def _mcc(cells: FloatArray) -> FloatArray:
    a, b, c, d = np.moveaxis(cells, -1, 0)
    return divide(a * d - b * c, np.sqrt((a + b) * (a + c)) * np.sqrt((d + b) * (d + c)))


_OTHERS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "balanced_accuracy": _balanced_accuracy,
    "informedness": lambda cells: 2 * _balanced_accuracy(cells) - 1,
    "g": lambda cells: np.sqrt(_score(cells, "precision", 1.0) * _score(cells, "recall", 1.0)),
    "mcc": _mcc,
}


def _jaccard_of_f1(f1: FloatArray) -> FloatArray:
    inside = np.clip(f1, 0.0, 1.0)
    return np.asarray(inside / (2 - inside))


def _check_metric(metric: str) -> None:
    if metric not in get_args(ConfusionMetric):
        raise DataError(f"metric must be one of {', '.join(sorted(get_args(ConfusionMetric)))}; got {metric!r}")


def _check_cells(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> FloatArray:
    cells = np.stack(broadcast_floats(tp=tp, fp=fp, fn=fn, tn=tn), axis=-1)
    bad = ~(np.isfinite(cells) & (cells >= 0)).all(axis=-1)
    if bad.any():
        raise DataError(f"tp, fp, fn and tn must be finite and non-negative; got {cells[bad][0].tolist()}")
    return cells


def _check_binary(values: ArrayLike, name: str) -> IntArray:
    array = as_floats(values, name)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        wrong = array[~np.isin(array, (0, 1))]
        got = f"shape {array.shape}" if array.ndim != 1 else repr(wrong[0].item())
        raise DataError(
            f"{name} must be a list of 0 and 1; got {got}; for more classes see clustered_multiclass_posterior"
        )
    return array.astype(np.int64)
