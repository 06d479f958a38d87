"""Estimate scores by groups of questions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from harness_uq.analyses.breakdown.pooling import GroupValue, pooled_values
from harness_uq.analyses.estimate import estimate
from harness_uq.data.clusters import clusters_of
from harness_uq.data.question_groups import QuestionGroups, divided_logs
from harness_uq.data.structure import codes_of, score_type_of
from harness_uq.data.task_log import Scores, TaskData, TaskLog
from harness_uq.inference.evidence import with_policies
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import with_structure_of_task
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.breakdown import GROUPS_NOT_POOLED
from harness_uq.messages.message import Message
from harness_uq.options import Options, resolve
from harness_uq.options_typed import EstimateKeywords
from harness_uq.results.breakdown import Breakdown, GroupScore
from harness_uq.results.estimate import Estimate
from harness_uq.results.result_list import ResultList
from harness_uq.stats.groups.heterogeneity import heterogeneity_test


def estimate_by(  # type: ignore[misc]
    logs: Runs,
    by: str | Sequence[str],
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: Unpack[EstimateKeywords],
) -> ResultList[Breakdown]:
    """Estimate the scores of groups of questions, such as categories, languages or levels of difficulty.

    Each group has the estimate from its own questions, and a partially pooled one that is shrunk towards the other
    groups. The group with the highest or lowest score of many is extreme partly by chance, and the pooled estimate
    corrects for this.

    Parameters
    ----------
    logs : paths of logged runs, results in memory, lists of these, or a mapping from names of systems to them
    by : field of the questions' documents or metadata, or several fields, each of which gives its own breakdown.
        Numbers with more than ten different values are divided into four ranges
    options : options of the estimates
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `estimate`

    Returns
    -------
    One breakdown per field, system, task, metric and filter, of the tasks that have the field

    Raises
    ------
    LogError : if no log can be read from a path
    StructureError : if no task has the field, or the field has too many values
    TypeError : if an option does not exist
    """
    options, selection = resolve("estimate", options, keywords)
    plugins = plugins or load_plugins()
    structure = options.structure.without_bounds("scores of groups (--by)")
    logged = [log for log in task_logs(logs, plugins, selection) if not log.subtasks]
    read = with_policies(logged, structure)
    options = replace(options, structure=structure.without_policies)
    fields = [by] if isinstance(by, str) else list(by)
    rows = ResultList[Breakdown]()
    for name in fields:
        divided, notes = divided_logs(read, name)
        rows += [
            _breakdown(log, data, groups, notes, options, plugins)
            for log, groups in divided
            for data in log.data
            if isinstance(data, Scores)
        ]
    return rows


def _breakdown(
    log: TaskLog, data: Scores, groups: QuestionGroups, notes: tuple[Message, ...], options: Options, plugins: Plugins
) -> Breakdown:
    whole = with_structure_of_task(log, options.structure, plugins)
    rows = [_group(part, data, options, plugins) for _, part in groups.parts(whole)]
    _, bounds, _ = score_type_of(data, options.structure.of_task(log.task).ranges)
    values = [GroupValue.of(row.value, row.std_error, row.n_questions) for row in rows]
    pooled = pooled_values(values, options.level, bounds)
    if pooled.spread is None:
        notes = (*notes, GROUPS_NOT_POOLED(n_groups=len(values) - values.count(None)))
    scores = tuple(
        GroupScore(label, row.n_questions or 0, row.n_clusters, row.value, row.interval, row.std_error, value, interval)
        for label, row, value, interval in zip(groups.labels, rows, pooled.values, pooled.intervals, strict=True)
    )
    return Breakdown(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        field=groups.field,
        groups=scores,
        source=log.source,
        heterogeneity_p=_heterogeneity(log, data, groups, options, plugins) if options.estimand == "mean" else None,
        spread=pooled.spread,
        messages=notes,
    )


def _group(part: TaskLog, data: TaskData, options: Options, plugins: Plugins) -> Estimate:
    """Estimate the score of one group from its own questions."""
    (row,) = (
        row
        for row in estimate(part, options, plugins=plugins)
        if (row.metric, row.filter) == (data.metric, data.filter)
    )
    return row


def _heterogeneity(
    log: TaskLog, data: Scores, groups: QuestionGroups, options: Options, plugins: Plugins
) -> float | None:
    """p-value of the test whether groups differ; None with fewer than two groups of scored questions."""
    scored = np.flatnonzero(np.isfinite(data.values).any(axis=1))
    codes = groups.codes[scored]
    if len(np.unique(codes)) < 2:
        return None
    cluster_codes = codes_of(data, clusters_of(log, options.structure, plugins))
    clusters = None if cluster_codes is None else cluster_codes[scored]
    means = np.nanmean(data.values[scored], axis=1)
    return heterogeneity_test(means, codes, clusters, rng=np.random.default_rng(options.seed)).p_value
