"""Results of Inspect itself in the header of a log: values, standard errors, reducers, headline, declared cluster."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from harness_uq.plugin_api import ClusterDeclaration, HarnessResult
from harness_uq_inspect.annotated_names import NAME
from harness_uq_inspect.read.harness_uq_metrics import harness_value, is_ours
from harness_uq_inspect.read.reducers import MEAN, SINGLE_TRIAL_IDENTITIES
from harness_uq_inspect.read.schema import Header, Headline, Metric, ScoreTotals

NO_FILTER: Final = "none"
MEANS: Final = ("accuracy", "mean")
_SPREADS: Final = frozenset({"stderr", "std", "var", "bootstrap_stderr", "bootstrap_std", "ci", "ci_wilson"})


@dataclass(frozen=True, slots=True)
class Epochs:
    """Number of planned epochs, and how Inspect reduced them.

    `is_reduced`: whether metrics were computed on one number per question. `default_reducer`: reducer of scores that do
    not name one.
    """

    n: int
    is_reduced: bool = True
    default_reducer: str = MEAN

    @property
    def filter(self) -> str:
        """Filter of the question × epoch matrix."""
        return MEAN if self.n > 1 else NO_FILTER

    def filter_of(self, reducer: str | None) -> str:
        """Filter of scores under a reducer; that of the matrix if the reducer is the mean or has no effect."""
        name = reducer or self.default_reducer
        is_matrix_mean = name == MEAN or (self.n == 1 and name in SINGLE_TRIAL_IDENTITIES)
        return self.filter if is_matrix_mean else name


def epochs_of(header: Header, n_logged: int) -> Epochs:
    """The epochs of a log; `n_logged` is the number of epochs in the samples."""
    config = header.eval.config
    names = config.epochs_reducer
    only = names[0] if names is not None and len(names) == 1 else MEAN
    return Epochs(max(config.epochs or 1, n_logged), names != [], only)


def reported_by(score: ScoreTotals, header: Header, epochs: Epochs) -> HarnessResult:
    """Value, standard error and number of questions that Inspect printed for one score."""
    printed = printed_value(score)
    errors = [harness_value(metric) for metric in score.metrics.values() if metric.bare_name == "stderr"]
    return HarnessResult(
        value=None if printed is None else finite(printed.value),
        std_error=finite(errors[0]) if errors else None,
        n=n_questions(score, header, epochs),
    )


def printed_value(score: ScoreTotals) -> Metric | None:
    """The metric that represents the score: accuracy, else mean, else the first that is not a measure of spread.

    It has the value that Inspect computed, even if harness_uq replaced it.
    """
    ungrouped = [metric for metric in score.metrics.values() if metric.group is None and not is_ours(metric)]
    for name in MEANS:
        for metric in ungrouped:
            if metric.bare_name == name:
                return msgspec.structs.replace(metric, value=harness_value(metric))
    return next((metric for metric in ungrouped if metric.bare_name not in _SPREADS), None)


def is_mean(metric: Metric) -> bool:
    """Whether the metric is the mean of the scores, by its name."""
    return metric.bare_name in MEANS and metric.group is None


def other_quantities(score: ScoreTotals) -> tuple[str, ...]:
    """Metrics of Inspect that are no means and no measures of spread: `name = value`, or the name of several values."""
    return tuple(
        dict.fromkeys(
            metric.group or f"{metric.bare_name} = {metric.value:.6g}"
            for metric in score.metrics.values()
            if not (is_mean(metric) or is_ours(metric) or NAME in (metric.metadata or {}))
            and (metric.group or metric.bare_name) not in _SPREADS
            and metric.value is not None
            and math.isfinite(metric.value)
        )
    )


def finite(value: float | None) -> float | None:
    """The value; None if it is not a finite number."""
    return value if value is not None and math.isfinite(value) else None


def n_questions(score: ScoreTotals, header: Header, epochs: Epochs) -> int | None:
    """Number of questions of a score, as Inspect counts them; None if the log does not state it."""
    if score.scored_samples is not None and not is_of_cells(score, header, epochs):
        return score.scored_samples
    results = header.results
    cells = score.scored_samples or (results and (results.completed_samples or results.total_samples)) or 0
    n, rest = divmod(cells, epochs.n)
    return n if n and not rest else None


def is_of_cells(score: ScoreTotals, header: Header, epochs: Epochs) -> bool:
    """Whether metrics were computed on all trials, not on one number per question."""
    sample_ids = header.eval.dataset.sample_ids
    n_questions_run = header.results.total_samples // epochs.n if header.results else 0
    n_scored = score.scored_samples or 0
    return not epochs.is_reduced or bool(sample_ids and n_scored > max(len(sample_ids), n_questions_run))


def headline_score(header: Header) -> ScoreTotals | None:
    """The score that `inspect_ai.log.headline_metric` finds; None if no headline is declared or none matches."""
    results = header.results
    headline = (results.headline if results else None) or header.eval.headline_metric
    if results is None or headline is None:
        return None
    return next((score for score in results.scores if _matches(score, headline)), None)


def _matches(score: ScoreTotals, headline: Headline) -> bool:
    pairs = ((headline.reducer, score.reducer), (headline.scorer, score.scorer), (headline.score, score.name))
    has_metric = headline.metric is None or headline.metric in score.metrics
    return has_metric and all(declared in (None, value) for declared, value in pairs)


def declared_cluster(header: Header) -> ClusterDeclaration | None:
    """Cluster field from the task's metadata, from an option of a logged metric, or from a stopping rule."""
    declared = (header.eval.metadata or {}).get("uq")
    if isinstance(declared, dict) and isinstance(declared.get("cluster"), str):
        return ClusterDeclaration(declared["cluster"], "metadata.uq.cluster")
    for name, options in _metric_options(header):
        cluster = options.get("cluster") if isinstance(options, dict) else None
        if isinstance(cluster, str):
            return ClusterDeclaration(cluster, f"{name.rpartition('/')[2]}(cluster={cluster})")
    stopping = header.results.early_stopping if header.results else None
    key = stopping.cluster_key if stopping else None
    return None if key is None else ClusterDeclaration(key, "stop_when, which looked at the run")


def _metric_options(header: Header) -> Iterator[tuple[str, object]]:
    """Names and options of the metrics that the scorers, the task or the results list."""
    for scorer in header.eval.scorers or ():
        yield from _definitions(scorer.metrics)
    yield from _definitions(header.eval.metrics)
    for score in header.results.scores if header.results else ():
        yield from ((metric.name, metric.parameters) for metric in score.metrics.values())


def _definitions(metrics: object) -> Iterator[tuple[str, object]]:
    """Metric definitions in a list, in a mapping from keys of the score to lists, or in lists of both."""
    if isinstance(metrics, list):
        for item in metrics:
            yield from _definitions(item)
    elif isinstance(metrics, dict):
        if isinstance(metrics.get("name"), str):
            yield metrics["name"], metrics.get("options")
        else:
            for item in metrics.values():
                yield from _definitions(item)
