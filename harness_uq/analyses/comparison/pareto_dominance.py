"""Probability that another system has a better score at a lower cost."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness_uq.analyses.resource_use import TaskRun, task_runs
from harness_uq.data.arrays import FloatArray
from harness_uq.data.panel import build_panel
from harness_uq.data.task_log import TaskLog
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError
from harness_uq.options import Options
from harness_uq.results.resources import ResourceUse

_N_DRAWS = 20_000


def with_dominance(
    rows: Sequence[ResourceUse], logs: Sequence[TaskLog], options: Options, plugins: Plugins
) -> list[ResourceUse]:
    """The rows, with the probability that a system is dominated in those of the cost per solved question.

    Scores and log costs of the systems on their common questions have a joint normal distribution, whose covariance
    is estimated from the questions or clusters. Two questions, one solved and one not, are added to the variance of
    each score, so that scores of 0 and 1 are not certain.
    """
    by_task: dict[str, list[TaskRun]] = {}
    for run in task_runs(logs):
        by_task.setdefault(run.task, []).append(run)
    results: dict[tuple[str, str, str, str], tuple[float, str]] = {}
    for task, runs in by_task.items():
        keys = dict.fromkeys((score.data.metric, score.data.filter) for run in runs for score in run.scores)
        for key in keys:
            for system, result in _dominance(runs, key, options, plugins).items():
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
