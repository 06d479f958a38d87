"""The `uq` block of a results file: its contents, and how it is added to the results of a run."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from harness_uq.plugin_api import Message, StoredInterval
from harness_uq_lm_eval.json_access import NOTHING, Table, integer, items, real, table, text
from harness_uq_lm_eval.messages import FEW_RESAMPLED_UNITS, INTERVAL_OF_LIVE_RUN, NOT_RESAMPLED, RESAMPLED

BLOCK = "uq"
SCHEMA = 1
NOT_AVAILABLE = "N/A"
FAILED = "failed"
ACTIVE = "active"  # method of an estimate whose value replaces that of the documents that were chosen
QUESTIONS = "questions"  # setting: number of documents that were chosen actively
WITHHELD = "withheld"  # member of the block: values on these documents that have no estimate
DRAW = "harness_uq"  # member of a sample: how its document was chosen

Entry: TypeAlias = Mapping[str, object]
Results: TypeAlias = dict[str, object]

_TOLERANCE = 1e-6
_KINDS: Mapping[str, Literal["quantile", "hdi", "confidence"]] = {
    "quantile": "quantile",
    "hdi": "hdi",
    "confidence": "confidence",
}


def native_std_errors(tree: Table) -> dict[tuple[str, str, str], float | None]:
    """The harness's own standard errors by (task, metric, filter), as the block recorded them."""
    entries = [table(entry) for entry in items(table(tree, BLOCK).get("estimates"))]
    return {_key(e): real(table(e, "harness").get("std_error")) for e in entries if "std_error" in table(e, "harness")}


def native_values(tree: Table) -> dict[tuple[str, str, str], float | None]:
    """The harness's own values by (task, metric, filter), if they were replaced by an estimate or withheld."""
    block = table(tree, BLOCK)
    replaced = [table(entry) for entry in items(block.get("estimates")) if _replaces_value(table(entry))]
    values = {_key(entry): real(table(entry, "harness").get("value")) for entry in replaced}
    return values | {_key(table(entry)): real(table(entry).get("value")) for entry in items(block.get(WITHHELD))}


def withheld_values(results: Results, entries: Iterable[Entry]) -> list[Entry]:
    """The values of a run on actively chosen documents that have no estimate: they are biased."""
    estimated = {_key(entry) for entry in entries if _replaces_value(entry)}
    values = [
        {"task": task, "metric": metric, "filter": filter_name, "value": value}
        for task, row in table(results, "results").items()
        for metric, filter_name, value in _values(table(row))
    ]
    return [value for value in values if _key(value) not in estimated]


def _values(row: Table) -> Iterator[tuple[str, str, float]]:
    for key, value in row.items():
        metric, comma, filter_name = key.partition(",")
        if comma and not metric.endswith("_stderr") and (number := real(value)) is not None:
            yield metric, filter_name, number


def _replaces_value(entry: Entry) -> bool:
    """Whether an estimate from chosen documents is written in place of their mean, which is biased."""
    return entry.get("method") == ACTIVE and real(entry.get("value")) is not None


def add_block(
    results: Results,
    entries: Sequence[Entry],
    settings: Mapping[str, object],
    keeps_stderr: bool = False,
    /,
    **more: object,
) -> None:
    """Add the block to results, and write each standard error next to the value that it belongs to.

    If an estimate has no standard error, the harness's own stays; if that is unknown, `N/A` is written. The value of an
    estimate from actively chosen documents replaces the harness's own, which the block keeps. If there is no such
    estimate, `N/A` is written, and the block keeps the value in `withheld`. `results`: results of lm-eval, modified in
    place. `entries`: one per estimate, from `Estimate.to_dict` or `failed_entry`. `keeps_stderr`: whether the harness's
    standard errors stay in their place. `more`: further members of the block.
    """
    _write_values(results, native_values(results))
    replaced = filter(_replaces_value, entries) if keeps_stderr else entries
    std_errors = [one for entry in replaced for one in _std_errors(results, entry)]
    _write_values(results, {_key(entry): real(entry.get("value")) for entry in entries if _replaces_value(entry)})
    if settings.get(QUESTIONS) is not None:
        more = {**more, WITHHELD: (withheld := withheld_values(results, entries))}
        _write_values(results, {_key(value): NOT_AVAILABLE for value in withheld})
    results[BLOCK] = {"schema": SCHEMA, **settings, **more, "estimates": [dict(entry) for entry in entries]}
    for row, key, error in std_errors:
        row[key] = error


