"""Totals of cost, tokens and time, their ratios to scores and between systems, and systems that another dominates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.panel import build_panel, pair_panel
from harness_uq.data.resources import RESOURCE_METRICS, renamed
from harness_uq.data.selection import SelectedRun, select_runs
from harness_uq.data.structure import codes_of
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import marginal
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import ONE_SYSTEM_REQUIRED
from harness_uq.messages.catalogue.resources import HEAVY_TAIL, NO_RESOURCES, NOTHING_SOLVED, UNSCORED_COST
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options, resolve
from harness_uq.options_typed import ResourceUseKeywords
from harness_uq.results.estimate import Estimate
from harness_uq.results.resources import Quantity, ResourceUse
from harness_uq.results.result_list import ResultList
from harness_uq.stats.means.ratio import (
    PositiveLimits,
    correlation_of_means,
    is_heavy_tailed,
    positive_mean,
    ratio_of_limits,
)

_ENOUGH_UNITS = 100  # with so many questions or clusters, intervals of heavy-tailed means cover at least 0.90
_ALL_NAMES = frozenset({*RESOURCE_METRICS, *map(renamed, RESOURCE_METRICS)})
_TIMES = ("total_time", "working_time")
_N_DRAWS = 20_000


def resource_use(
    runs: Runs,
    baseline: "Runs | None" = None,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[ResourceUseKeywords]",
) -> ResultList[ResourceUse]:
    """Estimate totals of cost, tokens and time, and the cost and tokens per solved question.

    Parameters
    ----------
    runs : runs of one or more systems: paths or results in memory, as for `read_logs`
    baseline : runs of one other system. If they are given, `runs` must be of one system, and the results are the ratios
        of this system's resources to those of the baseline on the same questions
    options : options; of the method only `level`, `scope` and the structure are used
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `estimate`; `token_prices` names a file of prices

    Returns
    -------
    Three kinds of results per system and task: totals of a run like this one, the resource per solved question for each
    score between 0 and 1, and the score per dollar. If a system solved no question, the interval has no upper limit.

    Raises
    ------
    LogError : if no log can be read from a path, or the file of prices is invalid
    DataError : if there is a baseline and one argument contains several systems
    TypeError : if an option does not exist
    """
    chosen, selection = resolve("resource_use", options, keywords)
    offered, selection = plugins or load_plugins(), replace(selection, resources=True)
    logs = task_logs(runs, offered, selection)
    if baseline is None:
        return ResultList(resource_use_of(logs, chosen, offered))
    others = task_logs(baseline, offered, selection)
    for name, side in (("runs", logs), ("baseline", others)):
        systems = sorted({log.system for log in side})
        if len(systems) != 1:
            raise DataError(ONE_SYSTEM_REQUIRED(side=name, systems=", ".join(systems) or "none"))
    return ResultList(compare_resource_use(logs, others, chosen, offered))


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


# ---------------------------------------------------------------- one system


def resource_use_of(logs: Iterable[TaskLog], options: Options, plugins: Plugins) -> list[ResourceUse]:
    """Totals of cost, tokens and time of each run, and their ratios to each score between 0 and 1.

    The total is that of a run with as many new questions and trials. Ratios use trials with a score. Questions are
    independent, or clusters as for the scores. Costs per solved question have the probability that another system has a
    better score at a lower cost. `logs`: task logs with resources as metrics. `options`: level, and
    structure of the logs.
    """
    runs = task_runs(logs)
    return _with_dominance([row for run in runs for row in _rows_of(run, options, plugins)], runs, options, plugins)


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


def _row(
    run: TaskRun, quantity: str, options: Options, score: SelectedRun | None = None, baseline: TaskRun | None = None
) -> ResourceUse:
    """A row without a value."""
    metric, name = ("", "") if score is None else (score.data.metric, score.data.filter)
    other = None if baseline is None else baseline.system
    if other == run.system:
        other = f"{other} (B)"
    what = cast("Quantity", quantity)
    return ResourceUse(run.system, other, run.task, metric, name, what, None, None, None, options.level)


def _total(run: TaskRun, name: str, values: FloatArray, clusters: IntArray | None, options: Options) -> ResourceUse:
    known = np.isfinite(values)
    total = float(values[known].sum())
    row = replace(_row(run, f"total_{name}", options), value=total)
    used = np.flatnonzero(known.any(axis=1))
    try:
        amounts, codes = _means(values, used), None if clusters is None else clusters[used]
        mean = positive_mean(amounts, codes, level=options.level)
    except (DataError, NotEstimableError) as error:
        return replace(row, n_questions=len(used), messages=(refusal_of(error),))
    messages = _tail_warning(name, amounts, codes)
    return _with_limits(row, mean.scaled(total / mean.value), len(used), codes, messages)


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
    quantity = f"{name}_per_solved"
    row = _row(run, quantity, options, score)
    try:
        ratio = Ratio.of(values, score, clusters, options, plugins)
        limits = ratio.limits
    except (DataError, NotEstimableError) as error:
        yield replace(row, messages=(refusal_of(error),))
        return
    messages = (*_tail_warning(name, ratio.amounts, ratio.clusters), *_unscored(name, quantity, values, score))
    unsolved = (NOTHING_SOLVED(quantity=quantity),) if np.isinf(limits.high) else ()
    n = len(ratio.amounts)
    yield _with_limits(row, limits, n, ratio.clusters, (*unsolved, *messages))
    if name == "cost":
        inverse = _row(run, "score_per_dollar", options, score)
        yield _with_limits(inverse, limits.inverse, n, ratio.clusters, messages)


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
        amounts, scores = _same_trials(values, score)
        known = np.isfinite(amounts) & np.isfinite(scores)
        if rows is not None:
            known &= np.isin(np.arange(len(known)), rows)[:, None]
        amounts, scores = np.where(known, amounts, np.nan), np.where(known, scores, np.nan)
        has_both = np.asarray(known.any(axis=1))
        at = np.flatnonzero(has_both) if rows is None else rows[has_both[rows]]
        codes = None if clusters is None else clusters[at]
        mean = positive_mean(_means(amounts, at), codes, level=options.level)
        row = marginal(replace(score, data=replace(cast("Scores", score.data), values=scores)), options, plugins)
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


def _same_trials(values: FloatArray, score: SelectedRun) -> tuple[FloatArray, FloatArray]:
    """The resource and the score of the trials that both have."""
    scores = cast("Scores", score.data).values
    n_trials = min(values.shape[1], scores.shape[1])
    return values[:, :n_trials], scores[:, :n_trials]


def _tail_warning(name: str, amounts: FloatArray, clusters: IntArray | None) -> tuple[Message, ...]:
    """A warning if there are few questions or clusters, and the resource is heavy-tailed."""
    n_units = len(amounts) if clusters is None else len(np.unique(clusters))
    if n_units >= _ENOUGH_UNITS or not is_heavy_tailed(amounts):
        return ()
    unit = "question" if clusters is None else "cluster"
    return (HEAVY_TAIL(resource=name.capitalize(), n_units=n_units, unit=unit),)


def _unscored(name: str, quantity: str, values: FloatArray, score: SelectedRun) -> tuple[Message, ...]:
    amounts, scores = _same_trials(values, score)
    is_lost = np.isfinite(amounts) & ~np.isfinite(scores)
    if not is_lost.any():
        return ()
    amount = float(amounts[is_lost].sum())
    return (UNSCORED_COST(n_trials=int(is_lost.sum()), amount=amount, resource=name, quantity=quantity),)


def _with_limits(
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


# ---------------------------------------------------------------- two systems


def compare_resource_use(
    a: Sequence[TaskLog], b: Sequence[TaskLog], options: Options, plugins: Plugins
) -> list[ResourceUse]:
    """Ratios A / B of cost, tokens and time per question, and of cost and tokens per solved question.

    `a`, `b`: task logs of one system each, with resources as metrics. `options`: level, and structure of the logs.
    """
    runs_b = {run.task: run for run in task_runs(b)}
    return [
        row
        for run in task_runs(a)
        if run.task in runs_b
        for row in _rows_of_pair(run, runs_b[run.task], options, plugins)
    ]


def _rows_of_pair(a: TaskRun, b: TaskRun, options: Options, plugins: Plugins) -> Iterator[ResourceUse]:
    shared = [name for name in a.resources if name in b.resources]
    for name in shared:
        yield _ratio_of_means(a, b, name, options, plugins)
    scores_b = {(run.data.metric, run.data.filter): run for run in b.scores}
    for score in a.scores:
        other = scores_b.get((score.data.metric, score.data.filter))
        if other is not None:
            for name in shared:
                if name != "time":
                    yield _ratio_of_ratios(a, b, name, (score, other), options, plugins)


def _ratio_of_means(a: TaskRun, b: TaskRun, name: str, options: Options, plugins: Plugins) -> ResourceUse:
    row = _row(a, name, options, baseline=b)
    try:
        panel = pair_panel(_as_run(a, name), _as_run(b, name), options.structure, plugins)
        (x, y), units = panel.means, panel.units
        means = [positive_mean(values, units, level=options.level) for values in (x, y)]
        limits = ratio_of_limits(means[0], means[1], correlation_of_means(x, y, units))
    except (DataError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))
    return _with_limits(row, limits, len(x), units, (*_tail_warning(name, x, units), *_tail_warning(name, y, units)))


def _as_run(run: TaskRun, name: str) -> SelectedRun:
    """The run with the resource as its score."""
    first = next(iter(run.by_metric.values()))
    return replace(first, data=Scores(name, "none", run.resources[name]))


def _ratio_of_ratios(
    a: TaskRun,
    b: TaskRun,
    name: str,
    scores: tuple[SelectedRun, SelectedRun],
    options: Options,
    plugins: Plugins,
) -> ResourceUse:
    """The ratio of the resource per solved question, on the questions that both systems have."""
    quantity = f"{name}_per_solved"
    row = _row(a, quantity, options, scores[0], b)
    try:
        panel = pair_panel(*scores, options.structure, plugins)
        units = panel.units
        known = np.ones(panel.n_questions, bool)
        for run, score, at in zip((a, b), scores, panel.rows, strict=True):
            amounts, values = _same_trials(run.resources[name], score)
            known &= (np.isfinite(amounts[at]) & np.isfinite(values[at])).any(axis=1)
        first, second = (
            Ratio.of(values, score, _codes(len(values), at, units), options, plugins, rows=at[known])
            for values, score, at in zip((a.resources[name], b.resources[name]), scores, panel.rows, strict=True)
        )
        if min(first.score.value, second.score.value) <= 0:
            raise NotEstimableError(NOTHING_SOLVED(quantity=quantity))
        used = None if units is None else units[known]
        r = correlation_of_means(first.influence, second.influence, used)
        limits = ratio_of_limits(first.limits, second.limits, r)
    except (DataError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))
    messages = (*_tail_warning(name, first.amounts, used), *_tail_warning(name, second.amounts, used))
    return _with_limits(row, limits, int(known.sum()), used, messages)


def _codes(n_questions: int, rows: IntArray, units: IntArray | None) -> IntArray | None:
    """Units of the matched questions as cluster codes of all questions of a log."""
    if units is None:
        return None
    codes = np.full(n_questions, -1)
    codes[rows] = units
    return codes


# ---------------------------------------------------------------- systems that another one dominates


def _with_dominance(
    rows: Sequence[ResourceUse], runs: Sequence[TaskRun], options: Options, plugins: Plugins
) -> list[ResourceUse]:
    """The rows, with the probability that a system is dominated in those of the cost per solved question.

    Scores and log costs of the systems on their common questions have a joint normal distribution, whose covariance
    is estimated from the questions or clusters. Two questions, one solved and one not, are added to the variance of
    each score, so that scores of 0 and 1 are not certain.
    """
    by_task: dict[str, list[TaskRun]] = {}
    for run in runs:
        by_task.setdefault(run.task, []).append(run)
    results: dict[tuple[str, str, str, str], tuple[float, str]] = {}
    for task, of_task in by_task.items():
        keys = dict.fromkeys((score.data.metric, score.data.filter) for run in of_task for score in run.scores)
        for key in keys:
            for system, result in _dominance(of_task, key, options, plugins).items():
                results[system, task, *key] = result
    return [_with_probability(row, results.get((row.system, row.task, row.metric, row.filter))) for row in rows]


def _with_probability(row: ResourceUse, dominance: tuple[float, str] | None) -> ResourceUse:
    if row.quantity != "cost_per_solved" or dominance is None:
        return row
    return replace(row, prob_dominated=dominance[0], dominated_by=dominance[1])


def _dominance(
    runs: Sequence[TaskRun], key: tuple[str, str], options: Options, plugins: Plugins
) -> dict[str, tuple[float, str]]:
    """Probability of each system to be dominated, and the system that most probably does; empty if it is unknown."""
    scores = {
        run.system: (score, run)
        for run in runs
        for score in run.scores
        if (score.data.metric, score.data.filter) == key
    }
    scores = {system: pair for system, pair in scores.items() if "cost" in pair[1].resources}
    if len(scores) < 2:
        return {}
    try:
        panel = build_panel([score for score, _ in scores.values()], options.structure, plugins)
    except (DataError, NotEstimableError, StructureError):
        return {}
    values = [run.resources["cost"][rows] for (_, run), rows in zip(scores.values(), panel.rows, strict=True)]
    known = np.all([np.isfinite(cost).any(axis=1) for cost in values], axis=0)
    costs = np.stack([np.nanmean(cost[known], axis=1) for cost in values])
    labels = panel.units
    units = np.arange(int(known.sum())) if labels is None else np.unique(labels[known], return_inverse=True)[1]
    if len(np.unique(units)) < 2 or (costs.mean(axis=1) <= 0).any():
        return {}
    dominates = _pairwise(panel.means[:, known], costs, units, options.seed)
    systems = list(scores)
    return {
        system: (float(dominates[:, k].any(axis=1).mean()), systems[int(dominates[:, k].mean(axis=0).argmax())])
        for k, system in enumerate(systems)
    }


def _pairwise(scores: FloatArray, costs: FloatArray, units: NDArray[np.intp], seed: int) -> NDArray[np.bool_]:
    """Whether system j dominates system k, in each posterior draw; bool (n_draws, k, j)."""
    n_systems, n_questions = scores.shape
    n_units = int(units.max()) + 1
    means = np.concatenate([scores.mean(axis=1), np.log(costs.mean(axis=1))])
    influence = np.concatenate(
        [scores - scores.mean(axis=1, keepdims=True), costs / costs.mean(axis=1, keepdims=True) - 1.0]
    )
    sums = np.zeros((2 * n_systems, n_units))
    np.add.at(sums.T, units, influence.T)
    products = sums @ sums.T
    size = n_questions / n_units
    at = np.arange(n_systems)
    products[at, at] += size**2 * (scores.mean(axis=1) ** 2 + (1.0 - scores.mean(axis=1)) ** 2)
    covariance = products * n_units / (n_units - 1) / n_questions**2
    draws = np.random.default_rng(seed).multivariate_normal(means, covariance, _N_DRAWS, method="eigh")
    score, cost = draws[:, :n_systems], draws[:, n_systems:]
    return np.asarray((score[:, None, :] > score[:, :, None]) & (cost[:, None, :] < cost[:, :, None]))
