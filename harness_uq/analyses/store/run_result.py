"""Results of one run or one batch, as workers send them and stores return them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from harness_uq.data.clusters import candidate_fields
from harness_uq.data.task_log import AggregateScore, MetadataField, Questions, Source, TaskLog
from harness_uq.io.readers import ReadErrors
from harness_uq.messages import Message

if TYPE_CHECKING:
    from harness_uq.analyses.store.parquet import Kind

T = TypeVar("T")

_SHARED_OF_SOURCE = ("path", "harness", "version", "time", "run")
_NO_VALUES = MetadataField(np.array([], np.int64))


@dataclass(frozen=True, slots=True)
class RunResult:
    """The task logs and estimates of one run."""

    path: str  # first file; runs are ordered by it and the time
    time: str | None
    files: tuple[str, ...]
    logs: tuple[TaskLog, ...]  # or their outlines if only estimates were requested
    packed_estimates: tuple[bytes, ...] = ()  # one for each of the logs' data; empty if not requested


@dataclass(slots=True)
class BatchResult:
    """The results of one batch of files."""

    runs: list[RunResult] = field(default_factory=list)  # including those without scores
    read_errors: ReadErrors = field(default_factory=ReadErrors)  # what could not be read, and why
    files: "dict[Kind, bytes]" = field(default_factory=dict)  # content of new files for a store
    damaged_files: dict[str, Message] = field(default_factory=dict)  # why files of the store could not be read, by path


class Interner:
    """Replaces equal parts of task logs by one object, to save memory: names, and question ids, hashes and fields. It
    begins with the paths of the logs; `objects` has each shared object under itself as key.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.objects: dict[object, object] = {path: path for path in paths}
        self._fields: dict[tuple[bytes, bool, tuple[str, ...]], MetadataField] = {}
        self._outlines: dict[tuple[str, ...], Questions] = {}

    def run(self, run: RunResult) -> RunResult:
        """Return the run with shared objects."""
        logs = tuple(map(self._log, run.logs))
        if all(map(is_, logs, run.logs)):
            return run
        return replace(run, path=self._same(run.path), files=tuple(map(self._same, run.files)), logs=logs)

    def _log(self, log: TaskLog) -> TaskLog:
        questions = log.questions
        if not len(questions):
            shared = self._outlines.setdefault(tuple(questions.fields), questions)
            return log if shared is questions else self._with_questions(log, shared)
        prefix = questions.prompt_prefix
        shared = Questions(
            self._same(questions.ids),
            self._same(questions.hashes),
            {name: self._field(field) for name, field in questions.fields.items()},
            None if prefix is None else self._field(prefix),
            self._same(questions.items),
            self._same(questions.prompt_hashes),
        )
        return self._with_questions(log, shared)

    def _with_questions(self, log: TaskLog, questions: Questions) -> TaskLog:
        same, source = self._same, log.source
        return replace(
            log,
            system=same(log.system),
            task=same(log.task),
            source=replace(source, **{name: same(getattr(source, name)) for name in _SHARED_OF_SOURCE}),
            questions=questions,
            subtasks=same(log.subtasks),
        )

    def _same(self, value: T) -> T:
        return self.objects.setdefault(value, value)  # type: ignore[return-value]

    def _field(self, field: MetadataField) -> MetadataField:
        return self._fields.setdefault((field.codes.tobytes(), field.is_text, field.values), field)


def outline(log: TaskLog) -> TaskLog:
    """Return a task log without questions and scores: names, source, metrics, directions, field names.

    A log without scores keeps its warnings, which give the reason.
    """
    return make_outline(
        log.system,
        log.task,
        log.source,
        metrics=[(data.metric, data.filter) for data in log.data],
        fields=candidate_fields(log),
        messages=() if log.data else log.warnings,
        subtasks=log.subtasks,
        lower_is_better=[metric for metric, is_higher in log.higher_is_better.items() if not is_higher],
    )


def make_outline(
    system: str,
    task: str,
    source: Source,
    *,
    metrics: Iterable[tuple[str, str]],
    fields: Iterable[str],
    messages: Iterable[Message],
    subtasks: Iterable[str],
    lower_is_better: Iterable[str],
) -> TaskLog:
    """Make the outline of a log from its parts."""
    data, questions = _empty_data(tuple(metrics)), _empty_questions(tuple(fields))
    return TaskLog(
        system,
        task,
        source,
        questions,
        data,
        higher_is_better=dict.fromkeys(lower_is_better, False),
        messages=tuple(messages),
        subtasks=tuple(subtasks),
    )


@lru_cache(maxsize=1024)
def _empty_data(metrics: tuple[tuple[str, str], ...]) -> tuple[AggregateScore, ...]:
    return tuple(AggregateScore(metric, name, None, None, "An outline contains no values") for metric, name in metrics)


@lru_cache(maxsize=1024)
def _empty_questions(names: tuple[str, ...]) -> Questions:
    return Questions((), fields=dict.fromkeys(names, _NO_VALUES))
