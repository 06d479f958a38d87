"""Selection: which run represents a system, which of its questions count, and which scores are analyzed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from harness_uq.data.estimands import Scope
from harness_uq.data.factors import REPEAT, find_factors
from harness_uq.data.names import without_settings
from harness_uq.data.task_log import (
    AggregateScore,
    Attempt,
    Classifications,
    FloatArray,
    IntArray,
    MetricKey,
    Questions,
    Scores,
    Source,
    SufficientStatistics,
    TaskData,
    TaskGroup,
    TaskLog,
)
from harness_uq.data.trial_endings import TrialEndings
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.comparison import RUN_VARIATION_IGNORED, RUNS_MERGED, SEVERAL_RUNS
from harness_uq.messages.catalogue.estimation import NON_RANDOM_SUBSET
from harness_uq.messages.catalogue.reading import NO_SUCH_SELECTION
from harness_uq.messages.errors import DataError

NEARLY_COMPLETE = 0.95  # share of the reported questions from which samples may represent the score of all
_MAX_NAMES = 3  # a message of more systems states their number


@dataclass(frozen=True, slots=True, eq=False)
class SelectedRun:
    """The data of one task, metric and filter that represent a system."""

    log: TaskLog  # the task in the selected run
    data: TaskData  # of the metric and filter
    messages: tuple[Message, ...] = ()  # which runs were not selected, and why

    @property
    def scored_rows(self) -> IntArray:
        """Rows of the questions that have a score; none of an aggregate score."""
        return np.empty(0, int) if isinstance(self.data, AggregateScore) else np.flatnonzero(self.data.is_scored)


ScoreKey = tuple[str, str, str]


def select_runs(logs: Iterable[TaskLog]) -> dict[str, dict[ScoreKey, SelectedRun]]:
    """Select for each system the newest finished run without a limit, for every task, metric and filter.

    If there is none, a finished run with a limit is preferred to an unfinished one. A run without a time is oldest. The
    result has the data by system, then by (task, metric, filter), both in the order of the logs.
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
    kind = "run (with a sample limit, like the others)" if log.facts.is_limited else "run without a sample limit"
    time = f" ({log.source.time})" if log.source.time else ""
    selected = SEVERAL_RUNS(system=system, n_runs=len(runs), kind=kind, path=log.source.path, time=time)
    factors = [factor for factor in find_factors(runs, {}) if factor.name != REPEAT]
    if not factors:
        return (selected,)
    evidence = "; ".join(factor.evidence for factor in factors)
    return (selected, RUN_VARIATION_IGNORED(system=system, n_runs=len(runs), evidence=evidence))


def messages_of_systems(runs: Sequence[SelectedRun], names: Sequence[str], scope: Scope) -> tuple[Message, ...]:
    """The messages about the selected runs of systems; one about the logs of only some of them opens with their
    `names`.
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

    The harness may have reported how many questions its score covers; otherwise these are the `n_scored` questions. The
    run also covers the questions of the log that have no score, for example because of an error.
    """
    reported = log.reported.get((data.metric, data.filter))
    n = max(reported.n if reported and reported.n else n_scored, len(log.questions))
    return n, n if log.facts.n_all is None else log.facts.n_all


def name_systems(messages: Sequence[Iterable[Message]], names: Sequence[str]) -> tuple[Message, ...]:
    """The messages about several systems, each once; one about only some of them opens with their `names`."""
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


def superseded_attempts(sources: Iterable[Source]) -> dict[Source, Source]:
    """The attempt that replaces each other attempt of the same run.

    A retry copies the finished samples of the earlier attempt into its own log, so only one of the logs counts: the
    newest finished attempt or, if no attempt is finished, the one with the most scored trials. Copies of one log are
    not attempts.

    >>> from harness_uq.data.task_log import Attempt, Source
    >>> first = Source("a.eval", "inspect", time="2026-01-01", attempt=Attempt("task", "1", is_finished=False))
    >>> retry = Source("b.eval", "inspect", time="2026-01-02", attempt=Attempt("task", "2", is_finished=True))
    >>> superseded_attempts([first, retry]) == {first: retry}
    True
    """
    attempts: dict[tuple[str, str], list[tuple[Attempt, Source]]] = {}
    for source in dict.fromkeys(sources):
        if (attempt := source.attempt) is not None:
            attempts.setdefault((source.harness, attempt.run), []).append((attempt, source))
    superseded: dict[Source, Source] = {}
    for candidates in attempts.values():
        last, chosen = max(candidates, key=_precedence)
        superseded |= {source: chosen for attempt, source in candidates if attempt.id != last.id}
    return superseded


