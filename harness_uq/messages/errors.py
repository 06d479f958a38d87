"""Errors that harness_uq raises on purpose.

    HarnessUqError
    ├── DataError (also a ValueError)      values that no estimator can use: shapes, counts, ranges
    ├── LogError                           a log that cannot be read, or read only in part
    ├── StructureError                     a cluster field, range or margin that does not fit the data
    ├── NotEstimableError                  the question has no answer from these data; the message says why
    │   └── UnreliableError                an answer exists but its numerical error is too large to print
    ├── PluginError                        a plugin that fails to load, clashes or breaks its contract
    ├── UsageError                         arguments or settings that are invalid or contradict each other
    └── MissingDependencyError             an optional package is needed; the message names the extra

A message states what failed, whose it is, the value, and how to fix it.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar

from harness_uq.messages import Message, MessageType
from harness_uq.messages.catalogue import command_line, estimation, plugins, reading, score_structure
from harness_uq.messages.similar_names import suggestion

_LOGGER = logging.getLogger("harness_uq")


class HarnessUqError(Exception):
    """Base of every error that harness_uq raises on purpose.

    Parameters
    ----------
    message : a `Message` of a catalogue, or a text, to which `message` gives the code of the class
    """

    _kind: ClassVar[MessageType] = command_line.OPERATION_FAILED

    @property
    def message(self) -> Message:
        """The message with its code."""
        first = self.args[0] if self.args else ""
        return first if isinstance(first, Message) else self._kind(reason=str(self))


class DataError(HarnessUqError, ValueError):
    """Values that no estimator can use."""

    _kind = command_line.INVALID_VALUE


class LogError(HarnessUqError):
    """A log that cannot be read."""

    _kind = reading.LOG_UNREADABLE


class StructureError(HarnessUqError):
    """A cluster field, score range or margin that does not fit the data."""

    _kind = score_structure.STRUCTURE_INVALID


class NotEstimableError(HarnessUqError):
    """The data cannot answer the question; the message says why."""

    _kind = estimation.NOT_COMPUTABLE


class UnreliableError(NotEstimableError):
    """An answer exists, but its numerical error is too large to print."""


class PluginError(HarnessUqError):
    """A plugin that fails to load, clashes with another or breaks its contract."""

    _kind = plugins.PLUGIN_ERROR


class UsageError(HarnessUqError):
    """Arguments or settings that are invalid or contradict each other."""

    _kind = command_line.USAGE


class MissingDependencyError(HarnessUqError):
    """An optional package is needed; the message names the extra that installs it."""

    _kind = command_line.MISSING_DEPENDENCY


def message_of(error: BaseException) -> Message:
    """The message of an error; of one that harness_uq did not raise on purpose, a generic one.

    >>> message_of(DataError("level must lie strictly between 0 and 1")).code
    'UQ904'
    """
    if isinstance(error, HarnessUqError):
        return error.message
    if isinstance(error, OSError):
        return command_line.OPERATION_FAILED(reason=str(error))
    return command_line.INTERNAL_ERROR(error=error_summary(error))


def refusal_of(error: HarnessUqError) -> Message:
    """The message of an error as the reason why there is no result."""
    message = error.message
    return message if message.severity == "refusal" else estimation.NOT_COMPUTABLE(reason=message.text)


def error_summary(error: BaseException) -> str:
    """What went wrong, for a report: the message; of an error that is not ours or the system's also its kind and place.

    The traceback of any other error goes to the logger `harness_uq` at level DEBUG, which `--debug` shows.

    >>> error_summary(DataError("level must lie strictly between 0 and 1"))
    'level must lie strictly between 0 and 1'
    """
    if isinstance(error, HarnessUqError | OSError):
        return str(error)
    _LOGGER.debug("unexpected error", exc_info=error)
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    places = extract_tb(error.__traceback__)
    return f"{what} ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else what


def unknown_name(kind: str, name: object, valid: Iterable[object], *, plural: str | None = None) -> str:
    """Error text for a name that does not exist, with the most similar valid name and the sorted list of all, which is
    shortened if it is long.

    `kind`: what the name stands for, such as "method". `name`: the name that was given. `plural`: plural of `kind`;
    None adds an s.

    >>> unknown_name("method", "wilsn", ["wilson", "bayes"])
    "Unknown method: 'wilsn'. Did you mean 'wilson'? Available methods: bayes, wilson."
    >>> unknown_name("task", "toy", [])
    "Unknown task: 'toy'. No tasks are available."
    """
    names = [str(one) for one in sorted(set(valid))]  # type: ignore[type-var]
    plural = plural or f"{kind}s"
    if not names:
        return f"Unknown {kind}: {name!r}. No {plural} are available."
    return f"Unknown {kind}: {name!r}.{suggestion(str(name), names, plural)}"
