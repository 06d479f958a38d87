"""Aggregations for lm-eval's task files that display their value with an interval.

    metric_list:
      - metric: acc
        aggregation: !function harness_uq_lm_eval.aggregations.beta_mean

In the results file, in groups and in comparisons the value is a plain number. If the interval cannot be computed, the
value is returned alone. Import `harness_uq_lm_eval.yaml_aggregations` to use them by name (`aggregation: uq_beta`).
"""

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

import harness_uq.plugin_api as uq

Items: TypeAlias = Sequence[object]
ProcessResults: TypeAlias = Callable[..., Mapping[str, object]]

_logger = logging.getLogger("harness_uq")


class ScoreWithInterval(float):
    """A number that is formatted with its interval by format specifications such as `.4f`.

    >>> f"{ScoreWithInterval(0.9, uq.Interval(0.61, 0.98, 0.95, 'hdi')):.2f}"
    '0.90 [0.61, 0.98]'
    """

    interval: uq.Interval | None
    std_error: float | None

    def __new__(cls, value: float, interval: uq.Interval | None, std_error: float | None = None) -> "ScoreWithInterval":
        """Attach the interval and the standard error."""
        number = super().__new__(cls, value)
        number.interval, number.std_error = interval, std_error
        return number

    def __getnewargs__(self) -> tuple[float, uq.Interval | None, float | None]:  # type: ignore[override]
        return float(self), self.interval, self.std_error

    def __format__(self, spec: str) -> str:
        value = format(float(self), spec)
        if self.interval is None or not spec:
            return value
        return f"{value} [{self.interval.low:{spec}}, {self.interval.high:{spec}}]"


class ClusterScore(float):
    """A score with the cluster of its question, for an aggregation that accounts for clusters."""

    cluster: str

    def __new__(cls, value: float, cluster: str) -> "ClusterScore":
        """Attach the cluster."""
        number = super().__new__(cls, value)
        number.cluster = cluster
        return number

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.cluster


def with_cluster(process_results: ProcessResults, field: str) -> ProcessResults:
    """A task's `process_results` whose scores are `ClusterScore`s with the cluster of their document.

    Parameters
    ----------
    process_results : the task's function, which returns scores by metric from a document and the model's results
    field : field of the document that contains the cluster; dots separate nested fields
    """

    @functools.wraps(process_results)
    def process(doc: Mapping[str, object], results: object) -> dict[str, object]:
        cluster: object = doc
        for part in field.split("."):
            cluster = cluster[part] if isinstance(cluster, Mapping) else None
        return {
            metric: ClusterScore(value, str(cluster)) if isinstance(value, bool | int | float) else value
            for metric, value in process_results(doc, results).items()
        }

    return process


def beta_mean(items: Items) -> float:
    """Mean of scores of 0 or 1, with the credible interval of the Beta posterior."""
    return _mean(items, "beta")


def wilson_mean(items: Items) -> float:
    """Mean of scores of 0 or 1, with Wilson's interval."""
    return _mean(items, "wilson")


def clustered_mean(items: Items) -> float:
    """Mean, with the default interval for the scores and their clusters, which `with_cluster` adds."""
    return _mean(items, "bayes")


def bayes_f1(items: Items) -> float:
    """lm-eval's F1 of (target, prediction) pairs, with the interval of the posterior of the confusion matrix."""
    from lm_eval.api.metrics import f1_score

    return _with_interval(f1_score, items, lambda: _confusion("f1", items))


def bayes_mcc(items: Items) -> float:
    """lm-eval's Matthews correlation of (target, prediction) pairs, with the same kind of interval as `bayes_f1`."""
    from lm_eval.api.metrics import matthews_corrcoef

    return _with_interval(matthews_corrcoef, items, lambda: _confusion("mcc", items))


def bayes_perplexity(items: Items) -> float:
    """lm-eval's perplexity of log-likelihoods, or of (log-likelihood, length) pairs, with an interval."""
    from lm_eval.api.metrics import perplexity, weighted_perplexity

    is_weighted = isinstance(items[0], Sequence)
    return _with_interval(weighted_perplexity if is_weighted else perplexity, items, lambda: _perplexity(items))


def _mean(items: Items, method: str) -> float:
    clusters = [item.cluster for item in items if isinstance(item, ClusterScore)]

    def estimate_mean() -> uq.Estimate:
        values = [float(item) for item in items]  # type: ignore[arg-type]
        return uq.estimate_scores(
            values, clusters=clusters if len(clusters) == len(items) else None, options=uq.Options(method=method)
        )

    # bit for bit as lm-eval computes the mean
    return _with_interval(lambda values: sum(values) / len(values), items, estimate_mean)  # type: ignore[arg-type]


def _with_interval(function: Callable[[Items], float], items: Items, compute: Callable[[], uq.Estimate]) -> float:
    value = float(function(items))
    try:
        row = compute()
    except Exception as error:
        _logger.warning("no interval for %s: %s: %s", function.__name__, type(error).__name__, error)
        return value
    if row.interval is None:
        _logger.warning("No interval for %s: %s", function.__name__, row.reason)
        return value
    return ScoreWithInterval(value, row.interval, row.std_error)


def _confusion(metric: str, items: Items) -> uq.Estimate:
    pairs = [(int(target), int(prediction)) for target, prediction in items]  # type: ignore[misc, has-type]
    labels = sorted({0, 1} | {label for pair in pairs for label in pair})
    codes = [[labels.index(label) for label in pair] for pair in pairs]
    table, names = np.array(codes), tuple(map(str, labels))
    return _estimated(len(items), uq.Classifications(metric, "none", table[:, 0], table[:, 1:], names))


def _perplexity(items: Items) -> uq.Estimate:
    pairs = np.array([item if isinstance(item, Sequence) else (item, 1.0) for item in items], float)
    if not np.isfinite(pairs).all():
        raise ValueError("a log-likelihood is not finite")
    return _estimated(len(items), uq.SufficientStatistics("perplexity", "none", pairs, "perplexity"))


def _estimated(n_questions: int, data: uq.Classifications | uq.SufficientStatistics) -> uq.Estimate:
    questions = uq.Questions(tuple(map(str, range(n_questions))))
    return uq.estimate(
        uq.TaskLog("aggregation", "aggregation", uq.Source("aggregation", "lm-eval"), questions, (data,))
    )[0]