def _precedence(candidate: tuple[Attempt, Source]) -> tuple[bool, int, str]:
    attempt, source = candidate
    return attempt.is_finished, 0 if attempt.is_finished else attempt.n_trials, source.time or ""


def copied_logs(sources: Iterable[Source]) -> dict[Source, Source]:
    """The first log with the same scores of the same attempt, for each log that repeats them.

    Copies, converted logs and logs to which intervals were added repeat the scores of another log. A log of the same
    attempt with other scores, for example of another grader, is not a copy.

    >>> from harness_uq.data.task_log import Attempt, Source
    >>> attempt = Attempt("task", "1", is_finished=True, content="8c1d")
    >>> log, copy = (Source(path, "inspect", attempt=attempt) for path in ("a.eval", "b.json"))
    >>> copied_logs([log, copy]) == {copy: log}
    True
    """
    first: dict[tuple[str, str, str, str], Source] = {}
    copies: dict[Source, Source] = {}
    for source in dict.fromkeys(sources):
        if (attempt := source.attempt) is not None and attempt.content:
            original = first.setdefault((source.harness, attempt.run, attempt.id, attempt.content), source)
            if original is not source:
                copies[source] = original
    return copies


def merge_runs(logs: Sequence[TaskLog]) -> list[TaskLog]:
    """Merge logs of one system and task that share no question, in the order of the first of each.

    Runs that share a question are returned unchanged, because it is not clear which of two answers counts. A merged log
    contains the scores by question, but no metadata fields, because these are coded separately for each run.
    """
    by_task: dict[tuple[str, str, tuple[str, ...]], list[TaskLog]] = {}
    for log in logs:
        by_task.setdefault((log.system, log.task, log.subtasks), []).append(log)
    return [log for parts in by_task.values() for log in ([_merged(parts)] if _are_disjoint(parts) else parts)]


def _are_disjoint(parts: Sequence[TaskLog]) -> bool:
    ids = [question for part in parts for question in part.questions.ids]
    return len(parts) > 1 and len(set(ids)) == len(ids)


def _merged(parts: Sequence[TaskLog]) -> TaskLog:
    first = parts[0]
    ids = tuple(question for part in parts for question in part.questions.ids)
    hashes = tuple(text for part in parts for text in part.questions.hashes)
    tables = [{(data.metric, data.filter): data for data in part.data if isinstance(data, Scores)} for part in parts]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    merged = RUNS_MERGED(n_runs=len(parts), paths=sorted(part.source.path for part in parts))
    return replace(
        first,
        questions=Questions(ids, hashes if len(hashes) == len(ids) else ()),
        resources=None,
        ended_by=None,
        data=tuple(_stacked([table[key] for table in tables]) for key in shared),
        reported={},
        messages=distinct((merged, *(message for part in parts for message in part.messages))),
    )


def _stacked(scores: Sequence[Scores]) -> Scores:
    width = max(table.values.shape[1] for table in scores)
    padded = [
        np.pad(table.values, ((0, 0), (0, width - table.values.shape[1])), constant_values=np.nan) for table in scores
    ]
    return replace(scores[0], values=np.concatenate(padded), clusters=None)


def select_questions(log: TaskLog, rows: IntArray) -> TaskLog:
    """Return the log with these questions only, without totals and without values that refer to all questions."""
    asked = log.questions
    prefix = asked.prompt_prefix
    ids, hashes, items, prompt_hashes = (
        tuple(labels[i] for i in rows) if labels else ()
        for labels in (asked.ids, asked.hashes, asked.items, asked.prompt_hashes)
    )
    questions = Questions(
        ids,
        hashes,
        {name: replace(field, codes=field.codes[rows]) for name, field in asked.fields.items()},
        None if prefix is None else replace(prefix, codes=prefix.codes[rows]),
        items,
        prompt_hashes,
    )
    data = [_data_rows(item, rows) for item in log.data if not isinstance(item, AggregateScore)]
    ended_by = None if log.ended_by is None else TrialEndings(log.ended_by.codes[rows])
    return replace(log, questions=questions, data=tuple(data), reported={}, resources=None, ended_by=ended_by)


_BY_QUESTION = ("values", "statistics", "targets", "predictions", "clusters")  # arrays of any kind of data


