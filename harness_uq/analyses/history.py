"""Follow the scores of repeated runs: changes of the level, changed questions and flaky questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Unpack

import numpy as np
from scipy import special

from harness_uq.analyses.configuration_changes import configuration_changes
from harness_uq.data.arrays import FloatArray
from harness_uq.data.panel import Panel, build_panel
from harness_uq.data.selection import SelectedRun, copied_logs, superseded_attempts
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.trends import FEW_RUNS, ONE_RUN, RUNS_WITHOUT_TIME
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options, resolve
from harness_uq.options_typed import HistoryKeywords
from harness_uq.results.estimate import Interval
from harness_uq.results.history import MOST_QUESTIONS, ChangedQuestion, FlakyQuestion, History, HistoryRun, LevelShift
from harness_uq.results.result_list import ResultList
from harness_uq.stats.sequential.level_change import LevelChange, level_change
from harness_uq.stats.trials.question_changes import FLAKY, question_changes

_ENOUGH_RUNS = 5
_LIKELY = 0.9


def history(
    runs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[HistoryKeywords]",
) -> ResultList[History]:
    """Follow the score of repeated runs of the same questions, and report when it changed.

    Runs of one system are ordered by the times in their logs. The alarm may be consulted after every run.

    Parameters
    ----------
    runs : runs of one or more systems: paths or results in memory, as for `read_logs`
    options : options of the analysis
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `level`, `range`, `task`, `metric`, `filter` and `model`.
        They take precedence over `options`

    Returns
    -------
    One history per system, task, metric and filter with scores of questions

    Raises
    ------
    LogError : if no log can be read from a path
    TypeError : if an option does not exist
    """
    chosen, selection = resolve("history", options, keywords)
    offered = plugins or load_plugins()
    logs = [log for log in task_logs(runs, offered, selection) if not log.subtasks]
    sources = [log.source for log in logs]
    ignored = {*superseded_attempts(sources), *copied_logs(sources)}
    series: dict[tuple[str, str, str, str], list[SelectedRun]] = {}
    for log in logs:
        for data in log.data if log.source not in ignored else ():
            if isinstance(data, Scores):
                series.setdefault((log.system, log.task, data.metric, data.filter), []).append(SelectedRun(log, data))
    return ResultList(_history(key, entries, len(series), chosen, offered) for key, entries in series.items())


def _history(
    key: tuple[str, str, str, str],
    entries: Sequence[SelectedRun],
    n_series: int,
    options: Options,
    plugins: Plugins,
) -> History:
    n_without_time = sum(_time_of(entry.log) is None for entry in entries)
    notes = (RUNS_WITHOUT_TIME(n_runs=n_without_time),) if n_without_time and len(entries) > 1 else ()
    try:
        if len(entries) < 2:
            raise NotEstimableError(ONE_RUN())
        ordered = _in_order(entries)
        named = [replace(entry, log=replace(entry.log, system=_run_name(entry.log))) for entry in ordered]
        panel = build_panel(named, options.structure, plugins)
        segments = _segments(panel.means, 1 - (1 - options.level) / n_series)
    except (DataError, NotEstimableError, StructureError) as error:
        return History(*key, options.level, messages=(*notes, refusal_of(error)))
    logs = [entry.log for one, entry in zip(named, ordered, strict=True) if one in panel.runs]
    return _result(key, panel, segments, logs, options, notes)


def _run_name(log: TaskLog) -> str:
    """Name of a run in messages, with its time if this is known."""
    return f"{log.system}, {log.source.time[:16].replace('T', ' ')}" if log.source.time else log.system


def runs_at_level_of(
    run: SelectedRun, others: Sequence[SelectedRun], options: Options, plugins: Plugins
) -> list[SelectedRun]:
    """The other runs of the same system and score that no change of the score separates from a run.

    Runs are ordered by time if all of them have one. Otherwise the others keep their order, and the run has the place
    of the one with the same source, or the last place.
    """
    position = next((i for i, other in enumerate(others) if other.log.source == run.log.source), len(others))
    before, after = (
        [one for one in part if one.log.source != run.log.source] for part in (others[:position], others[position:])
    )
    entries = [*before, run, *after]
    if all(_time_of(entry.log) for entry in entries):
        entries = _in_order(entries)
    try:
        panel = build_panel(entries, options.structure, plugins)
    except (DataError, NotEstimableError, StructureError):
        return [*before, *after]
    used = list(panel.runs)
    for segment in _segments(panel.means, options.level) if run in used else ():
        if segment.start <= used.index(run) < segment.end:
            return [entry for entry in used[segment.start : segment.end] if entry is not run]
    return [*before, *after]


def _in_order(runs: Sequence[SelectedRun]) -> list[SelectedRun]:
    """The runs by time, first those without a time in their own order."""
    return sorted(runs, key=lambda run: _time_of(run.log) or datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Runs from one change to the next, and the evidence within them."""

    start: int
    end: int
    change: LevelChange


def _segments(means: FloatArray, level: float) -> list[_Segment]:
    """The runs between changes; after a change, evidence is collected again from the first run with the new level."""
    segments: list[_Segment] = []
    start = 0
    while True:
        rest = means[start:]
        change = level_change(rest, level=level) if len(rest) > 1 else None
        if change is None or change.start is None:
            alone = change or LevelChange(np.zeros(len(rest)), None, None, float("nan"), 0.0)
            return [*segments, _Segment(start, len(means), alone)]
        segments.append(_Segment(start, start + change.start, change))
        start += change.start


