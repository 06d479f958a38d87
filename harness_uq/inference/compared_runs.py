"""The two sides of a comparison: the runs of each system, and the tasks that both were run on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from harness_uq.data.log_filter import Selection
from harness_uq.data.missing_scores import MissingCounts
from harness_uq.data.selection import ScoreKey, SelectedRun, select_runs
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Scores, Source, TaskLog
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.io.paths import name_of
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.io.tables.build_task_logs import TASK
from harness_uq.io.tables.reader import NAME
from harness_uq.messages.catalogue.comparison import (
    DIFFERENT_TASKS_COMPARED,
    NO_COMMON_SCORES,
    ONE_SYSTEM_REQUIRED,
    UNSHARED_SCORES,
)
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message

_MOST_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The runs of one system."""

    system: str
    logs: tuple[TaskLog, ...]  # all task logs of the system
    chosen: Mapping[ScoreKey, SelectedRun]  # the data to compare, by task, metric and filter
    logged: tuple[TaskLog, ...] = ()  # as read, before totals replaced samples and missing scores were replaced

    @classmethod
    def read(
        cls, runs: Runs, name: str, plugins: Plugins, structure: StructureOptions, selection: Selection | None = None
    ) -> "Side":
        """Read the runs passed as argument `name`. Raises DataError if they belong to several systems, or a trial
        without a score has the policy `error`.
        """
        logged = tuple(task_logs(runs, plugins, selection))
        logs = tuple(with_best_evidence(logged, plugins, structure))
        systems = select_runs(logs)
        if len(systems) != 1:
            raise DataError(ONE_SYSTEM_REQUIRED(side=name, systems=", ".join(sorted(systems)) or "none"))
        system, chosen = next(iter(systems.items()))
        return cls(system, logs, chosen, logged)

    def with_logs(self, logs: Sequence[TaskLog]) -> "Side":
        """The side with other logs of the same system."""
        return replace(self, logs=tuple(logs), chosen=select_runs(logs)[self.system])

    @property
    def missing(self) -> dict[ScoreKey, MissingCounts]:
        """Numbers of trials of the scores that have trials without a score."""
        return {
            key: run.data.missing
            for key, run in self.chosen.items()
            if isinstance(run.data, Scores) and run.data.missing is not None
        }


def named_alike(runs: Sequence[Sequence[TaskLog]]) -> list[list[TaskLog]]:
    """The logs of runs that are compared; runs of one task each that is named after its table get a common name."""
    is_named_after_table = all(len({log.task for log in logs}) == 1 for logs in runs) and all(
        log.source.harness == NAME and log.task in (TASK, PurePath(name_of(log.source.path)).stem)
        for logs in runs
        for log in logs
    )
    has_one_name = len({log.task for logs in runs for log in logs}) == 1
    if has_one_name or not is_named_after_table:
        return [list(logs) for logs in runs]
    return [[replace(log, task=TASK) for log in logs] for logs in runs]


def sides_named_alike(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides, as `named_alike`."""
    (logs_a, logs_b), (logged_a, logged_b) = (named_alike(one) for one in ((a.logs, b.logs), (a.logged, b.logged)))
    if {log.task for log in (*a.logs, *b.logs)} == {log.task for log in (*logs_a, *logs_b)}:
        return a, b
    return replace(a.with_logs(logs_a), logged=tuple(logged_a)), replace(b.with_logs(logs_b), logged=tuple(logged_b))


def tables_named_alike(logs: Sequence[TaskLog]) -> list[TaskLog]:
    """The logs; those of tables with different systems, of one task each that is named after its table, get a common
    name of the task.
    """
    by_file: dict[Source, list[TaskLog]] = {}
    for log in logs:
        by_file.setdefault(log.source, []).append(log)
    systems = [system for members in by_file.values() for system in {log.system for log in members}]
    if len(systems) > len(set(systems)):
        return list(logs)
    return [log for members in named_alike(list(by_file.values())) for log in members]


def common_keys(a: Side, b: Side) -> tuple[list[tuple[ScoreKey, ScoreKey]], tuple[Message, ...]]:
    """Match the tasks, metrics and filters of A and B; also return notes on those that only one system has.

    Raises NotEstimableError if they have none in common.
    """
    notes: list[Message] = []
    matched = [(key, key) for key in a.chosen if key in b.chosen]
    matched += _across_harnesses(a, b, {key for key, _ in matched})
    if not matched and len(a.chosen) == len(b.chosen) == 1:
        matched = [(next(iter(a.chosen)), next(iter(b.chosen)))]
        keys = {"key_a": _listed(a.chosen), "key_b": _listed(b.chosen)}
        notes.append(DIFFERENT_TASKS_COMPARED(system_a=a.system, system_b=b.system, **keys))
    if not matched:
        keys = {"keys_a": _listed(a.chosen), "keys_b": _listed(b.chosen)}
        raise NotEstimableError(NO_COMMON_SCORES(system_a=a.system, system_b=b.system, **keys))
    for side, used in ((a, {key for key, _ in matched}), (b, {key for _, key in matched})):
        if rest := [key for key in side.chosen if key not in used]:
            notes.append(UNSHARED_SCORES(system=side.system, keys=_listed(rest), n_keys=len(rest)))
    return matched, tuple(notes)


def _across_harnesses(a: Side, b: Side, known: set[ScoreKey]) -> list[tuple[ScoreKey, ScoreKey]]:
    """Match tasks of the same name whose only metric has different names in two harnesses."""
    only_a, only_b = (_single_metric(side.chosen, known) for side in (a, b))
    return [
        (only_a[task], only_b[task])
        for task in only_a.keys() & only_b.keys()
        if a.chosen[only_a[task]].log.source.harness != b.chosen[only_b[task]].log.source.harness
    ]


def _single_metric(chosen: Mapping[ScoreKey, SelectedRun], known: set[ScoreKey]) -> dict[str, ScoreKey]:
    by_task: dict[str, list[ScoreKey]] = {}
    for key in chosen:
        by_task.setdefault(key[0].rpartition("/")[2], []).append(key)
    return {task: keys[0] for task, keys in by_task.items() if len(keys) == 1 and keys[0] not in known}


def _listed(keys: Iterable[ScoreKey]) -> str:
    names = [f"{task} {metric}" + ("" if name == "none" else f" ({name})") for task, metric, name in keys]
    return (
        ", ".join(names[:_MOST_LISTED])
        + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")
        or "nothing"
    )
