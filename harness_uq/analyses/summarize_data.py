"""Summarize data: which analyses they support, with which commands, and what further analyses require."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from harness_uq.data.question_groups import fields_by_task
from harness_uq.data.task_log import AggregateScore
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.reading import REPEATED_ROWS_AS_TRIALS
from harness_uq.messages.catalogue.score_structure import (
    NO_CLUSTER_FIELD,
    NO_QUESTION_SCORES,
    PERCENT_SCORES,
    POSSIBLE_CLUSTER_FIELDS,
    QUESTIONS_NOT_SHARED,
    RANGE_UNKNOWN,
    SINGLE_TRIALS,
    TRIALS_NOT_NUMBERED,
)
from harness_uq.results.structure import DataSummary, NextCommand, TaskStructure, UnrecognizedFile


def summarize_data(
    structures: Sequence[TaskStructure],
    arguments: Sequence[str] = (),
    *,
    unread: Sequence[tuple[str, Message | None]] = (),
) -> DataSummary:
    """Summarize which analyses the data support, and what they lack for more.

    `structures`: structure of each task, as `detect_structure` returns it. `arguments`: paths and options with which
    the data were read, for the commands. `unread`: files from which nothing was read, with the reason if it is known.
    """
    tasks = [structure for structure in structures if not structure.log.subtasks]
    scored = [structure for structure in tasks if _has_question_scores(structure)]
    questions = _questions_by_task(scored)
    systems = list(dict.fromkeys(structure.log.system for structure in tasks))
    return DataSummary(
        n_systems=len(systems),
        n_tasks=len({structure.log.task for structure in tasks}),
        n_questions=sum(len(set().union(*by_system.values())) for by_system in questions.values()),
        n_scores=sum(max(metric.n_scores for metric in structure.metrics.values()) for structure in scored),
        is_identified=bool(tasks) and len(scored) == len(tasks) and not any(map(_has_unnumbered_trials, tasks)),
        commands=tuple(_commands(tasks, systems, arguments)),
        missing=distinct(_missing(tasks, scored, questions)),
        breakdown_fields=fields_by_task(structure.log for structure in scored),
        unrecognized=tuple(UnrecognizedFile(path, message) for path, message in unread if message is not None),
        n_unrecognized=len(unread),
    )


def _has_question_scores(structure: TaskStructure) -> bool:
    data = structure.log.data
    return bool(structure.metrics) and not all(isinstance(one, AggregateScore) for one in data)


def _has_unnumbered_trials(structure: TaskStructure) -> bool:
    return any(message.code == REPEATED_ROWS_AS_TRIALS.code for message in structure.log.messages)


def _questions_by_task(structures: Sequence[TaskStructure]) -> dict[str, dict[str, set[str]]]:
    """Identifiers of the questions by task and system."""
    questions: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for structure in structures:
        questions[structure.log.task][structure.log.system].update(structure.log.questions.ids)
    return questions


def _commands(
    tasks: Sequence[TaskStructure], systems: Sequence[str], arguments: Sequence[str]
) -> Iterator[NextCommand]:
    if not any(structure.log.data for structure in tasks):
        return
    by_task: dict[str, set[str]] = defaultdict(set)
    for structure in tasks:
        by_task[structure.log.task].add(structure.log.system)
    if any(len(those) > 1 for those in by_task.values()):
        name, purpose = ("compare", "compare the systems") if len(systems) == 2 else ("rank", "rank the systems")
        yield NextCommand(purpose, shlex.join(["harness-uq", name, *arguments]))
    yield NextCommand("scores with intervals", shlex.join(["harness-uq", "estimate", *arguments]))
    metrics = [metric for structure in tasks for metric in structure.metrics.values()]
    if any(metric.score_type == "binary" and metric.max_trials > 1 for metric in metrics):
        words = ["harness-uq", "estimate", *arguments, "--estimand", "pass@2"]
        yield NextCommand("probability of a success in two trials", shlex.join(words))


def _missing(
    tasks: Sequence[TaskStructure],
    scored: Sequence[TaskStructure],
    questions: Mapping[str, Mapping[str, set[str]]],
) -> Iterator[Message]:
    if n_totals := len(tasks) - len(scored):
        yield NO_QUESTION_SCORES(n_tasks=n_totals, n_all=len(tasks))
    if n_unnumbered := sum(map(_has_unnumbered_trials, tasks)):
        yield TRIALS_NOT_NUMBERED(n_tasks=n_unnumbered)
    if scored and all(metric.max_trials <= 1 for structure in scored for metric in structure.metrics.values()):
        yield SINGLE_TRIALS()
    systems = {structure.log.system for structure in scored}
    if len(systems) > 1 and not any(_has_common_questions(by_system) for by_system in questions.values()):
        yield QUESTIONS_NOT_SHARED()
    for structure in scored:
        detected = [message for metric in structure.metrics.values() for message in metric.messages]
        yield from (message for message in detected if message.code in (RANGE_UNKNOWN.code, PERCENT_SCORES.code))
        yield from (one for one in structure.clusters.messages if one.code == POSSIBLE_CLUSTER_FIELDS.code)
    independent = [one for one in scored if one.clusters.key is None and not one.clusters.is_stated]
    hinted = [one for one in independent if one.clusters.messages]
    if len(independent) > len(hinted):
        yield NO_CLUSTER_FIELD(n_tasks=len({one.log.task for one in independent if one not in hinted}))


def _has_common_questions(questions_by_system: Mapping[str, set[str]]) -> bool:
    seen: set[str] = set()
    for questions in questions_by_system.values():
        if not seen.isdisjoint(questions):
            return True
        seen |= questions
    return False
