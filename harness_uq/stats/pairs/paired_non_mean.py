"""Difference of two systems on the same questions for metrics that are not means: corpus and confusion metrics."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes.confusion import ConfusionMetric, cluster_counts, confusion_score
from harness_uq.stats.classes.dirichlet import cluster_parts, draws_posterior
from harness_uq.stats.common.posterior import DrawsPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, validated_codes
from harness_uq.stats.means.bayesian_bootstrap import (
    NamedStatistic,
    SumStatistic,
    bayesian_bootstrap,
    check_records,
    sum_statistic,
)

_PRIOR = np.full(8, 0.5)
_EXCHANGED = [0, 2, 1, 3, 4, 6, 5, 7]  # the cells if A and B are exchanged


def paired_bootstrap(
    statistics_a: ArrayLike,
    statistics_b: ArrayLike,
    statistic: NamedStatistic | SumStatistic,
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> DrawsPosterior:
    """Posterior of T(A) - T(B) for a statistic T of the records' sums, with common question weights of both systems.

    `statistics_a` and `statistics_b` (n_questions, n_columns) are sufficient statistics of the same questions. Other
    arguments are those of `bayesian_bootstrap`, except that `median` is not a function of sums. Raises DataError if the
    shapes differ; NotEstimableError if there is only one question or cluster, or all draws are equal. Source: Rubin
    (1981), Annals of Statistics 9, 130-134, applied to pairs of records.

    >>> a = [[-6.0, 2.0], [-2.0, 2.0], [-3.0, 2.0]]
    >>> b = [[-7.0, 2.0], [-3.0, 2.0], [-4.0, 2.0]]
    >>> bits = paired_bootstrap(a, b, lambda sums: -sums[:, 0] / sums[:, 1] + 0 * sums[:, 0], n_draws=100).mean
    Traceback (most recent call last):
    ...
    harness_uq.messages.errors.NotEstimableError: all draws over 3 records (or clusters) are equal; ...
    """
    a, b = check_records(statistics_a), check_records(statistics_b)
    if a.shape != b.shape:
        raise DataError(f"both systems need records of the same questions; got shapes {a.shape} and {b.shape}")
    (a, function), (b, _) = sum_statistic(a, statistic), sum_statistic(b, statistic)
    units, p = np.hstack([a, b]), a.shape[1]
    if clusters is not None:
        codes = validated_codes(clusters, (len(units),))
        units = np.stack([np.bincount(codes, column) for column in units.T], axis=1)

    def difference(sums: FloatArray) -> FloatArray:
        return function(sums[:, :p]) - function(sums[:, p:])

    def draw(records: FloatArray, size: int) -> DrawsPosterior:
        return bayesian_bootstrap(records, difference, n_draws=size, rng=rng)

    return _antisymmetric(draw, units, np.roll(units, p, axis=1), n_draws)


def paired_confusion_posterior(
    targets: ArrayLike,
    predictions_a: ArrayLike,
    predictions_b: ArrayLike,
    metric: ConfusionMetric = "f1",
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> DrawsPosterior:
    """Posterior of the difference A - B of a binary confusion metric on the same questions.

    The eight cells (target, prediction of A, prediction of B) are Dirichlet(1/2, ..., 1/2), so that the confusion
    matrix of either system is Dirichlet(1, 1, 1, 1), as in `confusion_posterior`. With clusters, the Dirichlet process
    of `clustered_confusion_posterior` is used on these cells.

    `targets` and predictions (n_questions,) are 0 or 1. Raises DataError if lengths differ, a value is not 0 or 1, or
    there is no question.

    For two systems that always agree, the width comes from the prior:

    >>> identical = paired_confusion_posterior([1, 0] * 20, [1, 0] * 20, [1, 0] * 20, "accuracy")
    >>> abs(identical.mean) < 0.01, identical.sd > 0
    (True, True)
    """
    cells = _joint_cells(targets, predictions_a, predictions_b)
    one_unit = np.zeros(len(cells), int)
    counts = cluster_counts(cells, one_unit if clusters is None else clusters, 8)

    def difference(weights: np.ndarray) -> np.ndarray:
        joint = weights.reshape(-1, 2, 2, 2)
        a, b = joint.sum(axis=3), joint.sum(axis=2)
        return np.asarray(_score(a, metric) - _score(b, metric))

    def draw(units: FloatArray, size: int) -> DrawsPosterior:
        parts = [(units[0] + _PRIOR, 1.0)] if clusters is None else cluster_parts(units, _PRIOR)
        return draws_posterior(difference, parts, n_draws=size, rng=rng)

    return _antisymmetric(draw, counts, counts[:, _EXCHANGED], n_draws)


def _antisymmetric(
    draw: Callable[[FloatArray, int], DrawsPosterior], units: FloatArray, exchanged: FloatArray, n_draws: int
) -> DrawsPosterior:
    """Draws of A - B of which only the signs change if A and B are exchanged.

    `units` and `exchanged` (J, K) are the records of (A, B) and of (B, A). The draws use those that come first in the
    order of their values. If both are the same, half of the draws are mirrored.
    """
    one, other = (rows[np.lexsort(rows.T)].ravel() for rows in (units, exchanged))
    is_other = one != other
    if not is_other.any():
        half = draw(units, (n_draws + 1) // 2).draws
        return DrawsPosterior(np.concatenate([half, -half]))
    place = is_other.argmax()
    return draw(units, n_draws) if one[place] < other[place] else DrawsPosterior(-draw(exchanged, n_draws).draws)


def _score(matrix: np.ndarray, metric: ConfusionMetric) -> np.ndarray:
    """Metric of matrices with shape (n, target, prediction)."""
    return np.asarray(confusion_score(matrix[:, 1, 1], matrix[:, 0, 1], matrix[:, 1, 0], matrix[:, 0, 0], metric))


def _joint_cells(targets: ArrayLike, predictions_a: ArrayLike, predictions_b: ArrayLike) -> IntArray:
    parts = [np.asarray(x) for x in (targets, predictions_a, predictions_b)]
    if not parts[0].size or any(x.shape != parts[0].shape or x.ndim != 1 for x in parts):
        raise DataError(f"targets and predictions must be lists of one length > 0; got {[x.shape for x in parts]}")
    if not all(np.isin(x, (0, 1)).all() for x in parts):
        raise DataError("targets and predictions must be 0 or 1; more classes are not supported for pairs")
    target, a, b = (x.astype(np.int64) for x in parts)
    return np.asarray(4 * target + 2 * a + b, np.int64)
