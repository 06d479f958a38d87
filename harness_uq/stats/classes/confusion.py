"""Posteriors of the metrics of a binary confusion matrix: F1, precision, recall, MCC and their kin.

The cells (TP, FP, FN, TN) have the prior Dirichlet(1, 1, 1, 1) (Bowyer et al. 2025, eq. 9). Prevalence is part of that
model: where it was fixed by design, precision, F1 and MCC are conditional on it.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.classes.dirichlet import (
    N_DRAWS,
    MappedPosterior,
    cluster_parts,
    draws_posterior,
    geometric_posterior,
    harmonic_posterior,
    mapped_beta,
    mean_of_betas_posterior,
    ratio_posterior,
)
from harness_uq.stats.common.arrays import FloatArray, IntArray, check_level, fitted, label_codes, numbers
from harness_uq.stats.common.posterior import BetaPosterior, Posterior
from harness_uq.stats.common.scalars import MOST_DRAWS, check_number, check_whole

ConfusionMetric = Literal[
    "f1",
    "f_beta",
    "precision",
    "recall",
    "specificity",
    "accuracy",
    "balanced_accuracy",
    "informedness",
    "g",
    "mcc",
]

_PRIOR = np.ones(4)
# numerator and denominator of the metrics that are ratios of sums of cells, in the order TP, FP, FN, TN
_RATIOS = {
    "f1": ([2, 0, 0, 0], [2, 1, 1, 0]),
    "precision": ([1, 0, 0, 0], [1, 1, 0, 0]),
    "recall": ([1, 0, 0, 0], [1, 0, 1, 0]),
    "specificity": ([0, 0, 0, 1], [0, 1, 0, 1]),
    "accuracy": ([1, 0, 0, 1], [1, 1, 1, 1]),
}


def confusion_score(
    tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, metric: ConfusionMetric = "f1", *, beta: float = 1.0
) -> FloatArray:
    """The plain metric of counts, as harnesses print it; 0 where its denominator is 0, as in scikit-learn.

    Parameters
    ----------
    tp, fp, fn, tn : array_like, broadcast together; counts, >= 0
    metric, beta : as in `confusion_posterior`

    Returns
    -------
    ndarray, in [-1, 1] for `informedness` and `mcc`, in [0, 1] for the others

    Raises
    ------
    DataError : a count that is negative or not finite, an unknown metric, beta <= 0

    >>> float(confusion_score(6, 2, 2, 90))  # precision and recall are both 6/8
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
    tp, fp, fn, tn : counts, >= 0; true positives, false positives, false negatives, true negatives
    metric : `f1`, `f_beta`, `precision`, `recall`, `specificity`, `accuracy`, `balanced_accuracy`,
        `informedness` = recall + specificity - 1, `g` = sqrt(precision * recall), `mcc`
    beta : weight of recall in `f_beta`, > 0; ignored by the other metrics
    n_draws, rng : draws of `mcc` (rng None is a fixed seed), whose posterior states its `mc_error`; ignored by the
        other metrics, which are exact

    Returns
    -------
    Posterior, on [-1, 1] for `informedness` and `mcc`, on [0, 1] for the others

    Raises
    ------
    DataError : a count that is negative or not finite, an unknown metric, beta <= 0

    Bowyer et al. (2025), eq. 9. Precision, recall, specificity and accuracy are Betas. TP / (TP + FP + FN) = J is
    Beta(N_TP + 1, N_FP + N_FN + 2) and F1 = 2 J / (1 + J). F_beta, g, balanced accuracy and informedness are one
    integral each, done by quadrature. MCC is drawn.

    >>> confusion_posterior(8, 2, 1, 9, "precision").mean == (8 + 1) / (8 + 2 + 2)
    True
    """
    check_number(beta, "beta", above=0)
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    _check_metric(metric)
    masses = _check_cells(tp, fp, fn, tn) + _PRIOR
    if masses.ndim != 1:
        raise DataError(f"tp, fp, fn and tn must be those of one confusion matrix; got shape {masses.shape[:-1]}")
    a, b, c, d = map(float, masses)
    match metric:
        case "f1":
            return mapped_beta(BetaPosterior(a, b + c), _f1_of_jaccard, _jaccard_of_f1)
        case "f_beta":
            return harmonic_posterior(a, (b, c), (1 / (1 + beta**2), beta**2 / (1 + beta**2)))
        case "g":
            return geometric_posterior(a, (b, c))
        case "balanced_accuracy":
            return mean_of_betas_posterior((a, c), (d, b))
        case "informedness":
            mean = mean_of_betas_posterior((a, c), (d, b))
            return MappedPosterior(mean, _doubled, _halved, mean=2 * mean.mean - 1, sd=2 * mean.sd)
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
    """Posterior of a binary confusion metric where questions come in clusters.

    Parameters
    ----------
    targets, predictions : shape (n_questions,), 0 or 1
    clusters : shape (n_questions,); label of the cluster of each question
    metric, beta : as in `confusion_posterior`
    n_draws, rng : draws of `balanced_accuracy`, `informedness`, `g` and `mcc` (rng None is a fixed seed), whose
        posteriors state their `mc_error`; ignored by the other metrics, which are exact

    Returns
    -------
    Posterior; prefer its quantile interval, see docs/methods/confusion.md

    Raises
    ------
    DataError : lengths that differ, no question, values other than 0 and 1, an unknown metric, beta <= 0

    Dirichlet-process weights on clusters: the metric of sum_t w_t c_t with c_t the cells of cluster t and w Dirichlet,
    one unit of mass a cluster. The prior is one pseudo-cluster of the mean size m, a quarter of it in each cell, and
    3 / (4 m) pseudo-questions in each cell; clusters of one give `confusion_posterior`. Ratios of sums of cells (`f1`,
    `f_beta`, `precision`, `recall`, `specificity`, `accuracy`) are exact, by one contour integral.

    >>> alone = clustered_confusion_posterior([1, 1, 0], [1, 0, 0], ["a", "b", "c"], "accuracy")
    >>> round(alone.mean, 9) == round(confusion_posterior(1, 0, 1, 1, "accuracy").mean, 9)
    True
    """
    check_number(beta, "beta", above=0)
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    _check_metric(metric)
    truth, found = _check_binary(targets, "targets"), _check_binary(predictions, "predictions")
    if truth.shape != found.shape:
        raise DataError(f"targets and predictions differ in length: {truth.size} and {found.size}")
    parts = cluster_parts(cluster_counts(2 * (1 - found) + (1 - truth), clusters, 4), _PRIOR)
    if metric == "f_beta" or metric in _RATIOS:
        return ratio_posterior(*_ratio_form(metric, beta), parts)
    return draws_posterior(lambda cells: _score(cells, metric, beta), parts, n_draws=n_draws, rng=rng)


def f1_delta_interval(
    tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Confidence interval of F1 by the delta method, for comparison only.

    Parameters
    ----------
    tp, fp, fn : array_like, broadcast together; counts, >= 0
    level : float in (0, 1); coverage aimed at

    Returns
    -------
    low, high : ndarray; they can leave [0, 1], and coincide where F1 is 0 or 1

    Raises
    ------
    NotEstimableError : no positive target and no positive prediction, where F1 is 0/0
    DataError : a count that is negative or not finite

    F1 -+ z sqrt(F1 (1 - F1) (2 - F1) / (2 N_TP + N_FP + N_FN)), Bowyer et al. (2025), eqs. 40 and 41.

    >>> low, high = f1_delta_interval(6, 2, 2)  # se = sqrt(.75 * .25 * 1.25 / 16)
    >>> round(float(high - 0.75) / 1.959964, 6)
    0.121031
    """
    cells = _check_cells(tp, fp, fn, 0)
    total = cells @ np.array(_RATIOS["f1"][1])
    if (total == 0).any():
        raise NotEstimableError("F1 is 0/0 where there is no positive target and no positive prediction")
    f1 = _score(cells, "f1", 1.0)
    half = special.ndtri((1 + check_level(level)) / 2) * np.sqrt(f1 * (1 - f1) * (2 - f1) / total)
    return f1 - half, f1 + half


