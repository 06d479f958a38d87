"""Totals of cost, tokens and time, and their ratios to scores: cost per solved question, tokens per solved question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.resources import RESOURCE_METRICS, renamed
from harness_uq.data.selection import SelectedRun, select_runs
from harness_uq.data.structure import codes_of
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.marginals import marginal
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.resources import HEAVY_TAIL, NO_RESOURCES, NOTHING_SOLVED, UNSCORED_COST
from harness_uq.messages.errors import DataError, NotEstimableError, refusal_of
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.results.resources import Quantity, ResourceUse
from harness_uq.stats.means.ratio import (
    PositiveLimits,
    correlation_of_means,
    is_heavy_tailed,
    positive_mean,
    ratio_of_limits,
)

ENOUGH_UNITS = 100  # with so many questions or clusters, intervals of heavy-tailed means cover at least 0.90
_ALL_NAMES = frozenset({*RESOURCE_METRICS, *map(renamed, RESOURCE_METRICS)})
_TIMES = ("total_time", "working_time")


@dataclass(frozen=True, slots=True)
class TaskRun:
    """The run that represents a system on a task.

    `by_metric`: data of the run by metric and filter.
    """

    system: str
    task: str
    by_metric: Mapping[tuple[str, str], SelectedRun]

    @property
    def resources(self) -> dict[str, FloatArray]:
        """Cost, tokens and time per question and trial, as far as they are known."""
        amounts = dict[str, FloatArray]()
        for name in RESOURCE_METRICS:
            run = self.by_metric.get((renamed(name), "none")) or self.by_metric.get((name, "none"))
            if run is not None and isinstance(run.data, Scores):
                amounts[name] = run.data.values
        if "input_tokens" in amounts and "output_tokens" in amounts:
            amounts["tokens"] = amounts["input_tokens"] + amounts["output_tokens"]
        if times := [amounts[name] for name in _TIMES if name in amounts]:
            amounts["time"] = times[0]
        return {name: amounts[name] for name in ("cost", "tokens", "time") if name in amounts}

    @property
    def scores(self) -> list[SelectedRun]:
        """The scores between 0 and 1 of which higher values are better."""
        return [
            run
            for (metric, _), run in self.by_metric.items()
            if isinstance(run.data, Scores)
            and metric not in _ALL_NAMES
            and run.log.higher_is_better.get(metric, True)
            and _is_share(run.data.values)
        ]

    def clusters(self, options: Options, plugins: Plugins) -> IntArray | None:
        """Cluster codes of the questions; None if they are independent."""
        run = next(iter(self.by_metric.values()))
        return codes_of(run.data, clusters_of(run.log, options.structure, plugins))


def _is_share(values: FloatArray) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() >= 0.0 and known.max() <= 1.0)


def task_runs(logs: Iterable[TaskLog]) -> list[TaskRun]:
    """The run that represents each system on each task, without groups of tasks."""
    runs: dict[tuple[str, str], dict[tuple[str, str], SelectedRun]] = {}
    for system, chosen in select_runs(logs).items():
        for (task, metric, name), run in chosen.items():
            if not run.log.subtasks:
                runs.setdefault((system, task), {})[metric, name] = run
    return [TaskRun(system, task, by_metric) for (system, task), by_metric in runs.items()]


def resource_use_of(logs: Iterable[TaskLog], options: Options, plugins: Plugins) -> list[ResourceUse]:
    """Totals of cost, tokens and time of each run, and their ratios to each score between 0 and 1.

    The total is that of a run with as many new questions and trials. Ratios use trials with a score. Questions are
    independent, or clusters as for the scores. `logs`: task logs with resources as metrics. `options`: level, and
    structure of the logs.
    """
    return [row for run in task_runs(logs) for row in _rows_of(run, options, plugins)]


def _rows_of(run: TaskRun, options: Options, plugins: Plugins) -> Iterator[ResourceUse]:
    resources = run.resources
    if not resources:
        harness = next(iter(run.by_metric.values())).log.source.harness
        empty = _row(run, "total_cost", options)
        yield replace(empty, messages=(NO_RESOURCES(harness=harness),))
        return
    clusters = run.clusters(options, plugins)
    for name, values in resources.items():
        yield _total(run, name, values, clusters, options)
    for score in run.scores:
        for name in ("cost", "tokens"):
            if name in resources:
                yield from _ratios(run, name, resources[name], score, clusters, options, plugins)


def _row(run: TaskRun, quantity: Quantity, options: Options, score: SelectedRun | None = None) -> ResourceUse:
    metric, name = ("", "") if score is None else (score.data.metric, score.data.filter)
    return ResourceUse(run.system, None, run.task, metric, name, quantity, None, None, None, options.level)


def _total(run: TaskRun, name: str, values: FloatArray, clusters: IntArray | None, options: Options) -> ResourceUse:
    known = np.isfinite(values)
    total = float(values[known].sum())
    row = replace(_row(run, cast("Quantity", f"total_{name}"), options), value=total)
    used = np.flatnonzero(known.any(axis=1))
    try:
        amounts, codes = _means(values, used), None if clusters is None else clusters[used]
        mean = positive_mean(amounts, codes, level=options.level)
    except (DataError, NotEstimableError) as error:
        return replace(row, n_questions=len(used), messages=(refusal_of(error),))
    messages = tail_warning(name, amounts, codes)
    return with_limits(row, mean.scaled(total / mean.value), len(used), codes, messages)


def _ratios(
    run: TaskRun,
    name: str,
    values: FloatArray,
    score: SelectedRun,
    clusters: IntArray | None,
    options: Options,
    plugins: Plugins,
) -> Iterator[ResourceUse]:
    """The resource per solved question and, for the cost, its inverse."""
    quantity = cast("Quantity", f"{name}_per_solved")
    row = _row(run, quantity, options, score)
    try:
        ratio = Ratio.of(values, score, clusters, options, plugins)
        limits = ratio.limits
    except (DataError, NotEstimableError) as error:
        yield replace(row, messages=(refusal_of(error),))
        return
    messages = (*tail_warning(name, ratio.amounts, ratio.clusters), *_unscored(name, quantity, values, score))
    unsolved = (NOTHING_SOLVED(quantity=quantity),) if np.isinf(limits.high) else ()
    n = len(ratio.amounts)
    yield with_limits(row, limits, n, ratio.clusters, (*unsolved, *messages))
    if name == "cost":
        inverse = _row(run, "score_per_dollar", options, score)
        yield with_limits(inverse, limits.inverse, n, ratio.clusters, messages)


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A resource and a score of the same questions.

    `amounts`, `scores`: means over the trials with both, of each question. `clusters`: cluster codes of these
    questions, if there are any. `amount`, `score`: means over questions with their limits.
    """

    amounts: FloatArray
    scores: FloatArray
    clusters: IntArray | None
    amount: PositiveLimits
    score: PositiveLimits

    @classmethod
    def of(
        cls,
        values: FloatArray,
        score: SelectedRun,
        clusters: IntArray | None,
        options: Options,
        plugins: Plugins,
        *,
        rows: IntArray | None = None,
    ) -> "Ratio":
        """The ratio of a resource to a score, on request of these rows only. Raises NotEstimableError if the resource
        or the score has no interval.
        """
        data = cast("Scores", score.data)
        n_trials = min(values.shape[1], data.values.shape[1])
        amounts, scores = values[:, :n_trials], data.values[:, :n_trials]
        known = np.isfinite(amounts) & np.isfinite(scores)
        if rows is not None:
            known &= np.isin(np.arange(len(known)), rows)[:, None]
        amounts, scores = np.where(known, amounts, np.nan), np.where(known, scores, np.nan)
        has_both = np.asarray(known.any(axis=1))
        at = np.flatnonzero(has_both) if rows is None else rows[has_both[rows]]
        codes = None if clusters is None else clusters[at]
        mean = positive_mean(_means(amounts, at), codes, level=options.level)
        row = marginal(replace(score, data=replace(data, values=scores)), options, plugins)
        return cls(_means(amounts, at), _means(scores, at), codes, mean, _score_limits(row, options.level))

    @property
    def limits(self) -> PositiveLimits:
        """The ratio of the means."""
        r = correlation_of_means(self.amounts, self.scores, self.clusters, bounds=(0.0, 1.0))
        return ratio_of_limits(self.amount, self.score, r)

    @property
    def influence(self) -> FloatArray:
        """Relative influence of each question on the ratio."""
        return np.asarray(self.amounts / self.amount.value - self.scores / self.score.value)


