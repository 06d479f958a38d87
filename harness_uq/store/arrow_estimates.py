"""Parquet representation of estimates: one row per estimate; a task without scores has a row without a metric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from harness_uq.data.names import with_bounded_names
from harness_uq.data.task_log import Source, TaskLog
from harness_uq.errors import DataError
from harness_uq.plugins.protocols import Estimator
from harness_uq.results.estimate import Estimate
from harness_uq.store.arrow_logs import ATTEMPT, attempt_from_row
from harness_uq.store.run_result import make_outline
from harness_uq.store.serialize import messages_from_json, messages_to_json, unpack
from harness_uq.structure.field_labels import candidate_fields

Row: TypeAlias = dict[str, Any]

_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
_LOG_COLUMNS: Mapping[str, pa.DataType] = {
    "system": _TEXT,
    "task": _TEXT,
    "subtasks": pa.list_(_TEXT),
    "path": _TEXT,
    "harness": _TEXT,
    "version": _TEXT,
    "time": _TEXT,
    "source_run": _TEXT,
    "attempt": ATTEMPT,
    "field_names": pa.list_(_TEXT),
    "messages": pa.list_(_TEXT),
    "lower_is_better": pa.list_(_TEXT),
}
_ESTIMATE_COLUMNS: Mapping[str, pa.DataType] = {
    "estimand": _TEXT,
    "scope": _TEXT,
    "method": _TEXT,
    "value": _NUMBER,
    "std_error": _NUMBER,
    "posterior_mean": _NUMBER,
    "n_questions": _COUNT,
    "n_trials": _COUNT,
    "n_clusters": _COUNT,
    "cluster_key": _TEXT,
    "icc": _NUMBER,
    "design_effect": _NUMBER,
    "effective_questions": _NUMBER,
    "variance_between": _NUMBER,
    "variance_within": _NUMBER,
}
COLUMNS: Mapping[str, pa.DataType] = {
    **_LOG_COLUMNS,
    "metric": _TEXT,
    "filter": _TEXT,
    **_ESTIMATE_COLUMNS,
    "low": _NUMBER,
    "high": _NUMBER,
    "level": _NUMBER,
    "interval_kind": _TEXT,
    "packed": pa.binary(),
}
NULLABLE = frozenset(COLUMNS) - frozenset(_LOG_COLUMNS) | {"version", "time", "attempt"}
"""Columns whose values may be missing."""


class StoredRow(NamedTuple):
    """The columns of a row from which log outlines and estimates are restored."""

    part: str
    state: str
    options: str
    run: str
    run_files: list[str]
    run_time: str | None
    position: int
    system: str
    task: str
    subtasks: list[str]
    path: str
    harness: str
    version: str | None
    time: str | None
    source_run: str
    attempt: Row | None
    field_names: list[str]
    messages: list[str]
    lower_is_better: list[str]
    metric: str | None
    filter: str | None
    packed: bytes | None


def stored_rows(table: pa.Table) -> Iterator[StoredRow]:
    """Yield the rows of a table, several times faster than `table.to_pylist()`."""
    return map(StoredRow._make, zip(*(table[name].to_pylist() for name in StoredRow._fields), strict=True))


def estimates_to_rows(
    logs: Sequence[TaskLog], packed: Sequence[bytes], estimators: Mapping[str, Estimator]
) -> list[tuple[int, Row]]:
    """Convert the packed estimates of a run, one for each of the logs' data, to rows with the index of their log."""
    remaining = iter(packed)
    rows = list[tuple[int, Row]]()
    for index, log in enumerate(logs):
        log_row = _log_columns(log)
        for data, content in zip(log.data, islice(remaining, len(log.data)), strict=True):
            keys = {"metric": data.metric, "filter": data.filter, "packed": content}
            rows.append((index, log_row | keys | _estimate_columns(unpack(content, estimators))))
        if not log.data:
            rows.append((index, log_row))
    return rows


def logs_and_estimates(rows: Sequence[StoredRow]) -> tuple[tuple[TaskLog, ...], tuple[bytes, ...]]:
    """Restore outlines of the logs of a run, and its packed estimates.

    Raises
    ------
    DataError
        If a row has only a part of metric, filter and estimate.
    """
    for row in rows:
        if len({value is None for value in (row.metric, row.filter, row.packed)}) > 1:
            raise DataError(f"a row of {row.task} has only a part of metric, filter and estimate")
    logs: dict[int, list[StoredRow]] = {}
    for row in rows:
        logs.setdefault(row.position, []).append(row)
    return tuple(map(_outline, logs.values())), tuple(row.packed for row in rows if row.packed is not None)


def _outline(rows: Sequence[StoredRow]) -> TaskLog:
    first = rows[0]
    log = make_outline(
        first.system,
        first.task,
        Source(
            first.path,
            first.harness,
            first.version,
            first.time,
            first.source_run,
            attempt_from_row(first.attempt),
        ),
        metrics=[(row.metric, row.filter) for row in rows if row.metric is not None and row.filter is not None],
        fields=first.field_names,
        messages=messages_from_json(first.messages),
        subtasks=first.subtasks,
        lower_is_better=first.lower_is_better,
    )
    return with_bounded_names(log)


def _log_columns(log: TaskLog) -> Row:
    source = log.source
    return {
        "system": log.system,
        "task": log.task,
        "subtasks": list(log.subtasks),
        "path": source.path,
        "harness": source.harness,
        "version": source.version,
        "time": source.time,
        "source_run": source.run,
        "attempt": None if source.attempt is None else asdict(source.attempt),
        "field_names": list(candidate_fields(log)),
        "messages": [] if log.data else messages_to_json(log.warnings),
        "lower_is_better": [metric for metric, is_higher in log.higher_is_better.items() if not is_higher],
    }


def _estimate_columns(estimate: Estimate) -> Row:
    columns: Row = {name: getattr(estimate, name) for name in _ESTIMATE_COLUMNS}
    if (interval := estimate.interval) is not None:
        columns |= {"low": interval.low, "high": interval.high, "level": interval.level, "interval_kind": interval.kind}
    return columns
