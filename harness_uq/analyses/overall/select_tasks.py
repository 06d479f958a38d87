"""Choose the tasks of an overall result and the metric of each.

The choice does not depend on the order of systems, tasks, metrics or filters in the logs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness_uq.data.selection import ScoreKey
from harness_uq.data.task_log import TaskLog
from harness_uq.messages.catalogue.overall import OVERALL_GROUP_DIVIDED, OVERALL_METRIC_REPLACED
from harness_uq.messages.errors import DataError, unknown_name
from harness_uq.messages.message import Message
from harness_uq.options import Options

HEADLINES = ("acc_norm", "acc", "exact_match")

HasInterval = Callable[[str, ScoreKey], bool]
"""Whether a system has an interval for a task, metric and filter."""

_DIVIDING = ("equal", "questions", "subtasks")


def headline_order(key: ScoreKey) -> tuple[int, str, bool, str]:
    """Order of the metrics and filters of a task: usual metrics, then by name; scores without a filter come first."""
    _, metric, filter_name = key
    place = HEADLINES.index(metric) if metric in HEADLINES else len(HEADLINES)
    return place, metric, filter_name != "none", filter_name


@dataclass(frozen=True, slots=True)
class SelectedTask:
    """A task of an overall result with its headline metric.

    `key`: task, metric and filter. `parts`: each task of a group with this metric; the key itself for a single task.
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

    `tasks`: in the order of the logs. `group`: the group whose weights the tasks have; None for other weights.
    `messages`: notes on metrics and groups.
    """

    tasks: tuple[SelectedTask, ...]
    group: ScoreKey | None = None
    messages: tuple[Message, ...] = ()


def select_tasks(
    keys: Mapping[str, Sequence[ScoreKey]],
    groups: Mapping[str, Sequence[str]],
    options: Options,
    has_interval: HasInterval = lambda _, __: True,
) -> TaskSelection:
    """Select the tasks that no group contains, with one metric each.

    If one group contains all tasks, its tasks are selected. With the weights `subtasks`, the tasks of all groups are
    selected instead of the groups. If weights are given, the tasks with a weight are selected. `keys`: for each system,
    the tasks, metrics and filters in the order of its logs. `has_interval`: whether a system has an interval for a
    task, metric and filter. Raises DataError if an option names a task or metric that does not exist.

    Notes
    -----
    The metric of a task is the one that the options name, otherwise the first one in the order of `headline_order`
    with an interval for each system that has the task. The metric of a group is that of its tasks. If these differ, it
    is the first one with an interval for all of them; without one, the members of the group count instead of the group.
    """
    tasks = list(dict.fromkeys(task for of_system in keys.values() for task, _, _ in of_system))
    _check_tasks(tasks, options)
    offered: dict[str, dict[str, list[ScoreKey]]] = {task: {} for task in tasks}
    for system, of_system in keys.items():
        for key in of_system:
            offered[key[0]].setdefault(system, []).append(key)
    known_groups = {name: members for name, members in groups.items() if name in tasks}
    inside = {member for group in known_groups for member in _members(group, groups)}
    top = [task for task in tasks if task not in inside]
    if not isinstance(options.weights, str):
        top = [task for task in tasks if task in options.weights]
    metrics = _Metrics(offered, known_groups, options, has_interval)
    whole = list(dict.fromkeys(one for task in top for one in metrics.select(task)))
    is_single_group = len(whole) == 1 and whole[0].is_group
    if options.weights != "subtasks" and not is_single_group:
        return TaskSelection(tuple(whole), messages=tuple(metrics.notes()))
    parts = dict.fromkeys(part for task in whole for part in task.parts)
    has_group_weights = is_single_group and options.weights in ("equal", "group")
    return TaskSelection(
        tuple(SelectedTask(part, (part,)) for part in parts),
        whole[0].key if has_group_weights else None,
        tuple(metrics.notes()),
    )


def task_groups(logs: Iterable[TaskLog]) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group in the logs."""
    groups: dict[str, dict[str, None]] = {}
    for log in logs:
        if log.subtasks:
            groups.setdefault(log.task, {}).update(dict.fromkeys(log.subtasks))
    return {group: tuple(members) for group, members in groups.items()}


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


