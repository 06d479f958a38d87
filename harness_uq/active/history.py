"""The scores of earlier systems on all questions of a benchmark, with the model that is fitted to them."""

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from harness_uq.active.stored_model import HistoryKey, read_predictor, write_predictor
from harness_uq.data.reference_runs import ReferenceRuns, reference_runs
from harness_uq.data.selection import active_draws
from harness_uq.data.task_log import FloatArray, Questions, Scores
from harness_uq.errors import DataError
from harness_uq.estimation.active import fitted_predictor
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.plugins.readers import Reading, task_logs
from harness_uq.stats.active.expected_width import ExpectedWidth, WidthSimulation
from harness_uq.stats.active.predictor import Predictor
from harness_uq.stats.common.validate_arrays import as_floats
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.subsets.question_covariates import check_history
from harness_uq.store.read import is_store, stored_logs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.plugins.runs import Runs


class ActiveHistory:
    """Scores of earlier systems on all questions of a benchmark.

    The factor model that predicts the scores of a new system is fitted when it is first needed. Pass one
    `ActiveHistory` to the samplers of several new systems, so that it is fitted only once.

    Parameters
    ----------
    history : array_like or runs
        An array of shape (n_systems, n_questions), with NaN for missing scores; or runs of earlier systems: paths,
        the result of `read_logs`, task logs, data frames and whatever else `read_logs` accepts. A path may also be that
        of a store, which then keeps the fitted model.
    task, metric, filter : str, optional
        Scores to use, if `history` are runs. By default, the only task, and its first metric and filter.
    range : tuple of float, optional
        Smallest and largest possible score (default 0 and 1).

    Attributes
    ----------
    ids : tuple
        Identifiers of the questions: their ids in the logs, or 0, 1, ... for an array.
    scores : ndarray, shape (n_systems, n_questions)
        Scores; NaN if missing.
    task, metric, filter : str
        What the scores are.
    range : tuple of float
        Smallest and largest possible score.

    Raises
    ------
    DataError
        If an array has the wrong shape, a score is outside the range, there is no score, or the runs contain several
        tasks and `task` is not given.
    LogError
        If a path contains no readable log.
    NotEstimableError
        If the runs have no scores of this task and metric.

    Examples
    --------
    >>> history = ActiveHistory([[1, 0, 1], [1, 1, 1]])
    >>> history.ids, history.scores.shape
    ((0, 1, 2), (2, 3))
    """

    def __init__(
        self,
        history: "ArrayLike | Reading | Runs",
        *,
        task: str | None = None,
        metric: str | None = None,
        filter: str | None = None,  # noqa: A002 - the name of the option in the whole package
        range: tuple[float, float] = (0.0, 1.0),  # noqa: A002 - likewise
    ) -> None:
        check_range(*range)
        self.ids: tuple[int, ...] | tuple[str, ...]
        if _is_array(history):
            self.scores: FloatArray = as_floats(history, "history")
            self.ids = tuple(np.arange(self.scores.shape[-1]).tolist())
            self.task, self.metric, self.filter = task or "array", metric or "score", filter or "none"
            self._runs: ReferenceRuns | None = None
            self._store: str | None = None
        else:
            self._store = str(history) if isinstance(history, str | Path) and is_store(str(history)) else None
            history = stored_logs(self._store) if self._store else history
            runs = _reference_runs(cast("Reading | Runs", history), task, metric, filter)
            self.scores, self.ids = runs.scores, runs.ids
            self.task, self.metric, self.filter = runs.key
            self._runs = runs
        self.range = range
        check_history(self.scores, len(self.ids), *range)

    def columns_of(self, questions: Questions) -> list[int]:
        """Return the position of each question of a run among the questions of the history.

        Questions are matched by the hash of their content if all runs log it, otherwise by their ids.

        Raises
        ------
        DataError
            If the history is an array, whose questions have no identity.
        NotEstimableError
            If the history lacks a question.
        """
        if self._runs is None:
            raise DataError("the history is an array, so its questions cannot be matched with those of a run")
        return self._runs.columns_of(questions)

    def expected_widths(
        self, n_questions: Sequence[int], *, level: float = 0.95, n_rounds: int = 5, n_systems: int = 20, seed: int = 0
    ) -> list[ExpectedWidth]:
        """Return the width of the interval to expect from some numbers of questions, before a question is run.

        Earlier systems are evaluated as if they were new, without their own scores in the history.

        Parameters
        ----------
        n_questions : sequence of int
            Numbers of questions, each less than the number of questions of the benchmark.
        level, n_rounds : optional
            Nominal coverage of the interval, and number of rounds.
        n_systems : int, optional
            How many earlier systems to evaluate at most. The time is proportional to it.
        seed : int, optional
            Random seed (default 0).

        Returns
        -------
        list of ExpectedWidth
            For each number of questions, `n_questions`, the mean `width` with its Monte Carlo `std_error`, and
            `width_uniform`, the mean width for as many questions drawn at random.

        Raises
        ------
        DataError
            If an argument is out of range.
        NotEstimableError
            If fewer than two earlier systems have scores on all questions.
        """
        low, high = self.range
        simulation = WidthSimulation(
            self.scores, level=level, n_rounds=n_rounds, n_systems=n_systems, low=low, high=high, seed=seed
        )
        return [simulation.width(n) for n in n_questions]

    @cached_property
    def predictor(self) -> Predictor:
        """The factor model with the prior of a new system, fitted on first use or read from the store."""
        stored = read_predictor(self._store, self.fingerprint) if self._store else None
        predictor = stored or fitted_predictor(self.scores, *self.range)
        if self._store and stored is None:
            key = HistoryKey(self.task, self.metric, self.filter, self.range)
            write_predictor(self._store, self.fingerprint, key, predictor)
        return predictor

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the questions, scores and range."""
        content = repr((self.ids, self.scores.shape, self.range)).encode() + np.ascontiguousarray(self.scores).tobytes()
        return sha256(content).hexdigest()


def _is_array(history: object) -> "TypeGuard[ArrayLike]":
    """Whether it is a numeric array, or a list of rows of numbers."""
    if isinstance(history, list | tuple) and history:
        return isinstance(history[0], list | tuple | np.ndarray)
    return isinstance(history, np.ndarray)


def _reference_runs(
    history: "Reading | Runs", task: str | None, metric: str | None, filter_name: str | None
) -> ReferenceRuns:
    """Scores of the runs; those whose questions were chosen actively are left out, because they are incomplete."""
    logs = history.logs if isinstance(history, Reading) else task_logs(history, load_plugins())
    logs = [log for log in logs if active_draws(log.questions) is None]
    if task is None:
        tasks = sorted({log.task for log in logs if any(isinstance(data, Scores) for data in log.data)})
        if len(tasks) > 1:
            raise DataError(f"the history has several tasks. Select one with task=...: {', '.join(tasks)}")
        task = next(iter(tasks), "")
    return reference_runs(logs, task, metric, filter_name)
