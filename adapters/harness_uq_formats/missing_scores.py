"""Trials without a score, and messages about scores that differ from those of the tool."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from harness_uq.plugin_api import Message
from harness_uq_formats.messages import MISSING_COUNT_AS_ZERO, TOOL_VALUE_DIFFERS


def counted_as_zero(reasons: Sequence[str], n_trials: int, *, tool: str, metric: str) -> tuple[Message, ...]:
    """A note about trials without a score that count as 0; none if all trials have a score.

    Parameters
    ----------
    reasons : why the score is missing, for each trial without one
    """
    if not reasons:
        return ()
    listed = ", ".join(f"{n} × {reason}" for reason, n in Counter(reasons).most_common(5))
    return (MISSING_COUNT_AS_ZERO(n_missing=len(reasons), n_trials=n_trials, reasons=listed, tool=tool, metric=metric),)


def differences(metric: str, scores: Iterable[float], reported: float | None, tool: str) -> tuple[Message, ...]:
    """A warning if the mean of the scores is not the value that the tool reports; none if the tool reports no value."""
    values = list(scores)
    if reported is None or not values:
        return ()
    mean = math.fsum(values) / len(values)
    if math.isclose(mean, reported, rel_tol=1e-6, abs_tol=1e-9):
        return ()
    return (TOOL_VALUE_DIFFERS(metric=metric, value=mean, reported=reported, tool=tool),)
