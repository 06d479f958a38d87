"""Private names of Inspect that the hook needs, and the forms in which Inspect writes the location of a log.

If a name is missing, less is displayed, but the run is not affected. For `.eval` logs Inspect passes hooks a log that
it has read from disk, while its console shows the results that it computed. The private function that computes them is
wrapped, if it exists, so that its return value is remembered; its arguments and return value are unchanged. Inspect
does not report the location of the log of a cancelled run, so it is taken from the active sample.
"""

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger(__name__)

_RUN: Final = "inspect_ai._eval.task.run", "eval_results"
_SCORE: Final = "inspect_ai._cli.score", "print_results"
_ACTIVE: Final = "inspect_ai.log._samples", "sample_active"
# each name with the consequence of its absence
PRIVATE_NAMES: Final = {
    _RUN: "the panel of the console shows only the metrics of Inspect; ours are in the log and in our table",
    _ACTIVE: "a run that is cancelled gets no intervals",
}
_last: ContextVar[object] = ContextVar("harness_uq_inspect_results", default=None)


def install() -> None:
    """Wrap the function, and warn about each private name that the installed version of Inspect lacks."""
    for (module, name), lost in PRIVATE_NAMES.items():
        if _import_function(module, name) is None:
            logger.warning("harness_uq: inspect-ai %s has no %s.%s: %s", version("inspect-ai"), module, name, lost)
    if (compute := _import_function(*_RUN)) is not None:
        setattr(import_module(_RUN[0]), _RUN[1], _remembering(compute))


def _import_function(module: str, name: str) -> "Callable[..., object] | None":
    try:
        function = getattr(import_module(module), name, None)
    except ImportError:
        return None
    return function if callable(function) else None


def displayed_results(of: "EvalResults") -> "EvalResults | None":
    """The results that the console will show, if they are equal to those of the log but a different object."""
    from inspect_ai.log import EvalResults

    last = _last.get()
    if not isinstance(last, EvalResults) or last is of:
        return None
    computed, logged = ([(score.name, score.scorer, score.reducer) for score in r.scores] for r in (last, of))
    return last if computed == logged else None


def active_log_location() -> str | None:
    """Location of the log of the active sample; None if Inspect does not provide it."""
    sample_active = _import_function(*_ACTIVE)
    active = None if sample_active is None else sample_active()
    location = getattr(active, "log_location", None)
    return str(location) if location else None


def install_for_score(annotate: Callable[[str, "EvalLog"], None]) -> None:
    """Let `inspect score`, which runs no hook, call `annotate(location, log)` before it prints the results of a log."""
    if (module := sys.modules.get(_SCORE[0])) is None:  # another command
        return
    if (print_results := _import_function(*_SCORE)) is None:
        logger.warning("harness_uq: `inspect score` of inspect-ai %s gets no intervals", version("inspect-ai"))
        return

    @wraps(print_results)
    def annotate_and_print(location: str, log: "EvalLog", *args: object, **kwargs: object) -> object:
        annotate(location, log)
        return print_results(location, log, *args, **kwargs)

    setattr(module, _SCORE[1], annotate_and_print)


def _remembering(compute: Callable[P, R]) -> Callable[P, R]:
    @wraps(compute)
    def compute_and_remember(*args: P.args, **kwargs: P.kwargs) -> R:
        computed = compute(*args, **kwargs)
        if isinstance(computed, tuple) and computed:
            _last.set(computed[0])
        return computed

    return compute_and_remember


def local_path(location: str) -> str | None:
    """The local path of a log; None if it is on remote storage.

    >>> local_path("file:///logs/a%20b.eval"), local_path("s3://bucket/a.eval")
    ('/logs/a b.eval', None)
    """
    if location.startswith("file://"):
        return unquote(urlsplit(location).path)
    return None if "://" in location else location


def identity(location: str) -> str:
    """Canonical form of a location, equal for all forms in which Inspect writes it.

    >>> identity("s3://bucket/a.eval"), identity("/logs/../logs/a.eval") == identity("file:///logs/a.eval")
    ('s3://bucket/a.eval', True)
    """
    path = local_path(location)
    return location if path is None else str(Path(path).resolve())