def _write_values(results: Results, values: Mapping[tuple[str, str, str], object]) -> None:
    for (task, metric, filter_name), value in values.items():
        row = table(results, "results").get(task)
        if isinstance(row, dict) and f"{metric},{filter_name}" in row:
            row[f"{metric},{filter_name}"] = value


def without_block(results: Results) -> Results:
    """The results without the block, with lm-eval's own values and standard errors; `results` is not changed."""
    own = {name: part for name, part in results.items() if name != BLOCK}
    for part in ("results", "groups"):
        if part in own:
            own[part] = {task: dict(table(row)) for task, row in table(own, part).items()}
    for (task, metric, filter_name), error in native_std_errors(results).items():
        for part in ("results", "groups"):
            row = table(own, part).get(task)
            if isinstance(row, dict) and f"{metric},{filter_name}" in row:
                row[f"{metric}_stderr,{filter_name}"] = NOT_AVAILABLE if error is None else error
    _write_values(own, native_values(results))
    return own


def failed_entry(task: str, metric: str, filter_name: str, error: str, reported: Table = NOTHING) -> Entry:
    """The entry of an estimate that failed with an error; `reported` contains lm-eval's own numbers."""
    return {
        "task": task,
        "metric": metric,
        "filter": filter_name,
        "method": FAILED,
        "status": "failed",
        "error": error,
        "value": reported.get("value"),
        "std_error": None,
        "interval": None,
        "harness": dict(reported),
    }


def failed_block(results: Table, settings: Mapping[str, object], error: str) -> dict[str, object]:
    """The block of a run whose estimates all failed with an error; lm-eval's numbers are unchanged."""
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
    estimated, native = real(entry.get("std_error")), real(table(entry, "harness").get("std_error"))
    error = estimated if estimated is not None and estimates_printed_value(entry) else native
    for part in ("results", "groups"):
        row = table(results, part).get(task)
        if isinstance(row, dict) and f"{metric},{filter_name}" in row:
            yield row, f"{metric}_stderr,{filter_name}", NOT_AVAILABLE if error is None else error


def estimates_printed_value(entry: Entry) -> bool:
    """Whether the estimate refers to the number that is printed, and not, for example, to pass@k."""
    if _replaces_value(entry):
        return True
    value, printed = real(entry.get("value")), real(table(entry, "harness").get("value"))
    if value is None or printed is None:
        return False
    return math.isclose(value, printed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def interval_of(entry: Table) -> tuple[float, float] | None:
    """Limits of an entry's interval, or None."""
    interval = table(entry, "interval")
    low, high = real(interval.get("low")), real(interval.get("high"))
    return None if low is None or high is None else (low, high)


def stored_interval(entry: Table, value: float) -> StoredInterval | None:
    """The interval of an entry, if the entry estimates `value`, which is the harness's; otherwise None."""
    interval, limits, estimated = table(entry, "interval"), interval_of(entry), real(entry.get("value"))
    method, scope, kind = text(entry.get("method")), text(entry.get("scope")), _KINDS.get(str(interval.get("kind")))
    level = real(interval.get("level"))
    if limits is None or level is None or method is None or scope is None or kind is None or estimated is None:
        return None
    if not math.isclose(estimated, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        return None
    messages = (INTERVAL_OF_LIVE_RUN(), *_resampling_messages(entry))
    std_error, n_clusters = real(entry.get("std_error")), integer(entry.get("n_clusters"))
    return StoredInterval(method, scope, *limits, level, kind, std_error, n_clusters, messages)


def why_not_resampled(entry: Table) -> str | None:
    """Why a live run could not compute a bootstrap interval of an entry; None if it did not try."""
    stored = [one for one in map(table, items(entry.get("messages"))) if one.get("code") == NOT_RESAMPLED.code]
    return text(table(stored[0], "params").get("reason")) if stored else None


def _resampling_messages(entry: Table) -> Iterator[Message]:
    """The messages of an entry about the bootstrap."""
    for stored in map(table, items(entry.get("messages"))):
        for kind in (RESAMPLED, FEW_RESAMPLED_UNITS):
            if stored.get("code") == kind.code:
                with suppress(TypeError, ValueError):  # parameters that another program changed
                    yield kind(**table(stored, "params"))


def entries_of(results: Table) -> dict[tuple[str, str, str], Table]:
    """The block's entries by (task, metric, filter)."""
    return {_key(table(entry)): table(entry) for entry in items(table(results, BLOCK).get("estimates"))}


def recorded_trials(results: Table) -> dict[str, object]:
    """The member of the block with the scores of single trials; empty if there is none."""
    trials = table(results, BLOCK).get("trials")
    return {} if trials is None else {"trials": trials}
