"""The two sides of a comparison: one system's runs each, and the tasks that both have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.logs.data import TaskLog
from harness_uq.logs.newest import Chosen, Key, choose_runs
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.reading import Runs, task_logs

_MOST_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One system's runs.

    Attributes
    ----------
    system : its name
    logs : all of its task logs
    chosen : the data that count, by task, metric and filter
    """

    system: str
    logs: tuple[TaskLog, ...]
    chosen: Mapping[Key, Chosen]

    @classmethod
    def read(cls, runs: Runs, name: str, plugins: Plugins) -> "Side":
        """Read the runs that the argument `name` stands for. Raises DataError unless they are one system's."""
        logs = tuple(task_logs(runs, plugins))
        systems = choose_runs(logs)
        if len(systems) != 1:
            held = f"several systems: {', '.join(sorted(systems))}; name the runs of one" if systems else "no run"
            raise DataError(f"{name} must hold the runs of one system, and holds {held}")
        system, chosen = next(iter(systems.items()))
        return cls(system, logs, chosen)


def common_keys(a: Side, b: Side) -> tuple[list[tuple[Key, Key]], tuple[str, ...]]:
    """Keys of A and B of the tasks, metrics and filters that both have, and notes on what only one has.

    Raises NotEstimableError where they have nothing in common.
    """
    notes: list[str] = []
    matched = [(key, key) for key in a.chosen if key in b.chosen]
    matched += _across_harnesses(a, b, {key for key, _ in matched})
    if not matched and len(a.chosen) == len(b.chosen) == 1:
        matched = [(next(iter(a.chosen)), next(iter(b.chosen)))]
        notes.append(f"{_listed(a.chosen)} of {a.system} is compared with {_listed(b.chosen)} of {b.system}")
    if not matched:
        raise NotEstimableError(
            f"no task and metric in common: {a.system} has {_listed(a.chosen)}; {b.system} has {_listed(b.chosen)}"
        )
    for side, used in ((a, {key for key, _ in matched}), (b, {key for _, key in matched})):
        if rest := [key for key in side.chosen if key not in used]:
            notes.append(f"only {side.system} has {_listed(rest)}; left out")
    return matched, tuple(notes)


def _across_harnesses(a: Side, b: Side, known: set[Key]) -> list[tuple[Key, Key]]:
    """Tasks of one name whose single metric two harnesses call differently."""
    only_a, only_b = (_single_metric(side.chosen, known) for side in (a, b))
    return [
        (only_a[task], only_b[task])
        for task in only_a.keys() & only_b.keys()
        if a.chosen[only_a[task]].log.source.harness != b.chosen[only_b[task]].log.source.harness
    ]


def _single_metric(chosen: Mapping[Key, Chosen], known: set[Key]) -> dict[str, Key]:
    by_task: dict[str, list[Key]] = {}
    for key in chosen:
        by_task.setdefault(key[0].rpartition("/")[2], []).append(key)
    return {task: keys[0] for task, keys in by_task.items() if len(keys) == 1 and keys[0] not in known}


def _listed(keys: Iterable[Key]) -> str:
    names = [f"{task} {metric}" + ("" if name == "none" else f" ({name})") for task, metric, name in keys]
    return (
        ", ".join(names[:_MOST_LISTED])
        + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")
        or "nothing"
    )
