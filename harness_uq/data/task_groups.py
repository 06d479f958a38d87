"""Combine the question scores of tasks into the score of their group."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.structure import Clusters, Evidence, Structure, StructureOptions, counts_of, score_type_of
from harness_uq.data.task_log import AggregateScore, FloatArray, IntArray, Scores, TaskGroup, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.score_structure import (
    GROUP_MEMBER_UNUSABLE,
    GROUP_SAMPLES_MISSING,
    GROUP_TASKS_LEFT_OUT,
    GROUP_TOTAL_TOO_LARGE,
    GROUP_WEIGHTS_UNKNOWN,
    GROUP_WITHOUT_METRIC,
    TASK_TOTALS_ONLY,
)
from harness_uq.messages.errors import NotEstimableError

SHARED_ITEMS = 0.5
SHARED_CONTENT = 0.2
SAME_VALUE = 1e-6
MOST_ROWS = 10**7
_MOST_NAMED = 3

FindClusters = Callable[[TaskLog], Clusters]


def members_of(group: TaskLog, logs: Sequence[TaskLog]) -> list[TaskLog]:
    """The tasks of `group` in the same run, with nested groups resolved, in the order of the group's list. Raises
    NotEstimableError if the log of a member is missing.
    """
    run = (group.system, group.source.harness, group.source.time, group.source.run)
    same_run = {
        log.task: log for log in logs if (log.system, log.source.harness, log.source.time, log.source.run) == run
    }
    missing = [name for name in group.subtasks if name not in same_run]
    if missing:
        raise NotEstimableError(GROUP_SAMPLES_MISSING(tasks=missing))
    members: dict[str, TaskLog] = {}
    for name in group.subtasks:
        log = same_run[name]
        for member in members_of(log, logs) if log.subtasks else [log]:
            members[member.task] = member
    return list(members.values())


def group_data(
    group: TaskLog, metric: str, filter_name: str, members: Sequence[TaskLog], clusters: FindClusters
) -> TaskGroup:
    """Question scores of the members with the metric, and the weights that reproduce the reported value.

    If only the total of a member is known, its questions are represented by the corresponding numbers of 0 and 1.
    Raises NotEstimableError if no member has the metric, a total does not determine a number of correct answers, or
    neither equal weights nor weights by size reproduce the reported value.
    """
    scored_members = [(log, data) for log in members if (data := _scores_of(log, metric, filter_name)) is not None]
    if not scored_members:
        raise NotEstimableError(GROUP_WITHOUT_METRIC(metric=metric))
    scored_tasks = {log.task for log, _ in scored_members}
    left_out = tuple(log.task for log in members if log.task not in scored_tasks)
    members, scores = [log for log, _ in scored_members], [_as_scores(log.task, data) for log, data in scored_members]
    of_totals = {log.task for log, data in scored_members if isinstance(data, AggregateScore)}
    scored_rows = [np.flatnonzero(score.is_scored) for score in scores]
    means = [score.means[score.is_scored] for score in scores]
    tasks = np.repeat(np.arange(len(members)), [len(m) for m in means])
    reported = group.reported.get((metric, filter_name))
    logged = np.array([len(score.values) for score in scores], float)
    in_log = [score.missing.logged if score.missing else None for score in scores]
    weights = _weights(means, in_log, logged, None if reported is None else reported.value)
    has_units = np.repeat([log.task not in of_totals for log in members], [len(m) for m in means])
    return TaskGroup(
        metric=metric,
        filter=filter_name,
        values=np.concatenate(means),
        tasks=tasks,
        units=_units(has_units, members, scored_rows, clusters),
        weights=weights,
        names=tuple(log.task for log in members),
        levels=scores[0].levels,
        bounds=scores[0].bounds,
        n_trials=max(score.values.shape[1] for score in scores),
        of_totals=tuple(log.task for log in members if log.task in of_totals),
        left_out=left_out,
    )


def _scores_of(log: TaskLog, metric: str, filter_name: str) -> Scores | AggregateScore | None:
    for data in log.data:
        if (data.metric, data.filter) == (metric, filter_name) and isinstance(data, AggregateScore | Scores):
            is_known = data.value is not None if isinstance(data, AggregateScore) else data.is_scored.any()
            if is_known:
                return data
    return None


def _as_scores(task: str, data: Scores | AggregateScore) -> Scores:
    """Return the scores, or scores of 0 and 1 that have the given total, in arbitrary order."""
    if isinstance(data, Scores):
        return data
    try:
        right, n = counts_of(data)
    except NotEstimableError as error:
        raise NotEstimableError(GROUP_MEMBER_UNUSABLE(task=task, reason=str(error))) from None
    if n > MOST_ROWS:
        raise NotEstimableError(GROUP_TOTAL_TOO_LARGE(task=task, n_questions=n, limit=MOST_ROWS))
    return Scores(data.metric, data.filter, np.repeat([1.0, 0.0], [right, n - right])[:, None])


def _weights(
    means: Sequence[FloatArray],
    in_log: Sequence[tuple[float, int] | None],
    logged: FloatArray,
    reported: float | None,
) -> FloatArray:
    """Weights that reproduce the reported score: by scored questions, by `logged` questions, or equal. `in_log` has the
    mean score and number of the scored questions of a task in its log, if missing scores were replaced.
    """
    checked = [one or (float(m.mean()), len(m)) for one, m in zip(in_log, means, strict=True)]
    task_means, in_score = np.array([mean for mean, _ in checked]), np.array([n for _, n in checked], float)
    scored = np.array([len(m) for m in means], float)
    equal: FloatArray = np.full(len(means), 1 / len(means))
    by_size: FloatArray = in_score / in_score.sum()
    for tried, weights in (
        (by_size, scored / scored.sum()),
        (logged / logged.sum(), logged / logged.sum()),
        (equal, equal),
    ):
        if reported is None or abs(tried @ task_means - reported) <= SAME_VALUE * max(1.0, abs(reported)):
            return np.asarray(weights)
    raise NotEstimableError(
        GROUP_WEIGHTS_UNKNOWN(
            equal=equal @ task_means, by_size=by_size @ task_means, n_tasks=len(means), reported=reported
        )
    )


# ---------------------------------------------------------------- dependence between questions


def independent_units(members: Sequence[TaskLog], rows: Sequence[IntArray], clusters: FindClusters) -> IntArray:
    """Label the independent unit of each used row, task by task; rows that share a cluster or an item are joined."""
    codes = [(clusters(log).codes, at) for log, at in zip(members, rows, strict=True)]
    within = labels_of_tasks([None if one is None else one[at] for one, at in codes], [len(at) for at in rows])
    items = item_labels(members, rows)
    return within if items is None else joined_labels(within, items)


def _units(
    has_units: NDArray[np.bool_], members: Sequence[TaskLog], scored_rows: Sequence[IntArray], clusters: FindClusters
) -> IntArray:
    """Return the labels of all rows; each question that is known only through a total is a separate unit."""
    units = np.arange(len(has_units), dtype=np.int64)
    if has_units.any():
        ends = np.cumsum([len(rows) for rows in scored_rows])
        logged = [place for place, end in enumerate(ends) if has_units[end - 1]]
        independent = independent_units([members[i] for i in logged], [scored_rows[i] for i in logged], clusters)
        units[has_units] = independent + len(has_units)
    return units


def labels_of_tasks(clusters: Sequence[IntArray | None], sizes: Sequence[int]) -> IntArray:
    """Number the clusters of all tasks, task by task; None stands for a task whose questions are independent."""
    labels, offset = [], 0
    for codes, n in zip(clusters, sizes, strict=True):
        own = np.arange(n) if codes is None else np.unique(codes, return_inverse=True)[1]
        labels.append(own + offset)
        offset += int(own.max()) + 1
    return np.concatenate(labels, dtype=np.int64)


def item_labels(members: Sequence[TaskLog], scored_rows: Sequence[IntArray]) -> IntArray | None:
    """Return codes of the items that occur in several tasks; None if the tasks share no items."""
    for attribute, threshold in (("items", SHARED_ITEMS), ("hashes", SHARED_CONTENT)):
        names = [getattr(log.questions, attribute) for log in members]
        if not all(names):
            continue
        labels = [[task_labels[i] for i in rows] for task_labels, rows in zip(names, scored_rows, strict=True)]
        if _overlap(labels) >= threshold:
            flat = [label for task_labels in labels for label in task_labels]
            return np.asarray(np.unique(flat, return_inverse=True)[1], np.int64)
    return None


def _overlap(labels: Sequence[Sequence[str]]) -> float:
    """Return the share of rows whose item also occurs in another task."""
    counts = Counter(label for task_labels in labels for label in set(task_labels))
    rows = [counts[label] > 1 for task_labels in labels for label in task_labels]
    return sum(rows) / max(len(rows), 1)


def joined_labels(first: IntArray, second: IntArray) -> IntArray:
    """Return the finest partition that joins all rows with equal codes in either of two labelings (codes from 0).

    Its parts are numbered in the order of their first rows.
    """
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    parent = list(range(n_first + n_second))

    def root(code: int) -> int:
        while parent[code] != code:
            parent[code] = code = parent[parent[code]]
        return code

    for one, other in zip(*np.divmod(np.unique(first * n_second + second), n_second), strict=True):
        parent[root(int(one))] = root(n_first + int(other))
    roots = np.array([root(code) for code in range(n_first)])[first]
    _, first_rows, parts = np.unique(roots, return_index=True, return_inverse=True)
    return np.asarray(first_rows.argsort().argsort()[parts], np.int64)


def about_left_out(tasks: Sequence[str], n_tasks: int, metric: str) -> tuple[Message, ...]:
    """A note about the tasks of a group that have no score of the metric; none without such tasks."""
    if not tasks:
        return ()
    n_more = len(tasks) - _MOST_NAMED
    named = [*tasks[:_MOST_NAMED], *([f"{n_more} more"] if n_more > 0 else [])]
    return (GROUP_TASKS_LEFT_OUT(n_left_out=len(tasks), n_tasks=n_tasks, metric=metric, tasks=named),)


def group_structure(data: TaskGroup, options: StructureOptions) -> Structure:
    """Return the structure of a group's scores."""
    as_scores = Scores(data.metric, data.filter, data.values[:, None], levels=data.levels, bounds=data.bounds)
    score_type, bounds, fact = score_type_of(as_scores, options.ranges)
    n_rows, n_units = len(data.values), data.n_units
    has_units = n_units < n_rows
    shared = "items that recur across tasks" if data.shares_units else "clusters within the tasks"
    weights = "by size" if np.ptp(data.weights) > 0 else "equal"
    facts = (
        Evidence(
            "clusters", f"{n_units} {shared}" if has_units else "questions count as independent", "the tasks' own"
        ),
        fact,
        Evidence("tasks", f"{len(data.names)}, weights {weights}", "reproduce the reported value"),
    )
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=n_rows,
        max_trials=data.n_trials,
        n_scores=n_rows,
        n_clusters=n_units if has_units else None,
        cluster_key=("items across tasks" if data.shares_units else "within tasks") if has_units else None,
        facts=facts,
        messages=(
            *about_left_out(data.left_out, len(data.names) + len(data.left_out), data.metric),
            *([TASK_TOTALS_ONLY(n_totals=len(data.of_totals), n_tasks=len(data.names))] if data.of_totals else ()),
        ),
    )
