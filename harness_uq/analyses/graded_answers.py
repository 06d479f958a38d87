"""Collect the answers of each system with the scores of every grader and the labels of people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.data.clusters import clusters_of
from harness_uq.data.factors import settings_of
from harness_uq.data.structure import StructureOptions, score_type_of
from harness_uq.data.task_log import FloatArray, IntArray, Scores, TaskLog
from harness_uq.inference.labels import Human, grades_of
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages import Message
from harness_uq.messages.catalogue.estimation import NO_LABEL_METRIC
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.labels.label_arrays import mean_of_trials


@dataclass(frozen=True, slots=True, eq=False)
class GradedAnswers:
    """Scores that one grader gave to the answers of one system to a task.

    `data` are the grader's scores in `log`. `human` are labels (n_questions, n_trials) or (n_questions, 1), NaN without
    one; None if no labels were given. `probabilities` (n_questions,) are those with which answers were labeled; None if
    all are equal. `clusters` are None for independent questions, `bounds` None if the range of the grader's scores is
    unknown, and `messages` are warnings about the labels.
    """

    grader: str
    log: TaskLog
    data: Scores
    human: FloatArray | None
    probabilities: FloatArray | None
    clusters: IntArray | None
    bounds: tuple[float, float] | None
    messages: tuple[Message, ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """What identifies the answers: graders with equal values scored the same answers."""
        return (self.log.system, self.log.task, self.data.filter, *_run_of(self.log))

    @property
    def labels(self) -> FloatArray:
        """Mean label of each question; NaN without one."""
        return np.full(len(self.log.questions), np.nan) if self.human is None else mean_of_trials(self.human)


def graded_answers(
    logs: Sequence[TaskLog], labels: Human | None, structure: StructureOptions, plugins: Plugins
) -> list[GradedAnswers]:
    """The scores of every metric of every log, except for the metric that contains the labels."""
    entries = [
        one
        for log in logs
        if not log.subtasks
        for one in _of_log(log, None if labels == () else labels, structure, plugins)
    ]
    return list(_with_distinct_names(entries))


def clusters_across_entries(entries: Sequence[GradedAnswers]) -> list[IntArray]:
    """Clusters of the questions of each entry, with equal numbers for the same cluster in all entries.

    Questions with equal identifiers are the same question. Without clusters each question is a cluster of its own.
    """
    known: dict[str, int] = {}
    n_clusters = 0
    result = []
    for entry in entries:
        ids = entry.log.questions.ids
        own = np.arange(len(ids)) if entry.clusters is None else entry.clusters
        number: dict[int, int] = {}
        for question, code in zip(ids, own.tolist(), strict=True):
            if question in known:
                number.setdefault(code, known[question])
        for code in dict.fromkeys(own.tolist()):
            if code not in number:
                number[code] = n_clusters
                n_clusters += 1
        numbers = np.array([number[code] for code in own.tolist()], np.int64)
        known |= dict(zip(ids, numbers.tolist(), strict=True))
        result.append(numbers)
    return result


def _of_log(
    log: TaskLog, labels: Human | None, structure: StructureOptions, plugins: Plugins
) -> Iterator[GradedAnswers]:
    clusters = clusters_of(log, structure, plugins)
    for data in log.data:
        if not isinstance(data, Scores) or data.metric == labels:
            continue
        human, chances = None, None
        messages: tuple[Message, ...] = ()
        if labels is not None:
            try:
                given = grades_of(log, data, labels)
                human, chances = given.majority, given.probabilities
                messages = tuple(one for one in given.messages if one.severity == "warning")
            except NotEstimableError as error:
                if error.message.code != NO_LABEL_METRIC.code:
                    raise
        codes = data.clusters if data.clusters is not None else clusters.codes
        _, bounds, _ = score_type_of(data, structure.of_task(log.task).ranges)
        yield GradedAnswers(data.metric, log, data, human, chances, codes, bounds, messages)


def _with_distinct_names(entries: Sequence[GradedAnswers]) -> Iterator[GradedAnswers]:
    """Distinguish graders that scored the same answers under one name: by their model, or else by a number."""
    repeated: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for entry in entries:
        repeated.setdefault((entry.answers, entry.grader), []).append(_model_of(entry))
    numbers: dict[tuple[tuple[str, ...], str], int] = {}
    for entry in entries:
        key = (entry.answers, entry.grader)
        models = repeated[key]
        numbers[key] = numbers.get(key, 0) + 1
        has_model = len(set(models)) == len(models) and all(models)
        suffix = _model_of(entry) if has_model else str(numbers[key])
        yield entry if len(models) == 1 else replace(entry, grader=f"{entry.grader} ({suffix})")


def _model_of(entry: GradedAnswers) -> str:
    """The model of the grader; empty if the log does not contain it."""
    return settings_of(entry.log).get(f"scorer_model.{entry.data.metric}", "")


def _run_of(log: TaskLog) -> tuple[str, ...]:
    """The run that gave the answers; rescored logs of one run have the same."""
    attempt = log.source.attempt
    return (log.source.path, log.source.run) if attempt is None else (attempt.run, attempt.id)


def graders_of_same_answers(entries: Sequence[GradedAnswers]) -> list[list[GradedAnswers]]:
    """The graders of each set of answers that several graders scored."""
    by_answers: dict[tuple[str, ...], list[GradedAnswers]] = {}
    for entry in entries:
        by_answers.setdefault(entry.answers, []).append(entry)
    return [graders for graders in by_answers.values() if len(graders) > 1]


def scores_of_graders(graders: Sequence[GradedAnswers]) -> FloatArray:
    """Mean scores of the questions of the first log by all graders, (n_questions, n_graders); NaN without a score."""
    by_question = [
        dict(zip(entry.log.questions.ids, mean_of_trials(entry.data.values).tolist(), strict=True)) for entry in graders
    ]
    ids = graders[0].log.questions.ids
    table = np.array([[scores.get(question, np.nan) for scores in by_question] for question in ids], float)
    return table.reshape(len(ids), len(graders))
