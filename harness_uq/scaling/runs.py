"""What one run gave, from whatever worker or store."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import is_
from typing import TypeVar

import numpy as np

from harness_uq.logs.data import CandidateField, Questions, Source, TaskLog, Totals
from harness_uq.structure.fields import candidate_fields

T = TypeVar("T")

_NO_VALUES = CandidateField(np.array([], np.int64))


@dataclass(frozen=True, slots=True)
class RunDone:
    """What one run gave.

    Attributes
    ----------
    path, time : of the run, by which runs are put in order
    files : of the run
    logs : the task logs; their outlines where they were not asked for
    rows : estimates, packed, one for each of the logs' data; none where none were asked for
    """

    path: str
    time: str | None
    files: tuple[str, ...]
    logs: tuple[TaskLog, ...]
    rows: tuple[bytes, ...] = ()


class Shared:
    """Names, hashes and codes of questions and what logs are about, each held once however many logs have the same.

    Parameters
    ----------
    places : of the files of the logs

    Attributes
    ----------
    parts : of logs and estimates, each under itself
    """

    def __init__(self, places: Iterable[str]) -> None:
        self.parts: dict[object, object] = {place: place for place in places}
        self._fields: dict[tuple[bytes, bool], CandidateField] = {}
        self._outlines: dict[tuple[str, ...], Questions] = {}

    def run(self, run: RunDone) -> RunDone:
        """The run, whose logs hold what others hold too."""
        logs = tuple(map(self._log, run.logs))
        if all(map(is_, logs, run.logs)):
            return run
        return replace(run, path=self._same(run.path), files=tuple(map(self._same, run.files)), logs=logs)

    def _log(self, log: TaskLog) -> TaskLog:
        questions = log.questions
        if not len(questions):
            known = self._outlines.setdefault(tuple(questions.fields), questions)
            return log if known is questions else self._about(log, known)
        prefix = questions.prompt_prefix
        shared = Questions(
            self._same(questions.ids),
            self._same(questions.hashes),
            {name: self._field(field) for name, field in questions.fields.items()},
            None if prefix is None else self._field(prefix),
            self._same(questions.items),
            self._same(questions.prompt_hashes),
        )
        return self._about(log, shared)

    def _about(self, log: TaskLog, questions: Questions) -> TaskLog:
        same, of = self._same, log.source
        return replace(
            log,
            system=same(log.system),
            task=same(log.task),
            source=Source(same(of.path), same(of.harness), same(of.version), same(of.time), same(of.run)),
            questions=questions,
            subtasks=same(log.subtasks),
        )

    def _same(self, part: T) -> T:
        return self.parts.setdefault(part, part)  # type: ignore[return-value]

    def _field(self, field: CandidateField) -> CandidateField:
        return self._fields.setdefault((field.codes.tobytes(), field.is_text), field)


def outline(log: TaskLog) -> TaskLog:
    """What a log is about, without what it says: system, tasks, metrics, source, names of the questions' fields.

    Of one without scores also why.
    """
    return outline_of(
        log.system,
        log.task,
        log.source,
        metrics=[(data.metric, data.filter) for data in log.data],
        fields=candidate_fields(log),
        warnings=() if log.data else log.warnings,
        subtasks=log.subtasks,
    )


def outline_of(
    system: str,
    task: str,
    source: Source,
    *,
    metrics: Iterable[tuple[str, str]],
    fields: Iterable[str],
    warnings: Iterable[str],
    subtasks: Iterable[str],
) -> TaskLog:
    """An outline of a log from its parts."""
    data, questions = _named(tuple(metrics)), _with_fields(tuple(fields))
    return TaskLog(system, task, source, questions, data, warnings=tuple(warnings), subtasks=tuple(subtasks))


@lru_cache(maxsize=1024)
def _named(metrics: tuple[tuple[str, str], ...]) -> tuple[Totals, ...]:
    return tuple(Totals(metric, name, None, None, "an outline holds no values") for metric, name in metrics)


@lru_cache(maxsize=1024)
def _with_fields(names: tuple[str, ...]) -> Questions:
    return Questions((), fields=dict.fromkeys(names, _NO_VALUES))
