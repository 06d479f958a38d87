"""Weights, normalization and common scale of the tasks of an overall result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness_uq.analyses.overall.select_tasks import SelectedTask, TaskSelection
from harness_uq.data.arrays import FloatArray
from harness_uq.data.selection import ScoreKey
from harness_uq.messages.catalogue.overall import (
    OVERALL_CHANCE_UNKNOWN,
    OVERALL_DIRECTIONS_DIFFER,
    OVERALL_OTHER_SCALE,
    OVERALL_SCALES_DIFFER,
    OVERALL_SYSTEMS_LEFT_OUT,
    OVERALL_TASKS_LEFT_OUT,
    OVERALL_TASKS_MISSING,
    OVERALL_TOO_FEW_TASKS,
    OVERALL_WEIGHTS_UNKNOWN,
)
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import OverallTask

Rows = Mapping[tuple[str, ScoreKey], Estimate]
"""Estimates by system and by task, metric and filter."""

_Scale = tuple[tuple[float, float] | None, str]
"""Range of scores; None with the name of the metric if it is unknown."""

SAME_VALUE = 1e-6
_UNIT = (0.0, 1.0)
_MOST_NAMED = 3
_SIGNED_METRICS = ("mcc", "matthews_corrcoef", "kappa")


@dataclass(frozen=True, slots=True)
class Facts:
    """What logs tell about tasks besides estimates.

    `higher_is_better`: by task, metric and filter; True if unknown. `reported`: the harness's value of a group by
    system and key. `chance`: score of random answers by task, if the logs contain it. `full_scores`: score and number
    of all questions by system and key, if estimates cover a part of the questions, with missing scores as in the log,
    and number of questions with missing scores as the policies say.
    """

    higher_is_better: Mapping[ScoreKey, bool] = field(default_factory=dict)
    reported: Mapping[tuple[str, ScoreKey], float] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    full_scores: Mapping[tuple[str, ScoreKey], tuple[float, int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """A weighted sum of the scores of tasks: ``coefficients @ scores + offset`` for the scores of `parts`.

    `systems`: the systems that have all tasks. `parts`: the tasks whose scores are added; those of a group instead of
    the group. `task_of_part`: index into `tasks`. `coefficients`, `offset`: float (n_parts,) and a number. `bounds`:
    range of the scores; None if it is unknown. `higher_is_better`: direction of all scores.
    """

    systems: tuple[str, ...]
    tasks: tuple[OverallTask, ...]
    parts: tuple[ScoreKey, ...]
    task_of_part: tuple[int, ...]
    coefficients: FloatArray
    offset: float
    bounds: tuple[float, float] | None
    higher_is_better: bool
    messages: tuple[Message, ...]


def combine(
    systems: Sequence[str], selection: TaskSelection, rows: Rows, facts: Facts, options: Options
) -> Combination:
    """Determine the systems, tasks and coefficients of an overall result.

    `systems`: systems, in the order of the result. `selection`: tasks with their metrics. `rows`: estimates of the
    parts of all tasks. Raises DataError if tasks are missing and the options do not allow it, and NotEstimableError if
    there are fewer than two tasks, their scores have different directions or ranges, or weights or chances are unknown.
    """
    systems, tasks, messages = _complete(systems, selection.tasks, rows, options)
    if selection.group is None and isinstance(options.weights, str):
        tasks, note = _of_one_scale(systems, tasks, rows, facts)
        messages += note
    higher = _common_direction(tasks, facts)
    bounds = _common_bounds(systems, tasks, rows)
    if selection.group is not None:
        weights = _group_weights(selection.group, [task.key for task in tasks], systems, rows, facts)
    else:
        weights = _task_weights(systems, tasks, rows, options)
    within = [
        _group_weights(task.key, task.parts, systems, rows, facts) if task.is_group else np.ones(1) for task in tasks
    ]
    chances = _chances(tasks, facts, options)
    shares = np.concatenate([weight * inner for weight, inner in zip(weights, within, strict=True)])
    is_normalized = options.normalize == "chance"
    return Combination(
        systems=systems,
        tasks=tuple(
            OverallTask(
                *task.key,
                weight=float(weight),
                chance=float(inner @ chances[part]) if is_normalized else None,
                n_subtasks=len(task.parts) if task.is_group else None,
            )
            for task, weight, inner, part in zip(tasks, weights, within, _slices(tasks), strict=True)
        ),
        parts=tuple(part for task in tasks for part in task.parts),
        task_of_part=tuple(k for k, task in enumerate(tasks) for _ in task.parts),
        coefficients=np.asarray(shares / (1 - chances)),
        offset=-float(shares @ (chances / (1 - chances))),
        bounds=bounds,
        higher_is_better=higher,
        messages=(*selection.messages, *messages),
    )


def _slices(tasks: Sequence[SelectedTask]) -> list[slice]:
    """Return the places of the parts of each task among all parts."""
    ends = np.cumsum([len(task.parts) for task in tasks]).tolist()
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


# ---------------------------------------------------------------- missing tasks


def _complete(
    systems: Sequence[str], tasks: Sequence[SelectedTask], rows: Rows, options: Options
) -> tuple[tuple[str, ...], tuple[SelectedTask, ...], tuple[Message, ...]]:
    """Return systems and tasks such that each system has an interval for each task, and what was left out. Raises
    DataError if tasks are missing and the options require all, and NotEstimableError if fewer than two tasks remain.
    """
    lacking = {
        task: [system for system in systems if any(not _has_interval(rows, system, part) for part in task.parts)]
        for task in tasks
    }
    left_out = [f"{task.key[0]} ({_names(names, len(systems))})" for task, names in lacking.items() if names]
    messages: tuple[Message, ...] = ()
    if left_out and options.missing_tasks == "error":
        raise DataError(OVERALL_TASKS_MISSING(n_tasks=len(left_out), left_out=left_out))
    if options.missing_tasks == "drop-system":
        offered = [task for task in tasks if len(lacking[task]) < len(systems)]
        dropped = {system: [task.key[0] for task in offered if system in lacking[task]] for system in systems}
        remaining = tuple(system for system in systems if not dropped[system])
        names = [f"{system} (lacks {_names(missing)})" for system, missing in dropped.items() if missing]
        if names:
            messages += (OVERALL_SYSTEMS_LEFT_OUT(n_systems=len(names), left_out=names),)
        left_out = [f"{task.key[0]} (all systems)" for task in tasks if task not in offered]
    else:
        remaining, offered = tuple(systems), [task for task in tasks if not lacking[task]]
    if left_out:
        messages += (OVERALL_TASKS_LEFT_OUT(n_tasks=len(left_out), left_out=left_out),)
    if not remaining or len(offered) < 2:
        raise NotEstimableError(OVERALL_TOO_FEW_TASKS(n_systems=len(remaining) or len(systems)))
    return remaining, tuple(offered), messages


def _has_interval(rows: Rows, system: str, part: ScoreKey) -> bool:
    row = rows.get((system, part))
    return row is not None and row.interval is not None and row.value is not None


def _names(names: Sequence[str], n_all: int = 0) -> str:
    """Return a list of names, of which the first three are named."""
    if len(names) == n_all > 1:
        return "all systems"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


# ---------------------------------------------------------------- direction and range


def _of_one_scale(
    systems: Sequence[str], tasks: tuple[SelectedTask, ...], rows: Rows, facts: Facts
) -> tuple[tuple[SelectedTask, ...], tuple[Message, ...]]:
    """Return the largest set of tasks with the same direction and range, and a note on the others.

    Of sets of equal size, that in which higher scores are better is returned, and of these the first by its range and
    metric. If no two tasks agree, all tasks are returned.
    """
    scales: dict[tuple[bool, _Scale], list[SelectedTask]] = {}
    for task in tasks:
        is_lower = not facts.higher_is_better.get(task.key, True)
        scales.setdefault((is_lower, _scale(systems, task, rows)), []).append(task)

    def order(scale: tuple[bool, _Scale]) -> tuple[int, bool, tuple[float, float], str]:
        is_lower, (bounds, metric) = scale
        return -len(scales[scale]), is_lower, bounds or (np.inf, np.inf), metric

    kept = scales[min(scales, key=order)]
    if len(kept) < 2 or len(kept) == len(tasks):
        return tasks, ()
    left_out = [f"{task.key[0]} ({task.key[1]})" for task in tasks if task not in kept]
    return tuple(kept), (OVERALL_OTHER_SCALE(n_tasks=len(left_out), left_out=left_out),)


def _scale(systems: Sequence[str], task: SelectedTask, rows: Rows) -> _Scale:
    """Return the range of the scores of a task; if it is unknown, None with the name of the metric."""
    bounds = {_bounds(rows[system, part]) for system in systems for part in task.parts}
    one = bounds.pop() if len(bounds) == 1 else None
    return one, "" if one else task.key[1]


def _common_direction(tasks: Sequence[SelectedTask], facts: Facts) -> bool:
    """Return whether higher scores are better in all tasks. Raises NotEstimableError if the tasks differ."""
    is_higher = {task.key: facts.higher_is_better.get(task.key, True) for task in tasks}
    by_direction = [[key for key, higher in is_higher.items() if higher is wanted] for wanted in (True, False)]
    if all(by_direction):
        higher, lower = ([f"{task} ({metric})" for task, metric, _ in keys] for keys in by_direction)
        direction, rarer = ("lower", lower) if len(lower) <= len(higher) else ("higher", higher)
        n_others = len(tasks) - len(rarer)
        raise NotEstimableError(OVERALL_DIRECTIONS_DIFFER(direction=direction, metrics=rarer, n_others=n_others))
    return bool(by_direction[0])


def _common_bounds(systems: Sequence[str], tasks: Sequence[SelectedTask], rows: Rows) -> tuple[float, float] | None:
    """Return the range of all scores; None if it is unknown and all tasks have the same metric. Raises
    NotEstimableError if the ranges differ.
    """
    tasks_of: dict[_Scale, list[str]] = {}
    for task in tasks:
        tasks_of.setdefault(_scale(systems, task, rows), []).append(task.key[0])
    if len(tasks_of) == 1:
        return next(iter(tasks_of))[0]
    scales = [
        f"{f'{bounds[0]:g} to {bounds[1]:g}' if bounds else f'unknown range of {metric}'} ({_names(names)})"
        for (bounds, metric), names in tasks_of.items()
    ]
    raise NotEstimableError(OVERALL_SCALES_DIFFER(scales=scales))


def _bounds(row: Estimate) -> tuple[float, float] | None:
    if row.structure is not None and row.structure.bounds is not None:
        return row.structure.bounds
    is_share = row.method == "totals" or (row.method == "confusion" and row.metric not in _SIGNED_METRICS)
    return _UNIT if is_share else None


# ---------------------------------------------------------------- weights


def _task_weights(systems: Sequence[str], tasks: Sequence[SelectedTask], rows: Rows, options: Options) -> FloatArray:
    """Return the weights of the tasks, with sum 1. Raises NotEstimableError if they are unknown."""
    if not isinstance(options.weights, str):
        weights = np.array([options.weights[task.key[0]] for task in tasks], float)
        if not weights.any():
            raise NotEstimableError(OVERALL_WEIGHTS_UNKNOWN(reason="the given weights of all remaining tasks are 0"))
    elif options.weights == "group":
        raise NotEstimableError(OVERALL_WEIGHTS_UNKNOWN(reason="there is no single group that contains all tasks"))
    elif options.weights == "questions":
        weights = np.array([sum(_sizes(task.parts, systems, rows)) for task in tasks])
    else:
        weights = np.ones(len(tasks))
    return np.asarray(weights / weights.sum())


def _sizes(parts: Sequence[ScoreKey], systems: Sequence[str], rows: Rows) -> list[float]:
    """Return the mean number of questions of each part over the systems. Raises NotEstimableError if one is unknown."""
    sizes = []
    for part in parts:
        counts = [rows[system, part].n_questions for system in systems]
        known = [count for count in counts if count]
        if len(known) < len(counts):
            raise NotEstimableError(
                OVERALL_WEIGHTS_UNKNOWN(reason=f"the number of questions of task {part[0]!r} is not in the log")
            )
        sizes.append(sum(known) / len(known))
    return sizes


def _group_weights(
    group: ScoreKey, parts: Sequence[ScoreKey], systems: Sequence[str], rows: Rows, facts: Facts
) -> FloatArray:
    """Return the weights of a group's tasks: by size or equal, whichever reproduces the score of the harness. Raises
    NotEstimableError if neither does.
    """
    equal: FloatArray = np.full(len(parts), 1 / len(parts))
    places = [(system, part) for system in systems for part in parts]
    known = [(rows[place].value, rows[place].n_questions, rows[place].n_questions) for place in places]
    own = [facts.full_scores.get(place, row) for place, row in zip(places, known, strict=True)]
    scores, checked, sizes = (
        np.array([one[k] or 0 for one in own], float).reshape(len(systems), len(parts)) for k in (0, 1, 2)
    )
    equal_rows = np.broadcast_to(equal, scores.shape)
    by_size = [
        counts / counts.sum(axis=1, keepdims=True) if counts.all() else equal_rows for counts in (checked, sizes)
    ]
    reported = [facts.reported.get((system, group)) for system in systems]
    for tried, weights in (by_size, (equal_rows, equal_rows)):
        pairs = zip(np.sum(tried * scores, axis=1).tolist(), reported, strict=True)
        if all(one is None or abs(score - one) <= SAME_VALUE * max(1.0, abs(one)) for score, one in pairs):
            return np.asarray(weights.mean(axis=0))
    raise NotEstimableError(
        OVERALL_WEIGHTS_UNKNOWN(
            reason=f"neither equal weights nor weights by size give the score of the group {group[0]!r}"
        )
    )


def _chances(tasks: Sequence[SelectedTask], facts: Facts, options: Options) -> FloatArray:
    """Return the score of random answers of each part, 0 without normalization. Raises NotEstimableError if a score of
    random answers is unknown.
    """
    parts = [(part[0], task.key[0]) for task in tasks for part in task.parts]
    if options.normalize == "none":
        return np.zeros(len(parts))
    known = {**facts.chance, **options.chance}
    if unknown := [name for name, group in parts if name not in known and group not in known]:
        raise NotEstimableError(OVERALL_CHANCE_UNKNOWN(tasks=sorted(set(unknown))))
    return np.array([known.get(name, known.get(group)) for name, group in parts], float)