def _score_limits(row: Estimate, level: float) -> PositiveLimits:
    """The score with an equal-tailed interval, whose limits are above 0 as soon as a question was solved."""
    if row.value is None or row.interval is None:
        raise NotEstimableError(row.reason or "The score has no interval")
    low, high = row.interval.low, row.interval.high
    if row.posterior is not None:
        low, high = map(float, row.posterior.quantile([(1 - level) / 2, (1 + level) / 2]))
    return PositiveLimits(row.value, max(low, 0.0), high)


def _means(values: FloatArray, rows: IntArray) -> FloatArray:
    return np.asarray(np.nanmean(values[rows], axis=1))


def tail_warning(name: str, amounts: FloatArray, clusters: IntArray | None) -> tuple[Message, ...]:
    """A warning if there are few questions or clusters, and the resource is heavy-tailed."""
    n_units = len(amounts) if clusters is None else len(np.unique(clusters))
    if n_units >= ENOUGH_UNITS or not is_heavy_tailed(amounts):
        return ()
    unit = "question" if clusters is None else "cluster"
    return (HEAVY_TAIL(resource=name.capitalize(), n_units=n_units, unit=unit),)


def _unscored(name: str, quantity: str, values: FloatArray, score: SelectedRun) -> tuple[Message, ...]:
    data = cast("Scores", score.data)
    n_trials = min(values.shape[1], data.values.shape[1])
    is_lost = np.isfinite(values[:, :n_trials]) & ~np.isfinite(data.values[:, :n_trials])
    if not is_lost.any():
        return ()
    amount = float(values[:, :n_trials][is_lost].sum())
    return (UNSCORED_COST(n_trials=int(is_lost.sum()), amount=amount, resource=name, quantity=quantity),)


def with_limits(
    row: ResourceUse,
    limits: PositiveLimits,
    n_questions: int,
    clusters: IntArray | None,
    messages: Sequence[Message] = (),
) -> ResourceUse:
    """The row with these limits and messages."""
    is_unbounded = bool(np.isinf(limits.high))
    return replace(
        row,
        value=None if np.isinf(limits.value) else limits.value,
        low=limits.low,
        high=None if is_unbounded else limits.high,
        is_unbounded=is_unbounded,
        n_questions=n_questions,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
        messages=distinct((*row.messages, *messages)),
    )