def _data_rows(data: Scores | Classifications | SufficientStatistics, rows: IntArray) -> TaskData:
    arrays = {name: values for name in _BY_QUESTION if isinstance(values := getattr(data, name, None), np.ndarray)}
    return replace(data, **{name: values[rows] for name, values in arrays.items()})  # type: ignore[arg-type]


PREFIX: Final = "harness_uq."  # of fields that describe how a question was chosen, not what it is
ROUND, ROUND_SIZE, PROBABILITY = f"{PREFIX}round", f"{PREFIX}round_size", f"{PREFIX}probability"


@dataclass(frozen=True, slots=True, eq=False)
class ActiveDraws:
    """How the questions of a run were chosen."""

    rounds: FloatArray  # round in which each question was drawn
    round_sizes: FloatArray  # number of questions drawn in this round
    probabilities: FloatArray  # with which the question was drawn in this round


def active_draws(questions: Questions) -> ActiveDraws | None:
    """Return how the questions were chosen; None if they have no such metadata."""
    columns = []
    for name in (ROUND, ROUND_SIZE, PROBABILITY):
        field = questions.fields.get(name)
        if field is None or field.n_missing or not field.values:
            return None
        columns.append(np.array(field.values, float)[field.codes])
    rounds, sizes, probabilities = columns
    if not ((probabilities > 0) & (probabilities <= 1)).all():
        return None
    return ActiveDraws(rounds, sizes, probabilities)


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Names or glob patterns of what to select. An empty tuple selects everything."""

    tasks: tuple[str, ...] = ()  # selecting a group selects all of its tasks
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()  # `none` is the filter of scores without a filter
    models: tuple[str, ...] = ()  # systems, by their displayed names

    def of(self, logs: Iterable[TaskLog]) -> tuple[TaskLog, ...]:
        """Select from these logs; a log without selected data is left out."""
        all_logs = list(logs)
        tasks = _with_members(all_logs, self.tasks)
        selected = [log for log in all_logs if matches_system(log.system, self.models) and log.task in tasks]
        data_of_logs = [
            [data for data in log.data if matches(data.metric, self.metrics) and matches(data.filter, self.filters)]
            for log in selected
        ]
        return tuple(
            replace(log, data=tuple(data))
            for log, data in zip(selected, data_of_logs, strict=True)
            if data or not log.data
        )

    def check(self, logs: Sequence[TaskLog]) -> None:
        """Raise DataError, with the available names, if a name or pattern matches nothing in the logs."""
        available = (
            ("task", self.tasks, {log.task for log in logs}),
            ("metric", self.metrics, {data.metric for log in logs for data in log.data}),
            ("filter", self.filters, {data.filter for log in logs for data in log.data}),
            ("model", self.models, {log.system for log in logs}),
        )
        for kind, patterns, names in available:
            for pattern in patterns:
                is_match = matches_system if kind == "model" else matches
                if not any(is_match(name, (pattern,)) for name in names):
                    raise DataError(NO_SUCH_SELECTION(kind=kind, pattern=pattern, known=sorted(names) or ["none"]))


def distinct_pair(system_a: str, system_b: str) -> tuple[str, str]:
    """Names for the systems of a comparison in messages, also if both are runs of one system."""
    return (system_a, system_b) if system_a != system_b else (f"{system_a} (A)", f"{system_b} (B)")


def systems_in_order(logs: Iterable[TaskLog], patterns: Sequence[str]) -> list[str]:
    """The systems in the order of the patterns that select them, or else of the logs."""
    systems = list(dict.fromkeys(log.system for log in logs))
    return list(
        dict.fromkeys(name for pattern in patterns or ["*"] for name in systems if matches_system(name, [pattern]))
    )


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name equals or matches one of the patterns, or there are no patterns.

    >>> matches("gpt [a]", ["gpt [a]"]), matches("drop", ["d*"]), matches("drop", []), matches("drop", ["D*"])
    (True, True, True, False)
    """
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def matches_system(name: str, patterns: Sequence[str]) -> bool:
    """`matches` for the name of a system, with or without the settings at its end.

    >>> matches_system("model (ability=1.3)", ["model"]), matches_system("model (ability=1.3)", ["model (ability=2)"])
    (True, False)
    """
    return matches(name, patterns) or matches(without_settings(name), patterns)


def _with_members(logs: Sequence[TaskLog], patterns: Sequence[str]) -> set[str]:
    """Return the matching tasks and the members of matching groups."""
    selected = {log.task for log in logs if matches(log.task, patterns)}
    while new := {task for log in logs if log.task in selected for task in log.subtasks} - selected:
        selected |= new
    return selected
