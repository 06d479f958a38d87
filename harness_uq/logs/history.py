"""Scores of earlier systems on the questions of one task, as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray, Questions, Scores, TaskLog
from harness_uq.logs.newest import Key, choose_runs


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """What earlier systems scored.

    Attributes
    ----------
    key : task, metric and filter
    systems : their names, a row each
    ids : of the questions as the harness logs them, a column each; all questions that any of the runs holds
    by_hash : questions are told apart by the hash of their content; by their id where it is not logged or recurs
    labels : that hash, or the id
    scores : float (n_systems, n_questions); mean over trials, NaN where a run lacks the question
    levels : scores that the harness declares possible, None where it declares none
    """

    key: Key
    systems: tuple[str, ...]
    ids: tuple[str, ...]
    by_hash: bool
    labels: tuple[str, ...]
    scores: FloatArray
    levels: tuple[float, ...] | None

    def places(self, questions: Questions) -> list[int]:
        """Column of each question of a run.

        Raises
        ------
        NotEstimableError : if one is not there
        """
        column = {label: i for i, label in enumerate(self.labels)}
        named = _labels(questions, self.by_hash)
        if missing := [label for label in named if label not in column]:
            raise NotEstimableError(
                f"{len(missing)} of {len(named)} questions of the run are in none of the history, such as {missing[0]}"
            )
        return [column[label] for label in named]

    def placed(self, questions: Questions, data: Scores) -> FloatArray:
        """Scores of a run, mean over trials, in the columns of the history; NaN where it has none.

        Raises
        ------
        NotEstimableError : if a scored question is in none of them
        """
        kept = np.flatnonzero(data.is_scored)
        hashes = tuple(questions.hashes[i] for i in kept) if questions.hashes else ()
        scores = np.full(len(self.ids), np.nan)
        columns = self.places(Questions(tuple(questions.ids[i] for i in kept), hashes))
        scores[columns] = np.nanmean(data.values[kept], axis=1)
        return scores


def history_of(
    logs: Iterable[TaskLog], task: str, metric: str | None = None, filter_name: str | None = None
) -> History:
    """The newest run of each system on one task, metric and filter; the first of the task's where none is named.

    Raises
    ------
    NotEstimableError : if no run has scores of that task and metric
    """
    found = [(key, chosen) for by_key in choose_runs(logs).values() for key, chosen in by_key.items()]
    fitting = [(key, chosen) for key, chosen in found if _fits(key, task, metric, filter_name)]
    usable = [(key, chosen.log, chosen.data) for key, chosen in fitting if isinstance(chosen.data, Scores)]
    if not usable:
        asked = task if metric is None else f"{task}, {metric}"
        raise NotEstimableError(f"no run of the history has question scores of {asked}")
    first = usable[0][0]
    runs = [(log, data) for key, log, data in usable if key == first and isinstance(data, Scores)]
    by_hash = all(_tells_apart(log.questions.hashes, len(log.questions)) for log, _ in runs)
    ids: dict[str, str] = {}
    for log, _ in runs:
        for label, question in zip(_labels(log.questions, by_hash), log.questions.ids, strict=True):
            ids.setdefault(label, question)
    labels = tuple(ids)
    scores = np.stack([_row(log, data, by_hash, labels) for log, data in runs])
    systems = tuple(log.system for log, _ in runs)
    return History(first, systems, tuple(ids.values()), by_hash, labels, scores, runs[0][1].levels)


def _fits(key: Key, task: str, metric: str | None, filter_name: str | None) -> bool:
    return key[0] == task and metric in (None, key[1]) and filter_name in (None, key[2])


def _tells_apart(hashes: Sequence[str], n_questions: int) -> bool:
    """Whether every question has a hash of its own; a document that recurs in the benchmark is told apart by its id."""
    return len(hashes) == n_questions and all(hashes) and len(set(hashes)) == n_questions


def _labels(questions: Questions, by_hash: bool) -> Sequence[str]:
    return questions.hashes if by_hash and questions.hashes else questions.ids


def _row(log: TaskLog, data: Scores, by_hash: bool, labels: Sequence[str]) -> FloatArray:
    kept = data.is_scored
    mean = np.full(len(data.values), np.nan)
    mean[kept] = np.nanmean(data.values[kept], axis=1)
    score = dict(zip(_labels(log.questions, by_hash), mean, strict=True))
    return np.array([score.get(label, np.nan) for label in labels])
