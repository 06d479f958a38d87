"""Which tasks, metrics, filters and systems of some logs are asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from harness_uq.errors import DataError
from harness_uq.logs.data import TaskData, TaskLog


@dataclass(frozen=True, slots=True)
class Selection:
    """Names or glob patterns; of a kind without any, all are asked for.

    Attributes
    ----------
    tasks : a group of tasks brings its members
    metrics, filters : as the harness names them; `none` is the filter of scores that have none
    models : systems, by the names under which they are shown
    """

    tasks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def of(self, logs: Iterable[TaskLog]) -> tuple[TaskLog, ...]:
        """What is asked for of these logs; a log without any is left out.

        >>> Selection(tasks=("mmlu*",)).of([])
        ()
        """
        every = list(logs)
        wanted = _with_members(every, self.tasks)
        of_models = [log for log in every if matches(log.system, self.models) and log.task in wanted]
        kept = [replace(log, data=tuple(filter(self._has, log.data))) for log in of_models]
        return tuple(new for old, new in zip(of_models, kept, strict=True) if new.data or not old.data)

    def check(self, logs: Sequence[TaskLog]) -> None:
        """Make sure that every name and pattern stands for something in the logs.

        Raises
        ------
        DataError : if one does not; the message says what there is
        """
        held = (
            ("task", self.tasks, {log.task for log in logs}),
            ("metric", self.metrics, {data.metric for log in logs for data in log.data}),
            ("filter", self.filters, {data.filter for log in logs for data in log.data}),
            ("model", self.models, {log.system for log in logs}),
        )
        for kind, patterns, names in held:
            for pattern in patterns:
                if not any(matches(name, (pattern,)) for name in names):
                    raise DataError(f"no {kind} matches {pattern!r}; there are {', '.join(sorted(names))}")

    def _has(self, data: TaskData) -> bool:
        return matches(data.metric, self.metrics) and matches(data.filter, self.filters)


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether the name is, or matches, one of the patterns, or there are none.

    >>> matches("gpt [a]", ["gpt [a]"]), matches("drop", ["d*"]), matches("drop", []), matches("drop", ["D*"])
    (True, True, True, False)
    """
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _with_members(logs: Sequence[TaskLog], patterns: Sequence[str]) -> set[str]:
    """Names of the tasks that match, and of the members of the groups among them."""
    wanted = {log.task for log in logs if matches(log.task, patterns)}
    while new := {task for log in logs if log.task in wanted for task in log.subtasks} - wanted:
        wanted |= new
    return wanted
