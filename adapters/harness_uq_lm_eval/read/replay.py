"""Repeated trials scored one by one: lm-eval's own filters and `process_results`, given one reply at a time.

lm-eval asks a question several times and scores what a filter makes of the replies (the first, the commonest). Given
K copies of one reply, any such filter gives what it makes of that reply, so the score of each trial is what lm-eval
would give it. Before that is believed, the logged scores have to come out of the logged replies.
"""

import copy
import inspect
import math
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness_uq import LogError
from harness_uq_lm_eval.jsontree import items, table
from harness_uq_lm_eval.read.task_files import task_file

TASK_FOLDERS = "HARNESS_UQ_TASKS"
TRIALS = "trials"
SECONDS = 60.0

Trials: TypeAlias = Literal["auto", "on", "off"]

Scores: TypeAlias = dict[tuple[str, str], NDArray[np.float64]]
_ELSEWHERE = re.compile(r"\b(openai|anthropic|litellm|requests|httpx|aiohttp|urllib3?|\w*judge\w*)\b", re.IGNORECASE)
_OF_SEVERAL = re.compile(r"(pass|maj|cons|best|avg|mean)[@^_]\d+", re.IGNORECASE)
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


def is_of_trials(filter_name: str) -> bool:
    """Whether a filter's name is one that `trial_entries` gives."""
    return filter_name == TRIALS or filter_name.startswith(f"{TRIALS}/")


def trial_entries(
    name: str, task: Task, questions: Sequence[Question], trials: Trials = "auto", *, seconds: float = SECONDS
) -> list[dict[str, object]]:
    """What the `uq` block keeps of the trials: one entry a metric and different matrix.

    A matrix that all filters agree on is called `trials`; one that is a filter's own, `trials/<filter>`. A function of
    several trials, such as `pass@4`, is on copies of one reply the score of that reply: it gives no matrix of its own.

    Parameters
    ----------
    trials : `auto` refuses what takes longer than `seconds` or may ask another service, `off` refuses everything

    Raises
    ------
    NoReplayError : if that is refused, the task runs the model's code, or replaying does not give what was logged
    """
    if trials == "off":
        raise NoReplayError("that was not asked for")
    if not hasattr(task, "_filters"):
        return _entries(name, _scored_by_lm_eval(task, len(questions)))
    if getattr(task, "UNSAFE_CODE", False):
        raise NoReplayError("scoring runs the model's code, which is not done twice")
    if trials == "auto" and (service := _asks_elsewhere(task)):
        raise NoReplayError(f"scoring may ask another service ({service}) for every trial; uq_trials on does so")
    replay = _Replay(task, questions, math.inf if trials == "on" else time.monotonic() + seconds)
    replay.check()
    return _entries(name, _of_trials(replay.matrices()))


def _scored_by_lm_eval(task: object, n_questions: int) -> Scores:
    """Scores (n_questions, n_trials) of the trials that lm-eval 0.5 itself scores, before a metric's `reduction`.

    Raises
    ------
    NoReplayError : if its filters left one reply a question, or scorers keep their scores elsewhere
    """
    matrices: Scores = {}
    for scorer in getattr(task, "_scorers", ()):
        documents = list((getattr(scorer, "_raw_docs", None) or {}).values())
        for metric in dict.fromkeys(metric for document in documents for metric in document.scores):
            rows = [document.scores.get(metric, []) for document in documents]
            n_trials = max(map(len, rows))
            if n_trials > 1 and len(rows) == n_questions:
                padded = [[*map(float, row), *[math.nan] * (n_trials - len(row))] for row in rows]
                matrices[metric, str(scorer.name)] = np.array(padded)
    if not matrices:
        raise NoReplayError("lm-eval scored one reply a question; where a metric has a `reduction` it scores them all")
    return matrices


def _entries(name: str, matrices: Scores) -> list[dict[str, object]]:
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


