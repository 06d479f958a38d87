"""Selection of the run that represents a system: the newest finished run of the whole benchmark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.data.task_log import AggregateScore, IntArray, MetricKey, TaskData, TaskGroup, TaskLog
from harness_uq.estimands import Scope
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.comparison import RUN_VARIATION_IGNORED, SEVERAL_RUNS
from harness_uq.messages.catalogue.estimation import NON_RANDOM_SUBSET

NEARLY_COMPLETE = 0.95  # share of the reported questions from which samples may represent the score of all
_MAX_NAMES = 3  # a message of more systems states their number


@dataclass(frozen=True, slots=True, eq=False)
class SelectedRun:
    """The data of one task, metric and filter that represent a system.

    Attributes
    ----------
    log : TaskLog
        The task in the selected run.
    data : TaskData
        Its data of the metric and filter.
    messages : tuple of Message
        Which runs were not selected, and why.
    """

    log: TaskLog
    data: TaskData
    messages: tuple[Message, ...] = ()

    @property
    def scored_rows(self) -> IntArray:
        """Rows of the questions that have a score; none of an aggregate score."""
        return np.empty(0, int) if isinstance(self.data, AggregateScore) else np.flatnonzero(self.data.is_scored)


ScoreKey = tuple[str, str, str]


def select_runs(logs: Iterable[TaskLog]) -> dict[str, dict[ScoreKey, SelectedRun]]:
    """Select for each system the newest finished run without a limit, for every task, metric and filter.

    If there is none, a finished run with a limit is preferred to an unfinished one. A run without a time is oldest.

    Returns
    -------
    dict
        Selected data by system, then by (task, metric, filter), both in the order of the logs.
    """
    candidates_of: dict[str, dict[ScoreKey, list[tuple[TaskLog, TaskData]]]] = {}
    for log in logs:
        for data in log.data:
            key = log.task, data.metric, data.filter
            candidates_of.setdefault(log.system, {}).setdefault(key, []).append((log, data))
    return {
        system: {key: _newest(system, candidates) for key, candidates in by_key.items()}
        for system, by_key in candidates_of.items()
    }


def higher_is_better(log: TaskLog, metric: str) -> bool:
    """Whether higher values of the metric are better."""
    return log.higher_is_better.get(metric, True)


def _newest(system: str, candidates: Sequence[tuple[TaskLog, TaskData]]) -> SelectedRun:
    log, data = max(
        candidates,
        key=lambda pair: (pair[0].facts.is_finished, not pair[0].facts.is_limited, pair[0].source.time or ""),
    )
    return SelectedRun(log, data, _selection_notes(system, log, [other for other, _ in candidates]))


def _selection_notes(system: str, log: TaskLog, runs: Sequence[TaskLog]) -> tuple[Message, ...]:
    if len(runs) == 1:
        return ()
    from harness_uq.data.factors import REPEAT, find_factors

    kind = "run (with a sample limit, like the others)" if log.facts.is_limited else "run without a sample limit"
    time = f" ({log.source.time})" if log.source.time else ""
    selected = SEVERAL_RUNS(system=system, n_runs=len(runs), kind=kind, path=log.source.path, time=time)
    factors = [factor for factor in find_factors(runs, {}) if factor.name != REPEAT]
    if not factors:
        return (selected,)
    evidence = "; ".join(factor.evidence for factor in factors)
    return (selected, RUN_VARIATION_IGNORED(system=system, n_runs=len(runs), evidence=evidence))


def messages_of_systems(runs: Sequence[SelectedRun], names: Sequence[str], scope: Scope) -> tuple[Message, ...]:
    """The messages about the runs of several systems; one about the logs of only some of them opens with their names.

    Parameters
    ----------
    runs : the selected run of each system
    names : the name of each system in the output
    scope : scope of the comparison
    """
    selection = (message for run in runs for message in run.messages)
    of_runs = [(*run.log.messages, *non_random_subset(run.log, run.data, len(run.scored_rows), scope)) for run in runs]
    return distinct((*selection, *name_systems(of_runs, names)))


def non_random_subset(log: TaskLog, data: TaskData | TaskGroup, n_scored: int, scope: Scope) -> tuple[Message, ...]:
    """A warning if a run covers the first questions of a benchmark only, and the scope is not these questions."""
    n, n_all = questions_covered(log, data, n_scored)
    if scope == "population" and log.facts.is_limited and 0 < n < n_all and not log.facts.is_random_subset:
        return (NON_RANDOM_SUBSET(n_questions=n, n_all=n_all),)
    return ()


def questions_covered(log: TaskLog, data: TaskData | TaskGroup, n_scored: int) -> tuple[int, int]:
    """Numbers of questions in a run and in the benchmark; equal if the benchmark's is unknown.

    The harness may have reported how many questions its score covers; otherwise these are the `n_scored` questions.
    """
    reported = log.reported.get((data.metric, data.filter))
    n = reported.n if reported and reported.n else n_scored
    return n, n if log.facts.n_all is None else log.facts.n_all


def name_systems(messages: Sequence[Iterable[Message]], names: Sequence[str]) -> tuple[Message, ...]:
    """The messages about several systems, each once; one about only some of them opens with their names.

    Parameters
    ----------
    messages : the messages about each system
    names : the name of each system in the output
    """
    systems: dict[Message, list[str]] = {}
    for of_system, name in zip(messages, names, strict=True):
        for message in distinct(of_system):
            systems.setdefault(message, []).append(name)
    return distinct(_of_systems(message, of, len(names)) for message, of in systems.items())


def _of_systems(message: Message, names: Sequence[str], n_systems: int) -> Message:
    if len(names) == n_systems or "system" in message.params:
        return message
    return message.of(", ".join(names) if len(names) <= _MAX_NAMES else f"{len(names)} of {n_systems} systems")


def tasks_by_metric(keys: Iterable[ScoreKey]) -> dict[MetricKey, list[str]]:
    """Group tasks by (metric, filter), in order."""
    tasks: dict[MetricKey, list[str]] = {}
    for task, metric, filter_name in keys:
        tasks.setdefault((metric, filter_name), []).append(task)
    return tasks
