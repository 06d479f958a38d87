"""The fitted models of histories in a store, so that each is fitted once."""

import io
import logging
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from harness_uq.io import paths as io_paths
from harness_uq.stats.active.factor_model import FactorModel
from harness_uq.stats.active.predictor import Predictor
from harness_uq.stats.active.system_prior import SystemPrior

_FOLDER: Final = "models"
_VERSION: Final = 2  # of the model; a new one makes stored models outdated
_MODEL: Final = ("intercepts", "loadings", "factors")
_PRIOR: Final = ("centres", "scales", "log_weights", "precision")

_UNREADABLE: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)

_logger = logging.getLogger("harness_uq")


@dataclass(frozen=True, slots=True)
class HistoryKey:
    """What the scores of a history in a store are.

    Attributes
    ----------
    task, metric, filter : str
        Task, metric and filter of the scores.
    range : tuple of float
        Smallest and largest possible score.
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

    Raises
    ------
    OSError
        If the folder cannot be listed.
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
