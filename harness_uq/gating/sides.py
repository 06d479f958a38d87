"""Split the logs of one system into two sides, or replace its scores by the worst possible ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.data.selection import higher_is_better, select_questions
from harness_uq.data.task_log import (
    IntArray,
    Scores,
    TaskData,
    TaskLog,
)
from harness_uq.structure.structure import StructureOptions, score_type_of

Sides = tuple[TaskLog, TaskLog]


def worst_logs(logs: Sequence[TaskLog], options: StructureOptions) -> list[TaskLog]:
    """Return the logs with the worst score of the range on every question; scores of unknown range are omitted."""
    worst_case = []
    for log in logs:
        data = [worst for item in log.data if (worst := _worst(item, log, options)) is not None]
        if data or log.subtasks:
            # the score that the harness reported for a group is not that of the worst scores of its tasks
            worst_case.append(replace(log, data=tuple(data) if data else log.data, reported={}))
    return worst_case


def _worst(data: TaskData, log: TaskLog, options: StructureOptions) -> Scores | None:
    if not isinstance(data, Scores):
        return None
    _, bounds, _ = score_type_of(data, options.ranges)
    if bounds is None:
        return None
    worst = bounds[0] if higher_is_better(log, data.metric) else bounds[1]
    return replace(data, values=np.where(np.isnan(data.values), np.nan, worst))


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

    Parameters
    ----------
    units : int (n_questions,); clusters of the questions, None if they are independent
    """
    labels = np.arange(len(log.questions)) if units is None else units
    known = np.unique(labels)
    first = np.isin(labels, rng.permutation(known)[: len(known) // 2])
    return select_questions(log, np.flatnonzero(first)), select_questions(log, np.flatnonzero(~first))
