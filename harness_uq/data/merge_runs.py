"""Merging runs of one system on different questions of one task."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.data.task_log import Questions, Scores, TaskLog
from harness_uq.messages import distinct
from harness_uq.messages.catalogue.comparison import RUNS_MERGED


def merge_runs(logs: Sequence[TaskLog]) -> list[TaskLog]:
    """Merge logs of one system and task that share no question, in the order of the first of each.

    Runs that share a question are returned unchanged, because it is not clear which of two answers counts. A merged log
    contains the scores by question, but no metadata fields, because these are coded separately for each run.
    """
    by_task: dict[tuple[str, str, tuple[str, ...]], list[TaskLog]] = {}
    for log in logs:
        by_task.setdefault((log.system, log.task, log.subtasks), []).append(log)
    return [log for parts in by_task.values() for log in ([_merged(parts)] if _are_disjoint(parts) else parts)]


def _are_disjoint(parts: Sequence[TaskLog]) -> bool:
    ids = [question for part in parts for question in part.questions.ids]
    return len(parts) > 1 and len(set(ids)) == len(ids)


def _merged(parts: Sequence[TaskLog]) -> TaskLog:
    first = parts[0]
    ids = tuple(question for part in parts for question in part.questions.ids)
    hashes = tuple(text for part in parts for text in part.questions.hashes)
    tables = [{(data.metric, data.filter): data for data in part.data if isinstance(data, Scores)} for part in parts]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    merged = RUNS_MERGED(n_runs=len(parts), paths=sorted(part.source.path for part in parts))
    return replace(
        first,
        questions=Questions(ids, hashes if len(hashes) == len(ids) else ()),
        resources=None,
        ended_by=None,
        data=tuple(_stacked([table[key] for table in tables]) for key in shared),
        reported={},
        messages=distinct((merged, *(message for part in parts for message in part.messages))),
    )


def _stacked(scores: Sequence[Scores]) -> Scores:
    width = max(table.values.shape[1] for table in scores)
    padded = [
        np.pad(table.values, ((0, 0), (0, width - table.values.shape[1])), constant_values=np.nan) for table in scores
    ]
    return replace(scores[0], values=np.concatenate(padded), clusters=None)
