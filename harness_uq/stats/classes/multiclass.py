"""Posteriors of the metrics of a confusion matrix with K classes: macro F1, micro F1, kappa, multi-class MCC.

The K x K cells have a Dirichlet prior of total mass 2: 1/K on each diagonal cell, 1 / (K (K-1)) on each other one. So
accuracy is Beta(1 + right, 1 + wrong) for every K; one pseudo-count a cell, of mass K^2, would bury the data.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.errors import DataError
from harness_uq.stats.classes.confusion import cluster_counts, divide
from harness_uq.stats.classes.dirichlet import (
    N_DRAWS,
    Part,
    cluster_parts,
    draws_posterior,
    harmonic_posterior,
    ratio_posterior,
)
from harness_uq.stats.common.arrays import MOST, FloatArray, IntArray, check_finite, numbers
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior, Posterior
from harness_uq.stats.common.scalars import MOST_CLASSES, MOST_DRAWS, check_whole, generator

MulticlassMetric = Literal["macro_f1", "micro_f1", "weighted_f1", "accuracy", "balanced_accuracy", "mcc", "kappa"]


def confusion_matrix(targets: ArrayLike, predictions: ArrayLike, *, n_classes: int | None = None) -> FloatArray:
    """Count questions by target (row) and prediction (column).

    Parameters
    ----------
    targets : shape (n_questions,), whole numbers 0..K-1
    predictions : shape (n_questions,), whole numbers; negative where the prediction is missing or is no class
    n_classes : K; None is one more than the largest class seen

    Returns
    -------
    ndarray, shape (K, K), or (K, K+1) with missing predictions in the last column where there are any

    Raises
    ------
    DataError : lengths that differ, no question, numbers that are not whole, classes outside 0..K-1, K < 2

    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, -1]).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    if n_classes is not None:
        check_whole(n_classes, "n_classes", 1, MOST_CLASSES)
    cells, shape = _cells(targets, predictions, n_classes)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def multiclass_score(matrix: ArrayLike, metric: MulticlassMetric = "macro_f1") -> float:
    """The plain metric of a confusion matrix, as scikit-learn defines it.

    Parameters
    ----------
    matrix : shape (K, K), or (K, K+1) with missing predictions last; counts, targets in rows
    metric : as in `multiclass_posterior`

    Returns
    -------
    float; classes with neither targets nor predictions are left out of averages, a ratio 0/0 is 0

    >>> round(multiclass_score([[8, 2], [2, 8]], "kappa"), 12)  # agreement .8, .5 by chance
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
    matrix : shape (K, K), or (K, K+1) with missing predictions last; counts >= 0, targets in rows, K >= 2
    metric : `macro_f1`, `micro_f1`, `weighted_f1` (by the share of each target), `accuracy`, `balanced_accuracy` (mean
        recall), `mcc` (Gorodkin's R_K), `kappa` (Cohen's). A missing prediction is wrong: it counts against recall
        and accuracy, not against precision
    n_draws, rng : draws (rng None is a fixed seed), whose posterior states its `mc_error`; `accuracy` and `micro_f1`
        are exact and ignore them

    Returns
    -------
    Posterior, on [-1, 1] for `mcc` and `kappa`, on [0, 1] for the others

    Raises
    ------
    DataError : a matrix of another shape or with negative or non-finite entries, an unknown metric

    Bowyer et al. (2025), eq. 9, extended to K classes with a prior of total mass 2: 1/K on each diagonal cell, mass 1
    spread evenly over all others. Two classes under this prior have 1/2 in each cell; `confusion_posterior` has 1.
    Draws are moved by what averaging over classes costs, once at the low end and twice at the high one.

    >>> multiclass_posterior([[3, 1, 0], [0, 4, 0], [0, 0, 2]], "accuracy").mean == (9 + 1) / (10 + 2)
    True
    """
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    rng = generator(rng)
    counts, metric = _check_matrix(matrix), _check_metric(metric)
    masses = counts + _prior(counts.shape)
    right = float(np.trace(masses))
    missing = float(masses[:, len(masses) :].sum())
    wrong = float(masses.sum()) - right - missing
    if metric == "accuracy" or (metric == "micro_f1" and not missing):
        return BetaPosterior(right, wrong + missing)
    if metric == "micro_f1":
        return harmonic_posterior(right, (wrong, missing), (1.0, 0.5))
    return _drawn(metric, [(masses.ravel(), 1.0)], masses.shape, n_draws, rng)


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
    """Posterior of a metric of a confusion matrix with K classes where questions come in clusters.

    Parameters
    ----------
    targets, predictions, n_classes : as in `confusion_matrix`
    clusters : shape (n_questions,); label of the cluster of each question
    metric, n_draws, rng : as in `multiclass_posterior`

    Returns
    -------
    Posterior; prefer its quantile interval, see docs/methods/confusion.md

    Raises
    ------
    DataError : as `confusion_matrix`; an unknown metric

    Dirichlet-process weights on clusters as in `clustered_confusion_posterior`, with the prior of
    `multiclass_posterior`: half of it as one pseudo-cluster of the mean size. Clusters of one give that posterior.

    >>> alone = clustered_multiclass_posterior([0, 1, 2], [0, 1, 1], ["a", "b", "c"], "accuracy")
    >>> round(alone.mean, 9) == round(multiclass_posterior(confusion_matrix([0, 1, 2], [0, 1, 1]), "accuracy").mean, 9)
    True
    """
    if n_classes is not None:
        check_whole(n_classes, "n_classes", 1, MOST_CLASSES)
    check_whole(n_draws, "n_draws", 1, MOST_DRAWS)
    rng = generator(rng)
    metric = _check_metric(metric)
    cells, shape = _cells(targets, predictions, n_classes)
    prior = _prior(shape)
    parts = cluster_parts(cluster_counts(cells, clusters, prior.size), prior.ravel())
    if metric == "accuracy":
        return ratio_posterior(_diagonal(shape), np.ones(prior.size), parts)
    if metric == "micro_f1":
        answered = np.concatenate([np.full(shape, 1.0)[:, : shape[0]], np.full(shape, 0.5)[:, shape[0] :]], axis=1)
        return ratio_posterior(_diagonal(shape), answered.ravel(), parts)
    return _drawn(metric, parts, shape, n_draws, rng)


