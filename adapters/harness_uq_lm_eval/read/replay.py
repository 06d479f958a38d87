"""Score each of the repeated trials with lm-eval's own filters and `process_results`, given one reply at a time.

lm-eval asks a question several times and scores the result of a filter of the replies (the first, the most common).
Given K copies of one reply, such a filter returns that reply, so that each trial gets the score that lm-eval would give
it. This is used only if scoring the logged replies reproduces the logged scores.
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

from harness_uq.plugin_api import LogError
from harness_uq_lm_eval.json_access import items, table
from harness_uq_lm_eval.read.task_files import task_file

TASK_FOLDERS = "HARNESS_UQ_TASKS"
TRIALS = "trials"
SECONDS = 60.0

Trials: TypeAlias = Literal["auto", "on", "off"]

Scores: TypeAlias = dict[tuple[str, str], NDArray[np.float64]]
_EXTERNAL_SERVICE = re.compile(
    r"\b(openai|anthropic|litellm|requests|httpx|aiohttp|urllib3?|\w*judge\w*)\b", re.IGNORECASE
)
_SEVERAL_TRIALS = re.compile(r"(pass|maj|cons|best|avg|mean)[@^_]\d+", re.IGNORECASE)
_DATA_KEYS = ("dataset_path", "dataset_name", "dataset_kwargs", "process_docs", "fewshot_split", "fewshot_config")
_SPLITS = ("training_split", "validation_split", "test_split", "include", "tag", "group", "task_list")


class NoReplayError(LogError):
    """The trials cannot be scored one by one."""


class _Filter(Protocol):
    def apply(self, instances: "Sequence[Instance]") -> None: ...


class Task(Protocol):
    """The part of an lm-eval task that is used here."""

    _filters: Sequence[_Filter]

    def process_results(self, doc: object, results: Sequence[object]) -> Mapping[str, object]:
        """Scores of one document by metric."""


@dataclass(slots=True)
class Instance:
    """The part of a request that filters use."""

    resps: list[object]
    doc: object
    filtered_resps: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Question:
    """One question: its document, its replies, and the scores that lm-eval logged, by (metric, filter)."""

    doc: object
    replies: list[object]
    logged: dict[tuple[str, str], object] = field(default_factory=dict)


def questions_of(rows: Iterable[Mapping[str, object]]) -> list[Question]:
    """The questions of logged rows, in the order of their first rows. Raises NoReplayError if a row has no replies, or
    a question has several requests.
    """
    questions: dict[object, Question] = {}
    for row in rows:
        replies = items(row.get("resps"))
        if len(replies) != 1 or not items(replies[0]):
            raise NoReplayError("a question has no replies, or it has more than one request")
        doc_id = str(row.get("doc_id"))
        question = questions.setdefault(doc_id, Question(row.get("doc"), list(items(replies[0]))))
        for metric in items(row.get("metrics")):
            question.logged[str(metric), str(row.get("filter"))] = row.get(str(metric))
    return list(questions.values())


def is_of_trials(filter_name: str) -> bool:
    """Whether `trial_entries` uses this name for a filter."""
    return filter_name == TRIALS or filter_name.startswith(f"{TRIALS}/")


def trial_entries(
    name: str, task: Task, questions: Sequence[Question], trials: Trials = "auto", *, seconds: float = SECONDS
) -> list[dict[str, object]]:
    """Entries of the `uq` block with the scores of the trials: one per metric and distinct matrix.

    A matrix on which all filters agree is called `trials`, that of a single filter `trials/<filter>`. A function of
    several trials, such as `pass@4`, has no matrix: for copies of one reply it returns the score of that reply. `task`:
    the lm-eval task. `questions`: questions with their logged replies and scores. `trials`: `auto` rejects tasks that
    take longer than `seconds` or may call another service; `off` rejects all. `seconds`: limit for `auto`. Raises
    NoReplayError if the task is rejected or runs the model's code, or replaying does not reproduce the logged scores.
    """
    if trials == "off":
        raise NoReplayError("the scoring of single trials is switched off")
    if not hasattr(task, "_filters"):
        return _entries(name, _scored_by_lm_eval(task, len(questions)))
    if getattr(task, "UNSAFE_CODE", False):
        raise NoReplayError(
            "scoring executes code that the model wrote, and harness_uq does not execute this code again"
        )
    if trials == "auto" and (service := _external_service(task)):
        raise NoReplayError(
            f"scoring may call an external service ({service}) for every trial; use uq_trials on to allow these calls"
        )
    replay = _Replay(task, questions, math.inf if trials == "on" else time.monotonic() + seconds)
    replay.check()
    return _entries(name, _single_trial_scores(replay.matrices()))


def _scored_by_lm_eval(task: object, n_questions: int) -> Scores:
    """Scores (n_questions, n_trials) of the trials that lm-eval 0.5 itself computes, before a metric's `reduction`.
    Raises NoReplayError if the filters left one reply per question, or the scorers do not provide their scores.
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
        raise NoReplayError(
            "lm-eval scored only one reply per question; it scores all replies if a metric has a `reduction`"
        )
    return matrices


def _entries(name: str, matrices: Scores) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    for metric in dict.fromkeys(metric for metric, _ in matrices):
        distinct = _distinct({key[1]: matrix for key, matrix in matrices.items() if key[0] == metric})
        for filter_name, matrix in distinct.items():
            label = TRIALS if len(distinct) == 1 else f"{TRIALS}/{filter_name}"
            entries.append({"task": name, "metric": metric, "filter": label, "scores": encoded(matrix)})
    return entries


