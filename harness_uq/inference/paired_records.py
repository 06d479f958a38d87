"""Differences of metrics that are not means, such as perplexity or F1, on the same questions."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from harness_uq.data.match_questions import common_clusters, common_questions
from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Classifications, IntArray, SufficientStatistics, TaskData
from harness_uq.inference.contrasts import Contrast
from harness_uq.inference.methods.means import few_units, named_statistic
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import (
    DIFFERENT_DATA,
    MONTE_CARLO_ERROR,
    NO_PAIRED_FORM,
    ONE_HARNESS_REQUIRED,
)
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.classes.confusion import ConfusionMetric, confusion_score
from harness_uq.stats.means.bayesian_bootstrap import corpus_statistic
from harness_uq.stats.pairs.paired_non_mean import paired_bootstrap, paired_confusion_posterior

_BINARY: dict[str, ConfusionMetric] = {name: name for name in get_args(ConfusionMetric)} | {"matthews_corrcoef": "mcc"}
_SIGNED = ("mcc", "matthews_corrcoef", "informedness")


@dataclass(frozen=True, slots=True, eq=False)
class PairedRecords:
    """The difference of such a metric between two matched runs.

    `difference`: posterior of A - B. `values`: observed values of A and B on the matched questions. `bounds`: range of
    the metric; None if it is unbounded. `n_matched`, `n_unmatched`, `cluster_key`, `n_clusters`, `messages`: as in
    `Comparison`.
    """

    difference: Contrast
    values: tuple[float, float]
    bounds: tuple[float, float] | None
    n_matched: int
    n_unmatched: tuple[int, int]
    cluster_key: str | None
    n_clusters: int | None
    messages: tuple[Message, ...]


def pair_records(
    a: SelectedRun, b: SelectedRun, options: StructureOptions, plugins: Plugins, *, seed: int
) -> PairedRecords:
    """Estimate the difference of such a metric between two systems that answered the same questions.

    Metrics computed from sums of records use `paired_bootstrap`. Functions of a two-class confusion matrix use
    `paired_confusion_posterior`. Raises NotEstimableError if the questions do not match or no paired method exists for
    the metric; the message gives the reason.
    """
    if a.log.source.harness != b.log.source.harness:
        raise NotEstimableError(ONE_HARNESS_REQUIRED())
    if not all(isinstance(chosen.data, SufficientStatistics | Classifications) for chosen in (a, b)):
        raise NotEstimableError(
            DIFFERENT_DATA(metric=a.data.metric, difference="One of them has no data for each question")
        )
    common = common_questions([a, b])
    clusters = common_clusters(common, options, plugins)
    compute = _sums if isinstance(a.data, SufficientStatistics) else _confusion
    difference, values = compute(a.data, b.data, common.rows, clusters.labels, np.random.default_rng(seed))
    few = few_units(clusters.n_clusters, common.n_questions) if difference.method == "bayesian-bootstrap" else ()
    return PairedRecords(
        difference=difference,
        values=values,
        bounds=None if not isinstance(a.data, Classifications) or a.data.function in _SIGNED else (0.0, 1.0),
        n_matched=common.n_questions,
        n_unmatched=(common.n_unmatched[0], common.n_unmatched[1]),
        cluster_key=clusters.key,
        n_clusters=clusters.n_clusters,
        messages=(*few, *common.messages, *clusters.warnings),
    )


def _sums(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[Contrast, tuple[float, float]]:
    if not (isinstance(a, SufficientStatistics) and isinstance(b, SufficientStatistics) and a.statistic == b.statistic):
        raise NotEstimableError(DIFFERENT_DATA(metric=a.metric, difference="The statistics differ between the logs"))
    statistic = named_statistic(a.statistic)
    if statistic == "median":
        raise NotEstimableError(NO_PAIRED_FORM(function="median", condition=""))
    mine, theirs = a.statistics[rows[0]], b.statistics[rows[1]]
    posterior = paired_bootstrap(mine, theirs, statistic, clusters=codes, rng=rng)
    values = corpus_statistic(mine, statistic), corpus_statistic(theirs, statistic)
    note = MONTE_CARLO_ERROR(n_draws=10_000, mc_error=posterior.mc_error)
    return Contrast(posterior, "bayesian-bootstrap", messages=(note,)), values


def _confusion(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[Contrast, tuple[float, float]]:
    if not (isinstance(a, Classifications) and isinstance(b, Classifications)):
        raise NotEstimableError(DIFFERENT_DATA(metric=a.metric, difference="Only one of the logs contains classes"))
    if a.function != b.function:
        difference = f"The metric is {a.function} in one log and {b.function} in the other"
        raise NotEstimableError(DIFFERENT_DATA(metric=a.metric, difference=difference))
    targets, mine, theirs = a.targets[rows[0]], a.predictions[rows[0], 0], b.predictions[rows[1], 0]
    metric = _BINARY.get(a.function)
    is_binary = len(a.labels) == 2 and a.labels == b.labels and a.predictions.shape[1] == b.predictions.shape[1] == 1
    if metric is None or not is_binary or not (min(mine.min(), theirs.min()) >= 0):
        condition = " unless there are two classes and one answer per question"
        raise NotEstimableError(NO_PAIRED_FORM(function=a.function, condition=condition))
    if not np.array_equal(targets, b.targets[rows[1]]):
        raise NotEstimableError(DIFFERENT_DATA(metric=a.metric, difference="The target classes differ"))
    posterior = paired_confusion_posterior(targets, mine, theirs, metric, clusters=codes, rng=rng)
    values = _plain(targets, mine, metric), _plain(targets, theirs, metric)
    note = MONTE_CARLO_ERROR(n_draws=10_000, mc_error=posterior.mc_error)
    return Contrast(posterior, "confusion", messages=(note,)), values


def _plain(targets: IntArray, predictions: IntArray, metric: ConfusionMetric) -> float:
    tp, fp, fn, tn = (int(np.sum((targets == t) & (predictions == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0)))
    return float(confusion_score(tp, fp, fn, tn, metric))
