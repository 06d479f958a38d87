"""Task logs as rows of a store: one row per log, with list columns for values per question."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from harness_uq.analyses.store.serialize import messages_from_json, messages_to_json
from harness_uq.data.names import with_bounded_names
from harness_uq.data.task_log import (
    AggregateScore,
    Attempt,
    Classifications,
    ClusterDeclaration,
    HarnessResult,
    MetadataField,
    Questions,
    RunMetadata,
    Scores,
    Source,
    StoredInterval,
    SufficientStatistics,
    TaskData,
    TaskLog,
)
from harness_uq.data.trial_endings import TrialEndings
from harness_uq.messages.errors import DataError
from harness_uq.results.estimate import IntervalKind

Row: TypeAlias = dict[str, Any]

TEXT, NUMBER, COUNT, FLAG = pa.string(), pa.float64(), pa.int64(), pa.bool_()
TEXTS, NUMBERS, CODES = pa.list_(TEXT), pa.list_(NUMBER), pa.list_(COUNT)
_KEY = {"metric": TEXT, "filter": TEXT}


class _Kind(NamedTuple):
    """A kind of data: its class, and the columns that are never and that may be missing."""

    type: type[Any]
    required: tuple[str, ...]
    optional: tuple[str, ...]


_KINDS = {
    "scores": _Kind(
        Scores,
        ("n_columns", "values", "logged_trials", "is_complete"),
        ("clusters", "levels", "bounds", "reduction", "event", "bounds_source"),
    ),
    "classes": _Kind(Classifications, ("n_columns", "targets", "predictions", "labels", "function"), ("clusters",)),
    "records": _Kind(SufficientStatistics, ("n_columns", "values", "function"), ("clusters",)),
    "totals": _Kind(AggregateScore, ("reason", "is_contradicted"), ("total", "n", "is_share")),
}
_ATTRIBUTES = {("records", "values"): "statistics", ("records", "function"): "statistic", ("totals", "total"): "value"}
"""Attributes with other names than their column."""
_MATRICES = ("values", "predictions")
_INTEGERS = ("targets", "predictions", "clusters")
_DATA_VALUES: Mapping[str, pa.DataType] = {
    "n_columns": COUNT,
    "values": NUMBERS,
    "targets": CODES,
    "predictions": CODES,
    "labels": TEXTS,
    "function": TEXT,
    "clusters": CODES,
    "levels": NUMBERS,
    "bounds": NUMBERS,
    "logged_trials": COUNT,
    "reduction": TEXT,
    "event": TEXT,
    "is_complete": FLAG,
    "bounds_source": TEXT,
    "total": NUMBER,
    "n": COUNT,
    "reason": TEXT,
    "is_share": FLAG,
    "is_contradicted": FLAG,
}
DATA = pa.struct({**_KEY, "kind": TEXT, **_DATA_VALUES})
_FIELD = pa.struct({"name": TEXT, "is_text": FLAG, "codes": CODES, "values": TEXTS})
_REPORTED = pa.struct({**_KEY, "value": NUMBER, "std_error": NUMBER, "n": COUNT})
_STORED_INTERVAL = pa.struct(
    {
        **_KEY,
        "method": TEXT,
        "scope": TEXT,
        "low": NUMBER,
        "high": NUMBER,
        "level": NUMBER,
        "kind": TEXT,
        "std_error": NUMBER,
        "n_clusters": COUNT,
        "messages": TEXTS,
    }
)
_ATTEMPT = pa.struct({"run": TEXT, "id": TEXT, "is_finished": FLAG, "n_trials": COUNT, "content": TEXT})


def data_to_row(data: TaskData) -> Row:
    """Convert scores, classifications, sufficient statistics or an aggregate score to a row of type `DATA`."""
    name, kind = next((name, kind) for name, kind in _KINDS.items() if isinstance(data, kind.type))
    row: Row = {"metric": data.metric, "filter": data.filter, "kind": name}
    for column, attribute in _attributes(name, kind):
        value = getattr(data, attribute)
        if column in _MATRICES:
            row["n_columns"] = value.shape[1]
        row[column] = value.ravel().tolist() if isinstance(value, np.ndarray) else value
    return row


def data_from_row(row: Row) -> TaskData:
    """Convert a row back to data; the inverse of `data_to_row`. Raises DataError if the kind is unknown, a field of the
    kind is missing, or the fields contradict each other.
    """
    if (name := row["kind"]) not in _KINDS:
        raise DataError(f"unknown kind of data: {name!r}")
    kind = _KINDS[name]
    if absent := [column for column in kind.required if row[column] is None]:
        raise DataError(f"{name} without {absent[0]}")
    if row["bounds"] is not None and (len(row["bounds"]) != 2 or not row["bounds"][0] <= row["bounds"][1]):
        raise DataError(f"bounds must be the lowest and the highest score, not {row['bounds']}")
    values = {attribute: _value_of(row, column) for column, attribute in _attributes(name, kind)}
    data: TaskData = kind.type(metric=row["metric"], filter=row["filter"], **values)
    return data


def _attributes(name: str, kind: _Kind) -> list[tuple[str, str]]:
    """The columns of a kind of data with the attributes that they hold."""
    columns = (column for column in kind.required + kind.optional if column != "n_columns")
    return [(column, _ATTRIBUTES.get((name, column), column)) for column in columns]


def _value_of(row: Row, column: str) -> object:
    value = row[column]
    if column in (*_INTEGERS, "values") and value is not None:
        array = np.array(value, np.int64 if column in _INTEGERS else np.float64)
        return array.reshape(-1, row["n_columns"]) if column in _MATRICES else array
    return tuple(value) if isinstance(value, list) else value


class Column(NamedTuple):
    """A column of the rows of task logs: its type, its value for a log, and whether values may be missing."""

    type: pa.DataType
    value: Callable[[TaskLog], object]
    is_nullable: bool = False


def _field_to_row(name: str | None, field: MetadataField) -> Row:
    return {"name": name, "is_text": field.is_text, "codes": field.codes.tolist(), "values": field.values}


def _optional(name: str, convert: Callable[[Any], object]) -> Callable[[TaskLog], object]:
    """The converted attribute of a log; None without it."""
    get = attrgetter(name)
    return lambda log: None if get(log) is None else convert(get(log))


def _stored_intervals(log: TaskLog) -> list[Row]:
    return [
        {
            **asdict(replace(data.stored, messages=())),
            "metric": data.metric,
            "filter": data.filter,
            "messages": messages_to_json(data.stored.messages),
        }
        for data in log.data
        if isinstance(data, AggregateScore) and data.stored is not None
    ]


IDENTITY = {
    "system": Column(TEXT, attrgetter("system")),
    "task": Column(TEXT, attrgetter("task")),
    "subtasks": Column(TEXTS, attrgetter("subtasks")),
    "path": Column(TEXT, attrgetter("source.path")),
    "harness": Column(TEXT, attrgetter("source.harness")),
    "version": Column(TEXT, attrgetter("source.version"), is_nullable=True),
    "time": Column(TEXT, attrgetter("source.time"), is_nullable=True),
    "source_run": Column(TEXT, attrgetter("source.run")),
    "attempt": Column(_ATTEMPT, _optional("source.attempt", asdict), is_nullable=True),
}
"""Columns that rows of estimates have, too."""
_METADATA = {
    "n_all": Column(COUNT, attrgetter("facts.n_all"), is_nullable=True),
    "is_limited": Column(FLAG, attrgetter("facts.is_limited")),
    "is_random_subset": Column(FLAG, attrgetter("facts.is_random_subset")),
    "is_finished": Column(FLAG, attrgetter("facts.is_finished")),
    "n_watched": Column(COUNT, attrgetter("facts.n_watched"), is_nullable=True),
    "chance": Column(NUMBER, attrgetter("facts.chance"), is_nullable=True),
    "n_cached": Column(COUNT, attrgetter("facts.n_cached")),
    "watched_clusters": Column(CODES, attrgetter("facts.watched_clusters"), is_nullable=True),
}
_COLUMNS = {
    **IDENTITY,
    "questions": Column(TEXTS, attrgetter("questions.ids")),
    "content_hashes": Column(TEXTS, attrgetter("questions.hashes")),
    "prompt_hashes": Column(TEXTS, attrgetter("questions.prompt_hashes")),
    "items": Column(TEXTS, attrgetter("questions.items")),
    "fields": Column(pa.list_(_FIELD), lambda log: [_field_to_row(*one) for one in log.questions.fields.items()]),
    "prompt_prefix": Column(
        _FIELD, _optional("questions.prompt_prefix", lambda prefix: _field_to_row(None, prefix)), is_nullable=True
    ),
    "data": Column(pa.list_(DATA), lambda log: list(map(data_to_row, log.data))),
    "reported": Column(
        pa.list_(_REPORTED),
        lambda log: [{"metric": key[0], "filter": key[1], **asdict(one)} for key, one in log.reported.items()],
    ),
    "higher_is_better": Column(
        pa.list_(pa.struct({"metric": TEXT, "is": FLAG})),
        lambda log: [{"metric": metric, "is": is_} for metric, is_ in log.higher_is_better.items()],
    ),
    "declared": Column(pa.struct({"cluster": TEXT, "origin": TEXT}), _optional("declared", asdict), is_nullable=True),
    **_METADATA,
    "settings": Column(TEXT, lambda log: json.dumps(dict(log.facts.settings), default=str)),
    "messages": Column(TEXTS, lambda log: messages_to_json(log.messages)),
    "ended_by": Column(
        pa.list_(CODES), _optional("ended_by", lambda endings: endings.codes.tolist()), is_nullable=True
    ),
    "stored_intervals": Column(pa.list_(_STORED_INTERVAL), _stored_intervals),
}
COLUMNS: Mapping[str, pa.DataType] = {name: column.type for name, column in _COLUMNS.items()}
NULLABLE = frozenset(
    {
        "prompt_prefix.name",
        "reported[].value",
        "reported[].std_error",
        "reported[].n",
        "stored_intervals[].std_error",
        "stored_intervals[].n_clusters",
        *(name for name, column in _COLUMNS.items() if column.is_nullable),
        *(f"data[].{name}" for name in _DATA_VALUES),
    }
)
"""Columns, and fields within them, whose values may be missing."""


def log_to_row(log: TaskLog) -> Row:
    """Convert a task log to a row with the columns `COLUMNS`."""
    return {name: column.value(log) for name, column in _COLUMNS.items()}


def log_from_row(row: Row) -> TaskLog:
    """Convert a row back to a task log; the inverse of `log_to_row`. Raises ValueError, TypeError or KeyError if the
    row does not describe a task log.
    """
    prefix, declared, settings = row["prompt_prefix"], row["declared"], json.loads(row["settings"])
    if not isinstance(settings, dict):
        raise DataError(f"settings must be a JSON object, not {type(settings).__name__}")
    log = TaskLog(
        system=row["system"],
        task=row["task"],
        source=source_from_row(row),
        questions=Questions(
            ids=tuple(row["questions"]),
            hashes=tuple(row["content_hashes"]),
            fields={field["name"]: _field_from_row(field) for field in row["fields"]},
            prompt_prefix=None if prefix is None else _field_from_row(prefix),
            items=tuple(row["items"]),
            prompt_hashes=tuple(row["prompt_hashes"]),
        ),
        data=_data_from_rows(row["data"], row["stored_intervals"]),
        reported={
            (entry["metric"], entry["filter"]): HarnessResult(entry["value"], entry["std_error"], entry["n"])
            for entry in row["reported"]
        },
        declared=None if declared is None else ClusterDeclaration(**declared),
        facts=RunMetadata(**{name: row[name] for name in _METADATA}, settings=settings),
        higher_is_better={entry["metric"]: entry["is"] for entry in row["higher_is_better"]},
        messages=messages_from_json(row["messages"]),
        subtasks=tuple(row["subtasks"]),
        ended_by=None if row["ended_by"] is None else TrialEndings(np.array(row["ended_by"], np.int64)),
    )
    return with_bounded_names(log)


def source_from_row(row: Row) -> Source:
    """The source of the log of a row."""
    attempt = None if row["attempt"] is None else Attempt(**row["attempt"])
    return Source(row["path"], row["harness"], row["version"], row["time"], row["source_run"], attempt)


def _field_from_row(row: Row) -> MetadataField:
    return MetadataField(np.array(row["codes"], np.int64), row["is_text"], tuple(row["values"]))


def _data_from_rows(rows: Sequence[Row], stored_intervals: Sequence[Row]) -> tuple[TaskData, ...]:
    """The data of a log, with the intervals that belong to its aggregate scores."""
    stored = {(row["metric"], row["filter"]): _stored_interval_from_row(row) for row in stored_intervals}
    return tuple(
        replace(data, stored=stored.get((data.metric, data.filter))) if isinstance(data, AggregateScore) else data
        for data in map(data_from_row, rows)
    )


def _stored_interval_from_row(row: Row) -> StoredInterval:
    if row["kind"] not in get_args(IntervalKind):
        raise DataError(f"unknown kind of interval: {row['kind']!r}")
    values = {name: value for name, value in row.items() if name not in ("metric", "filter", "messages")}
    return StoredInterval(**values, messages=messages_from_json(row["messages"]))
