"""The score of a group of tasks, put together from the questions of its members."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray, IntArray, Scores, TaskGroup, TaskLog, Totals
from harness_uq.structure.detection import score_type_of
from harness_uq.structure.facts import Clusters, Fact, Structure, StructureOptions
from harness_uq.structure.totals import counts_of

SHARED_ITEMS = 0.5
SHARED_CONTENT = 0.2
SAME_VALUE = 1e-6
MOST_ROWS = 10**7

FindClusters = Callable[[TaskLog], Clusters]


def members_of(group: TaskLog, logs: Sequence[TaskLog]) -> list[TaskLog]:
    """Plain tasks under `group` in the same run, groups within it resolved, in the order of the group's list.

    Raises
    ------
    NotEstimableError : if the log of a member is missing
    """
    same_run = {log.task: log for log in logs if _run_key(log) == _run_key(group)}
    missing = [name for name in group.subtasks if name not in same_run]
    if missing:
        raise NotEstimableError(
            f"samples of {', '.join(missing)} are not among the logs; the group needs all its tasks"
        )
    found: dict[str, TaskLog] = {}
    for name in group.subtasks:
        log = same_run[name]
        for member in members_of(log, logs) if log.subtasks else [log]:
            found[member.task] = member
    return list(found.values())


def _run_key(log: TaskLog) -> tuple[object, ...]:
    return (log.system, log.source.harness, log.source.time, log.source.run)


def group_data(
    group: TaskLog, metric: str, filter_name: str, members: Sequence[TaskLog], clusters: FindClusters
) -> TaskGroup:
    """Question scores of the members that have the metric, with the weights that reproduce the reported value.

    The questions of a member of which only the total is known are as many 0 and 1 as that says.

    Raises
    ------
    NotEstimableError : if no member has the metric, a member's total is no count of right answers, or neither equal
        nor size weights give the reported value
    """
    found = [(log, data) for log in members if (data := _scores_of(log, metric, filter_name)) is not None]
    if not found:
        raise NotEstimableError(f"none of the group's tasks has a score for {metric!r}")
    members, scores = [log for log, _ in found], [_as_scores(log.task, data) for log, data in found]
    of_totals = {log.task for log, data in found if isinstance(data, Totals)}
    kept = [np.flatnonzero(score.is_scored) for score in scores]
    means = [np.nanmean(score.values[rows], axis=1) for score, rows in zip(scores, kept, strict=True)]
    tasks = np.repeat(np.arange(len(members)), [len(m) for m in means])
    reported = group.reported.get((metric, filter_name))
    logged = np.array([len(score.values) for score in scores], float)
    weights = _weights(means, logged, None if reported is None else reported.value)
    has_units = np.repeat([log.task not in of_totals for log in members], [len(m) for m in means])
    return TaskGroup(
        metric=metric,
        filter=filter_name,
        values=np.concatenate(means),
        tasks=tasks,
        units=_units(has_units, members, kept, clusters),
        weights=weights,
        names=tuple(log.task for log in members),
        levels=scores[0].levels,
        bounds=scores[0].bounds,
        n_trials=max(score.values.shape[1] for score in scores),
        of_totals=tuple(log.task for log in members if log.task in of_totals),
    )


def _scores_of(log: TaskLog, metric: str, filter_name: str) -> Scores | Totals | None:
    for data in log.data:
        if (data.metric, data.filter) != (metric, filter_name):
            continue
        is_known = data.value is not None if isinstance(data, Totals) else data.is_scored.any()
        if isinstance(data, Totals | Scores) and is_known:
            return data
    return None


def _as_scores(task: str, data: Scores | Totals) -> Scores:
    """Scores as they are, or those that a total stands for, in any order."""
    if isinstance(data, Scores):
        return data
    try:
        right, n = counts_of(data)
    except NotEstimableError as error:
        raise NotEstimableError(f"{task}: {error}") from None
    if n > MOST_ROWS:
        raise NotEstimableError(f"{task}: {n} questions known by their total alone are more than {MOST_ROWS}")
    return Scores(data.metric, data.filter, np.repeat([1.0, 0.0], [right, n - right])[:, None])


def _weights(means: Sequence[FloatArray], logged: FloatArray, reported: float | None) -> FloatArray:
    """Weights that sum to 1: by scored questions, by logged ones, scored or not, or equal."""
    task_means, scored = np.array([m.mean() for m in means]), np.array([len(m) for m in means], float)
    equal: FloatArray = np.full(len(means), 1 / len(means))
    by_size: FloatArray = scored / scored.sum()
    for weights in (by_size, logged / logged.sum(), equal):
        if reported is None or abs(weights @ task_means - reported) <= SAME_VALUE * max(1.0, abs(reported)):
            return np.asarray(weights)
    raise NotEstimableError(
        f"neither equal weights ({equal @ task_means:.6g}) nor weights by size ({by_size @ task_means:.6g}) of the "
        f"{len(means)} tasks with scores a question give the group's value {reported:.6g}"
    )


# ---------------------------------------------------------------- units that are not independent


def independent_units(members: Sequence[TaskLog], kept: Sequence[IntArray], clusters: FindClusters) -> IntArray:
    """Label of the independent unit of each row: rows joined by a cluster in a task or by an item across tasks.

    Parameters
    ----------
    members : the tasks
    kept : rows of each task's questions that count; the result holds them one task after the other
    """
    within = _within_tasks(members, kept, clusters)
    items = item_labels(members, kept)
    if items is None:
        return within
    return joined_labels(within, items)


def _units(
    has_units: NDArray[np.bool_], members: Sequence[TaskLog], kept: Sequence[IntArray], clusters: FindClusters
) -> IntArray:
    """Labels of all rows; each question known by a total alone is a unit of its own."""
    units = np.arange(len(has_units), dtype=np.int64)
    if has_units.any():
        ends = np.cumsum([len(rows) for rows in kept])
        logged = [place for place, end in enumerate(ends) if has_units[end - 1]]
        found = independent_units([members[i] for i in logged], [kept[i] for i in logged], clusters)
        units[has_units] = found + len(has_units)
    return units


def _within_tasks(members: Sequence[TaskLog], kept: Sequence[IntArray], clusters: FindClusters) -> IntArray:
    labels, offset = [], 0
    for log, rows in zip(members, kept, strict=True):
        codes = clusters(log).codes
        own = np.arange(len(rows)) if codes is None else np.unique(codes[rows], return_inverse=True)[1]
        labels.append(own + offset)
        offset += int(own.max()) + 1
    return np.concatenate(labels, dtype=np.int64)


def item_labels(members: Sequence[TaskLog], kept: Sequence[IntArray]) -> IntArray | None:
    """Codes of items that recur across the tasks; None where the tasks share none."""
    for attribute, threshold in (("items", SHARED_ITEMS), ("hashes", SHARED_CONTENT)):
        names = [getattr(log.questions, attribute) for log in members]
        if not all(names):
            continue
        labels = [[found[i] for i in rows] for found, rows in zip(names, kept, strict=True)]
        if _overlap(labels) >= threshold:
            flat = [label for found in labels for label in found]
            return np.asarray(np.unique(flat, return_inverse=True)[1], np.int64)
    return None


def _overlap(labels: Sequence[Sequence[str]]) -> float:
    """Share of the rows whose item stands in another task too."""
    sets = [set(found) for found in labels]
    counts: dict[str, int] = {}
    for found in sets:
        for label in found:
            counts[label] = counts.get(label, 0) + 1
    rows = [counts[label] > 1 for found in labels for label in found]
    return sum(rows) / max(len(rows), 1)


def joined_labels(first: IntArray, second: IntArray) -> IntArray:
    """The finest labels that are equal wherever either of two labels, codes from 0, is equal."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows = len(first)
    row = np.arange(n_rows)
    n_first = int(first.max()) + 1
    size = n_rows + n_first + int(second.max()) + 1
    ends: NDArray[np.int64] = np.concatenate([n_rows + first, n_rows + n_first + second])
    graph = coo_array((np.ones(2 * n_rows), (np.tile(row, 2), ends)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][:n_rows], np.int64)


