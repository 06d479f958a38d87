"""Errors that harness_uq raises on purpose.

    HarnessUqError
    ├── DataError (also a ValueError)      values that no estimator can use: shapes, counts, ranges
    ├── LogError                           a log that cannot be read, or read only in part
    ├── StructureError                     a cluster field, range or margin that does not fit the data
    ├── NotEstimableError                  the question has no answer from these data; the message says why
    │   └── UnreliableError                an answer exists but its numerical error is too large to print
    ├── PluginError                        a plugin that fails to load, clashes or breaks its contract
    └── MissingDependencyError             an optional package is needed; the message names the extra

A message says what, whose, which value, and what would help.
"""

import logging
from pathlib import Path
from traceback import extract_tb

_LOGGER = logging.getLogger("harness_uq")


class HarnessUqError(Exception):
    """Base of every error that harness_uq raises on purpose."""


class DataError(HarnessUqError, ValueError):
    """Values that no estimator can use."""


class LogError(HarnessUqError):
    """A log that cannot be read."""


class StructureError(HarnessUqError):
    """A cluster field, score range or margin that does not fit the data."""


class NotEstimableError(HarnessUqError):
    """The data cannot answer the question; the message says why."""


class UnreliableError(NotEstimableError):
    """An answer exists, but its numerical error is too large to print."""


class PluginError(HarnessUqError):
    """A plugin that fails to load, clashes with another or breaks its contract."""


class MissingDependencyError(HarnessUqError):
    """An optional package is needed; the message names the extra that installs it."""


def told(error: BaseException) -> str:
    """What went wrong, for a report: the message; of an error that is not ours or the system's also its kind and place.

    The traceback of any other error goes to the logger `harness_uq` at level DEBUG, which `--debug` shows.

    >>> told(DataError("level must lie strictly between 0 and 1"))
    'level must lie strictly between 0 and 1'
    """
    if isinstance(error, HarnessUqError | OSError):
        return str(error)
    _LOGGER.debug("unexpected error", exc_info=error)
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    places = extract_tb(error.__traceback__)
    return f"{what} ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else what
