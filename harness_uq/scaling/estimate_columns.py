"""Estimates as columns of Parquet, a row each; a task without scores has a row without a metric."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from harness_uq.logs.data import Source, TaskLog
from harness_uq.plugins.protocols import Estimator
from harness_uq.results.estimate import Estimate
from harness_uq.scaling.rows import unpack
from harness_uq.scaling.runs import outline_of
from harness_uq.structure.fields import candidate_fields

Row: TypeAlias = dict[str, Any]

_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
_LOG: Mapping[str, pa.DataType] = {
    "system": _TEXT,
    "task": _TEXT,
    "subtasks": pa.list_(_TEXT),
    "path": _TEXT,
    "harness": _TEXT,
    "version": _TEXT,
    "time": _TEXT,
    "source_run": _TEXT,
    "field_names": pa.list_(_TEXT),
    "warnings": pa.list_(_TEXT),
}
_SAME: Mapping[str, pa.DataType] = {
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
    **_LOG,
    "metric": _TEXT,
    "filter": _TEXT,
    **_SAME,
    "low": _NUMBER,
    "high": _NUMBER,
    "level": _NUMBER,
    "interval_kind": _TEXT,
    "packed": pa.binary(),
}


class Held(NamedTuple):
    """The columns of a row from which outlines and estimates are made again."""

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
    field_names: list[str]
    warnings: list[str]
    metric: str | None
    filter: str | None
    packed: bytes | None


def held(table: pa.Table) -> Iterator[Held]:
    """The rows of a table that has these columns; a dict for each takes several times as long."""
    return map(Held._make, zip(*(table[name].to_pylist() for name in Held._fields), strict=True))


def rows_of(
    logs: Sequence[TaskLog], packed: Sequence[bytes], estimators: Mapping[str, Estimator]
) -> list[tuple[int, Row]]:
    """The packed estimates of a run, one for each of the logs' data, as rows, each with the place of its log."""
    waiting = iter(packed)
    found = list[tuple[int, Row]]()
    for at, log in enumerate(logs):
        about = _about(log)
        for data, content in zip(log.data, islice(waiting, len(log.data)), strict=True):
            named = {"metric": data.metric, "filter": data.filter, "packed": content}
            found.append((at, about | named | _shown(unpack(content, estimators))))
        if not log.data:
            found.append((at, about))
    return found


def logs_of(rows: Sequence[Held]) -> tuple[tuple[TaskLog, ...], tuple[bytes, ...]]:
    """Outlines of the logs of a run, and its packed estimates."""
    logs: dict[int, list[Held]] = {}
    for row in rows:
        logs.setdefault(row.position, []).append(row)
    return tuple(map(_outline, logs.values())), tuple(row.packed for row in rows if row.packed is not None)


def _outline(rows: Sequence[Held]) -> TaskLog:
    first = rows[0]
    return outline_of(
        first.system,
        first.task,
        Source(first.path, first.harness, first.version, first.time, first.source_run),
        metrics=[(row.metric, row.filter) for row in rows if row.metric is not None and row.filter is not None],
        fields=first.field_names,
        warnings=first.warnings,
        subtasks=first.subtasks,
    )


def _about(log: TaskLog) -> Row:
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
        "field_names": list(candidate_fields(log)),
        "warnings": [] if log.data else list(log.warnings),
    }


def _shown(row: Estimate) -> Row:
    shown: Row = {name: getattr(row, name) for name in _SAME}
    if row.interval is not None:
        interval = row.interval
        shown |= {"low": interval.low, "high": interval.high, "level": interval.level, "interval_kind": interval.kind}
    return shown
