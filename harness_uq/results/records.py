"""Results as flat records, ready for a data frame."""

from collections.abc import Iterable
from typing import Protocol

from harness_uq.results.declaration import Record

__all__ = ["HasRecords", "Record", "to_dicts"]


class HasRecords(Protocol):
    """A result with flat records."""

    def to_records(self) -> list[Record]:
        """Flat records with the same columns for all results of a type."""


def to_dicts(results: Iterable[HasRecords]) -> list[Record]:
    """Flat records: one per estimate, comparison, ranked system or design of a plan.

    The columns depend on the type of the results only. Names of nested fields are joined by `_`. Next to the limits of
    an interval, `interval_low_delta` and `interval_high_delta` are their distances from the value, as
    `inspect_viz.transform.ci_bounds("value", lower="interval_low_delta", upper="interval_high_delta")` takes them.
    Messages are joined as `CODE name: text; …`. Matrices of a ranking are in the JSON form only.

    Parameters
    ----------
    results : estimates, comparisons, rankings or plans

    Returns
    -------
    One dict per record; missing values are None, never NaN

    >>> from harness_uq.data.task_log import Source
    >>> from harness_uq.results.estimate import Estimate, Interval
    >>> row = Estimate("model", "task", "acc", "none", "mean", "population", "beta", 0.75, 0.1,
    ...     Interval(0.5, 1.0, 0.95, "hdi"), Source("run.json", "lm-eval"))
    >>> record = to_dicts([row])[0]
    >>> record["interval_low_delta"], record["interval_high"], record["interval_kind"]
    (0.25, 1.0, 'hdi')
    """
    return [record for result in results for record in result.to_records()]