def _drawn(
    metric: MulticlassMetric, parts: list[Part], shape: tuple[int, int], n_draws: int, rng: np.random.Generator | None
) -> Posterior:
    score = _METRICS[metric]

    def of(cells: FloatArray) -> FloatArray:
        return score(cells.reshape(-1, *shape))

    drawn = draws_posterior(of, parts, n_draws=n_draws, rng=rng)
    centre = sum(masses * atoms if isinstance(atoms, float) else masses @ atoms for masses, atoms in parts)
    return _without_loss(drawn, float(of(np.asarray(centre))[0]), 0.0 if metric not in _SIGNED else -1.0)


def _without_loss(drawn: DrawsPosterior, centre: float, lowest: float) -> DrawsPosterior:
    """Draws moved by what averaging over them costs, b = `centre` less their mean: once at one end, twice at the other.

    A mean over classes of ratios of counts falls with the counts' noise. Draws have that noise once more than their
    centre, the score of the mean cells, and that centre's counts have it too, which the data show least where classes
    are rare: from one b at the near end to two at the far one, in proportion to the rank.
    """
    lost = centre - drawn.mean
    rank = (np.arange(len(drawn.draws)) + 0.5) / len(drawn.draws)
    return DrawsPosterior(np.clip(drawn.draws + lost * (1.0 + (rank if lost > 0 else 1.0 - rank)), lowest, 1.0))


def _prior(shape: tuple[int, int]) -> FloatArray:
    """Mass 1 on the diagonal and mass 1 off it, each spread evenly."""
    diagonal = np.eye(*shape)
    return np.asarray(diagonal / diagonal.sum() + (1 - diagonal) / (1 - diagonal).sum())


def _diagonal(shape: tuple[int, int]) -> FloatArray:
    return np.eye(*shape).ravel()


def _margins(matrix: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Right answers, targets and predictions of each class, each (n, K)."""
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
    """(c s - t . p) / sqrt((s^2 - p . p) (s^2 - t . t)), Gorodkin (2004); missing predictions are one more class."""
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


_MOST_CLASSES = 4096  # a matrix of 128 MB

_SIGNED = frozenset({"mcc", "kappa"})
_METRICS: dict[MulticlassMetric, Callable[[FloatArray], FloatArray]] = {
    "macro_f1": _macro_f1,
    "micro_f1": _micro_f1,
    "weighted_f1": _weighted_f1,
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "mcc": _mcc,
    "kappa": _kappa,
}


def _cells(targets: ArrayLike, predictions: ArrayLike, n_classes: int | None) -> tuple[IntArray, tuple[int, int]]:
    """Cell of each question in the flattened matrix, and the shape of that matrix."""
    t, p = _check_labels(targets, "targets"), _check_labels(predictions, "predictions")
    if t.shape != p.shape or not t.size:
        raise DataError(f"targets and predictions must have one length > 0; got {t.size} and {p.size}")
    if t.min() < 0:
        raise DataError(f"targets must be classes 0..K-1; position {int(t.argmin())} holds {t.min()}")
    largest = int(max(t.max(), p.max()))
    n = largest + 1 if n_classes is None else n_classes
    if not 2 <= n <= _MOST_CLASSES:
        raise DataError(f"n_classes, or the targets' and predictions', must be 2 to {_MOST_CLASSES}; got {n}")
    if largest >= n:
        raise DataError(f"n_classes must be at least 2 and above the largest class {largest}; got {n}")
    n_columns = n + bool((p < 0).any())
    return t * n_columns + np.where(p < 0, n, p), (n, n_columns)


def _check_labels(labels: ArrayLike, name: str) -> IntArray:
    array = check_finite(labels, name, 1)
    bad = array[(array % 1 > 0) | (np.abs(array) > MOST)]
    if bad.size:
        raise DataError(f"{name} must be one list of whole numbers; got {bad[0]}")
    return array.astype(np.int64)


def _check_metric(metric: MulticlassMetric) -> MulticlassMetric:
    if metric not in get_args(MulticlassMetric):
        raise DataError(f"metric must be one of {', '.join(sorted(get_args(MulticlassMetric)))}; got {metric!r}")
    return metric


def _check_matrix(matrix: ArrayLike) -> FloatArray:
    counts = numbers(matrix, "matrix")
    if counts.ndim != 2 or counts.shape[0] < 2 or counts.shape[1] - counts.shape[0] not in (0, 1):
        raise DataError(f"a confusion matrix has shape (K, K) or (K, K+1), K >= 2; got {counts.shape}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise DataError(f"a confusion matrix holds finite counts >= 0; got {counts.min()} to {counts.max()}")
    return counts
