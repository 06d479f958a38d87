"""Choose the tasks of an overall result and the metric of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness_uq.data.selection import ScoreKey
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError, unknown_name
from harness_uq.options import Options

NORMALIZED_ACCURACY = ("acc", "acc_norm")


@dataclass(frozen=True, slots=True)
class SelectedTask:
    """A task of an overall result with its headline metric.

    Attributes
    ----------
    key : task, metric and filter
    parts : the same for each task of a group; the key itself for a single task
    """

    key: ScoreKey
    parts: tuple[ScoreKey, ...]

    @property
    def is_group(self) -> bool:
        """Whether the task is a group of tasks."""
        return self.parts != (self.key,)


@dataclass(frozen=True, slots=True)
class TaskSelection:
    """The tasks of an overall result.

    Attributes
    ----------
    tasks : in the order of the logs
    group : the group whose weights the tasks have; None for other weights
    """

    tasks: tuple[SelectedTask, ...]
    group: ScoreKey | None = None


def select_tasks(
    keys: Mapping[str, Sequence[ScoreKey]], groups: Mapping[str, Sequence[str]], options: Options
) -> TaskSelection:
    """Select the tasks that no group contains, with one metric each.

    If one group contains all tasks, its tasks are selected. With the weights `subtasks`, the tasks of all groups are
    selected instead of the groups. If weights are given, the tasks with a weight are selected.

    Parameters
    ----------
    keys : for each system, the tasks, metrics and filters in the order of its logs
    groups : the tasks of each group

    Raises
    ------
    DataError : if an option names a task or metric that does not exist
    """
    tasks = list(dict.fromkeys(task for of_system in keys.values() for task, _, _ in of_system))
    _check_tasks(tasks, options)
    known_groups = {name: members for name, members in groups.items() if name in tasks}
    inside = {member for group in known_groups for member in _members(group, groups)}
    top = [task for task in tasks if task not in inside]
    if not isinstance(options.weights, str):
        top = [task for task in tasks if task in options.weights]
    offered: dict[str, dict[str, list[ScoreKey]]] = {task: {} for task in tasks}
    for system, of_system in keys.items():
        for key in of_system:
            offered[key[0]].setdefault(system, []).append(key)
    headlines = [_headline(task, list(offered[task].values()), options) for task in top]
    whole = [SelectedTask(key, _parts(key, known_groups, tasks)) for key in headlines]
    is_single_group = len(whole) == 1 and whole[0].is_group
    if options.weights != "subtasks" and not is_single_group:
        return TaskSelection(tuple(whole))
    parts = dict.fromkeys(part for task in whole for part in task.parts)
    has_group_weights = is_single_group and options.weights in ("equal", "group")
    return TaskSelection(
        tuple(SelectedTask(part, (part,)) for part in parts), whole[0].key if has_group_weights else None
    )


def task_groups(logs: Iterable[TaskLog]) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group in the logs."""
    return {log.task: log.subtasks for log in logs if log.subtasks}


def _check_tasks(tasks: Sequence[str], options: Options) -> None:
    weights = {} if isinstance(options.weights, str) else options.weights
    for option, names in (("metric", options.metrics), ("chance", options.chance), ("weights", weights)):
        for name in names:
            if name not in tasks:
                raise DataError(unknown_name(f"task of {option}", name, tasks, plural="tasks"))


def _members(group: str, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the tasks and groups in a group, at any depth."""
    for member in groups.get(group, ()):
        yield member
        yield from _members(member, groups)


def _parts(key: ScoreKey, groups: Mapping[str, Sequence[str]], tasks: Sequence[str]) -> tuple[ScoreKey, ...]:
    """Return the key of each task of a group that is in the logs; the key itself if it is a single task."""
    leaves = [name for name in _members(key[0], groups) if name not in groups and name in tasks]
    return tuple((leaf, *key[1:]) for leaf in dict.fromkeys(leaves)) or (key,)


def _headline(task: str, offered: Sequence[Sequence[ScoreKey]], options: Options) -> ScoreKey:
    """Return the metric that the user chose, or the first one that all systems with the task have.

    Parameters
    ----------
    offered : the metrics and filters of the task, for each system that has it

    Raises
    ------
    DataError : if the task does not have the metric that the user chose
    """
    shared = [key for key in offered[0] if all(key in others for others in offered)] or offered[0]
    if (wanted := options.metrics.get(task)) is not None:
        metric, _, filter_name = wanted.partition(",")
        every = dict.fromkeys(key for of_system in offered for key in of_system)
        matching = [key for key in (*shared, *every) if key[1] == metric and filter_name in ("", key[2])]
        if not matching:
            raise DataError(unknown_name(f"metric of task {task!r}", wanted, [key[1] for key in every]))
        return matching[0]
    accuracy, normalized = NORMALIZED_ACCURACY
    if any(key[1] == accuracy for key in shared):
        return next((key for key in shared if key[1] == normalized), shared[0])
    return shared[0]
