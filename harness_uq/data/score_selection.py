"""Selection of tasks, metrics, filters and systems by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError
from harness_uq.messages.catalogue.reading import NO_SUCH_SELECTION


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Names or glob patterns of what to select. An empty tuple selects everything.

    Attributes
    ----------
    tasks : tuple of str
        Tasks. Selecting a group selects all of its tasks.
    metrics, filters : tuple of str
        As the harness names them; `none` is the filter of scores without a filter.
    models : tuple of str
        Systems, by their displayed names.
    """

    tasks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def of(self, logs: Iterable[TaskLog]) -> tuple[TaskLog, ...]:
        """Select from these logs; a log without selected data is left out.

        Examples
        --------
        >>> LogFilter(tasks=("mmlu*",)).of([])
        ()
        """
        all_logs = list(logs)
        tasks = _with_members(all_logs, self.tasks)
        selected = [log for log in all_logs if matches(log.system, self.models) and log.task in tasks]
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
        """Check that every name and pattern matches something in the logs.

        Raises
        ------
        DataError
            If one does not. The message lists the available names.
        """
        available = (
            ("task", self.tasks, {log.task for log in logs}),
            ("metric", self.metrics, {data.metric for log in logs for data in log.data}),
            ("filter", self.filters, {data.filter for log in logs for data in log.data}),
            ("model", self.models, {log.system for log in logs}),
        )
        for kind, patterns, names in available:
            for pattern in patterns:
                if not any(matches(name, (pattern,)) for name in names):
                    raise DataError(NO_SUCH_SELECTION(kind=kind, pattern=pattern, known=sorted(names) or ["none"]))


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name equals or matches one of the patterns, or there are no patterns.

    Examples
    --------
    >>> matches("gpt [a]", ["gpt [a]"]), matches("drop", ["d*"]), matches("drop", []), matches("drop", ["D*"])
    (True, True, True, False)
    """
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _with_members(logs: Sequence[TaskLog], patterns: Sequence[str]) -> set[str]:
    """Return the matching tasks and the members of matching groups."""
    selected = {log.task for log in logs if matches(log.task, patterns)}
    while new := {task for log in logs if log.task in selected for task in log.subtasks} - selected:
        selected |= new
    return selected