def _asks_elsewhere(task: Task) -> str | None:
    """What in the source of a task's scorer speaks of a judge or of the network, None where nothing does."""
    config = getattr(task, "config", None)
    scorers = (getattr(config, "process_results", None), None if config is not None else type(task))
    for scorer in filter(None, scorers):
        try:
            found = _ELSEWHERE.search(Path(inspect.getfile(scorer)).read_text(encoding="utf-8"))
        except (OSError, TypeError, UnicodeDecodeError):
            continue
        if found:
            return found[0]
    return None


@dataclass(slots=True)
class _Replay:
    """Scoring of single trials, as long as there is time."""

    task: Task
    questions: Sequence[Question]
    end: float

    def check(self) -> None:
        """Make sure that the logged scores come out of the logged replies."""
        replayed = self._scores([question.replies for question in self.questions])
        for question, scores in zip(self.questions, replayed, strict=True):
            for key, logged in question.logged.items():
                number = _number(logged)
                if number is None:
                    continue
                again = scores.get(key)
                if again is None or not (again == number or (math.isnan(again) and math.isnan(number))):
                    raise NoReplayError(f"replaying gives {key[0]} {again} where {number} was logged")

    def matrices(self) -> Scores:
        """Scores (n_questions, n_trials) by (metric, filter); equal replies to one question are scored once."""
        n_trials = max(len(question.replies) for question in self.questions)
        distinct = [list(dict.fromkeys(map(str, question.replies))) for question in self.questions]
        tables: dict[tuple[str, str], list[list[float]]] = {}
        for place in range(max(map(len, distinct))):
            replies: list[list[object]] = [[own[min(place, len(own) - 1)]] * n_trials for own in distinct]
            for row, scores in enumerate(self._scores(replies)):
                for key, score in scores.items():
                    tables.setdefault(key, [[] for _ in self.questions])[row].append(score)
        matrices: Scores = {}
        for key, table_of in tables.items():
            matrix = np.full((len(self.questions), n_trials), math.nan)
            for row, (question, own) in enumerate(zip(self.questions, distinct, strict=True)):
                scores_of = dict(zip(own, table_of[row], strict=False))
                found = [scores_of.get(str(reply), math.nan) for reply in question.replies]
                matrix[row, : len(question.replies)] = found
            matrices[key] = matrix
        return matrices

    def _scores(self, replies: Sequence[Sequence[object]]) -> list[dict[tuple[str, str], float]]:
        """Scores of every question by (metric, filter), given its replies; scorers see copies of the documents."""
        instances = [
            Instance(list(own), copy.deepcopy(question.doc))
            for own, question in zip(replies, self.questions, strict=True)
        ]
        for ensemble in self.task._filters:
            ensemble.apply(instances)
        return [self._scored(instance, question) for instance, question in zip(instances, self.questions, strict=True)]

    def _scored(self, instance: Instance, question: Question) -> dict[tuple[str, str], float]:
        if time.monotonic() > self.end:
            raise NoReplayError("scoring every trial takes too long; uq_trials on waits for it")
        return {
            (metric, filter_name): number
            for filter_name, filtered in instance.filtered_resps.items()
            for metric, score in self.task.process_results(copy.deepcopy(question.doc), [filtered]).items()
            if (number := _number(score)) is not None
        }


def _of_trials(matrices: Scores) -> Scores:
    """The matrices without those of functions of several trials; where there are no others, the first as `pass@1`."""
    single = {key: matrix for key, matrix in matrices.items() if not _OF_SEVERAL.fullmatch(key[0])}
    if single or not matrices:
        return single
    metric = next(iter(matrices))[0]
    return {("pass@1", filter_name): matrix for (name, filter_name), matrix in matrices.items() if name == metric}


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
    path = task_file(name, os.environ.get(TASK_FOLDERS, ""))
    if path is None:
        raise NoReplayError(f"no task file of this name is installed; ${TASK_FOLDERS} may name the folder of yours")
    try:
        from datasets import Dataset  # type: ignore[import-untyped]
        from lm_eval.api.task import ConfigurableTask
        from lm_eval.tasks._yaml_loader import load_yaml
    except ImportError:
        raise NoReplayError("lm-eval 0.4.12 or later is not installed") from None
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
