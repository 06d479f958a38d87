"""Metrics that are no averages, such as perplexity or F1: their difference on the same questions."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from harness_uq.alignment import align
from harness_uq.data import Classifications, IntArray, Records, Scores, TaskData
from harness_uq.differences import Found
from harness_uq.errors import NotEstimableError
from harness_uq.estimators.averages import few_units, named_statistic
from harness_uq.pairing import matched_units
from harness_uq.plugins import Plugins
from harness_uq.runs import Chosen
from harness_uq.stats.confusion import ConfusionMetric, confusion_score
from harness_uq.stats.paired_records import paired_bootstrap, paired_confusion_posterior
from harness_uq.stats.weighted import corpus_statistic
from harness_uq.structure import StructureOptions

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

    difference: Found
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
    aligned = align([a.log, b.log], [_placeholder(a.data), _placeholder(b.data)])
    units, key, cluster_warnings = matched_units(a, b, aligned.rows, options, plugins)
    compute = _sums if isinstance(a.data, Records) else _confusion
    found, values = compute(a.data, b.data, aligned.rows, units, np.random.default_rng(seed))
    bounds = None if isinstance(a.data, Records) or a.data.metric in _SIGNED else (0.0, 1.0)
    unmatched = (aligned.n_unmatched[0], aligned.n_unmatched[1])
    n_clusters = None if units is None else len(np.unique(units))
    few = few_units(n_clusters, aligned.n_questions) if found.method == "bayesian-bootstrap" else ()
    return PairedRecords(
        found, values, bounds, aligned.n_questions, unmatched, key, n_clusters, (*few, *cluster_warnings)
    )


def _placeholder(data: TaskData) -> Scores:
    """Scores that say only which questions count, for matching."""
    if not isinstance(data, Records | Classifications):
        raise NotEstimableError("one of the logs holds nothing a question for this metric")
    return Scores(data.metric, data.filter, np.where(data.is_scored, 0.0, np.nan)[:, None])


def _sums(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[Found, tuple[float, float]]:
    if not (isinstance(a, Records) and isinstance(b, Records) and a.statistic == b.statistic):
        raise NotEstimableError("the two logs hold different statistics for this metric")
    statistic = named_statistic(a.statistic)
    if statistic == "median":
        raise NotEstimableError("a median has no paired form")
    mine, theirs = a.statistics[rows[0]], b.statistics[rows[1]]
    posterior = paired_bootstrap(mine, theirs, statistic, clusters=codes, rng=rng)
    values = corpus_statistic(mine, statistic), corpus_statistic(theirs, statistic)
    return Found(posterior, "bayesian-bootstrap", notes=(_monte_carlo(posterior.mc_error),)), values


def _confusion(
    a: TaskData, b: TaskData, rows: IntArray, codes: IntArray | None, rng: np.random.Generator
) -> tuple[Found, tuple[float, float]]:
    if not (isinstance(a, Classifications) and isinstance(b, Classifications)):
        raise NotEstimableError("the two logs hold different kinds of data for this metric")
    targets, mine, theirs = a.targets[rows[0]], a.predictions[rows[0], 0], b.predictions[rows[1], 0]
    metric = _BINARY.get(a.metric)
    is_binary = len(a.labels) == 2 and a.labels == b.labels and a.predictions.shape[1] == b.predictions.shape[1] == 1
    if metric is None or not is_binary or not (min(mine.min(), theirs.min()) >= 0):
        raise NotEstimableError(f"only two classes, answered once each, have a paired form of {a.metric}")
    if not np.array_equal(targets, b.targets[rows[1]]):
        raise NotEstimableError("the two logs disagree on the targets")
    posterior = paired_confusion_posterior(targets, mine, theirs, metric, clusters=codes, rng=rng)
    values = _plain(targets, mine, metric), _plain(targets, theirs, metric)
    return Found(posterior, "confusion", notes=(_monte_carlo(posterior.mc_error),)), values


def _plain(targets: IntArray, predictions: IntArray, metric: ConfusionMetric) -> float:
    tp, fp, fn, tn = (int(np.sum((targets == t) & (predictions == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0)))
    return float(confusion_score(tp, fp, fn, tn, metric))


def _monte_carlo(error: float) -> str:
    return f"from 10,000 draws; the Monte Carlo error of the mean difference is {error:.2g}"
