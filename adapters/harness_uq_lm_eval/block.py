"""The `uq` block of a results file: what it holds, and how it goes into the results of a run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from harness_uq_lm_eval.jsontree import NOTHING, Table, items, real, table

BLOCK = "uq"
SCHEMA = 1
NOT_AVAILABLE = "N/A"
FAILED = "failed"

Entry: TypeAlias = Mapping[str, object]
Results: TypeAlias = dict[str, object]

_SAME_VALUE = 1e-6


def harness_std_errors(tree: Table) -> dict[tuple[str, str, str], float | None]:
    """The harness's own standard errors by (task, metric, filter), which the block keeps where it replaced them."""
    entries = [table(entry) for entry in items(table(tree, BLOCK).get("estimates"))]
    return {_key(e): real(table(e, "harness").get("std_error")) for e in entries if "std_error" in table(e, "harness")}


def add_block(results: Results, entries: Sequence[Entry], settings: Mapping[str, object], **more: object) -> None:
    """Put the block into results, and each standard error beside the value it belongs to.

    Where there is no standard error of ours the harness's stays; where that is unknown, `N/A`.

    Parameters
    ----------
    results : as lm-eval makes them, changed in place
    entries : one an estimate, as `Estimate.to_dict` makes them, or as `failed_entry`
    settings : what was asked for
    more : further parts of the block
    """
    written = [(row, key, error) for entry in entries for row, key, error in _std_errors(results, entry)]
    results[BLOCK] = {"schema": SCHEMA, **settings, **more, "estimates": [dict(entry) for entry in entries]}
    for row, key, error in written:
        row[key] = error


def failed_entry(task: str, metric: str, filter_name: str, error: str, reported: Table = NOTHING) -> Entry:
    """The entry of an estimate that an error prevented; `reported` are lm-eval's own numbers."""
    return {
        "task": task,
        "metric": metric,
        "filter": filter_name,
        "method": FAILED,
        "error": error,
        "value": reported.get("value"),
        "std_error": None,
        "interval": None,
        "harness": dict(reported),
    }


def failed_block(results: Table, settings: Mapping[str, object], error: str) -> dict[str, object]:
    """The block of a run in which an error prevented every estimate; lm-eval's numbers stay as they are."""
    entries = [
        failed_entry(task, metric, filter_name, error)
        for task, row in table(results, "results").items()
        for metric, comma, filter_name in (key.partition(",") for key in table(row))
        if comma and not metric.endswith("_stderr")
    ]
    return {"schema": SCHEMA, **settings, "error": error, "estimates": entries}


def _key(entry: Table) -> tuple[str, str, str]:
    return str(entry.get("task")), str(entry.get("metric")), str(entry.get("filter"))


def _std_errors(results: Results, entry: Entry) -> Iterable[tuple[dict[str, object], str, object]]:
    task, metric, filter_name = _key(entry)
    own, harness = real(entry.get("std_error")), real(table(entry, "harness").get("std_error"))
    error = own if own is not None and _is_of_the_same_value(entry) else harness
    for part in ("results", "groups"):
        row = table(results, part).get(task)
        if isinstance(row, dict) and f"{metric},{filter_name}" in row:
            yield row, f"{metric}_stderr,{filter_name}", NOT_AVAILABLE if error is None else error


def _is_of_the_same_value(entry: Entry) -> bool:
    """Whether the estimate is of the number that lm-eval prints, and not of pass@k in its place."""
    value, printed = real(entry.get("value")), real(table(entry, "harness").get("value"))
    if value is None or printed is None:
        return False
    return math.isclose(value, printed, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE)


def interval_of(entry: Table) -> tuple[float, float] | None:
    """Low and high end of an entry's interval."""
    interval = table(entry, "interval")
    low, high = real(interval.get("low")), real(interval.get("high"))
    return None if low is None or high is None else (low, high)


def entries_of(results: Table) -> dict[tuple[str, str, str], Table]:
    """The block's entries by (task, metric, filter)."""
    return {_key(table(entry)): table(entry) for entry in items(table(results, BLOCK).get("estimates"))}


def recorded_trials(results: Table) -> dict[str, object]:
    """The part of the block that holds the scores of single trials, empty where there is none."""
    trials = table(results, BLOCK).get("trials")
    return {} if trials is None else {"trials": trials}
