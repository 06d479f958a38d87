"""Estimate the scores in task logs: detect the structure, build the problem, apply an estimator."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.data.task_log import Scores, TaskData, TaskLog
from harness_uq.inference.diagnostics import messages_of_log
from harness_uq.inference.evidence import OpenLogs, with_best_evidence
from harness_uq.inference.marginals import estimate_data
from harness_uq.io.plugins.manager import Plugins
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate


def estimate_logs(logs: Sequence[TaskLog], options: Options, plugins: Plugins) -> list[Estimate]:
    """One estimate per system, task, metric and filter."""
    read = with_best_evidence(logs, plugins, options.structure)
    rows = []
    others = OpenLogs(logs, options.structure, plugins)
    for i, log in enumerate(read):
        of_log = []
        for k, data in enumerate(log.data):
            row = estimate_data(log, data, read, options, plugins)
            if others.are_open and _has_missing(log, data, read):
                from harness_uq.inference.scenarios import with_open_score  # which few logs need

                row = with_open_score(row, data, others, (i, k), options)
            of_log.append(row)
        notes = messages_of_log(log.messages, of_log)
        rows += [replace(row, messages=(*row.messages, *notes)) for row in of_log]
    return rows


def _has_missing(log: TaskLog, data: TaskData, logs: Sequence[TaskLog]) -> bool:
    """Whether trials of the metric, or of a task of the group, have no score."""
    if isinstance(data, Scores):
        return data.missing is not None
    members = (member for member in logs if member.system == log.system and member.task in log.subtasks)
    return any(isinstance(item, Scores) and item.missing is not None for member in members for item in member.data)
