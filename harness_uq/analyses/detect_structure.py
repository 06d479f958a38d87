"""Detect the structure of the tasks in logs: clusters, trials and types of scores, with the evidence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from harness_uq.data.clusters import clusters_of
from harness_uq.data.missingness import missingness_notes
from harness_uq.data.structure import Clusters, StructureOptions, detect
from harness_uq.data.task_log import AggregateScore, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import StructureError
from harness_uq.options import Options, resolve
from harness_uq.options_typed import DetectStructureKeywords
from harness_uq.results.result_list import ResultList
from harness_uq.results.structure import TaskStructure


def detect_structure(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[DetectStructureKeywords]",
) -> ResultList[TaskStructure]:
    """Detect the clusters, trials and score types of each task, with the evidence.

    Parameters
    ----------
    logs : runs, as for `estimate`
    options : options; only those about the structure are used
    plugins : plugins to use; by default the installed ones
    **keywords : `cluster`, `range`, `use_samples`, `task`, `metric`, `filter` and `model`, as for `estimate`
    """
    offered = plugins or load_plugins()
    resolved, selection = resolve("detect_structure", options, keywords)
    chosen, read = resolved.structure, task_logs(logs, offered, selection, need_scores=False)
    return ResultList(_task_structure(log, clusters_of(log, chosen, offered), chosen, read) for log in read)


def _task_structure(
    log: TaskLog, clusters: Clusters, options: StructureOptions, logs: Sequence[TaskLog]
) -> TaskStructure:
    metrics, messages = {}, (*clusters.messages, *missingness_notes(log, clusters, logs))
    for data in log.data:
        if isinstance(data, AggregateScore):
            continue
        try:
            metrics[data.metric, data.filter] = detect(data, clusters, options.of_task(log.task))
        except StructureError as error:
            messages += (error.message,)
    return TaskStructure(log, replace(clusters, messages=messages), metrics)
