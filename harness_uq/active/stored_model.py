"""The fitted model of a history in a store, so that it is fitted once."""

import io
import logging
import zipfile
from typing import Final

import numpy as np

from harness_uq.io import paths as io_paths
from harness_uq.stats.active.factor_model import FactorModel
from harness_uq.stats.active.predictor import Predictor
from harness_uq.stats.active.system_prior import SystemPrior

_FOLDER: Final = "models"
_VERSION: Final = 1  # of the model; a new one makes stored models outdated
_MODEL: Final = ("intercepts", "loadings", "factors")
_PRIOR: Final = ("centres", "scales", "log_weights", "precision")

_logger = logging.getLogger("harness_uq")


def read_predictor(store: str, fingerprint: str) -> Predictor | None:
    """Read the model of the history with this fingerprint; None if the store has none that can be read."""
    try:
        content = io_paths.read_bytes(_path(store, fingerprint))
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            model = FactorModel(*(arrays[name] for name in _MODEL))
            prior = SystemPrior(*(arrays[name] for name in _PRIOR))
            return Predictor(model, prior, arrays["difficulties"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        _logger.debug("no stored model of the history: %s", error)
        return None


def write_predictor(store: str, fingerprint: str, predictor: Predictor) -> None:
    """Write the model of a history; if the store cannot be written, the model is fitted again the next time."""
    arrays = {name: getattr(predictor.model, name) for name in _MODEL}
    arrays |= {name: getattr(predictor.prior, name) for name in _PRIOR}
    content = io.BytesIO()
    np.savez(content, difficulties=predictor.difficulties, **arrays)
    try:
        io_paths.make_folder(io_paths.join(store, _FOLDER))
        io_paths.write_bytes(_path(store, fingerprint), content.getvalue())
    except OSError as error:
        _logger.debug("the model of the history is not stored: %s", error)


def _path(store: str, fingerprint: str) -> str:
    return io_paths.join(store, _FOLDER, f"{fingerprint}-{_VERSION}.npz")