@dataclass(frozen=True, slots=True, eq=False)
class _Metrics:
    """The choice of metrics.

    `offered`: by task and system, the metrics and filters. `options`, `has_interval`: as for `select_tasks`.
    `replaced`, `divided`: metrics that were replaced and groups that were divided, by task.
    """

    offered: Mapping[str, Mapping[str, Sequence[ScoreKey]]]
    groups: Mapping[str, Sequence[str]]
    options: Options
    has_interval: HasInterval
    replaced: dict[str, str] = field(default_factory=dict)
    divided: dict[str, None] = field(default_factory=dict)

    def select(self, task: str) -> Iterator[SelectedTask]:
        """Yield the task with its metric, or the members of a group whose tasks have no metric in common."""
        leaves = self._leaves(task)
        if not leaves:
            key = self._of_task(task)
            yield SelectedTask(key, (key,))
            return
        found = self._of_group(task, leaves)
        if found is not None:
            parts = tuple(part for leaf in leaves if (part := (leaf, *found[1:])) in self._every(leaf))
            yield SelectedTask(found, parts)
            return
        self.divided[task] = None
        for member in self.groups[task]:
            if member in self.offered:
                yield from self.select(member)

    def notes(self) -> Iterator[Message]:
        """Yield notes on what was replaced."""
        if self.replaced:
            replaced = [f"{task} ({names})" for task, names in self.replaced.items()]
            yield OVERALL_METRIC_REPLACED(n_tasks=len(replaced), replaced=replaced)
        if self.divided:
            yield OVERALL_GROUP_DIVIDED(n_groups=len(self.divided), groups=list(self.divided))

    def _leaves(self, group: str) -> list[str]:
        """Return the tasks of a group that are in the logs; none for a single task."""
        found = dict.fromkeys(_members(group, self.groups))
        return [name for name in found if name not in self.groups and name in self.offered]

    def _every(self, task: str) -> list[ScoreKey]:
        """Return the metrics and filters of the task of any system, in their order."""
        return sorted({key for of_system in self.offered[task].values() for key in of_system}, key=headline_order)

    def _shared(self, task: str) -> list[ScoreKey]:
        """Return the metrics and filters that all systems with the task have; of any system if there are none."""
        of_systems = [set(of_system) for of_system in self.offered[task].values()]
        return sorted(set.intersection(*of_systems), key=headline_order) or self._every(task)

    def _is_complete(self, key: ScoreKey) -> bool:
        """Whether each system with the task has an interval."""
        return all(self.has_interval(system, key) for system in self.offered[key[0]])

    def _of_task(self, task: str) -> ScoreKey:
        if (wanted := self.options.metrics.get(task)) is not None:
            return self._wanted(task, wanted, [*self._shared(task), *self._every(task)])
        shared = self._shared(task)
        found = next(filter(self._is_complete, shared), shared[0])
        self._note(found, shared[0])
        return found

    def _of_group(self, group: str, leaves: Sequence[str]) -> ScoreKey | None:
        """Return the group with its metric; None if its tasks have no metric in common.

        Tasks with given weights, or with the weights of a group, are not divided: the first metric counts.
        """
        parts = [key for leaf in leaves for key in self._every(leaf)]
        if (wanted := self.options.metrics.get(group)) is not None:
            return self._wanted(group, wanted, [(group, *key[1:]) for key in (*self._every(group), *parts)])
        usual = sorted({(group, *self._shared(leaf)[0][1:]) for leaf in leaves}, key=headline_order)
        of_leaves = [{(group, *key[1:]) for key in self._shared(leaf)} for leaf in leaves]
        shared = sorted(set.intersection(*of_leaves), key=headline_order)
        complete = (key for key in shared if all(self._is_complete((leaf, *key[1:])) for leaf in leaves))
        fallback = usual[0] if len(usual) == 1 or self.options.weights not in _DIVIDING else None
        found = next(complete, fallback)
        if found is not None:
            self._note(found, usual[0])
        return found

    def _wanted(self, task: str, wanted: str, offered: Sequence[ScoreKey]) -> ScoreKey:
        """Return the metric that the user chose. Raises DataError if the task does not have it."""
        metric, _, filter_name = wanted.partition(",")
        matching = [key for key in offered if key[1] == metric and filter_name in ("", key[2])]
        if not matching:
            known = dict.fromkeys(key[1] for key in offered)
            raise DataError(unknown_name(f"metric of task {task!r}", wanted, list(known)))
        return matching[0]

    def _note(self, found: ScoreKey, usual: ScoreKey) -> None:
        if found != usual:
            self.replaced[found[0]] = f"{_name(found)} instead of {_name(usual)}"


def _name(key: ScoreKey) -> str:
    return key[1] if key[2] == "none" else f"{key[1]} ({key[2]})"
