"""Runs in the making: the score so far, with an interval that holds at every look."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq.errors import LogError, told
from harness_uq.estimating.analysis import Options, TaskStructure, structures
from harness_uq.logs.data import Scores, TaskLog
from harness_uq.logs.selection import Selection
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.protocols import Watchable
from harness_uq.plugins.reading import expand, find_runs
from harness_uq.results.look import Look
from harness_uq.stats.looks.confidence_sequence import Scope, confidence_sequence


def look(
    paths: Sequence[str], options: Options, plugins: Plugins, selection: Selection | None = None
) -> tuple[list[Look], list[tuple[str, str]]]:
    """The scores of every run in the making under the paths, at this moment, and (path, message) of what was not read.

    Parameters
    ----------
    paths : files or folders
    options : `level`, `structure`, and `scope`: `population`, or `full` for the score on all questions planned
    selection : what of the runs to look at

    Raises
    ------
    LogError : if a path does not exist, or two harnesses claim the same file
    """
    looks: list[Look] = []
    problems: list[tuple[str, str]] = []
    for path in paths:
        runs, unread = find_runs(path, plugins.harnesses)
        if not (runs or unread or expand(path) or Path(path).exists()):
            raise LogError(f"{path}: no such file or folder")
        problems += unread
        for harness, run in runs:
            try:
                logs = harness.read_running(run) if isinstance(harness, Watchable) else []
                asked = (selection or Selection()).of(logs)
                looks += [seen for log in asked for seen in _looks(log, options, plugins)]
            except Exception as error:
                problems.append((run.name, told(error)))
    return looks, problems


def _looks(log: TaskLog, options: Options, plugins: Plugins) -> Iterator[Look]:
    found = structures(log, options.structure, plugins=plugins)[0]
    for data in log.data:
        if isinstance(data, Scores):
            yield _look(log, data, found, options)


def _look(log: TaskLog, data: Scores, found: TaskStructure, options: Options) -> Look:
    scores = data.values[:, 0]
    is_scored = np.isfinite(scores)
    n = int(np.argmin(is_scored)) if not is_scored.all() else len(scores)
    low, high, why = _interval(log, data, found, options, n)
    return Look(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        n_scored=int(is_scored.sum()),
        n_counted=n,
        n_planned=len(scores),
        value=float(scores[:n].mean()) if n else None,
        low=low,
        high=high,
        level=options.level,
        why=why,
    )


def _interval(
    log: TaskLog, data: Scores, found: TaskStructure, options: Options, n: int
) -> tuple[float | None, float | None, str]:
    """Ends and remark; None and the reason where there is no interval."""
    if n == 0:
        return None, None, "the first question in line has no score yet"
    bounds = found.metrics[data.metric, data.filter].bounds
    if bounds is None:
        return None, None, f"the range of {data.metric} is not known; --range {data.metric}=LO,HI gives it"
    if found.clusters.codes is not None:
        return None, None, f"questions share their {found.clusters.key}, and those to come are not known"
    scope: Scope = "full" if options.scope == "full" else "population"
    sequence = confidence_sequence(
        data.values[:n, 0], level=options.level, bounds=bounds, planned=len(data.values), scope=scope
    )
    return float(sequence.low[-1]), float(sequence.high[-1]), "; ".join(_remarks(log))


def _remarks(log: TaskLog) -> Iterator[str]:
    """What the interval takes for granted."""
    settings = log.facts.settings
    if not (settings.get("shuffled") or settings.get("sample_shuffle") not in (None, False)):
        yield "the questions come in the order of the data set, which the interval takes for random"
    if n_failed := settings.get("n_failed"):
        yield f"{n_failed} ended in an error and do not count"
