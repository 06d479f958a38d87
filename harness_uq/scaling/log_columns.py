"""Task logs as columns of Parquet: a row each, with lists for what belongs to questions."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from harness_uq.logs.data import (
    CandidateField,
    Classifications,
    Declaration,
    FloatArray,
    Questions,
    Records,
    Reported,
    RunFacts,
    Scores,
    Source,
    TaskData,
    TaskLog,
    Totals,
)

Row: TypeAlias = dict[str, Any]

_TEXTS, _NUMBERS, _CODES = pa.list_(pa.string()), pa.list_(pa.float64()), pa.list_(pa.int64())
_FIELD = pa.struct({"name": pa.string(), "is_text": pa.bool_(), "codes": _CODES})
_DATA = pa.struct(
    {
        "metric": pa.string(),
        "filter": pa.string(),
        "kind": pa.string(),
        "n_columns": pa.int64(),
        "values": _NUMBERS,
        "targets": _CODES,
        "predictions": _CODES,
        "labels": _TEXTS,
        "function": pa.string(),
        "clusters": _CODES,
        "levels": _NUMBERS,
        "bounds": _NUMBERS,
        "logged_trials": pa.int64(),
        "reduction": pa.string(),
        "event": pa.string(),
        "total": pa.float64(),
        "n": pa.int64(),
        "reason": pa.string(),
        "is_share": pa.bool_(),
    }
)
_REPORTED = pa.struct(
    {"metric": pa.string(), "filter": pa.string(), "value": pa.float64(), "std_error": pa.float64(), "n": pa.int64()}
)
COLUMNS: Mapping[str, pa.DataType] = {
    "system": pa.string(),
    "task": pa.string(),
    "subtasks": _TEXTS,
    "path": pa.string(),
    "harness": pa.string(),
    "version": pa.string(),
    "time": pa.string(),
    "source_run": pa.string(),
    "questions": _TEXTS,
    "content_hashes": _TEXTS,
    "prompt_hashes": _TEXTS,
    "items": _TEXTS,
    "fields": pa.list_(_FIELD),
    "prompt_prefix": _FIELD,
    "data": pa.list_(_DATA),
    "reported": pa.list_(_REPORTED),
    "higher_is_better": pa.list_(pa.struct({"metric": pa.string(), "is": pa.bool_()})),
    "declared": pa.struct({"cluster": pa.string(), "origin": pa.string()}),
    "n_all": pa.int64(),
    "is_limited": pa.bool_(),
    "is_random_subset": pa.bool_(),
    "is_finished": pa.bool_(),
    "n_watched": pa.int64(),
    "watched_clusters": _CODES,
    "settings": pa.string(),
    "notes": _TEXTS,
    "warnings": _TEXTS,
}
_FACTS = ("n_all", "is_limited", "is_random_subset", "is_finished", "n_watched", "watched_clusters")


def row_of(log: TaskLog) -> Row:
    """A task log as a row of `COLUMNS`."""
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
        "questions": list(questions.ids),
        "content_hashes": list(questions.hashes),
        "prompt_hashes": list(questions.prompt_hashes),
        "items": list(questions.items),
        "fields": [_field(name, field) for name, field in questions.fields.items()],
        "prompt_prefix": None if prefix is None else _field(None, prefix),
        "data": [_data(data) for data in log.data],
        "reported": [
            {"metric": metric, "filter": name, **asdict(reported)} for (metric, name), reported in log.reported.items()
        ],
        "higher_is_better": [{"metric": metric, "is": is_} for metric, is_ in log.higher_is_better.items()],
        "declared": None if log.declared is None else asdict(log.declared),
        **{name: getattr(log.facts, name) for name in _FACTS},
        "settings": json.dumps(dict(log.facts.settings), default=str),
        "notes": list(log.notes),
        "warnings": list(log.warnings),
    }


def log_of(row: Row) -> TaskLog:
    """The task log of a row."""
    prefix, declared = row["prompt_prefix"], row["declared"]
    return TaskLog(
        system=row["system"],
        task=row["task"],
        source=Source(*(row[name] for name in ("path", "harness", "version", "time", "source_run"))),
        questions=Questions(
            ids=tuple(row["questions"]),
            hashes=tuple(row["content_hashes"]),
            fields={field["name"]: _candidate(field) for field in row["fields"]},
            prompt_prefix=None if prefix is None else _candidate(prefix),
            items=tuple(row["items"]),
            prompt_hashes=tuple(row["prompt_hashes"]),
        ),
        data=tuple(_data_of(data) for data in row["data"]),
        reported={
            (entry["metric"], entry["filter"]): Reported(entry["value"], entry["std_error"], entry["n"])
            for entry in row["reported"]
        },
        declared=None if declared is None else Declaration(**declared),
        facts=RunFacts(**{name: row[name] for name in _FACTS}, settings=json.loads(row["settings"])),
        higher_is_better={entry["metric"]: entry["is"] for entry in row["higher_is_better"]},
        notes=tuple(row["notes"]),
        warnings=tuple(row["warnings"]),
        subtasks=tuple(row["subtasks"]),
    )


def _field(name: str | None, field: CandidateField) -> Row:
    return {"name": name, "is_text": field.is_text, "codes": field.codes.tolist()}


def _candidate(field: Row) -> CandidateField:
    return CandidateField(np.array(field["codes"], np.int64), field["is_text"])


def _data(data: TaskData) -> Row:
    named: Row = {"metric": data.metric, "filter": data.filter}
    if isinstance(data, Totals):
        told: Row = {"total": data.value, "n": data.n, "reason": data.reason, "is_share": data.is_share}
        return named | told | {"kind": "totals"}
    named["clusters"] = None if data.clusters is None else data.clusters.tolist()
    if isinstance(data, Records):
        return named | {"kind": "records", "function": data.statistic, **_table(data.statistics)}
    if isinstance(data, Classifications):
        told = {"targets": data.targets.tolist(), "labels": list(data.labels), "function": data.function}
        flat = data.predictions.ravel().tolist()
        return named | told | {"kind": "classes", "predictions": flat, "n_columns": data.predictions.shape[1]}
    return named | {
        "kind": "scores",
        **_table(data.values),
        "levels": None if data.levels is None else list(data.levels),
        "bounds": None if data.bounds is None else list(data.bounds),
        "logged_trials": data.logged_trials,
        "reduction": data.reduction,
        "event": data.event,
    }


def _data_of(row: Row) -> TaskData:
    metric, name, kind = row["metric"], row["filter"], row["kind"]
    if kind == "totals":
        return Totals(metric, name, row["total"], row["n"], row["reason"], row["is_share"])
    clusters = None if row["clusters"] is None else np.array(row["clusters"], np.int64)
    if kind == "records":
        return Records(metric, name, _values(row), row["function"], clusters)
    if kind == "classes":
        predictions = np.array(row["predictions"], np.int64).reshape(-1, row["n_columns"])
        targets = np.array(row["targets"], np.int64)
        return Classifications(metric, name, targets, predictions, tuple(row["labels"]), clusters, row["function"])
    levels, bounds = (None if row[key] is None else tuple(row[key]) for key in ("levels", "bounds"))
    return Scores(
        metric, name, _values(row), clusters, levels, row["logged_trials"], row["reduction"], bounds, row["event"]
    )


def _table(values: FloatArray) -> Row:
    return {"values": values.ravel().tolist(), "n_columns": values.shape[1]}


def _values(row: Row) -> FloatArray:
    return np.array(row["values"], np.float64).reshape(-1, row["n_columns"])
