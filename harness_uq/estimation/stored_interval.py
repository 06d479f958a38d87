"""Intervals that a log contains for scores that cannot be computed again from the log."""

import math
from dataclasses import replace

from harness_uq.data.task_log import AggregateScore
from harness_uq.messages.catalogue.estimation import STORED_INTERVAL_DIFFERS
from harness_uq.results.estimate import Estimate, Interval


def with_stored_interval(row: Estimate, data: AggregateScore, level: float) -> Estimate:
    """The estimate with the stored interval, if it has none of its own.

    If the stored interval has another level or scope, the first message states its level and scope.
    """
    stored = data.stored
    if row.interval is not None or row.value is None or stored is None or data.is_contradicted:
        return row
    if not math.isclose(stored.level, level) or stored.scope != row.scope:
        differs = STORED_INTERVAL_DIFFERS(level=stored.level, scope=stored.scope)
        return replace(row, messages=(differs, *row.messages))
    return replace(
        row,
        method=stored.method,
        method_reason="the log contains the interval of the live run, and the score cannot be computed again",
        std_error=stored.std_error,
        interval=Interval(stored.low, stored.high, stored.level, stored.kind),
        n_clusters=stored.n_clusters,
        messages=(*row.warnings, *row.notes, *stored.messages),
    )
