"""Which run speaks for a system: the newest finished one that used the whole benchmark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness_uq.logs.data import MetricKey, TaskData, TaskLog
from harness_uq.logs.factors import REPEAT, find_factors


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The data of one task, metric and filter that stand for a system.

    Attributes
    ----------
    log, data : the task's log in the chosen run, and its data of the metric and filter
    notes : which runs were passed over, and why
    """

    log: TaskLog
    data: TaskData
    notes: tuple[str, ...] = ()


Key = tuple[str, str, str]


def key_of(log: TaskLog, data: TaskData) -> Key:
    """Task, metric and filter."""
    return log.task, data.metric, data.filter


def choose_runs(logs: Iterable[TaskLog]) -> dict[str, dict[Key, Chosen]]:
    """For each system, the newest run of every task, metric and filter that was finished and had no limit.

    A finished run with a limit comes before one that was not finished. Runs without a time count as the oldest.

    Returns
    -------
    Chosen data by system, then by (task, metric, filter), both in the order of the logs.
    """
    found: dict[str, dict[Key, list[tuple[TaskLog, TaskData]]]] = {}
    for log in logs:
        for data in log.data:
            found.setdefault(log.system, {}).setdefault(key_of(log, data), []).append((log, data))
    return {
        system: {key: _newest(system, candidates) for key, candidates in by_key.items()}
        for system, by_key in found.items()
    }


def higher_is_better(log: TaskLog, metric: str) -> bool:
    """Whether larger values of the metric are better."""
    return log.higher_is_better.get(metric, True)


def _newest(system: str, candidates: Sequence[tuple[TaskLog, TaskData]]) -> Chosen:
    log, data = max(candidates, key=lambda pair: (*_completeness(pair[0]), pair[0].source.time or ""))
    return Chosen(log, data, _passed_over(system, log, [other for other, _ in candidates]))


def _completeness(log: TaskLog) -> tuple[bool, bool]:
    return log.facts.is_finished, not log.facts.is_limited


def _passed_over(system: str, log: TaskLog, runs: Sequence[TaskLog]) -> tuple[str, ...]:
    if len(runs) == 1:
        return ()
    kind = "the newest, and all have a limit," if log.facts.is_limited else "the newest without a limit"
    when = f", of {log.source.time}" if log.source.time else ""
    counts = f"{len(runs)} runs of {system}: {kind} counts{when} ({log.source.path})"
    factors = [factor for factor in find_factors(runs, {}) if factor.name != REPEAT]
    if not factors:
        return (counts,)
    evidence = "; ".join(factor.evidence for factor in factors)
    return (f"{counts}; what they differ in is in no interval here ({evidence}): `harness-uq effects` measures it",)


def metrics_of(keys: Iterable[Key]) -> dict[MetricKey, list[str]]:
    """Tasks by (metric, filter), in order."""
    tasks: dict[MetricKey, list[str]] = {}
    for task, metric, filter_name in keys:
        tasks.setdefault((metric, filter_name), []).append(task)
    return tasks
