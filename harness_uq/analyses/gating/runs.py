"""Runs of one system: as trials of the same questions, the variation between them, and earlier runs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness_uq.analyses.history import runs_at_level_of
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.log_filter import Selection
from harness_uq.data.match_questions import common_questions
from harness_uq.data.selection import (
    LogFilter,
    ScoreKey,
    SelectedRun,
    copied_logs,
    select_questions,
    select_runs,
    superseded_attempts,
)
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_groups import group_data, members_of
from harness_uq.data.task_log import MetricKey, Scores, Source, TaskLog
from harness_uq.data.trial_endings import TrialEndings
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import HISTORY_RUNS_USED, NO_HISTORY_RUNS, ONE_SYSTEM_REQUIRED
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message
from harness_uq.options import OVERALL, Options
from harness_uq.stats.pairs.run_variation import RunVariation, run_variation


@dataclass(frozen=True, slots=True, eq=False)
class RunCounts:
    """Numbers of runs that the columns of a system's merged scores contain.

    `by_score`: number of runs by task, metric and filter; scores that are not listed have one run. `sources`: logs of
    all runs.
    """

    by_score: Mapping[ScoreKey, int] = field(default_factory=dict)
    sources: frozenset[Source] = frozenset()

    def with_groups(self, tasks: Iterable[str]) -> "RunCounts":
        """These numbers, and those of groups of questions."""
        return replace(self, by_score={**self.by_score, **self.of_groups(tasks).by_score})

    def of_groups(self, tasks: Iterable[str]) -> "RunCounts":
        """The numbers of runs of groups of questions, whose names begin with that of their task."""
        return RunCounts(
            {
                (task, *key[1:]): n
                for task in tasks
                for key, n in self.by_score.items()
                if task.startswith(f"{key[0]}, ")
            }
        )

    def variation(self, key: ScoreKey, side: Side, plugins: Plugins) -> RunVariation | None:
        """Variation of a score between the runs of the system; None if there is one run."""
        task, *names = key
        metric = (names[0], names[1])
        if task == OVERALL and key not in side.chosen:
            members = [other for other in self.by_score if other[1:] == metric]
            n_scores = sum(other[1:] == metric and not _is_group(side, other) for other in side.chosen)
            sizes = [float(len(_run_means(side, other, self.by_score[other])[0])) for other in members]
            return self._combined(side, members, sizes) if len(members) == n_scores else None
        if key in side.chosen and _is_group(side, key):
            return self._of_group(side.chosen[key].log, metric, side, plugins)
        return self._combined(side, [key], [1.0]) if key in self.by_score else None

    def _of_group(self, log: TaskLog, metric: MetricKey, side: Side, plugins: Plugins) -> RunVariation | None:
        try:
            group = group_data(
                log, *metric, members_of(log, side.logs), lambda task: clusters_of(task, StructureOptions(), plugins)
            )
        except NotEstimableError:
            return None
        members = [(task, *metric) for task in group.names]
        has_all = all(member in self.by_score for member in members)
        return self._combined(side, members, group.weights.tolist()) if has_all else None

    def _combined(self, side: Side, members: Sequence[ScoreKey], weights: Sequence[float]) -> RunVariation | None:
        """Variation of the weighted mean of tasks, whose runs are in the same order."""
        n_runs = min(self.by_score[member] for member in members) if members else 0
        if n_runs < 2:
            return None
        tables = [_run_means(side, member, self.by_score[member])[:n_runs] for member in members]
        if any(table.shape[1] < 2 for table in tables):
            return None
        shares = np.array(weights) / np.sum(weights)
        parts = [run_variation(table) for table in tables]
        means = np.stack([table.mean(axis=1) for table in tables])
        noise = float(np.sum(shares**2 * [part.trial_variance for part in parts]))
        return RunVariation(n_runs - 1, float((shares @ means).var(ddof=1)), noise)


def _is_group(side: Side, key: ScoreKey) -> bool:
    return bool(side.chosen[key].log.subtasks)


def _run_means(side: Side, key: ScoreKey, n_runs: int) -> FloatArray:
    """Mean scores of the questions that all runs answered; float (n_runs, n_questions)."""
    data = side.chosen[key].data
    if not isinstance(data, Scores):
        raise DataError(f"{key[0]}: the scores of several runs were replaced by totals")
    trials = data.values.reshape(len(data.values), n_runs, -1)
    is_scored = np.isfinite(trials).sum(axis=2) > 0
    return np.asarray(np.nanmean(trials[is_scored.sum(axis=1) == n_runs], axis=2).T)


def separate_runs(runs: Runs) -> list[Runs]:
    """The runs that are listed one by one; a path or a single object is one run.

    >>> separate_runs({"main": ["a.json", "b.json"]})
    [{'main': 'a.json'}, {'main': 'b.json'}]
    """
    if isinstance(runs, Mapping) and len(runs) == 1:
        ((name, given),) = runs.items()
        return [{name: one} for one in separate_runs(given)]
    return list(runs) if isinstance(runs, list | tuple) else [runs]


def read_side(
    runs: Runs, name: str, plugins: Plugins, structure: StructureOptions, selection: Selection
) -> tuple[Side, RunCounts]:
    """Read a system; tasks that several of the listed runs contain have all of their runs as trials. Raises DataError
    if the runs belong to several systems.
    """
    read = _selected(runs, plugins, selection)
    given = [_newest(logs, name) for logs in read]
    every = [log for logs in given for log in logs]
    sources = frozenset(log.source for log in every)
    copies = copied_logs(log.source for log in every) | superseded_attempts(log.source for log in every)
    by_task: dict[str, list[TaskLog]] = {}
    for log in every:
        if log.source not in copies and not log.subtasks:
            by_task.setdefault(log.task, []).append(log)
    if all(len(logs) < 2 for logs in by_task.values()):
        return Side.read([log for logs in read for log in logs], name, plugins, structure), RunCounts(sources=sources)
    systems = sorted({log.system for log in every})
    if len(systems) != 1:
        raise DataError(ONE_SYSTEM_REQUIRED(side=name, systems=", ".join(systems)))
    groups = {log.task: log for log in every if log.subtasks}
    merged = [_merged(logs) if len(logs) > 1 else (logs[0], {}) for logs in by_task.values()]
    logged = (*(log for log, _ in merged), *groups.values())
    used = tuple(with_best_evidence(logged, plugins, structure))
    counts = {key: n for _, by_score in merged for key, n in by_score.items()}
    return Side(systems[0], used, select_runs(used)[systems[0]], logged), RunCounts(counts, sources)


def _selected(runs: Runs, plugins: Plugins, selection: Selection) -> list[list[TaskLog]]:
    """The selected logs of each listed run; a pattern must match something in any of them."""
    everything = replace(selection, filter=LogFilter(), structure=None, tasks=())
    read = [task_logs(one, plugins, everything) for one in separate_runs(runs)]
    tasks = {log.task for log in selection.of([log for logs in read for log in logs])}
    of_any_task = replace(selection.filter, tasks=())
    selected = [[log for log in of_any_task.of(logs) if log.task in tasks] for logs in read]
    return [logs for logs in selected if logs]


def _newest(logs: Iterable[TaskLog], name: str) -> list[TaskLog]:
    """The logs of one run; of several runs in one folder, the newest finished one of each task."""
    systems = select_runs(logs)
    if len(systems) != 1:
        raise DataError(ONE_SYSTEM_REQUIRED(side=name, systems=", ".join(sorted(systems)) or "none"))
    (chosen,) = systems.values()
    return list({id(entry.log): entry.log for entry in chosen.values()}.values())


def _merged(logs: Sequence[TaskLog]) -> tuple[TaskLog, dict[ScoreKey, int]]:
    """One log whose trials are those of all runs, on the questions that all of them have."""
    last = logs[-1]
    tables = [{(data.metric, data.filter): data for data in log.data if isinstance(data, Scores)} for log in logs]
    if not set.intersection(*(set(table) for table in tables)):
        return last, {}
    # a score that every question has, because questions are matched whether or not they were scored
    stand_ins = [Scores("question", "none", np.zeros((len(log.questions), 1))) for log in logs]
    runs = [SelectedRun(replace(log, data=(score,)), score) for log, score in zip(logs, stand_ins, strict=True)]
    rows = common_questions(runs).rows
    if len(rows) < len(logs):
        raise DataError(f"{last.task}: the runs of {last.system} contain different questions")
    base = select_questions(last, rows[-1])
    shared = set.intersection(*(set(table) for table in tables))
    data = tuple(
        _stacked(one, [table[one.metric, one.filter] for table in tables], rows)
        if isinstance(one, Scores) and (one.metric, one.filter) in shared
        else one
        for one in base.data
    )
    merged = replace(base, data=data, ended_by=_endings(logs, rows), resources=None, reported={})
    return merged, {(last.task, *key): len(logs) for key in shared}


def _stacked(base: Scores, scores: Sequence[Scores], rows: IntArray) -> Scores:
    """Trials of all runs side by side; the mean of each run if the numbers of trials differ."""
    values = [score.values[at] for score, at in zip(scores, rows, strict=True)]
    if len({table.shape[1] for table in values}) == 1:
        return replace(base, values=np.concatenate(values, axis=1))
    n_scored = [np.isfinite(table).sum(axis=1) for table in values]
    means = [
        np.divide(np.nansum(table, axis=1), n, out=np.full(len(table), np.nan), where=n > 0)
        for table, n in zip(values, n_scored, strict=True)
    ]
    return replace(base, values=np.stack(means, axis=1), levels=None)


def _endings(logs: Sequence[TaskLog], rows: IntArray) -> TrialEndings | None:
    codes = [log.ended_by.codes[at] for log, at in zip(logs, rows, strict=True) if log.ended_by is not None]
    return TrialEndings(np.concatenate(codes, axis=1)) if len(codes) == len(logs) else None


# ---------------------------------------------------------------- earlier runs of the baseline's system


@dataclass(frozen=True, slots=True, eq=False)
class HistoryRuns:
    """Further runs of the baseline's system by task, metric and filter.

    `by_score`: the runs that no change of the score separates from the baseline. `n_omitted`: largest number of other
    runs of one score.
    """

    by_score: Mapping[ScoreKey, list[SelectedRun]] = field(default_factory=dict)
    n_omitted: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """A note on the numbers of runs; none without a history."""
        if not self.by_score:
            return ()
        n_runs = max(map(len, self.by_score.values()))
        others = "1 other run is" if self.n_omitted == 1 else f"{self.n_omitted} other runs are"
        omitted = f"; {others} omitted because of a change of the score"
        return (HISTORY_RUNS_USED(n_runs=n_runs, omitted=omitted if self.n_omitted else ""),)

    @classmethod
    def read(
        cls,
        runs: Runs,
        baseline: Side,
        compared: Collection[Source],
        plugins: Plugins,
        structure: StructureOptions,
        selection: Selection,
    ) -> "HistoryRuns":
        """Read the runs of the baseline's system except those that the gate compares, whose logs are `compared`. Raises
        DataError if there is none.
        """
        logs = [log for log in task_logs(runs, plugins, selection) if not log.subtasks]
        sources = [*compared, *(log.source for log in logs)]
        copies = {*copied_logs(sources), *superseded_attempts(sources)}
        found: dict[ScoreKey, list[SelectedRun]] = {}
        for log in logs:
            for data in log.data if log.system == baseline.system and log.source not in copies else ():
                if isinstance(data, Scores):
                    found.setdefault((log.task, data.metric, data.filter), []).append(SelectedRun(log, data))
        by_score, n_omitted = dict[ScoreKey, list[SelectedRun]](), 0
        for key, entries in found.items():
            if (run := baseline.chosen.get(key)) is None:
                continue
            own = run.log.source
            others = [one for one in entries if one.log.source == own or one.log.source not in compared]
            by_score[key] = runs_at_level_of(run, others, Options(structure=structure), plugins)
            n_omitted = max(n_omitted, sum(one.log.source != own for one in others) - len(by_score[key]))
        if not any(by_score.values()) and not n_omitted:
            systems = sorted({log.system for log in logs}) or ["none"]
            raise DataError(NO_HISTORY_RUNS(system=baseline.system, systems=systems))
        return cls(by_score, n_omitted)
