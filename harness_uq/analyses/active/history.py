"""The scores of earlier systems on all questions of a benchmark, with the model that is fitted to them."""

import io
import logging
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard, cast

import numpy as np

from harness_uq.analyses.store.read import is_store, stored_logs
from harness_uq.data.reference_runs import ReferenceRuns, reference_runs
from harness_uq.data.selection import active_draws
from harness_uq.data.task_log import FloatArray, Questions, Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.subset import fitted_predictor
from harness_uq.io import paths as io_paths
from harness_uq.io.readers import Reading, task_logs
from harness_uq.messages.catalogue.result_store import STORE_UNUSABLE
from harness_uq.messages.errors import DataError, HarnessUqError, error_summary
from harness_uq.stats.active.expected_width import ExpectedWidth, WidthSimulation
from harness_uq.stats.active.factor_model import FactorModel
from harness_uq.stats.active.predictor import Predictor
from harness_uq.stats.active.system_prior import SystemPrior
from harness_uq.stats.common.validate_arrays import as_floats
from harness_uq.stats.common.validate_scalars import check_range
from harness_uq.stats.subsets.question_covariates import check_history

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.io.readers import Runs


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


# ---------------------------------------------------------------- fitted models in a store

_FOLDER: Final = "models"
_VERSION: Final = 2  # of the model; a new one makes stored models outdated
_MODEL: Final = ("intercepts", "loadings", "factors")
_PRIOR: Final = ("centres", "scales", "log_weights", "precision")

_UNREADABLE: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)

_logger = logging.getLogger("harness_uq")


@dataclass(frozen=True, slots=True)
class HistoryKey:
    """What the scores of a history in a store are.

    `range` has the smallest and the largest possible score.
    """

    task: str
    metric: str
    filter: str
    range: tuple[float, float]


def read_predictor(store: str, fingerprint: str) -> Predictor | None:
    """Read the model of the history with this fingerprint; None if the store has none that can be read."""
    try:
        content = io_paths.read_bytes(_path(store, fingerprint))
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            model = FactorModel(*(arrays[name] for name in _MODEL))
            prior = SystemPrior(*(arrays[name] for name in _PRIOR))
            return Predictor(model, prior, arrays["difficulties"])
    except _UNREADABLE as error:
        _logger.debug("no stored model of the history: %s", error)
        return None


def write_predictor(store: str, fingerprint: str, key: HistoryKey, predictor: Predictor) -> None:
    """Write the model of a history; if the store cannot be written, the model is fitted again the next time."""
    arrays = {name: getattr(predictor.model, name) for name in _MODEL}
    arrays |= {name: getattr(predictor.prior, name) for name in _PRIOR}
    content = io.BytesIO()
    scores = np.array([key.task, key.metric, key.filter])
    np.savez(content, difficulties=predictor.difficulties, key=scores, range=np.array(key.range), **arrays)
    try:
        io_paths.make_folder(io_paths.join(store, _FOLDER))
        io_paths.write_bytes(_path(store, fingerprint), content.getvalue())
    except OSError as error:
        _logger.debug("the model of the history is not stored: %s", error)


def stored_models(store: str) -> Iterator[tuple[str, HistoryKey | None]]:
    """Yield the path of each model in a store and the key of its history; None if it cannot be read.

    Raises OSError if the folder cannot be listed.
    """
    with suppress(FileNotFoundError):  # no model was fitted
        for path in io_paths.files_in(io_paths.join(store, _FOLDER)):
            yield path, _read_key(path)


def is_model_of(path: str, fingerprint: str) -> bool:
    """Whether this is the path of the model of the history with this fingerprint."""
    return io_paths.name_of(path) == _name(fingerprint)


def _read_key(path: str) -> HistoryKey | None:
    try:
        with np.load(io.BytesIO(io_paths.read_bytes(path)), allow_pickle=False) as arrays:
            task, metric, filter_name = arrays["key"].tolist()
            low, high = arrays["range"].tolist()
            return HistoryKey(task, metric, filter_name, (low, high))
    except _UNREADABLE:
        return None


def _path(store: str, fingerprint: str) -> str:
    return io_paths.join(store, _FOLDER, _name(fingerprint))


def _name(fingerprint: str) -> str:
    return f"{fingerprint}-{_VERSION}.npz"


def remove_outdated_models(store: str) -> int:
    """Delete models that do not belong to the scores in the store, or cannot be read; return their number.

    Such models result from systems that were added, changed or removed, and from other versions of this package. Raises
    HarnessUqError if the store can be neither read nor written.
    """
    try:
        models = list(stored_models(store))
        logs = stored_logs(store) if models and is_store(store) else ()
        outdated = [path for path, key in models if not _is_current(path, key, logs)]
        for path in outdated:
            io_paths.remove(path)
    except OSError as error:
        raise HarnessUqError(STORE_UNUSABLE(store=store, action="cleared", reason=error_summary(error))) from error
    return len(outdated)


def _is_current(path: str, key: HistoryKey | None, logs: Sequence[TaskLog]) -> bool:
    """Whether the model was fitted to the scores in these logs."""
    if key is None or not logs:
        return False
    try:
        history = ActiveHistory(logs, task=key.task, metric=key.metric, filter=key.filter, range=key.range)
    except HarnessUqError:  # no such scores
        return False
    return is_model_of(path, history.fingerprint)
