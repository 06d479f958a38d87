"""Task logs as columns of Parquet: a row each, with lists for what belongs to questions."""

import json
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from harness_uq.logs.data import CandidateField, Declaration, Questions, Reported, RunFacts, Source, TaskLog
from harness_uq.scaling.data_columns import CODES, DATA, TEXTS, Row, data_of, row_of_data

_FIELD = pa.struct({"name": pa.string(), "is_text": pa.bool_(), "codes": CODES})
_REPORTED = pa.struct(
    {"metric": pa.string(), "filter": pa.string(), "value": pa.float64(), "std_error": pa.float64(), "n": pa.int64()}
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
    "watched_clusters": CODES,
    "settings": pa.string(),
    "notes": TEXTS,
    "warnings": TEXTS,
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
        "data": [row_of_data(data) for data in log.data],
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
        data=tuple(data_of(data) for data in row["data"]),
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