def cluster_counts(cells: IntArray, clusters: ArrayLike, n_cells: int) -> FloatArray:
    """Number of questions of each cluster in each cell, shape (n_clusters, n_cells).

    Parameters
    ----------
    cells : shape (n_questions,); cell of each question, in 0..n_cells - 1
    clusters : shape (n_questions,); labels
    """
    index = label_codes(clusters, cells.shape)
    if not cells.size:
        raise DataError("clusters, and all else, need at least one question; got none")
    n_clusters = int(index.max()) + 1
    return np.bincount(index * n_cells + cells, minlength=n_clusters * n_cells).reshape(-1, n_cells).astype(float)


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Elementwise ratio, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(denominator)), where=denominator > 0)


def _score(cells: FloatArray, metric: ConfusionMetric, beta: float) -> FloatArray:
    """The metric of cells (..., 4)."""
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


def _informedness(cells: FloatArray) -> FloatArray:
    return _doubled(_balanced_accuracy(cells))


def _g(cells: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(_score(cells, "precision", 1.0) * _score(cells, "recall", 1.0)))


def _mcc(cells: FloatArray) -> FloatArray:
    a, b, c, d = np.moveaxis(cells, -1, 0)
    return divide(a * d - b * c, np.sqrt((a + b) * (a + c)) * np.sqrt((d + b) * (d + c)))


_OTHERS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "balanced_accuracy": _balanced_accuracy,
    "informedness": _informedness,
    "g": _g,
    "mcc": _mcc,
}


def _f1_of_jaccard(j: FloatArray) -> FloatArray:
    return 2 * j / (1 + j)


def _jaccard_of_f1(f1: FloatArray) -> FloatArray:
    inside = np.clip(f1, 0.0, 1.0)
    return np.asarray(inside / (2 - inside))


def _doubled(x: FloatArray) -> FloatArray:
    return 2 * x - 1


def _halved(x: FloatArray) -> FloatArray:
    return np.clip((x + 1) / 2, 0.0, 1.0)


def _check_metric(metric: str) -> None:
    if metric not in get_args(ConfusionMetric):
        raise DataError(f"metric must be one of {', '.join(sorted(get_args(ConfusionMetric)))}; got {metric!r}")


def _check_cells(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> FloatArray:
    cells = np.stack(fitted(tp=tp, fp=fp, fn=fn, tn=tn), axis=-1)
    bad = ~(np.isfinite(cells) & (cells >= 0)).all(axis=-1)
    if bad.any():
        raise DataError(f"tp, fp, fn and tn must be finite and not negative; got {cells[bad][0].tolist()}")
    return cells


def _check_binary(values: ArrayLike, name: str) -> IntArray:
    array = numbers(values, name)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        wrong = array[~np.isin(array, (0, 1))]
        got = f"shape {array.shape}" if array.ndim != 1 else repr(wrong[0].item())
        raise DataError(
            f"{name} must be a list of 0 and 1; got {got}; for more classes see clustered_multiclass_posterior"
        )
    return array.astype(np.int64)
