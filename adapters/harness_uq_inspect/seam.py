"""What the hook needs and Inspect's public interface does not give; without it less is shown and nothing breaks.

For `.eval` logs Inspect hands hooks a log that was read back, while its console shows the results it computed. The
one private function that computes them is wrapped, where it exists, to remember what it returned; its arguments and
its value pass through untouched. Without it the console's own panel lacks our metrics.
A cancelled run does not say where its logs are; the sample that is active does.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from inspect_ai.log import EvalResults

P = ParamSpec("P")
R = TypeVar("R")

_last: ContextVar[object] = ContextVar("harness_uq_inspect_results", default=None)


def install() -> bool:
    """Wrap the function; whether it was found."""
    try:
        from inspect_ai._eval.task import run

        run.eval_results = _remembering(run.eval_results)
    except (ImportError, AttributeError):
        return False
    return True


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
    try:
        from inspect_ai.log._samples import sample_active

        active = sample_active()
        return str(active.log_location) if active is not None and active.log_location else None
    except (ImportError, AttributeError):
        return None


def _remembering(compute: Callable[P, R]) -> Callable[P, R]:
    @wraps(compute)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> R:
        computed = compute(*args, **kwargs)
        if isinstance(computed, tuple) and computed:
            _last.set(computed[0])
        return computed

    return remembered
