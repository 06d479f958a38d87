"""Parquet representation of task logs: one row per log, with list columns for values per question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import get_args

import numpy as np
import pyarrow as pa

from harness_uq.data.names import with_bounded_names
from harness_uq.data.task_log import (
    AggregateScore,
    Attempt,
    ClusterDeclaration,
    HarnessResult,
    MetadataField,
    Questions,
    RunMetadata,
    Source,
    StoredInterval,
    TaskData,
    TaskLog,
)
from harness_uq.data.trial_endings import TrialEndings
from harness_uq.errors import DataError
from harness_uq.results.estimate import IntervalKind
from harness_uq.store.arrow_data import CODES, DATA, OPTIONAL_DATA, TEXTS, Row, data_from_row, data_to_row
from harness_uq.store.serialize import messages_from_json, messages_to_json

_FIELD = pa.struct({"name": pa.string(), "is_text": pa.bool_(), "codes": CODES, "values": pa.list_(pa.string())})
_REPORTED = pa.struct(
    {"metric": pa.string(), "filter": pa.string(), "value": pa.float64(), "std_error": pa.float64(), "n": pa.int64()}
)
_STORED_INTERVAL = pa.struct(
    {
        "metric": pa.string(),
        "filter": pa.string(),
        "method": pa.string(),
        "scope": pa.string(),
        "low": pa.float64(),
        "high": pa.float64(),
        "level": pa.float64(),
        "kind": pa.string(),
        "std_error": pa.float64(),
        "n_clusters": pa.int64(),
        "messages": TEXTS,
    }
)
ATTEMPT = pa.struct(
    {"run": pa.string(), "id": pa.string(), "is_finished": pa.bool_(), "n_trials": pa.int64(), "content": pa.string()}
)
COLUMNS: Mapping[str, pa.DataType] = {
    "system": pa.string(),
    "task": pa.string(),
    "subtasks": TEXTS,
    "path": pa.string(),
    "harness": pa.string(),
    "version": pa.string(),
    "time": pa.string(),
    "source_run": pa.string(),
    "attempt": ATTEMPT,
    "questions": TEXTS,
    "content_hashes": TEXTS,
    "prompt_hashes": TEXTS,
    "items": TEXTS,
    "fields": pa.list_(_FIELD),
    "prompt_prefix": _FIELD,
    "data": pa.list_(DATA),
    "reported": pa.list_(_REPORTED),
    "higher_is_better": pa.list_(pa.struct({"metric": pa.string(), "is": pa.bool_()})),
    "declared": pa.struct({"cluster": pa.string(), "origin": pa.string()}),
    "n_all": pa.int64(),
    "is_limited": pa.bool_(),
    "is_random_subset": pa.bool_(),
    "is_finished": pa.bool_(),
    "n_watched": pa.int64(),
    "chance": pa.float64(),
    "watched_clusters": CODES,
    "settings": pa.string(),
    "messages": TEXTS,
    "ended_by": pa.list_(CODES),
    "stored_intervals": pa.list_(_STORED_INTERVAL),
}
ADDED = frozenset({"stored_intervals"})
"""Columns that files of earlier versions may lack. They are then null."""
NULLABLE = frozenset(
    {
        "version",
        "time",
        "attempt",
        "prompt_prefix",
        "prompt_prefix.name",
        "reported[].value",
        "reported[].std_error",
        "reported[].n",
    }
    | {
        "declared",
        "ended_by",
        "n_all",
        "n_watched",
        "watched_clusters",
        "chance",
        "stored_intervals",
        "stored_intervals[].std_error",
        "stored_intervals[].n_clusters",
        *(f"data[].{name}" for name in OPTIONAL_DATA),
    }
)
"""Columns, and fields within them, whose values may be missing."""
_METADATA = ("n_all", "is_limited", "is_random_subset", "is_finished", "n_watched", "watched_clusters", "chance")


def log_to_row(log: TaskLog) -> Row:
    """Convert a task log to a row with the columns `COLUMNS`."""
    questions, prefix = log.questions, log.questions.prompt_prefix
    return {
        "system": log.system,
        "task": log.task,
        "subtasks": list(log.subtasks),
        "path": log.source.path,
        "harness": log.source.harness,
        "version": log.source.version,
        "time": log.source.time,
        "source_run": log.source.run,
        "attempt": None if log.source.attempt is None else asdict(log.source.attempt),
        "questions": list(questions.ids),
        "content_hashes": list(questions.hashes),
        "prompt_hashes": list(questions.prompt_hashes),
        "items": list(questions.items),
        "fields": [_field_to_row(name, field) for name, field in questions.fields.items()],
        "prompt_prefix": None if prefix is None else _field_to_row(None, prefix),
        "data": [data_to_row(data) for data in log.data],
        "reported": [
            {"metric": metric, "filter": name, **asdict(reported)} for (metric, name), reported in log.reported.items()
        ],
        "higher_is_better": [{"metric": metric, "is": is_} for metric, is_ in log.higher_is_better.items()],
        "declared": None if log.declared is None else asdict(log.declared),
        **{name: getattr(log.facts, name) for name in _METADATA},
        "settings": json.dumps(dict(log.facts.settings), default=str),
        "messages": messages_to_json(log.messages),
        "ended_by": None if log.ended_by is None else log.ended_by.codes.tolist(),
        "stored_intervals": [
            {
                **asdict(replace(data.stored, messages=())),
                "metric": data.metric,
                "filter": data.filter,
                "messages": messages_to_json(data.stored.messages),
            }
            for data in log.data
            if isinstance(data, AggregateScore) and data.stored is not None
        ],
    }


def log_from_row(row: Row) -> TaskLog:
    """Convert a row back to a task log; the inverse of `log_to_row`.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the row does not describe a task log.
    """
    prefix, declared, settings = row["prompt_prefix"], row["declared"], json.loads(row["settings"])
    if not isinstance(settings, dict):
        raise DataError(f"settings must be a JSON object, not {type(settings).__name__}")
    log = TaskLog(
        system=row["system"],
        task=row["task"],
        source=Source(
            row["path"],
            row["harness"],
            row["version"],
            row["time"],
            row["source_run"],
            attempt_from_row(row["attempt"]),
        ),
        questions=Questions(
            ids=tuple(row["questions"]),
            hashes=tuple(row["content_hashes"]),
            fields={field["name"]: _field_from_row(field) for field in row["fields"]},
            prompt_prefix=None if prefix is None else _field_from_row(prefix),
            items=tuple(row["items"]),
            prompt_hashes=tuple(row["prompt_hashes"]),
        ),
        data=_data_from_rows(row["data"], row["stored_intervals"] or ()),
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


def attempt_from_row(row: Row | None) -> Attempt | None:
    """The attempt in a row of the store."""
    return None if row is None else Attempt(**row)


def _field_to_row(name: str | None, field: MetadataField) -> Row:
    return {"name": name, "is_text": field.is_text, "codes": field.codes.tolist(), "values": list(field.values)}


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
