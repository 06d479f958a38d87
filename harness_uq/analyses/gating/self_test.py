"""Self-test of a gate: both sides are runs of the same system, so every failure is a false alarm."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Literal, Unpack

import numpy as np

from harness_uq.analyses.gating.gate import GateDesign, decide, require_margin
from harness_uq.data.arrays import IntArray
from harness_uq.data.clusters import clusters_of
from harness_uq.data.selection import select_questions, select_runs
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import NotEstimableError
from harness_uq.options import Options, resolve
from harness_uq.options_typed import SelfTestKeywords
from harness_uq.results.estimate import Interval
from harness_uq.results.gate import SelfTest
from harness_uq.stats.proportion.binomial import binomial_interval

Kind = Literal["runs", "epochs", "halves"]
KINDS: tuple[Kind, ...] = ("runs", "epochs", "halves")
Sides = tuple[TaskLog, TaskLog]

_FEWEST_PAIRS = 20


def self_test(
    logs: Runs,
    options: Options | None = None,
    *,
    kind: Kind | None = None,
    n: int = 200,
    plugins: Plugins | None = None,
    **keywords: "Unpack[SelfTestKeywords]",
) -> SelfTest:
    """Estimate how often the gate fails a system that is compared with itself.

    Parameters
    ----------
    logs : runs of one system or several, each of which is compared with itself
    options : options of the gate
    kind : `runs` compares every ordered pair of a system's runs of the same tasks. `epochs` splits the trials of each
        question randomly into two sides. `halves` splits the questions, or their clusters, randomly into two sides,
        whose scores are compared as independent. None selects the first kind that the logs allow; `runs` requires at
        least 20 pairs
    n : number of gates; fewer if there are fewer pairs of runs
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `gate`; `seed` is also the seed of the splits

    Returns
    -------
    Counts and the failure rate with its Clopper-Pearson interval at the level of the gate. Gates on the same logs are
    not independent of each other: the interval refers to further splits of these logs.

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if no margin is given
    NotEstimableError : if the logs of no system can be split into two sides in this way
    TypeError : if an option does not exist
    """
    offered = plugins or load_plugins()
    chosen, selection = resolve("self_test", options, keywords)
    if "margin" not in keywords:
        require_margin(chosen, options, "self_test")
    read = task_logs(logs, offered, selection)
    design = GateDesign.of(chosen).with_margins(read)
    systems: dict[str, list[TaskLog]] = {}
    for log in read:
        systems.setdefault(log.system, []).append(log)
    split = kind or _kind(systems)
    drawn = list(_sides(systems, split, n, design, offered, np.random.default_rng(chosen.seed)))
    if not drawn:
        raise NotEstimableError(_WHY_NONE[split])
    decisions = [decide(*pair, design, offered).decision for pair in drawn]
    n_failed = decisions.count("fail")
    level = chosen.level
    low, high = binomial_interval(n_failed, len(drawn), level, "clopper_pearson")
    rate = Interval(float(low), float(high), level, "confidence")
    names = tuple(dict.fromkeys(a.system for a, _ in drawn))
    return SelfTest(split, len(drawn), n_failed, decisions.count("pass"), rate, design.alpha, names)


_WHY_NONE = {
    "runs": "no system has two runs of the same tasks",
    "epochs": "no system's questions were all tried twice or more",
    "halves": "no system has scores of two questions or clusters",
}


def _kind(systems: dict[str, list[TaskLog]]) -> Kind:
    if sum(1 for logs in systems.values() for _ in permutations(_runs(logs), 2)) >= _FEWEST_PAIRS:
        return "runs"
    if any(has_epochs(log) for logs in systems.values() for log in logs if not log.subtasks):
        return "epochs"
    return "halves"


def _runs(logs: Sequence[TaskLog]) -> list[list[TaskLog]]:
    """Return the runs that contain every task of the system."""
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
    options: GateDesign,
    plugins: Plugins,
    rng: np.random.Generator,
) -> Iterator[tuple[Side, Side]]:
    if kind == "runs":
        pairs = [pair for logs in systems.values() for pair in permutations(_runs(logs), 2)]
        selected = rng.permutation(len(pairs))[:n]
        for i in selected:
            yield _side(pairs[i][0]), _side(pairs[i][1])
        return

    def split(log: TaskLog) -> Sides:
        if kind == "epochs":
            return by_epochs(log, rng)
        return by_halves(log, clusters_of(log, options.compare.structure, plugins).codes, rng)

    usable = [newest for logs in systems.values() if (newest := _newest(logs, kind))]
    for i in range(n if usable else 0):
        first, second = zip(*(split(log) for log in usable[i % len(usable)]), strict=True)
        yield _side(first), _side(second)


def _newest(logs: Sequence[TaskLog], kind: Kind) -> list[TaskLog]:
    """Return the selected run of each task whose questions or trials can be split into two sides."""
    chosen = [entry.log for by_key in select_runs(logs).values() for entry in by_key.values()]
    plain = [log for log in dict.fromkeys(chosen) if not log.subtasks]
    if kind == "epochs":
        return [log for log in plain if has_epochs(log)]
    return [log for log in plain if len(log.questions) > 1]


def _side(logs: Sequence[TaskLog]) -> Side:
    system = logs[0].system
    return Side(system, tuple(logs), select_runs(logs)[system])


def has_epochs(log: TaskLog) -> bool:
    """Whether all scores of the log, if it has any, have several trials."""
    scores = [data for data in log.data if isinstance(data, Scores)]
    return bool(scores) and all(data.values.shape[1] > 1 for data in scores)


def by_epochs(log: TaskLog, rng: np.random.Generator) -> Sides:
    """Split the trials of each question randomly into two sides; an odd trial is left out. Scores only."""
    pairs = [_split_trials(data, rng) for data in log.data if isinstance(data, Scores)]
    first, second = zip(*pairs, strict=True)
    return replace(log, data=first, reported={}), replace(log, data=second, reported={})


def _split_trials(data: Scores, rng: np.random.Generator) -> tuple[Scores, Scores]:
    values = rng.permuted(data.values, axis=1)
    values = np.take_along_axis(values, np.argsort(np.isnan(values), axis=1, kind="stable"), axis=1)
    n = values.shape[1] // 2
    # if some trials of a question have no score, only its scored trials are split
    return replace(data, values=values[:, 0 : 2 * n : 2]), replace(data, values=values[:, 1 : 2 * n : 2])


def by_halves(log: TaskLog, units: IntArray | None, rng: np.random.Generator) -> Sides:
    """Split the questions, or their clusters, randomly into two halves.

    `units`: int (n_questions,); clusters of the questions, None if they are independent.
    """
    labels = np.arange(len(log.questions)) if units is None else units
    known = np.unique(labels)
    first = np.isin(labels, rng.permutation(known)[: len(known) // 2])
    return select_questions(log, np.flatnonzero(first)), select_questions(log, np.flatnonzero(~first))
