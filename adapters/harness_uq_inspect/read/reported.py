"""What Inspect itself printed and declared: values, standard errors, reducers, a cluster option."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness_uq import Declaration, Reported
from harness_uq_inspect.read.ours import harness_value, is_ours
from harness_uq_inspect.read.reducers import MEAN, keeps_single_trial
from harness_uq_inspect.read.schema import Header, Metric, ScoreTotals

NO_FILTER: Final = "none"
_MEANS: Final = ("accuracy", "mean")
_SPREADS: Final = frozenset({"stderr", "std", "var", "bootstrap_stderr", "bootstrap_std"})


@dataclass(frozen=True, slots=True)
class Epochs:
    """How many epochs were planned, and how Inspect reduced them.

    Attributes
    ----------
    n : epochs
    is_reduced : whether metrics were computed on one number a question
    default_reducer : reducer of scores that name none
    """

    n: int
    is_reduced: bool = True
    default_reducer: str = MEAN

    @property
    def filter(self) -> str:
        """Filter of the question × epoch matrix."""
        return MEAN if self.n > 1 else NO_FILTER

    def filter_of(self, reducer: str | None) -> str:
        """Filter of scores under a reducer; that of the matrix where the reducer is its mean or changes nothing."""
        name = reducer or self.default_reducer
        is_plain = name == MEAN or (self.n == 1 and keeps_single_trial(name))
        return self.filter if is_plain else name


def epochs_of(header: Header, n_logged: int) -> Epochs:
    """The log's epochs; `n_logged` is how many the samples show."""
    config = header.eval.config
    names = config.epochs_reducer
    only = names[0] if names is not None and len(names) == 1 else MEAN
    return Epochs(max(config.epochs or 1, n_logged), names != [], only)


def reported_by(score: ScoreTotals, header: Header, epochs: Epochs) -> Reported:
    """Value, standard error and number of questions that Inspect printed for one score."""
    printed = printed_value(score)
    errors = [harness_value(metric) for metric in score.metrics.values() if metric.bare_name == "stderr"]
    return Reported(
        value=None if printed is None else finite(printed.value),
        std_error=finite(errors[0]) if errors else None,
        n=n_questions(score, header, epochs),
    )


def printed_value(score: ScoreTotals) -> Metric | None:
    """The metric that stands for the score: accuracy, else mean, else the first that measures no spread."""
    single = [metric for metric in score.metrics.values() if metric.group is None and not is_ours(metric)]
    for name in _MEANS:
        for metric in single:
            if metric.bare_name == name:
                return metric
    return next((metric for metric in single if metric.bare_name not in _SPREADS), None)


def is_mean(metric: Metric) -> bool:
    """Whether the metric is the plain mean of the scores."""
    return metric.bare_name in _MEANS


def finite(value: float | None) -> float | None:
    """The value, None where it is no finite number."""
    return value if value is not None and math.isfinite(value) else None


def n_questions(score: ScoreTotals, header: Header, epochs: Epochs) -> int | None:
    """Questions behind a score, as Inspect counts them; None where the log does not say."""
    if score.scored_samples is not None and not is_of_cells(score, header, epochs):
        return score.scored_samples
    results = header.results
    cells = score.scored_samples or (results and (results.completed_samples or results.total_samples)) or 0
    n, rest = divmod(cells, epochs.n)
    return n if n and not rest else None


def is_of_cells(score: ScoreTotals, header: Header, epochs: Epochs) -> bool:
    """Whether metrics were computed on every trial, not on one number a question."""
    known = header.eval.dataset.sample_ids
    made = n_made(header, epochs.n)
    return not epochs.is_reduced or bool(known and (score.scored_samples or 0) > max(len(known), made))


def n_made(header: Header, n_epochs: int) -> int:
    """Questions of the run, as its results count them; 0 where they do not."""
    return header.results.total_samples // n_epochs if header.results else 0


def declared_cluster(header: Header) -> Declaration | None:
    """Cluster field that the task declares in its metadata, or as an option of a logged metric, or that a rule used."""
    declared = (header.eval.metadata or {}).get("uq")
    if isinstance(declared, dict) and isinstance(declared.get("cluster"), str):
        return Declaration(declared["cluster"], "metadata.uq.cluster")
    for name, options in _metric_options(header):
        cluster = options.get("cluster") if isinstance(options, dict) else None
        if isinstance(cluster, str):
            return Declaration(cluster, f"{name.rpartition('/')[2]}(cluster={cluster})")
    stopping = header.results.early_stopping if header.results else None
    key = stopping.cluster_key if stopping else None
    return None if key is None else Declaration(key, "stop_when, which looked at the run")


def _metric_options(header: Header) -> Iterator[tuple[str, object]]:
    """Names and options of the metrics that the scorers, the task or the results list."""
    for scorer in header.eval.scorers or ():
        yield from _definitions(scorer.metrics)
    yield from _definitions(header.eval.metrics)
    for score in header.results.scores if header.results else ():
        yield from ((metric.name, metric.params or metric.options) for metric in score.metrics.values())


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
