"""Repeated trials scored one by one: lm-eval's own filters and `process_results`, given one reply at a time.

lm-eval asks a question several times and scores what a filter makes of the replies (the first, the commonest). Given
K copies of one reply, any such filter gives what it makes of that reply, so the score of each trial is what lm-eval
would give it. Before that is believed, the logged scores have to come out of the logged replies.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness_uq import LogError
from harness_uq_lm_eval.jsontree import items, table

TASK_FOLDERS = "HARNESS_UQ_TASKS"
TRIALS = "trials"

Scores: TypeAlias = dict[tuple[str, str], NDArray[np.float64]]
_DATA_KEYS = ("dataset_path", "dataset_name", "dataset_kwargs", "process_docs", "fewshot_split", "fewshot_config")
_SPLITS = ("training_split", "validation_split", "test_split", "include", "tag", "group", "task_list")


class NoReplayError(LogError):
    """Why the trials cannot be scored one by one."""


class _Filter(Protocol):
    def apply(self, instances: "Sequence[Instance]") -> None: ...


class Task(Protocol):
    """What is needed of an lm-eval task."""

    _filters: Sequence[_Filter]

    def process_results(self, doc: object, results: Sequence[object]) -> Mapping[str, object]:
        """Scores of one document by metric."""


@dataclass(slots=True)
class Instance:
    """What a filter sees of a request."""

    resps: list[object]
    doc: object
    filtered_resps: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Question:
    """One question: its document, its replies, and what lm-eval scored, by (metric, filter)."""

    doc: object
    replies: list[object]
    logged: dict[tuple[str, str], object] = field(default_factory=dict)


def questions_of(rows: Iterable[Mapping[str, object]]) -> list[Question]:
    """The questions of logged rows, in the order of their first rows.

    Raises
    ------
    NoReplayError : if a row has no replies, or several requests a question
    """
    found: dict[object, Question] = {}
    for row in rows:
        replies = items(row.get("resps"))
        if len(replies) != 1 or not items(replies[0]):
            raise NoReplayError("a question has no replies, or more than one request")
        doc_id = str(row.get("doc_id"))
        question = found.setdefault(doc_id, Question(row.get("doc"), list(items(replies[0]))))
        for metric in items(row.get("metrics")):
            question.logged[str(metric), str(row.get("filter"))] = row.get(str(metric))
    return list(found.values())


def trial_entries(name: str, task: Task, questions: Sequence[Question]) -> list[dict[str, object]]:
    """What the `uq` block keeps of the trials: one entry a metric and different matrix.

    A matrix that all filters agree on is called `trials`; one that is a filter's own, `trials/<filter>`.

    Raises
    ------
    NoReplayError : if the task runs the model's code, or replaying does not give what was logged
    """
    if getattr(task, "UNSAFE_CODE", False):
        raise NoReplayError("scoring runs the model's code, which is not done twice")
    _check_replay(task, questions)
    matrices = _matrices(task, questions)
    entries: list[dict[str, object]] = []
    for metric in dict.fromkeys(metric for metric, _ in matrices):
        named = {filter_name: found for (other, filter_name), found in matrices.items() if other == metric}
        distinct = _distinct(named)
        for filter_name, matrix in distinct.items():
            label = TRIALS if len(distinct) == 1 else f"{TRIALS}/{filter_name}"
            entries.append({"task": name, "metric": metric, "filter": label, "scores": encoded(matrix)})
    return entries


def encoded(matrix: NDArray[np.float64]) -> list[str]:
    """One text a question, its trials with a space between; `nan` for one without a score.

    >>> encoded(np.array([[1.0, 0.0], [0.5, np.nan]]))
    ['1 0', '0.5 nan']
    """
    return [" ".join(str(int(x)) if x == 0 or x == 1 else repr(float(x)) for x in row) for row in matrix]


def decoded(scores: Sequence[object]) -> NDArray[np.float64] | None:
    """The matrix behind `encoded` texts, None where it is none.

    >>> decoded(["1 0", "0.5 nan"])
    array([[1. , 0. ],
           [0.5, nan]])
    """
    try:
        return np.array([[float(part) for part in str(row).split()] for row in scores])
    except ValueError:
        return None


def _check_replay(task: Task, questions: Sequence[Question]) -> None:
    replayed = _scores(task, [question.replies for question in questions], questions)
    for question, scores in zip(questions, replayed, strict=True):
        for key, logged in question.logged.items():
            number = _number(logged)
            if number is None:
                continue
            again = scores.get(key)
            if again is None or not (again == number or (math.isnan(again) and math.isnan(number))):
                raise NoReplayError(f"replaying gives {key[0]} {again} where {number} was logged")


def _matrices(task: Task, questions: Sequence[Question]) -> Scores:
    """Scores (n_questions, n_trials) by (metric, filter); equal replies to one question are scored once."""
    n_trials = max(len(question.replies) for question in questions)
    distinct = [list(dict.fromkeys(map(str, question.replies))) for question in questions]
    tables: dict[tuple[str, str], list[list[float]]] = {}
    for place in range(max(map(len, distinct))):
        replies: list[list[object]] = [[own[min(place, len(own) - 1)]] * n_trials for own in distinct]
        for row, scores in enumerate(_scores(task, replies, questions)):
            for key, score in scores.items():
                tables.setdefault(key, [[] for _ in questions])[row].append(score)
    matrices: Scores = {}
    for key, table_of in tables.items():
        matrix = np.full((len(questions), n_trials), math.nan)
        for row, (question, own) in enumerate(zip(questions, distinct, strict=True)):
            scores_of = dict(zip(own, table_of[row], strict=False))
            matrix[row, : len(question.replies)] = [scores_of.get(str(reply), math.nan) for reply in question.replies]
        matrices[key] = matrix
    return matrices


def _scores(
    task: Task, replies: Sequence[Sequence[object]], questions: Sequence[Question]
) -> list[dict[tuple[str, str], float]]:
    """Scores of every question by (metric, filter), given its replies."""
    instances = [Instance(list(own), question.doc) for own, question in zip(replies, questions, strict=True)]
    for ensemble in task._filters:
        ensemble.apply(instances)
    return [
        {
            (metric, filter_name): number
            for filter_name, filtered in instance.filtered_resps.items()
            for metric, score in task.process_results(instance.doc, [filtered]).items()
            if (number := _number(score)) is not None
        }
        for instance in instances
    ]


def _number(score: object) -> float | None:
    return float(score) if isinstance(score, bool | int | float | np.bool_ | np.number) else None


def _distinct(named: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    distinct: dict[str, NDArray[np.float64]] = {}
    for name, matrix in named.items():
        if not any(np.array_equal(matrix, other, equal_nan=True) for other in distinct.values()):
            distinct[name] = matrix
    return distinct


# ---------------------------------------------------------------- tasks without their data sets


def task_without_data(name: str, questions: Sequence[Question]) -> Task:
    """A task as installed, or as found under the folders of HARNESS_UQ_TASKS, with the logged documents for data.

    What a log says of its task is not used: a configuration may hold code, and reading a log runs none.

    Raises
    ------
    NoReplayError : if lm-eval or the task is not installed, or it cannot be built without its data
    """
    try:
        from datasets import Dataset  # type: ignore[import-untyped]
        from lm_eval.api.task import ConfigurableTask
        from lm_eval.tasks._yaml_loader import load_yaml
    except ImportError:
        raise NoReplayError("lm-eval 0.4.12 or later is not installed") from None
    path = _task_files(os.environ.get(TASK_FOLDERS, "")).get(name)
    if path is None:
        raise NoReplayError(f"no task file of this name is installed; ${TASK_FOLDERS} may name the folder of yours")
    try:
        config = dict(load_yaml(path))
        if "class" in config:
            raise NoReplayError("the task is a Python class, which loads its own data")
        for key in (*_DATA_KEYS, *_SPLITS):
            config.pop(key, None)
        docs = Dataset.from_list([dict(table(question.doc)) for question in questions])
        config |= {"test_split": "test", "num_fewshot": 0, "custom_dataset": lambda **_: {"test": docs}}
        task: Task = ConfigurableTask(config=config)
    except NoReplayError:
        raise
    except Exception as error:
        raise NoReplayError(f"the task cannot be built without its data: {type(error).__name__}: {error}") from None
    return task


@cache
def _task_files(folders_of_user: str) -> dict[str, str]:
    from lm_eval.tasks import TaskManager

    folders = [folder for folder in folders_of_user.split(os.pathsep) if folder]
    index = TaskManager(include_path=folders or None).task_index
    return {name: str(entry.yaml_path) for name, entry in index.items() if entry.yaml_path is not None}
