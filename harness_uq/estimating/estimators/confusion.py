"""Functions of the confusion matrix: F1, MCC and their kin."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.estimating.finding import Finding, build, credible
from harness_uq.logs.data import Classifications, FloatArray, IntArray
from harness_uq.plugins.protocols import CredibleKind, Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.classes.confusion import (
    ConfusionMetric,
    clustered_confusion_posterior,
    confusion_posterior,
    confusion_score,
)
from harness_uq.stats.classes.multiclass import (
    MulticlassMetric,
    clustered_multiclass_posterior,
    confusion_matrix,
    multiclass_posterior,
    multiclass_score,
)
from harness_uq.stats.common.posterior import DrawsPosterior, Posterior

SMALL_CLASS = 10

_BINARY: dict[str, ConfusionMetric] = {name: name for name in get_args(ConfusionMetric)} | {"matthews_corrcoef": "mcc"}
_MULTICLASS: dict[str, MulticlassMetric] = {name: name for name in get_args(MulticlassMetric)}


@dataclass(frozen=True, slots=True)
class Confusion:
    """Dirichlet posterior of the confusion matrix's cells (Bowyer et al. 2025, eq. 9), and of a metric of them.

    Two classes have one pseudo-count a cell; K classes have two in all, half of them on the diagonal. Clusters weigh
    as wholes. Trials of a question make a cluster.
    """

    name: str = "confusion"
    about: About = About(
        title="Dirichlet posterior of the confusion matrix",
        formula="cells | data ~ Dirichlet(1 + counts)",
        text=(
            "The metric is a function of the matrix of targets and predictions; two classes have one "
            "pseudo-count a cell, K classes two in all, half of them on the diagonal. Exact where the "
            "metric's distribution is known, else by quadrature or seeded draws. Clusters weigh as wholes."
        ),
        sources=("bowyer2025",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses other data, and metrics it does not know."""
        data = problem.data
        if not isinstance(data, Classifications):
            return "needs target and predicted classes"
        known = _BINARY if _is_binary(data) else _MULTICLASS
        if data.function not in known:
            return f"knows {', '.join(sorted(known))} of {len(data.labels)} classes, not {data.function!r}"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the metric."""
        data = problem.data
        if not isinstance(data, Classifications):
            raise NotEstimableError("needs target and predicted classes")
        found = _binary(problem, data) if _is_binary(data) else _multiclass(problem, data)
        return build(problem, self.name, found)


def _is_binary(data: Classifications) -> bool:
    return len(data.labels) == 2 and data.function in _BINARY and bool((data.predictions >= 0).all())


def _cells(data: Classifications) -> tuple[IntArray, IntArray, IntArray | None]:
    """Target, prediction and cluster of each scored answer; None for clusters where answers are independent."""
    n_questions, n_trials = data.predictions.shape
    targets = np.repeat(data.targets, n_trials)
    predictions = data.predictions.ravel()
    if data.clusters is None and n_trials == 1:
        return targets, predictions, None
    clusters = np.arange(n_questions) if data.clusters is None else data.clusters
    return targets, predictions, np.repeat(clusters, n_trials)


def _binary(problem: Problem, data: Classifications) -> Finding:
    targets, predictions, clusters = _cells(data)
    metric = _BINARY[data.function]
    counts = np.bincount(2 * (1 - predictions) + (1 - targets), minlength=4)
    tp, fp, fn, tn = (float(count) for count in counts)
    value = float(confusion_score(tp, fp, fn, tn, metric))
    posterior: Posterior
    if clusters is None:
        posterior = confusion_posterior(tp, fp, fn, tn, metric, rng=problem.rng)
    else:
        posterior = clustered_confusion_posterior(targets, predictions, clusters, metric, rng=problem.rng)
    return _finding(problem, posterior, value, is_clustered=clusters is not None)


def _multiclass(problem: Problem, data: Classifications) -> Finding:
    targets, predictions, clusters = _cells(data)
    metric, n_classes = _MULTICLASS[data.function], len(data.labels)
    matrix = confusion_matrix(targets, predictions, n_classes=n_classes)
    posterior: Posterior
    if clusters is None:
        posterior = multiclass_posterior(matrix, metric, rng=problem.rng)
    else:
        posterior = clustered_multiclass_posterior(
            targets, predictions, clusters, metric, n_classes=n_classes, rng=problem.rng
        )
    value, warnings = multiclass_score(matrix, metric), _small_classes(data, matrix)
    return _finding(problem, posterior, value, is_clustered=clusters is not None, warnings=warnings)


def _small_classes(data: Classifications, matrix: FloatArray) -> tuple[str, ...]:
    sizes = matrix.sum(axis=1)
    small = int(np.argmin(sizes))
    if sizes[small] >= SMALL_CLASS:
        return ()
    return (
        f"class {data.labels[small]!r} has {sizes[small]:g} questions: with fewer than {SMALL_CLASS} the interval of a "
        "metric that averages over classes can be too narrow (10 classes of 3 questions covered .80 to .90 for .95)",
    )


def _finding(
    problem: Problem, posterior: Posterior, value: float, *, is_clustered: bool, warnings: tuple[str, ...] = ()
) -> Finding:
    diagnostics = {}
    if isinstance(posterior, DrawsPosterior):
        diagnostics = {"mc_error": posterior.mc_error, "n_draws": float(len(posterior.draws))}
    note = (
        "the share of each class is part of what varies; where it was fixed by design, the metric is conditional on it"
    )
    default: CredibleKind = "quantile" if is_clustered else "hdi"
    return credible(
        problem, posterior, value, default=default, diagnostics=diagnostics, notes=(note,), warnings=warnings
    )


ESTIMATORS = (Confusion(),)
