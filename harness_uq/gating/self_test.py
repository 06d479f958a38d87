"""A gate tried on equals: both sides are runs of one system, so that every failure is a false one."""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Literal

import numpy as np

from harness_uq.comparing.sides import Side
from harness_uq.errors import NotEstimableError
from harness_uq.estimating.analysis import clusters_of
from harness_uq.gating.analysis import GateOptions, decide
from harness_uq.gating.sides import Sides, by_epochs, by_halves, has_epochs
from harness_uq.logs.data import TaskLog
from harness_uq.logs.newest import choose_runs
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.estimate import Interval
from harness_uq.results.gate import SelfTest
from harness_uq.stats.proportion.binomial import binomial_interval

Kind = Literal["runs", "epochs", "halves"]
KINDS: tuple[Kind, ...] = ("runs", "epochs", "halves")
Progress = Callable[[int], None]

_FEWEST_PAIRS = 20


def self_test(
    logs: Runs,
    options: GateOptions,
    *,
    kind: Kind | None = None,
    n: int = 200,
    seed: int = 0,
    plugins: Plugins | None = None,
) -> SelfTest:
    """Rate at which the gate fails a system that is compared with itself.

    Parameters
    ----------
    logs : runs of one system or several, each of which is compared with itself
    options : of the gate
    kind : `runs`: every ordered pair of a system's runs of the same tasks; `epochs`: trials of each question, put at
        random on two sides; `halves`: questions, or their clusters, so put, whose scores are compared as independent.
        None takes the first that the logs allow, `runs` where there are 20 pairs or more
    n : gates; fewer where there are fewer pairs of runs
    seed : of the random sides

    Returns
    -------
    Counts and the rate with its Clopper-Pearson interval at the level of the gate. Gates on the same logs are not
    independent of one another: the interval is about further sides of these logs.

    Raises
    ------
    LogError : if a path gives no log
    NotEstimableError : if no system's logs can be put on two sides that way
    """
    offered = plugins or load_plugins()
    systems = _by_system(task_logs(logs, offered))
    chosen = kind or _kind(systems)
    drawn = list(_sides(systems, chosen, n, options, offered, np.random.default_rng(seed)))
    if not drawn:
        raise NotEstimableError(_WHY_NONE[chosen])
    decisions = [decide(*pair, options, offered).decision for pair in drawn]
    n_failed = decisions.count("fail")
    level = options.compare.level
    low, high = binomial_interval(n_failed, len(drawn), level, "clopper_pearson")
    rate = Interval(float(low), float(high), level, "confidence")
    names = tuple(dict.fromkeys(a.system for a, _ in drawn))
    return SelfTest(chosen, len(drawn), n_failed, decisions.count("pass"), rate, options.alpha, names)


_WHY_NONE = {
    "runs": "no system has two runs of the same tasks",
    "epochs": "no system's questions were all tried twice or more",
    "halves": "no system has scores of two questions or clusters",
}


def _by_system(logs: Sequence[TaskLog]) -> dict[str, list[TaskLog]]:
    found: dict[str, list[TaskLog]] = {}
    for log in logs:
        found.setdefault(log.system, []).append(log)
    return found


def _kind(systems: dict[str, list[TaskLog]]) -> Kind:
    if sum(1 for logs in systems.values() for _ in permutations(_runs(logs), 2)) >= _FEWEST_PAIRS:
        return "runs"
    if any(has_epochs(log) for logs in systems.values() for log in logs if not log.subtasks):
        return "epochs"
    return "halves"


def _runs(logs: Sequence[TaskLog]) -> list[list[TaskLog]]:
    """The runs that hold every task of the system."""
    tasks = {log.task for log in logs}
    runs: dict[tuple[str, str | None], list[TaskLog]] = {}
    for log in logs:
        folder = log.source.path if log.source.time is None else log.source.path.rpartition("/")[0]
        runs.setdefault((log.source.run or folder, log.source.time), []).append(log)
    return [run for run in runs.values() if {log.task for log in run} == tasks]


def _sides(
    systems: dict[str, list[TaskLog]],
    kind: Kind,
    n: int,
    options: GateOptions,
    plugins: Plugins,
    rng: np.random.Generator,
) -> Iterator[tuple[Side, Side]]:
    if kind == "runs":
        pairs = [pair for logs in systems.values() for pair in permutations(_runs(logs), 2)]
        kept = rng.permutation(len(pairs))[:n]
        yield from (_as_sides(*pairs[i]) for i in kept)
        return
    split = _epochs(rng) if kind == "epochs" else _halves(options, plugins, rng)
    usable = [found for logs in systems.values() if (found := _newest(logs, kind))]
    for i in range(n if usable else 0):
        parts = [split(log) for log in usable[i % len(usable)]]
        yield _as_sides(*zip(*parts, strict=True))


def _epochs(rng: np.random.Generator) -> Callable[[TaskLog], Sides]:
    return lambda log: by_epochs(log, rng)


def _halves(options: GateOptions, plugins: Plugins, rng: np.random.Generator) -> Callable[[TaskLog], Sides]:
    return lambda log: by_halves(log, clusters_of(log, options.compare.structure, plugins).codes, rng)


def _newest(logs: Sequence[TaskLog], kind: Kind) -> list[TaskLog]:
    """The run of each task that counts, of those that can be put on two sides."""
    chosen = [entry.log for by_key in choose_runs(logs).values() for entry in by_key.values()]
    plain = [log for log in dict.fromkeys(chosen) if not log.subtasks]
    if kind == "epochs":
        return [log for log in plain if has_epochs(log)]
    return [log for log in plain if len(log.questions) > 1]


def _as_sides(a: Sequence[TaskLog], b: Sequence[TaskLog]) -> tuple[Side, Side]:
    return _side(tuple(a)), _side(tuple(b))


def _side(logs: tuple[TaskLog, ...]) -> Side:
    system = logs[0].system
    return Side(system, logs, choose_runs(logs)[system])
