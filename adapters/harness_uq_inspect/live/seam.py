"""What the hook needs and Inspect's public interface does not give; without it less is shown and nothing breaks.

For `.eval` logs Inspect hands hooks a log that was read back, while its console shows the results it computed. The
one private function that computes them is wrapped, where it exists, to remember what it returned; its arguments and
its value pass through untouched. A cancelled run does not say where its logs are; the sample that is active does.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from inspect_ai.log import EvalResults

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger(__name__)

_RUN: Final = "inspect_ai._eval.task.run", "eval_results"
_ACTIVE: Final = "inspect_ai.log._samples", "sample_active"
# each seam with what is lost without it
SEAMS: Final = {
    _RUN: "the console's own panel shows Inspect's metrics alone, and ours stand in the log and in our table",
    _ACTIVE: "a run that is cancelled gets no intervals",
}
_last: ContextVar[object] = ContextVar("harness_uq_inspect_results", default=None)


def install() -> None:
    """Wrap the function; a line for each seam that this version of Inspect lacks."""
    for (module, name), lost in SEAMS.items():
        if _find(module, name) is None:
            logger.warning("harness_uq: inspect-ai %s has no %s.%s: %s", version("inspect-ai"), module, name, lost)
    if (compute := _find(*_RUN)) is not None:
        setattr(import_module(_RUN[0]), _RUN[1], _remembering(compute))


def _find(module: str, name: str) -> "Callable[..., object] | None":
    try:
        found = getattr(import_module(module), name, None)
    except ImportError:
        return None
    return found if callable(found) else None


def shown_results(of: "EvalResults") -> "EvalResults | None":
    """The results last computed in this task, if they are those of the log and another object."""
    from inspect_ai.log import EvalResults

    last = _last.get()
    if not isinstance(last, EvalResults) or last is of:
        return None
    same = [(s.name, s.scorer, s.reducer) for s in last.scores] == [(s.name, s.scorer, s.reducer) for s in of.scores]
    return last if same else None


def active_log() -> str | None:
    """Location of the log that the active sample belongs to; None where Inspect does not tell."""
    find = _find(*_ACTIVE)
    active = None if find is None else find()
    location = getattr(active, "log_location", None)
    return str(location) if location else None


def _remembering(compute: Callable[P, R]) -> Callable[P, R]:
    @wraps(compute)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> R:
        computed = compute(*args, **kwargs)
        if isinstance(computed, tuple) and computed:
            _last.set(computed[0])
        return computed

    return remembered
