"""Metrics that a gate reads only if an option names them: costs, tokens, times, and the share of errors."""

from collections.abc import Iterable, Set
from dataclasses import replace

import numpy as np

from harness_uq.comparison.sides import Side
from harness_uq.data.resources import RESOURCE_METRICS, renamed
from harness_uq.data.selection import select_runs
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.data.trial_endings import ending_code

ERROR_RATE = "error_rate"
NAMED_METRICS = frozenset({*RESOURCE_METRICS, *map(renamed, RESOURCE_METRICS), ERROR_RATE})


def named_metrics(names: Iterable[str | None]) -> frozenset[str]:
    """The metrics among the names of requirements and margins that are read only if they are named.

    >>> sorted(named_metrics(["gsm8k:cost", "error_rate", "acc", None]))
    ['cost', 'error_rate']
    """
    metrics = {(name or "").rpartition(":")[2].partition(",")[0] for name in names}
    return NAMED_METRICS & metrics


def reads_resources(names: Set[str]) -> bool:
    """Whether one of the metrics is a resource, which readers must be asked for."""
    return bool(names - {ERROR_RATE})


def with_named_metrics(side: Side, names: Set[str]) -> Side:
    """The side with the named ones of these metrics, and without the others."""
    logs = tuple(_with_named(log, names) for log in side.logs)
    return replace(side, logs=logs, chosen=select_runs(logs)[side.system])


def _with_named(log: TaskLog, names: Set[str]) -> TaskLog:
    kept = tuple(data for data in log.data if data.metric in names or data.metric not in NAMED_METRICS)
    if ERROR_RATE in names and (errors := _error_rate(log)) is not None:
        kept = (*kept, errors)
    return replace(log, data=kept, higher_is_better={**log.higher_is_better, ERROR_RATE: False})


def _error_rate(log: TaskLog) -> Scores | None:
    """Whether each trial ended with an error; None if the log does not tell how its trials ended."""
    if log.ended_by is None or any(data.metric == ERROR_RATE for data in log.data):
        return None
    codes = log.ended_by.codes
    values = np.where(codes < 0, np.nan, (codes == ending_code("error")).astype(float))
    return Scores(ERROR_RATE, "none", values, bounds=(0.0, 1.0))
