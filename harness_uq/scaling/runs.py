"""What one run gave, from whatever worker or store."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import is_

import numpy as np

from harness_uq.logs.data import CandidateField, Questions, Source, TaskLog, Totals
from harness_uq.structure.fields import candidate_fields

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
    """Names, hashes and codes of questions, each held once however many logs have the same."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._fields: dict[tuple[bytes, bool], CandidateField] = {}
        self._outlines: dict[tuple[str, ...], Questions] = {}

    def run(self, run: RunDone) -> RunDone:
        """The run, whose logs hold what others hold too."""
        logs = tuple(map(self._log, run.logs))
        return run if all(map(is_, logs, run.logs)) else replace(run, logs=logs)

    def _log(self, log: TaskLog) -> TaskLog:
        questions = log.questions
        if not len(questions):
            known = self._outlines.setdefault(tuple(questions.fields), questions)
            return log if known is questions else replace(log, questions=known)
        prefix = questions.prompt_prefix
        shared = Questions(
            self._same(questions.ids),
            self._same(questions.hashes),
            {name: self._field(field) for name, field in questions.fields.items()},
            None if prefix is None else self._field(prefix),
            self._same(questions.items),
            self._same(questions.prompt_hashes),
        )
        return replace(log, questions=shared)

    def _same(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return self._texts.setdefault(texts, texts)

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
