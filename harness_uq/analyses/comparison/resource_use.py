"""Ratios of the resources of two systems on the same questions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq.analyses.comparison.pareto_dominance import with_dominance
from harness_uq.analyses.resource_use import Ratio, TaskRun, resource_use_of, tail_warning, task_runs, with_limits
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.panel import pair_panel
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import ONE_SYSTEM_REQUIRED
from harness_uq.messages.catalogue.resources import NOTHING_SOLVED
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, refusal_of
from harness_uq.options import Options, resolve
from harness_uq.options_typed import ResourceUseKeywords
from harness_uq.results.resources import Quantity, ResourceUse
from harness_uq.results.result_list import ResultList
from harness_uq.stats.means.ratio import correlation_of_means, positive_mean, ratio_of_limits


def resource_use(
    runs: Runs,
    baseline: "Runs | None" = None,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: Unpack[ResourceUseKeywords],
) -> ResultList[ResourceUse]:
    """Estimate totals of cost, tokens and time, and the cost and tokens per solved question.

    Parameters
    ----------
    runs : runs of one or more systems: paths or results in memory, as for `read_logs`
    baseline : runs of one other system. If they are given, `runs` must be of one system, and the results are the ratios
        of this system's resources to those of the baseline on the same questions
    options : options; of the method only `level`, `scope` and the structure are used
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `estimate`; `prices` names a file of prices

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
        return ResultList(with_dominance(resource_use_of(logs, chosen, offered), logs, chosen, offered))
    others = task_logs(baseline, offered, selection)
    for name, side in (("runs", logs), ("baseline", others)):
        systems = sorted({log.system for log in side})
        if len(systems) != 1:
            raise DataError(ONE_SYSTEM_REQUIRED(side=name, systems=", ".join(systems) or "none"))
    return ResultList(compare_resource_use(logs, others, chosen, offered))


def compare_resource_use(
    a: Sequence[TaskLog], b: Sequence[TaskLog], options: Options, plugins: Plugins
) -> list[ResourceUse]:
    """Ratios A / B of cost, tokens and time per question, and of cost and tokens per solved question.

    `a`, `b`: task logs of one system each, with resources as metrics. `options`: level, and structure of the logs.
    """
    runs_b = {run.task: run for run in task_runs(b)}
    return [row for run in task_runs(a) if run.task in runs_b for row in _rows(run, runs_b[run.task], options, plugins)]


def _rows(a: TaskRun, b: TaskRun, options: Options, plugins: Plugins) -> Iterator[ResourceUse]:
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


def _empty(a: TaskRun, b: TaskRun, quantity: Quantity, options: Options) -> ResourceUse:
    baseline = b.system if b.system != a.system else f"{b.system} (B)"
    return ResourceUse(a.system, baseline, a.task, "", "", quantity, None, None, None, options.level)


def _ratio_of_means(a: TaskRun, b: TaskRun, name: str, options: Options, plugins: Plugins) -> ResourceUse:
    row = _empty(a, b, cast("Quantity", name), options)
    try:
        panel = pair_panel(_as_run(a, name), _as_run(b, name), options.structure, plugins)
        (x, y), units = panel.means, panel.units
        means = [positive_mean(values, units, level=options.level) for values in (x, y)]
        limits = ratio_of_limits(means[0], means[1], correlation_of_means(x, y, units))
    except (DataError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))
    return with_limits(row, limits, len(x), units, (*tail_warning(name, x, units), *tail_warning(name, y, units)))


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
    quantity = cast("Quantity", f"{name}_per_solved")
    row = replace(_empty(a, b, quantity, options), metric=scores[0].data.metric, filter=scores[0].data.filter)
    try:
        panel = pair_panel(*scores, options.structure, plugins)
        units = panel.units
        known = np.ones(panel.n_questions, bool)
        for run, score, at in zip((a, b), scores, panel.rows, strict=True):
            known &= _has_both(run.resources[name], cast("Scores", score.data))[at]
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
    messages = (*tail_warning(name, first.amounts, used), *tail_warning(name, second.amounts, used))
    return with_limits(row, limits, int(known.sum()), used, messages)


def _has_both(values: FloatArray, data: Scores) -> NDArray[np.bool_]:
    """Which questions have a trial with both the resource and the score."""
    n_trials = min(values.shape[1], data.values.shape[1])
    known = np.isfinite(values[:, :n_trials]) & np.isfinite(data.values[:, :n_trials])
    return np.asarray(known.any(axis=1))


def _codes(n_questions: int, rows: IntArray, units: IntArray | None) -> IntArray | None:
    """Units of the matched questions as cluster codes of all questions of a log."""
    if units is None:
        return None
    codes = np.full(n_questions, -1)
    codes[rows] = units
    return codes
