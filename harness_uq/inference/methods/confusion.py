"""Functions of the confusion matrix: F1, MCC and their kin."""

from functools import cache
from typing import TYPE_CHECKING, get_args

import numpy as np

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.task_log import Classifications, FloatArray, IntArray
from harness_uq.inference.method import MethodResult, credible
from harness_uq.io.plugins.protocols import CredibleKind, Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.stats.classes.confusion import ConfusionMetric
    from harness_uq.stats.classes.multiclass import MulticlassMetric
    from harness_uq.stats.common.posterior import Posterior

SMALL_CLASS = 10


@cache
def _binary_metrics() -> "dict[str, ConfusionMetric]":
    from harness_uq.stats.classes.confusion import ConfusionMetric

    metrics: dict[str, ConfusionMetric] = {name: name for name in get_args(ConfusionMetric)}
    return metrics | {"matthews_corrcoef": "mcc"}


@cache
def _multiclass_metrics() -> "dict[str, MulticlassMetric]":
    from harness_uq.stats.classes.multiclass import MulticlassMetric

    return {name: name for name in get_args(MulticlassMetric)}


class Confusion:
    """Dirichlet posterior of the confusion matrix's cells (Bowyer et al. 2025, eq. 9), and of a metric of them.

    Two classes have one pseudo-count a cell; K classes have two in all, half of them on the diagonal. Clusters weigh
    as wholes. Trials of a question make a cluster.
    """

    name = "confusion"
    info = MethodInfo(
        title="Dirichlet posterior of the confusion matrix",
        formula="cells | data ~ Dirichlet(1 + counts)",
        text=(
            "The metric is a function of the matrix of targets and predictions; two classes have one "
            "pseudo-count a cell, K classes two in all, half of them on the diagonal. Exact where the "
            "metric's distribution is known, else by quadrature or seeded draws. Clusters weigh as wholes."
        ),
        sources=("bowyer2025",),
        uses_clusters=True,
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuses other data, and metrics it does not know."""
        data = problem.data
        if not isinstance(data, Classifications):
            return catalogue.CLASSES_REQUIRED(method=self.name)
        known = _binary_metrics() if _is_binary(data) else _multiclass_metrics()
        if data.function not in known:
            return catalogue.CLASS_METRIC_UNSUPPORTED(
                method=self.name, metric=data.function, n_classes=len(data.labels), supported=sorted(known)
            )
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the metric."""
        data = problem.data
        if not isinstance(data, Classifications):
            raise NotEstimableError(catalogue.CLASSES_REQUIRED(method=self.name))
        result = _binary(problem, data) if _is_binary(data) else _multiclass(problem, data)
        return result.estimate(problem, self.name)


def _is_binary(data: Classifications) -> bool:
    return len(data.labels) == 2 and data.function in _binary_metrics() and bool((data.predictions >= 0).all())


def _cells(data: Classifications) -> tuple[IntArray, IntArray, IntArray | None]:
    """Target, prediction and cluster of each scored answer; None for clusters where answers are independent."""
    n_questions, n_trials = data.predictions.shape
    targets = np.repeat(data.targets, n_trials)
    predictions = data.predictions.ravel()
    if data.clusters is None and n_trials == 1:
        return targets, predictions, None
    clusters = np.arange(n_questions) if data.clusters is None else data.clusters
    return targets, predictions, np.repeat(clusters, n_trials)


def _binary(problem: Problem, data: Classifications) -> MethodResult:
    targets, predictions, clusters = _cells(data)
    metric = _binary_metrics()[data.function]
    counts = np.bincount(2 * (1 - predictions) + (1 - targets), minlength=4)
    tp, fp, fn, tn = (float(count) for count in counts)
    value = float(stats.confusion_score(tp, fp, fn, tn, metric))
    posterior: Posterior
    if clusters is None:
        posterior = stats.confusion_posterior(tp, fp, fn, tn, metric, rng=problem.rng)
    else:
        posterior = stats.clustered_confusion_posterior(targets, predictions, clusters, metric, rng=problem.rng)
    return _result(problem, posterior, value, is_clustered=clusters is not None)


def _multiclass(problem: Problem, data: Classifications) -> MethodResult:
    targets, predictions, clusters = _cells(data)
    metric, n_classes = _multiclass_metrics()[data.function], len(data.labels)
    matrix = stats.confusion_matrix(targets, predictions, n_classes=n_classes)
    posterior: Posterior
    if clusters is None:
        posterior = stats.multiclass_posterior(matrix, metric, rng=problem.rng)
    else:
        posterior = stats.clustered_multiclass_posterior(
            targets, predictions, clusters, metric, n_classes=n_classes, rng=problem.rng
        )
    value, messages = stats.multiclass_score(matrix, metric), _small_classes(data, matrix)
    return _result(problem, posterior, value, is_clustered=clusters is not None, messages=messages)


def _small_classes(data: Classifications, matrix: FloatArray) -> tuple[Message, ...]:
    sizes = matrix.sum(axis=1)
    small = int(np.argmin(sizes))
    if sizes[small] >= SMALL_CLASS:
        return ()
    return (catalogue.SMALL_CLASS(label=data.labels[small], n_questions=int(sizes[small]), enough=SMALL_CLASS),)


def _result(
    problem: Problem, posterior: "Posterior", value: float, *, is_clustered: bool, messages: tuple[Message, ...] = ()
) -> MethodResult:
    diagnostics = {}
    if isinstance(posterior, stats.DrawsPosterior):
        diagnostics = {"mc_error": posterior.mc_error, "n_draws": float(len(posterior.draws))}
    default: CredibleKind = "quantile" if is_clustered else "hdi"
    return credible(
        problem,
        posterior,
        value,
        default=default,
        diagnostics=diagnostics,
        messages=(catalogue.CLASS_FREQUENCIES_RANDOM(), *messages),
    )


ESTIMATORS = (Confusion(),)