def group_structure(data: TaskGroup, options: StructureOptions) -> Structure:
    """Structure of a group's scores."""
    as_scores = Scores(data.metric, data.filter, data.values[:, None], levels=data.levels, bounds=data.bounds)
    score_type, bounds, fact = score_type_of(as_scores, options.ranges)
    n_rows, n_units = len(data.values), data.n_units
    has_units = n_units < n_rows
    shared = "items that recur across tasks" if data.shares_units else "clusters within the tasks"
    weights = "by size" if np.ptp(data.weights) > 0 else "equal"
    facts = (
        Fact("clusters", f"{n_units} {shared}" if has_units else "questions count as independent", "the tasks' own"),
        fact,
        Fact("tasks", f"{len(data.names)}, weights {weights}", "reproduce the reported value"),
    )
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=n_rows,
        max_trials=data.n_trials,
        n_cells=n_rows,
        n_clusters=n_units if has_units else None,
        cluster_key=("items across tasks" if data.shares_units else "within tasks") if has_units else None,
        facts=facts,
        warnings=_of_totals(data),
    )


def _of_totals(data: TaskGroup) -> tuple[str, ...]:
    n, n_all = len(data.of_totals), len(data.names)
    if not n:
        return ()
    which = f"all {n_all}" if n == n_all else f"{n} of {n_all}"
    return (
        f"only the totals of {which} tasks are known: their questions count as independent, and clusters, trials and "
        "items that recur across tasks, if there are any, are not allowed for",
    )