def _result(
    key: tuple[str, str, str, str],
    panel: Panel,
    segments: Sequence[_Segment],
    logs: Sequence[TaskLog],
    options: Options,
    notes: tuple[Message, ...],
) -> History:
    means = panel.means
    known = [segment for segment in segments if np.isfinite(segment.change.trial_sd)]
    trial_sd, run_sd = known[-1].change.trial_sd, known[-1].change.run_sd
    shifts = tuple(_shifts(segments, means.mean(axis=1), logs, trial_sd, run_sd, options.level))
    few = (FEW_RUNS(n_runs=len(logs), enough=_ENOUGH_RUNS),) if len(logs) < _ENOUGH_RUNS else ()
    changed, flaky = _questions(panel, segments) if panel.is_binary else ((), ())
    return History(
        *key,
        options.level,
        n_questions=panel.n_questions,
        runs=tuple(_runs(segments, panel, logs, (trial_sd, run_sd), options.level)),
        shifts=shifts,
        changed_questions=changed,
        flaky_questions=flaky,
        trial_sd=trial_sd,
        run_sd=run_sd,
        answer=_answer(shifts, len(logs)),
        messages=(*notes, *few, *panel.messages),
    )


def _runs(
    segments: Sequence[_Segment],
    panel: Panel,
    logs: Sequence[TaskLog],
    sds: tuple[float, float],
    level: float,
) -> Iterator[HistoryRun]:
    z = float(special.ndtri((1 + level) / 2))
    low, high = panel.bounds or (-np.inf, np.inf)
    evidence = np.zeros(len(logs))
    reported = 0
    for segment in segments:
        # the evidence that led to a report replaces that of the runs since the new level
        first = max(reported, segment.start)
        evidence[first:] = segment.change.log_e[first - segment.start :]
        reported = segment.start + (segment.change.alarm or 0) + 1
    values = panel.means.mean(axis=1)
    half = z * float(np.hypot(*sds))
    previous: TaskLog | None = None
    for log, value, log_e in zip(logs, values.tolist(), evidence.tolist(), strict=True):
        interval = Interval(max(low, value - half), min(high, value + half), level, "confidence")
        changes = () if previous is None else configuration_changes(previous, log)
        yield HistoryRun(log.source.time, log.source.path, value, interval, float(np.exp(min(log_e, 700.0))), changes)
        previous = log


def _shifts(
    segments: Sequence[_Segment],
    values: FloatArray,
    logs: Sequence[TaskLog],
    trial_sd: float,
    run_sd: float,
    level: float,
) -> Iterator[LevelShift]:
    z = float(special.ndtri((1 + level) / 2))
    for before, after in pairwise(segments):
        first, second = values[before.start : before.end], values[after.start : after.end]
        value = float(second.mean() - first.mean())
        half = z * float(np.hypot(trial_sd, run_sd)) * (1 / len(first) + 1 / len(second)) ** 0.5
        alarm = before.start + (before.change.alarm or 0)
        yield LevelShift(
            first_run=after.start + 1,
            reported_after=alarm + 1,
            time=logs[after.start].source.time,
            before=float(first.mean()),
            after=float(second.mean()),
            value=value,
            interval=Interval(value - half, value + half, level, "confidence"),
        )


def _questions(
    panel: Panel, segments: Sequence[_Segment]
) -> tuple[tuple[ChangedQuestion, ...], tuple[FlakyQuestion, ...]]:
    """Questions that changed at the last shift, or in the last run without a shift; and flaky questions."""
    n_runs = len(panel.means)
    start, first = (segments[-1].start, segments[-2].start) if len(segments) > 1 else (n_runs - 1, 0)
    right = np.stack([np.nansum(trials, axis=1) for trials in panel.values])
    total = np.stack([np.isfinite(trials).sum(axis=1) for trials in panel.values]).astype(float)
    s, n = right[first:start].sum(axis=0), total[first:start].sum(axis=0)
    x, m = right[start:].sum(axis=0), total[start:].sum(axis=0)
    changes = question_changes(s, n, x, m)
    log, rows = panel.runs[0].log, panel.rows[0]
    ids = [log.questions.ids[row] for row in rows]
    likely = [i for i in np.argsort(-changes.probability, kind="stable") if changes.probability[i] >= _LIKELY]
    changed = tuple(
        ChangedQuestion(ids[i], float(s[i] / n[i]), float(x[i] / m[i]), float(changes.probability[i]))
        for i in likely[:MOST_QUESTIONS]
    )
    unstable = [
        i for i in np.argsort(-changes.flakiness, kind="stable") if changes.flakiness[i] >= FLAKY and 0 < s[i] < n[i]
    ]
    flaky = tuple(
        FlakyQuestion(ids[i], float(s[i] / n[i]), float(changes.flakiness[i])) for i in unstable[:MOST_QUESTIONS]
    )
    return changed, flaky


def _answer(shifts: Sequence[LevelShift], n_runs: int) -> str:
    if not shifts:
        return f"The {n_runs} runs do not show a change of the score."
    last = shifts[-1]
    verb = "dropped" if last.value < 0 else "rose"
    when = f"run {last.first_run}" + (f" ({last.time[:10]})" if last.time else "")
    return (
        f"The score {verb} from {last.before:.3f} to {last.after:.3f}, starting with {when}. The change was reported "
        f"after run {last.reported_after}."
    )


def _time_of(log: TaskLog) -> datetime | None:
    """When the run started; times without a zone are taken as UTC."""
    try:
        time = datetime.fromisoformat(log.source.time or "")
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
