"""Monitor runs in progress: current scores with anytime-valid intervals."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq.analyses.detect_structure import detect_structure
from harness_uq.data.selection import LogFilter
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import Watchable
from harness_uq.io.readers import with_safe_names, with_system
from harness_uq.io.run_search import expand_path, find_runs
from harness_uq.messages.catalogue.estimation import (
    FAILED_QUESTIONS,
    FIRST_QUESTION_PENDING,
    ORDER_NOT_RANDOM,
    PENDING_CLUSTERS_UNKNOWN,
    RANGE_REQUIRED,
)
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import LogError, message_of
from harness_uq.messages.message import Message
from harness_uq.messages.redaction import DistinctNames
from harness_uq.options import Options
from harness_uq.results.history import Snapshot
from harness_uq.results.structure import TaskStructure
from harness_uq.stats.sequential.confidence_sequence import SequentialScope, confidence_sequence


def look(
    paths: Sequence[str], options: Options, plugins: Plugins, selection: LogFilter | None = None
) -> tuple[list[Snapshot], list[tuple[str, Message]]]:
    """Return current scores of all runs in progress under the paths, and (path, message) of runs that failed to load.

    `paths`: files or folders. `options`: `level`, `structure`, and `scope`: `population`, or `full` for the score on
    all questions planned. `selection`: tasks, metrics and systems to monitor. Raises LogError if a path does not exist,
    or two harnesses claim the same file.
    """
    looks: list[Snapshot] = []
    problems: list[tuple[str, Message]] = []
    name_of = DistinctNames()
    for path in paths:
        runs, unread = find_runs(path, plugins.harnesses)
        if not (runs or unread or expand_path(path) or Path(path).exists()):
            raise LogError(FILE_UNREADABLE(reason="No such file or folder").at(path))
        problems += unread
        for harness, run in runs:
            try:
                logs = map(with_safe_names, harness.read_running(run) if isinstance(harness, Watchable) else ())
                asked = (selection or LogFilter()).of([with_system(log, name_of(log.system)) for log in logs])
                looks += [seen for log in asked for seen in _looks(log, options, plugins)]
            except Exception as error:
                problems.append((run.name, message_of(error)))
    return looks, problems


def _looks(log: TaskLog, options: Options, plugins: Plugins) -> Iterator[Snapshot]:
    structure = detect_structure(log, options, plugins=plugins)[0]
    for data in log.data:
        if isinstance(data, Scores):
            yield _look(log, data, structure, options)


def _look(log: TaskLog, data: Scores, structure: TaskStructure, options: Options) -> Snapshot:
    scores = data.values[:, 0]
    is_scored = np.isfinite(scores)
    n = int(np.argmin(is_scored)) if not is_scored.all() else len(scores)
    low, high, messages = _interval(log, data, structure, options, n)
    return Snapshot(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        n_scored=int(is_scored.sum()),
        n_used=n,
        n_planned=len(scores),
        value=float(scores[:n].mean()) if n else None,
        low=low,
        high=high,
        level=options.level,
        messages=messages,
    )


def _interval(
    log: TaskLog, data: Scores, structure: TaskStructure, options: Options, n: int
) -> tuple[float | None, float | None, tuple[Message, ...]]:
    """Return the interval and messages; without an interval, None and the reason."""
    if n == 0:
        return None, None, (FIRST_QUESTION_PENDING(),)
    bounds = structure.metrics[data.metric, data.filter].bounds
    if bounds is None:
        return None, None, (RANGE_REQUIRED(method="confidence-sequence"),)
    if structure.clusters.codes is not None:
        return None, None, (PENDING_CLUSTERS_UNKNOWN(key=structure.clusters.key),)
    scope: SequentialScope = "full" if options.scope == "full" else "population"
    sequence = confidence_sequence(
        data.values[:n, 0], level=options.level, bounds=bounds, planned=len(data.values), scope=scope
    )
    return float(sequence.low[-1]), float(sequence.high[-1]), tuple(_remarks(log))


def _remarks(log: TaskLog) -> Iterator[Message]:
    """Return notes on the assumptions of the interval."""
    settings = log.facts.settings
    if not (settings.get("shuffled") or settings.get("sample_shuffle") not in (None, False)):
        yield ORDER_NOT_RANDOM()
    if n_failed := settings.get("n_failed"):
        yield FAILED_QUESTIONS(n_failed=n_failed)
