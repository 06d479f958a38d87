"""Estimate the overall score of each system from the estimates of its tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from harness_uq import stats
from harness_uq.analyses.overall.combine import SAME_VALUE, Combination, Facts, Rows, combine
from harness_uq.analyses.overall.select_tasks import TaskSelection, select_tasks, task_groups
from harness_uq.data.arrays import FloatArray
from harness_uq.data.selection import ScoreKey, higher_is_better
from harness_uq.data.task_log import TaskLog
from harness_uq.messages.catalogue.comparison import OVERALL_WITHOUT_BOUNDS
from harness_uq.messages.catalogue.estimation import FEW_TASKS, RANGE_REQUIRED, TASKS_AS_SAMPLE
from harness_uq.messages.errors import NotEstimableError, refusal_of
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate, Interval, IntervalKind
from harness_uq.results.overall import Overall, OverallSystem

BINOMIAL_METHODS = ("beta", "totals")
FEW = 10
_WHOLE = 1e-6


def combine_estimates(
    rows: Iterable[Estimate], logs: Iterable[TaskLog], options: Options | None = None
) -> Overall | None:
    """Estimate the weighted mean of the tasks' scores for each system.

    `rows`: estimates of all tasks and groups, as `estimate` returns them; if a system has several of the same score,
    that of its newest run is used. `logs`: the logs of the estimates, with the tasks of each group and the directions
    of the metrics; outlines suffice. `options`: how the scores are combined. Returns: The overall result, without
    systems if it cannot be computed; None if there is only one task. Raises DataError if an option names a task or
    metric that does not exist, or tasks are missing and the options do not allow it.
    """
    chosen, known = options or Options(), list(logs)
    newest = newest_rows(rows)
    if chosen.estimand != "mean":  # a task whose metric or trials do not have the estimand is not a missing task
        having = {key for (_, key), row in newest.items() if row.interval is not None}
        newest = {place: row for place, row in newest.items() if place[1] in having}
    keys: dict[str, list[ScoreKey]] = {}
    for system, key in newest:
        keys.setdefault(system, []).append(key)

    def has_interval(system: str, key: ScoreKey) -> bool:
        row = newest.get((system, key))
        return row is not None and row.interval is not None

    selection = select_tasks(keys, task_groups(known), chosen, has_interval)
    if len(selection.tasks) < 2:
        return None
    try:
        if any(row.identified_range is not None for row in newest.values()):
            raise NotEstimableError(OVERALL_WITHOUT_BOUNDS())
        combination = combine(tuple(keys), selection, newest, facts_of(known, newest), chosen)
        if chosen.generalizes_over_tasks and combination.bounds is None:
            raise NotEstimableError(RANGE_REQUIRED(method="new-tasks"))
    except NotEstimableError as error:
        return refused(chosen, refusal_of(error))
    systems = [
        with_group_row(
            system_score(system, combination, newest, chosen),
            None if selection.group is None else newest.get((system, selection.group)),
            chosen,
        )
        for system in combination.systems
    ]
    systems.sort(key=lambda system: -system.value if combination.higher_is_better else system.value)
    messages = (*combination.messages, *sample_notes(combination, chosen))
    return overall_result(chosen, selection, combination, systems, messages)


def newest_rows(rows: Iterable[Estimate]) -> dict[tuple[str, ScoreKey], Estimate]:
    """Return the estimate of the newest run by system and by task, metric and filter, in the order of the rows."""
    newest: dict[tuple[str, ScoreKey], Estimate] = {}
    for row in rows:
        key = row.system, (row.task, row.metric, row.filter)
        if key not in newest or (row.source.time or "") > (newest[key].source.time or ""):
            newest[key] = row
    return newest


def facts_of(logs: Iterable[TaskLog], rows: Rows) -> Facts:
    """Return the directions of all metrics, the values of groups that the harness reported, and scores by chance."""
    known = list(logs)
    directions = {
        (log.task, data.metric, data.filter): higher_is_better(log, data.metric) for log in known for data in log.data
    }
    # policies for missing scores change the value of a group that the harness reported
    values = {place: row.harness.value if row.interval is None else row.value for place, row in rows.items()}
    reported = {place: value for place, value in values.items() if value is not None}
    return Facts(directions, reported, chances_of(known))


def chances_of(logs: Iterable[TaskLog]) -> dict[str, float]:
    """Return the expected score of random answers of each task whose logs contain it."""
    return {log.task: log.facts.chance for log in logs if log.facts.chance is not None}


def refused(options: Options, reason: Message) -> Overall:
    """Return an overall result without systems."""
    weights = options.weights if isinstance(options.weights, str) else "given"
    is_sample = options.generalizes_over_tasks
    return Overall(weights, options.normalize, is_sample, True, tasks=(), systems=(), messages=(reason,))


def overall_result(
    options: Options,
    selection: TaskSelection,
    combination: Combination,
    systems: Sequence[OverallSystem],
    messages: tuple[Message, ...],
) -> Overall:
    """Return the overall result of these systems, the best first."""
    given = options.weights if isinstance(options.weights, str) else "given"
    return Overall(
        weights=given if selection.group is None else "group",
        normalization=options.normalize,
        generalizes_over_tasks=options.generalizes_over_tasks,
        higher_is_better=combination.higher_is_better,
        tasks=combination.tasks,
        systems=tuple(systems),
        messages=messages,
    )


def sample_notes(combination: Combination, options: Options) -> tuple[Message, ...]:
    """Return notes on tasks that count as a sample of tasks."""
    if not options.generalizes_over_tasks:
        return ()
    n = len(combination.tasks)
    return (TASKS_AS_SAMPLE(), *((FEW_TASKS(n_tasks=n),) if n < FEW else ()))


def system_score(
    system: str, combination: Combination, rows: Rows, options: Options, *, inflation: float = 1.0
) -> OverallSystem:
    """Combine the estimates of one system.

    `inflation`: factor of the standard error due to items that tasks share.
    """
    parts = [rows[system, part] for part in combination.parts]
    positive = np.flatnonzero(combination.coefficients)
    if len(positive) == 1 and not options.generalizes_over_tasks:
        return _score_of_task(parts[positive[0]], float(combination.coefficients[positive[0]]), combination)
    values = np.array([part.value for part in parts], float)
    intervals = [part.interval for part in parts if part.interval is not None]
    std_error = None
    if options.generalizes_over_tasks:
        low, high = _new_tasks_interval(parts, values, combination, intervals[0].level)
    else:
        low, high, std_error = _interval_and_error(parts, values, combination.coefficients, inflation)
    sizes = [part.n_questions for part in parts]
    offset = 0.0 if options.generalizes_over_tasks else combination.offset
    is_exact = inflation == 1 and not options.generalizes_over_tasks
    interval = Interval(low + offset, high + offset, intervals[0].level, _kind(parts, is_exact=is_exact))
    value = float(combination.coefficients @ values) + combination.offset
    return OverallSystem(
        system=system,
        value=value,
        interval=_within(interval, value, combination),
        std_error=std_error,
        n_questions=sum(size for size in sizes if size) if all(sizes) else None,
    )


def _score_of_task(row: Estimate, weight: float, combination: Combination) -> OverallSystem:
    """Return the score of the only task with a weight, which is that of the task."""
    if row.interval is None or row.value is None:
        raise NotEstimableError(f"The score of task {row.task!r} has no interval")
    low, high = (weight * end + combination.offset for end in (row.interval.low, row.interval.high))
    return OverallSystem(
        system=row.system,
        value=weight * row.value + combination.offset,
        interval=replace(row.interval, low=low, high=high),
        std_error=None if row.std_error is None else weight * row.std_error,
        n_questions=row.n_questions,
    )


def with_group_row(score: OverallSystem, row: Estimate | None, options: Options) -> OverallSystem:
    """Return the score with the interval and standard error of the row of the group that consists of these tasks.

    The row accounts for clusters, trials and items of several tasks at once. It is not used if it refers to another
    value: normalized scores, or a part of the questions. `row`: estimate of the group whose weights the tasks have;
    None for other weights.
    """
    if row is None or row.interval is None or row.value is None or options.generalizes_over_tasks:
        return score
    is_same = abs(row.value - score.value) <= SAME_VALUE * max(1.0, abs(row.value))
    if not is_same or row.n_questions != score.n_questions:
        return score
    return replace(score, interval=row.interval, std_error=row.std_error)


def _kind(parts: Sequence[Estimate], *, is_exact: bool) -> IntervalKind:
    (kind, *others) = {part.interval.kind for part in parts if part.interval is not None}
    if others or (kind == "hdi" and not (is_exact and all(_is_binomial(part) for part in parts))):
        return "quantile"
    return kind


def _within(interval: Interval, value: float, combination: Combination) -> Interval:
    """Return the interval cut at the range of the overall score; it always contains the score."""
    if combination.bounds is None:
        return interval
    low, high = (combination.coefficients.sum() * bound + combination.offset for bound in combination.bounds)
    return replace(
        interval, low=float(max(interval.low, min(low, value))), high=float(min(interval.high, max(high, value)))
    )


def _interval_and_error(
    parts: Sequence[Estimate], values: FloatArray, coefficients: FloatArray, inflation: float
) -> tuple[float, float, float | None]:
    """Return the limits and the standard error of the weighted sum; the latter is None if that of a part is unknown.

    Tasks with one right-or-wrong answer for each of their independent questions are combined by `group_posterior`, and
    their common interval and standard error with those of the other tasks.
    """
    is_binomial = np.array(
        [_is_binomial(part) and weight > 0 for part, weight in zip(parts, coefficients, strict=True)]
    )
    limits = np.array([(part.interval.low, part.interval.high) for part in parts if part.interval is not None])
    errors = np.array([np.nan if part.std_error is None else part.std_error for part in parts])
    used = ~is_binomial & (coefficients > 0)
    scores, low, high, weights = values[used], limits[used, 0], limits[used, 1], coefficients[used]
    errors = errors[used]
    if is_binomial.any():
        sizes = np.array([part.n_questions for part, one in zip(parts, is_binomial, strict=True) if one], float)
        block = coefficients[is_binomial]
        own = next(part.interval for part, one in zip(parts, is_binomial, strict=True) if one and part.interval)
        kind: Literal["hdi", "quantile"] = "quantile" if own.kind == "quantile" else "hdi"
        posterior = stats.group_posterior(values[is_binomial] * sizes, sizes, block)
        ends = posterior.interval(own.level, kind)
        scores = np.append(scores, block @ values[is_binomial] / block.sum())
        low, high, weights = np.append(low, ends[0]), np.append(high, ends[1]), np.append(weights, block.sum())
        errors = np.append(errors, posterior.sd)
    std_error = inflation * float(np.sqrt(weights**2 @ errors**2))
    if not used.any() and inflation == 1:
        limits_of_sum = float(weights[0] * low[0]), float(weights[0] * high[0])
    else:
        limits_of_sum = stats.weighted_tasks_interval(scores, low, high, weights, inflation=inflation)
    return *limits_of_sum, None if np.isnan(std_error) else std_error


def _is_binomial(part: Estimate) -> bool:
    """Whether the score is a share of independent questions with one right-or-wrong answer each."""
    is_plain = part.method in BINOMIAL_METHODS and part.estimand == "mean" and part.scope == "population"
    if not is_plain or part.value is None or not part.n_questions:
        return False
    right = part.value * part.n_questions
    return abs(right - round(right)) <= _WHOLE * part.n_questions


def _new_tasks_interval(
    parts: Sequence[Estimate], values: FloatArray, combination: Combination, level: float
) -> tuple[float, float]:
    """Return the limits of the expected score of new tasks."""
    index = np.array(combination.task_of_part)
    weights = np.array([task.weight for task in combination.tasks])
    chances = np.array([task.chance or 0.0 for task in combination.tasks])
    positive = weights > 0
    totals = np.bincount(index, combination.coefficients * values)
    scores = totals[positive] / weights[positive] - (chances / (1 - chances))[positive]
    bounds = np.array(combination.bounds)[:, None]
    low, high = ((bounds - chances) / (1 - chances)).min(), ((bounds - chances) / (1 - chances)).max()
    n_questions = sum(part.n_questions or 1 for part in parts)
    posterior = stats.new_tasks_posterior(scores, weights[positive], n_questions, float(low), float(high))
    return posterior.interval(level)
