"""Estimates as rows of a store: one row per estimate; a task without scores has a row without a metric."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from harness_uq.analyses.store.log_rows import COUNT, IDENTITY, NUMBER, TEXT, TEXTS, Column, Row, source_from_row
from harness_uq.analyses.store.run_result import make_outline
from harness_uq.analyses.store.serialize import messages_from_json, messages_to_json, unpack
from harness_uq.data.clusters import candidate_fields
from harness_uq.data.names import with_bounded_names
from harness_uq.data.task_log import TaskLog
from harness_uq.io.plugins.protocols import Estimator
from harness_uq.messages.errors import DataError
from harness_uq.results.estimate import Estimate

_LOG_COLUMNS = {
    **IDENTITY,
    "field_names": Column(TEXTS, lambda log: list(candidate_fields(log))),
    "messages": Column(TEXTS, lambda log: [] if log.data else messages_to_json(log.warnings)),
    "lower_is_better": Column(
        TEXTS, lambda log: [metric for metric, is_higher in log.higher_is_better.items() if not is_higher]
    ),
}
_ESTIMATE_COLUMNS: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("estimand", "scope", "method"), TEXT),
    **dict.fromkeys(("value", "std_error", "posterior_mean"), NUMBER),
    **dict.fromkeys(("n_questions", "n_trials", "n_clusters"), COUNT),
    "cluster_key": TEXT,
    **dict.fromkeys(("icc", "design_effect", "effective_questions", "variance_between", "variance_within"), NUMBER),
}
COLUMNS: Mapping[str, pa.DataType] = {
    **{name: column.type for name, column in _LOG_COLUMNS.items()},
    "metric": TEXT,
    "filter": TEXT,
    **_ESTIMATE_COLUMNS,
    **dict.fromkeys(("low", "high", "level"), NUMBER),
    "interval_kind": TEXT,
    "packed": pa.binary(),
}
NULLABLE = frozenset(name for name in COLUMNS if name not in _LOG_COLUMNS or _LOG_COLUMNS[name].is_nullable)
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
        log_row = {name: column.value(log) for name, column in _LOG_COLUMNS.items()}
        for data, content in zip(log.data, islice(remaining, len(log.data)), strict=True):
            keys = {"metric": data.metric, "filter": data.filter, "packed": content}
            rows.append((index, log_row | keys | _estimate_columns(unpack(content, estimators))))
        if not log.data:
            rows.append((index, log_row))
    return rows


def logs_and_estimates(rows: Sequence[StoredRow]) -> tuple[tuple[TaskLog, ...], tuple[bytes, ...]]:
    """Restore outlines of the logs of a run, and its packed estimates. Raises DataError if a row has only a part of
    metric, filter and estimate.
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
        source_from_row(first._asdict()),
        metrics=[(row.metric, row.filter) for row in rows if row.metric is not None and row.filter is not None],
        fields=first.field_names,
        messages=messages_from_json(first.messages),
        subtasks=first.subtasks,
        lower_is_better=first.lower_is_better,
    )
    return with_bounded_names(log)


def _estimate_columns(estimate: Estimate) -> Row:
    columns: Row = {name: getattr(estimate, name) for name in _ESTIMATE_COLUMNS}
    if (interval := estimate.interval) is not None:
        columns |= {"low": interval.low, "high": interval.high, "level": interval.level, "interval_kind": interval.kind}
    return columns
