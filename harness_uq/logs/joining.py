"""Runs of one system on different questions of one task, as one log."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from harness_uq.logs.data import MetricKey, Questions, Scores, TaskLog


def joined_parts(logs: Sequence[TaskLog]) -> list[TaskLog]:
    """Logs in which those of one system and task that share no question are one; in the order of the first of each.

    Runs that share a question stay as they are: which of two answers counts is not for this to say. What the joined log
    keeps is the scores by question: fields that may tell clusters are coded run by run, and are left out.
    """
    by_task: dict[tuple[str, str, tuple[str, ...]], list[TaskLog]] = {}
    for log in logs:
        by_task.setdefault((log.system, log.task, log.subtasks), []).append(log)
    return [log for parts in by_task.values() for log in ([_joined(parts)] if _are_apart(parts) else parts)]


def _are_apart(parts: Sequence[TaskLog]) -> bool:
    ids = [question for part in parts for question in part.questions.ids]
    return len(parts) > 1 and len(set(ids)) == len(ids)


def _joined(parts: Sequence[TaskLog]) -> TaskLog:
    first = parts[0]
    ids = tuple(question for part in parts for question in part.questions.ids)
    hashes = tuple(text for part in parts for text in part.questions.hashes)
    tables = [_scores(part) for part in parts]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    paths = ", ".join(sorted(part.source.path for part in parts))
    return replace(
        first,
        questions=Questions(ids, hashes if len(hashes) == len(ids) else ()),
        data=tuple(_stacked([table[key] for table in tables]) for key in shared),
        reported={},
        notes=(f"{len(parts)} runs on different questions count as one ({paths})", *_distinct(p.notes for p in parts)),
        warnings=_distinct(part.warnings for part in parts),
    )


def _scores(part: TaskLog) -> dict[MetricKey, Scores]:
    return {(data.metric, data.filter): data for data in part.data if isinstance(data, Scores)}


def _stacked(scores: Sequence[Scores]) -> Scores:
    width = max(one.values.shape[1] for one in scores)
    padded = [np.pad(one.values, ((0, 0), (0, width - one.values.shape[1])), constant_values=np.nan) for one in scores]
    return replace(scores[0], values=np.concatenate(padded), clusters=None)


def _distinct(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for of_one in texts for text in of_one))
