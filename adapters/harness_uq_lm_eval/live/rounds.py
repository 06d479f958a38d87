"""`--uq-questions`: run some documents of each task, chosen in rounds with the scores of earlier runs.

Each round calls lm-eval's `evaluate` with `samples`, on the same model and tasks. The samples of all rounds are then
combined into the results of one run.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, cast

import numpy as np

from harness_uq.plugin_api import ActiveHistory, ActiveSampler, DataError, Questions, Scores, UsageError, read_logs
from harness_uq_lm_eval.json_access import items, table
from harness_uq_lm_eval.live.settings import LmEvalSettings
from harness_uq_lm_eval.read.in_memory_results import task_logs
from harness_uq_lm_eval.results_block import DRAW, NOT_AVAILABLE, Results

Evaluate: TypeAlias = Callable[..., Results | None]

_CONFLICTS: Final = ("limit", "samples", "cache_requests", "predict_only")
_logger = logging.getLogger("harness_uq")


class Task(Protocol):
    """The part of an lm-eval task that is used here."""

    @property
    def eval_docs(self) -> Sequence[object]:
        """The documents, in the order that `samples` refers to."""

    def aggregation(self) -> Mapping[str, Callable[..., object]]:
        """Aggregation of the values of the questions, by metric."""


class TaskRounds:
    """Rounds of one task.

    `name`, `task`: name and task of lm-eval. `reference_runs`: paths or logs of earlier runs on all documents. Raises
    DataError if the number of questions is out of range, or the reference runs have further documents, and
    NotEstimableError if the reference runs have no scores of the task, or lack a document.
    """

    def __init__(self, name: str, task: Task, reference_runs: object, settings: LmEvalSettings) -> None:
        self._history = ActiveHistory(cast(str, reference_runs), task=name)
        columns = self._history.columns_of(_questions(task))
        n_all = len(self._history.ids)
        if n_all > len(columns):
            raise DataError(f"the reference runs have {n_all} documents of {name}, but the task has {len(columns)}")
        n_questions = settings.questions or 0
        if not n_questions < n_all:
            raise DataError(f"--uq-questions must be less than the {n_all} documents of {name}; got {n_questions}")
        self.sampler = ActiveSampler(self._history, n_questions=n_questions, n_rounds=settings.rounds)
        self._document = {str(self._history.ids[column]): number for number, column in enumerate(columns)}
        self.draws: dict[int, dict[str, float]] = {}

    def next_documents(self) -> list[int]:
        """Numbers of the documents of the next round, in increasing order; none after the last round."""
        asked = {self._document[str(question)]: question for question in self.sampler.ask()}
        self.draws |= {number: self.sampler.draw_of(question) for number, question in asked.items()}
        return sorted(asked)

    def tell(self, results: Results, name: str) -> None:
        """Record the scores of the round; a document without a score counts as the lowest one."""
        (log,) = (log for log in task_logs(results) if log.task == name)
        key = self._history.metric, self._history.filter
        values = [data.values for data in log.data if isinstance(data, Scores) and (data.metric, data.filter) == key]
        columns = self._history.columns_of(log.questions)
        scores = dict.fromkeys(self.sampler.pending, np.nan)
        if values:
            n_scored = (~np.isnan(values[0])).sum(axis=1)
            means = np.nansum(values[0], axis=1) / np.where(n_scored, n_scored, np.nan)
            scores |= {self._history.ids[column]: mean for column, mean in zip(columns, means.tolist(), strict=True)}
        told = np.array(list(scores.values()))
        if n_missing := int(np.isnan(told).sum()):
            _logger.warning("%s: %d documents have no score of %s and count as 0", name, n_missing, key[0])
        self.sampler.tell(cast(list[str], list(scores)), np.where(np.isnan(told), self._history.range[0], told))


def check_arguments(arguments: Mapping[str, object]) -> None:
    """Check that the arguments of `simple_evaluate` or `evaluate` allow a choice of documents. Raises UsageError if
    they select documents themselves, or scores are missing.
    """
    for name in _CONFLICTS:
        if arguments.get(name):
            raise UsageError(f"--uq-questions cannot be combined with --{name}.")


def evaluate_in_rounds(
    evaluate: Evaluate, arguments: Mapping[str, object], tasks: Mapping[str, Task], settings: LmEvalSettings
) -> Results:
    """Results of a run on documents that are chosen in rounds.

    If choosing fails after a round, the results are those of the rounds so far. `evaluate`: lm-eval's function.
    `arguments`: its arguments, without `samples`. `settings`: settings of the run, with a number of questions. Raises
    HarnessUqError before the first round, if the tasks or reference runs are unsuitable.
    """
    check_arguments(arguments)
    if table(arguments.get("task_dict")).get("groups") or any(isinstance(name, tuple) for name in tasks):
        raise UsageError("--uq-questions cannot be used with groups. Name their tasks in --tasks instead.")
    if getattr(arguments["lm"], "world_size", 1) > 1:
        raise UsageError("--uq-questions cannot be used with several processes.")
    reference_runs = read_logs(list(settings.reference_runs))
    rounds_of = {name: TaskRounds(name, task, reference_runs, settings) for name, task in tasks.items()}
    chosen = {name: rounds.next_documents() for name, rounds in rounds_of.items()}
    evaluated: list[Results] = []
    while all(chosen.values()):
        _logger.info("Round %d of at most %d", len(evaluated) + 1, settings.rounds)
        evaluated.append(cast("Results", evaluate(**{**arguments, "samples": chosen})))
        chosen = _chosen_after(evaluated[-1], rounds_of)
    return _combined(evaluated, tasks, {name: rounds.draws for name, rounds in rounds_of.items()})


def _chosen_after(results: Results, rounds_of: Mapping[str, TaskRounds]) -> dict[str, list[int]]:
    """The documents of the next round; none if there are no further rounds, or choosing failed."""
    try:
        for name, rounds in rounds_of.items():
            rounds.tell(results, name)
        return {name: rounds.next_documents() for name, rounds in rounds_of.items()}
    except Exception as error:  # the documents that were run stay valid
        _logger.warning("No further documents are chosen: %s: %s", type(error).__name__, error)
        return {name: [] for name in rounds_of}


def _questions(task: Task) -> Questions:
    """The documents with their numbers and the hashes that lm-eval logs."""
    from lm_eval.utils import handle_non_serializable, hash_string

    as_json = (
        json.dumps(document, indent=2, default=handle_non_serializable, ensure_ascii=False)
        for document in task.eval_docs
    )
    hashes = tuple(hash_string(document) for document in as_json)
    return Questions(tuple(map(str, range(len(hashes)))), hashes)


def _combined(
    rounds: Sequence[Results], tasks: Mapping[str, Task], draws: Mapping[str, Mapping[int, dict[str, float]]]
) -> Results:
    """The results of the last round, with the samples of all rounds and what depends on them."""
    combined = dict(rounds[-1])
    rows, sizes = dict(table(combined, "results")), dict(table(combined, "n-samples"))
    samples = {name: _samples(name, rounds, draws[name]) for name in tasks}
    for name, task in tasks.items():
        values, n_documents = _aggregates(task, samples[name])
        rows[name] = {**table(rows, name), "sample_len": n_documents, **values}
        sizes[name] = {**table(sizes, name), "effective": n_documents}
    return {**combined, "results": rows, "n-samples": sizes, "samples": samples}


def _samples(name: str, rounds: Sequence[Results], draws: Mapping[int, dict[str, float]]) -> list[dict[str, object]]:
    """The samples of a task with how each document was chosen, by filter and document as lm-eval orders them."""
    rows = [dict(table(sample)) for results in rounds for sample in items(table(results, "samples").get(name))]
    filters = list(dict.fromkeys(row["filter"] for row in rows))
    rows.sort(key=lambda row: (filters.index(row["filter"]), row["doc_id"]))
    return [{**row, DRAW: draws[cast(int, row["doc_id"])]} for row in rows]


def _aggregates(task: Task, samples: Sequence[Mapping[str, object]]) -> tuple[dict[str, object], int]:
    """Values of all metrics and filters by their keys in the results, and the number of documents."""
    from lm_eval.api.metrics import mean

    columns: dict[tuple[str, str], list[object]] = {}
    for sample in samples:
        for metric in map(str, items(sample["metrics"])):
            columns.setdefault((metric, str(sample["filter"])), []).append(sample[metric])
    functions, values = task.aggregation(), dict[str, object]()
    for (metric, filter_name), scores in columns.items():
        values[f"{metric},{filter_name}"] = functions.get(metric, mean)(scores)
        values[f"{metric}_stderr,{filter_name}"] = NOT_AVAILABLE
    return values, max(map(len, columns.values()), default=0)
