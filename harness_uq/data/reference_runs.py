"""Scores of reference systems on the questions of one task, as an array."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from harness_uq.data.selection import ScoreKey, select_runs
from harness_uq.data.task_log import FloatArray, Questions, Scores, TaskLog
from harness_uq.messages.catalogue.planning import NO_REFERENCE_SCORES, QUESTIONS_NOT_IN_REFERENCE
from harness_uq.messages.errors import NotEstimableError


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRuns:
    """Scores of systems that were evaluated before, one per row."""

    key: ScoreKey  # task, metric and filter
    systems: tuple[str, ...]
    ids: tuple[str, ...]  # question ids as the harness logs them, one per column: all questions of any of the runs
    by_hash: bool  # by the hash of the content; else by ids, if hashes are not logged or not unique
    labels: tuple[str, ...]  # the hashes or ids that identify the questions
    scores: FloatArray  # float (n_systems, n_questions), mean over trials; NaN if a run lacks the question
    levels: tuple[float, ...] | None  # that the harness declares possible; None if it declares none

    def columns_of(self, questions: Questions) -> list[int]:
        """The column of each question of a run; raises NotEstimableError if one has none."""
        column = {label: i for i, label in enumerate(self.labels)}
        labels = questions.hashes if self.by_hash and questions.hashes else questions.ids
        if missing := [label for label in labels if label not in column]:
            raise NotEstimableError(
                QUESTIONS_NOT_IN_REFERENCE(n_missing=len(missing), n_questions=len(labels), example=missing[0])
            )
        return [column[label] for label in labels]

    def align(self, questions: Questions, data: Scores) -> FloatArray:
        """The scores of a run, as mean over trials, in the columns of the reference runs; NaN if not scored. Raises
        NotEstimableError if there is no column for a scored question.
        """
        scored = np.flatnonzero(data.is_scored)
        hashes = tuple(questions.hashes[i] for i in scored) if questions.hashes else ()
        scores = np.full(len(self.ids), np.nan)
        columns = self.columns_of(Questions(tuple(questions.ids[i] for i in scored), hashes))
        scores[columns] = data.means[scored]
        return scores


def reference_runs(
    logs: Iterable[TaskLog], task: str, metric: str | None = None, filter_name: str | None = None
) -> ReferenceRuns:
    """Collect the newest run of each system on one task; without names, the task's first metric and filter are used.
    Raises NotEstimableError if no run has scores of that task and metric.
    """
    usable = [
        (key, run.log, run.data)
        for runs_by_key in select_runs(logs).values()
        for key, run in runs_by_key.items()
        if key[0] == task
        and metric in (None, key[1])
        and filter_name in (None, key[2])
        and isinstance(run.data, Scores)
    ]
    if not usable:
        raise NotEstimableError(
            NO_REFERENCE_SCORES(what=f"task {task!r}" if metric is None else f"metric {metric!r} of task {task!r}")
        )
    first = usable[0][0]
    runs = [(log, data) for key, log, data in usable if key == first and isinstance(data, Scores)]
    asked = [log.questions for log, _ in runs]
    # a benchmark may repeat a document; then identifiers are matched
    by_hash = all(len(set(each.hashes) - {""}) == len(each.hashes) == len(each) for each in asked)
    labels_of_runs = [each.hashes if by_hash else each.ids for each in asked]
    ids: dict[str, str] = {}
    for own_labels, each in zip(labels_of_runs, asked, strict=True):
        for label, question in zip(own_labels, each.ids, strict=True):
            ids.setdefault(label, question)
    labels = tuple(ids)
    means = [dict(zip(own, data.means, strict=True)) for own, (_, data) in zip(labels_of_runs, runs, strict=True)]
    scores = np.array([[of_run.get(label, np.nan) for label in labels] for of_run in means])
    systems = tuple(log.system for log, _ in runs)
    return ReferenceRuns(first, systems, tuple(ids.values()), by_hash, labels, scores, runs[0][1].levels)