def encoded(matrix: NDArray[np.float64]) -> list[str]:
    """One text per question, with its trials separated by spaces; `nan` for trials without a score.

    >>> encoded(np.array([[1.0, 0.0], [0.5, np.nan]]))
    ['1 0', '0.5 nan']
    """
    return [" ".join(str(int(x)) if x == 0 or x == 1 else repr(float(x)) for x in row) for row in matrix]


def decoded(scores: Sequence[object]) -> NDArray[np.float64] | None:
    """The matrix of texts from `encoded`; None if they are invalid.

    >>> decoded(["1 0", "0.5 nan"])
    array([[1. , 0. ],
           [0.5, nan]])
    """
    try:
        return np.array([[float(part) for part in str(row).split()] for row in scores])
    except ValueError:
        return None


def _external_service(task: Task) -> str | None:
    """The word in the source of a task's scorer that suggests a grader or network access, or None."""
    config = getattr(task, "config", None)
    scorers = (getattr(config, "process_results", None), None if config is not None else type(task))
    for scorer in filter(None, scorers):
        try:
            match = _EXTERNAL_SERVICE.search(Path(inspect.getfile(scorer)).read_text(encoding="utf-8"))
        except (OSError, TypeError, UnicodeDecodeError):
            continue
        if match:
            return match[0]
    return None


@dataclass(slots=True)
class _Replay:
    """Scoring of single trials until the time `end`."""

    task: Task
    questions: Sequence[Question]
    end: float

    def check(self) -> None:
        """Check that scoring the logged replies reproduces the logged scores."""
        replayed = self._scores([question.replies for question in self.questions])
        for question, scores in zip(self.questions, replayed, strict=True):
            for key, logged in question.logged.items():
                number = _number(logged)
                if number is None:
                    continue
                score = scores.get(key)
                if score is None or not (score == number or (math.isnan(score) and math.isnan(number))):
                    raise NoReplayError(
                        f"scoring the logged replies again results in {key[0]} = {score}, but {number} was logged"
                    )

    def matrices(self) -> Scores:
        """Scores (n_questions, n_trials) by (metric, filter); equal replies to one question are scored once."""
        n_trials = max(len(question.replies) for question in self.questions)
        distinct = [list(dict.fromkeys(map(str, question.replies))) for question in self.questions]
        distinct_scores: dict[tuple[str, str], list[list[float]]] = {}
        for index in range(max(map(len, distinct))):
            copies: list[list[object]] = [[replies[min(index, len(replies) - 1)]] * n_trials for replies in distinct]
            for row, scores in enumerate(self._scores(copies)):
                for key, score in scores.items():
                    distinct_scores.setdefault(key, [[] for _ in self.questions])[row].append(score)
        matrices: Scores = {}
        for key, rows in distinct_scores.items():
            matrix = np.full((len(self.questions), n_trials), math.nan)
            for row, (question, replies) in enumerate(zip(self.questions, distinct, strict=True)):
                score_of = dict(zip(replies, rows[row], strict=False))
                matrix[row, : len(question.replies)] = [score_of.get(str(r), math.nan) for r in question.replies]
            matrices[key] = matrix
        return matrices

    def _scores(self, replies: Sequence[Sequence[object]]) -> list[dict[tuple[str, str], float]]:
        """Scores of each question by (metric, filter) for these replies; scorers receive copies of the documents."""
        instances = [
            Instance(list(question_replies), copy.deepcopy(question.doc))
            for question_replies, question in zip(replies, self.questions, strict=True)
        ]
        for ensemble in self.task._filters:
            ensemble.apply(instances)
        return [self._score(instance, question) for instance, question in zip(instances, self.questions, strict=True)]

    def _score(self, instance: Instance, question: Question) -> dict[tuple[str, str], float]:
        if time.monotonic() > self.end:
            raise NoReplayError("scoring every trial takes too long; use uq_trials on to remove the time limit")
        return {
            (metric, filter_name): number
            for filter_name, filtered in instance.filtered_resps.items()
            for metric, score in self.task.process_results(copy.deepcopy(question.doc), [filtered]).items()
            if (number := _number(score)) is not None
        }


def _single_trial_scores(matrices: Scores) -> Scores:
    """The matrices without functions of several trials; if there are no others, the first of them as `pass@1`."""
    single = {key: matrix for key, matrix in matrices.items() if not _SEVERAL_TRIALS.fullmatch(key[0])}
    if single or not matrices:
        return single
    metric = next(iter(matrices))[0]
    return {("pass@1", filter_name): matrix for (name, filter_name), matrix in matrices.items() if name == metric}


def _number(score: object) -> float | None:
    return float(score) if isinstance(score, bool | int | float | np.bool_ | np.number) else None


def _distinct(matrices: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    distinct: dict[str, NDArray[np.float64]] = {}
    for name, matrix in matrices.items():
        if not any(np.array_equal(matrix, other, equal_nan=True) for other in distinct.values()):
            distinct[name] = matrix
    return distinct


# ---------------------------------------------------------------- tasks without their data sets


def task_without_data(name: str, questions: Sequence[Question]) -> Task:
    """A task from lm-eval or the folders in HARNESS_UQ_TASKS, with the logged documents in place of its data set.

    The task configuration in the log is not used, because it may contain code, and reading a log never runs code.
    Raises NoReplayError if lm-eval or the task is not installed, or the task cannot be built without its data.
    """
    path = task_file(name, os.environ.get(TASK_FOLDERS, ""))
    if path is None:
        raise NoReplayError(
            f"no task file of this name is installed; set ${TASK_FOLDERS} to the folder of your own task files"
        )
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
