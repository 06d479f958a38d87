"""Metrics that are no averages, such as perplexity or F1: their difference on the same questions."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from harness_uq.comparing.differences import DifferenceFinding
from harness_uq.errors import NotEstimableError
from harness_uq.estimating.estimators.averages import few_units, named_statistic
from harness_uq.logs.data import Classifications, IntArray, Records, TaskData
from harness_uq.logs.newest import Chosen
from harness_uq.matching.clusters import common_clusters
from harness_uq.matching.questions import common_questions
from harness_uq.plugins.manager import Plugins
from harness_uq.stats.classes.confusion import ConfusionMetric, confusion_score
from harness_uq.stats.means.weighted import corpus_statistic
from harness_uq.stats.pairs.paired_records import paired_bootstrap, paired_confusion_posterior
from harness_uq.structure.facts import StructureOptions

_BINARY: dict[str, ConfusionMetric] = {name: name for name in get_args(ConfusionMetric)} | {"matthews_corrcoef": "mcc"}
_SIGNED = ("mcc", "matthews_corrcoef", "informedness")


@dataclass(frozen=True, slots=True, eq=False)
class PairedRecords:
    """What matching two runs of such a metric gives.

    Attributes
    ----------
    difference : the posterior of A - B
    values : plain values of A and B on the matched questions
    bounds : range of the metric, None where unbounded
    n_matched, n_unmatched, cluster_key, n_clusters, warnings : as in `Comparison`
    """

    difference: DifferenceFinding
    values: tuple[float, float]
    bounds: tuple[float, float] | None
    n_matched: int
    n_unmatched: tuple[int, int]
    cluster_key: str | None
    n_clusters: int | None
    warnings: tuple[str, ...]


def pair_records(a: Chosen, b: Chosen, options: StructureOptions, plugins: Plugins, *, seed: int) -> PairedRecords:
    """Difference of two such metrics where both systems answered the same questions.

    Sums of records by `paired_bootstrap`, functions of a two-class confusion matrix by `paired_confusion_posterior`.

    Raises
    ------
    NotEstimableError : if the questions do not match or the metric has no paired form; the message says why
    """
    if a.log.source.harness != b.log.source.harness:
        raise NotEstimableError("metrics that are no averages are matched within one harness only")
    if not all(isinstance(chosen.data, Records | Classifications) for chosen in (a, b)):
        raise NotEstimableError("one of the logs holds nothing a question for this metric")
    common = common_questions([a, b])
    clusters = common_clusters(common, options, plugins)
    compute = _sums if isinstance(a.data, Records) else _confusion
    found, values = compute(a.data, b.data, common.rows, clusters.labels, np.random.default_rng(seed))
    few = few_units(clusters.n_clusters, common.n_questions) if found.method == "bayesian-bootstrap" else ()
    return PairedRecords(
        difference=found,
        values=values,
        bounds=None if not isinstance(a.data, Classifications) or a.data.function in _SIGNED else (0.0, 1.0),
        n_matched=common.n_questions,
        n_unmatched=(common.n_unmatched[0], common.n_unmatched[1]),
        cluster_key=clusters.key,
        n_clusters=clusters.n_clusters,
        warnings=(*few, *common.warnings, *clusters.warnings),
    )


def _sums(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[DifferenceFinding, tuple[float, float]]:
    if not (isinstance(a, Records) and isinstance(b, Records) and a.statistic == b.statistic):
        raise NotEstimableError("the two logs hold different statistics for this metric")
    statistic = named_statistic(a.statistic)
    if statistic == "median":
        raise NotEstimableError("a median has no paired form")
    mine, theirs = a.statistics[rows[0]], b.statistics[rows[1]]
    posterior = paired_bootstrap(mine, theirs, statistic, clusters=codes, rng=rng)
    values = corpus_statistic(mine, statistic), corpus_statistic(theirs, statistic)
    return DifferenceFinding(posterior, "bayesian-bootstrap", notes=(_monte_carlo(posterior.mc_error),)), values


def _confusion(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[DifferenceFinding, tuple[float, float]]:
    if not (isinstance(a, Classifications) and isinstance(b, Classifications)):
        raise NotEstimableError("the two logs hold different kinds of data for this metric")
    if a.function != b.function:
        raise NotEstimableError(f"{a.metric} is {a.function} in one log and {b.function} in the other")
    targets, mine, theirs = a.targets[rows[0]], a.predictions[rows[0], 0], b.predictions[rows[1], 0]
    metric = _BINARY.get(a.function)
    is_binary = len(a.labels) == 2 and a.labels == b.labels and a.predictions.shape[1] == b.predictions.shape[1] == 1
    if metric is None or not is_binary or not (min(mine.min(), theirs.min()) >= 0):
        raise NotEstimableError(f"only two classes, answered once each, have a paired form of {a.function}")
    if not np.array_equal(targets, b.targets[rows[1]]):
        raise NotEstimableError("the two logs disagree on the targets")
    posterior = paired_confusion_posterior(targets, mine, theirs, metric, clusters=codes, rng=rng)
    values = _plain(targets, mine, metric), _plain(targets, theirs, metric)
    return DifferenceFinding(posterior, "confusion", notes=(_monte_carlo(posterior.mc_error),)), values


def _plain(targets: IntArray, predictions: IntArray, metric: ConfusionMetric) -> float:
    tp, fp, fn, tn = (int(np.sum((targets == t) & (predictions == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0)))
    return float(confusion_score(tp, fp, fn, tn, metric))


def _monte_carlo(error: float) -> str:
    return f"from 10,000 draws; the Monte Carlo error of the mean difference is {error:.2g}"
