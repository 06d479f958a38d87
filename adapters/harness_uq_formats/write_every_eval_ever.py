"""The format `eee`: records of Every Eval Ever, schema 0.3.0 (`eval.schema.json` of evaleval/every_eval_ever).

Each task of a run is one record. Intervals and standard errors are stored in `score_details.uncertainty`. Scope, method
and clusters, for which the schema has no field, are stored as texts in `score_details.details`. Each estimate is one
result; bounds and spreads are never stored as scores.
"""

import hashlib
import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq

SCHEMA_VERSION = "0.3.0"
Record: TypeAlias = dict[str, object]

_LIBRARIES = {"lm-eval": "lm_eval", "inspect": "inspect_ai"}  # as its converters call them
_UNKNOWN = "unknown"
_MEAN = "mean"


def eee_records(rows: Sequence[uq.Estimate], logs: Iterable[uq.TaskLog], *, when: float) -> list[Record]:
    """One record for each task of a run, with a result for each of its scores; estimates without a value are left out.

    `rows`: from `estimate`. `logs`: the logs of the estimates, which hold the direction of each metric. `when`: time of
    the records, in seconds since 1970.
    """
    logs = list(logs)
    better = {(log.system, log.task, metric): up for log in logs for metric, up in log.higher_is_better.items()}
    names = Counter[str]()
    records = []
    for (system, task, *_), members in _rows_by_task(rows).items():
        names[name := f"{task}/{system}/{int(when)}"] += 1
        unique = name if names[name] == 1 else f"{name}/{names[name]}"
        records.append(_record(members, better, unique, str(int(when))))
    return records


def eee_files(
    rows: Sequence[uq.Estimate], logs: Iterable[uq.TaskLog], *, when: float
) -> Iterator[tuple[PurePosixPath, str]]:
    """Path and content of each file of a data store: the record of each task of a run, and the scores of its samples.

    Samples have neither prompts nor answers, which results do not contain. `rows`, `logs`, `when`: as for
    `eee_records`.
    """
    logs = list(logs)
    log_of = {(log.system, log.task, log.source.path, log.source.time): log for log in logs}
    records = eee_records(rows, logs, when=when)
    for record, (key, members) in zip(records, _rows_by_task(rows).items(), strict=True):
        place = eee_place(record)
        lines = list(eee_samples(record, members, log_of[key])) if key in log_of else []
        if lines:
            content = eee_lines(lines) + "\n"
            file = place.with_name(f"{place.stem}_samples.jsonl")
            yield file, content
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": str(PurePosixPath("data", file)),
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(content.encode()).hexdigest(),
                "total_rows": len(lines),
            }
        yield place, eee_lines([record]) + "\n"


def eee_samples(record: Record, rows: Sequence[uq.Estimate], log: uq.TaskLog) -> Iterator[Record]:
    """A line for each question, trial and mean score of a record.

    The number of the trial and the cluster are in the metadata of the sample. `rows`: the estimates in the record.
    """
    data = {(item.metric, item.filter): item for item in log.data if isinstance(item, uq.Scores)}
    for row in rows:
        scores = data.get((row.metric, row.filter))
        if scores is None or row.estimand != _MEAN or row.n_questions != scores.is_scored.sum():
            continue  # without samples, or of more questions than there are samples
        clusters = _clusters(row, scores, log)
        for at, trial in zip(*np.nonzero(np.isfinite(scores.values)), strict=True):
            metadata = {"epoch": str(trial + 1)} if scores.values.shape[1] > 1 else {}
            if clusters is not None and row.cluster_key is not None and clusters[at] >= 0:
                metadata[row.cluster_key] = str(clusters[at])
            score = float(scores.values[at, trial])
            yield {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": record["evaluation_id"],
                "model_id": cast("dict[str, str]", record["model_info"])["id"],
                "evaluation_name": row.task,
                "evaluation_result_id": _result_id(row),
                "sample_id": log.questions.ids[at],
                "interaction_type": "single_turn",
                "input": {"raw": "", "reference": []},
                "output": {"raw": []},
                "answer_attribution": [],
                "evaluation": {"score": score, "is_correct": score == 1.0},
                **({"metadata": metadata} if metadata else {}),
            }


def _clusters(row: uq.Estimate, scores: uq.Scores, log: uq.TaskLog) -> NDArray[np.int64] | None:
    """The clusters of the estimate by question; None if the questions are independent."""
    if row.cluster_key is not None and row.cluster_key in log.questions.fields:
        return log.questions.fields[row.cluster_key].codes
    return scores.clusters if row.n_clusters else None


def _rows_by_task(rows: Iterable[uq.Estimate]) -> dict[tuple[str, str, str, str | None], list[uq.Estimate]]:
    """Estimates that have a value, by system, task, path and time of the log."""
    tasks: dict[tuple[str, str, str, str | None], list[uq.Estimate]] = {}
    for row in rows:
        if uq.finite_or_none(row.value) is not None:
            tasks.setdefault((row.system, row.task, row.source.path, row.source.time), []).append(row)
    return tasks


def eee_lines(records: Iterable[Record]) -> str:
    """JSON Lines: one record per line."""
    return "\n".join(uq.json_text(json.dumps(record, ensure_ascii=False)) for record in records)


def eee_place(record: Record) -> PurePosixPath:
    """Path of a record in a data store, `benchmark/developer/model/UUID.json`; equal results have equal paths."""
    content = {name: value for name, value in record.items() if name not in ("retrieved_timestamp", "evaluation_id")}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode(errors="backslashreplace")).digest()
    (result,) = cast("list[dict[str, str]]", record["evaluation_results"])[:1]
    developer, slash, model = cast("dict[str, str]", record["model_info"])["id"].partition("/")
    names = (result["evaluation_name"], developer if slash else _UNKNOWN, model if slash else developer)
    # folder names that are valid on every system
    folders = (re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or _UNKNOWN for name in names)
    return PurePosixPath(*folders, f"{uuid.UUID(bytes=digest[:16], version=4)}.json")


def _record(
    rows: Sequence[uq.Estimate], better: Mapping[tuple[str, str, str], bool], name: str, retrieved: str
) -> Record:
    first = rows[0]
    timestamp = {} if first.source.time is None else {"evaluation_timestamp": _epoch(first.source.time)}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": name,
        **timestamp,
        "retrieved_timestamp": retrieved,
        "source_metadata": {
            "source_name": f"harness_uq {uq.__version__}",
            "source_type": "evaluation_run",
            "source_organization_name": _UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": _LIBRARIES.get(first.source.harness, first.source.harness),
            "version": first.source.version or _UNKNOWN,
        },
        "model_info": _model(first.system),
        "evaluation_results": [
            _result(row, lower_is_better=not better.get((row.system, row.task, row.metric), True)) for row in rows
        ],
    }


def _model(system: str) -> Record:
    """The model of a system; its settings, if any, follow the name in parentheses: `org/name (temperature=0)`."""
    match = re.fullmatch(r"(?P<id>.+?) \((?P<settings>[^()=]+=[^()]*)\)", system)
    details = {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN}
    if match is None:
        return {"name": system, "id": system, "additional_details": details}
    return {"name": system, "id": match["id"], "additional_details": details | {"settings": match["settings"]}}


def _result(row: uq.Estimate, *, lower_is_better: bool) -> Record:
    return {
        "evaluation_result_id": _result_id(row),
        "evaluation_name": row.task,
        "source_data": {"dataset_name": row.task, "source_type": "other"},
        "metric_config": {
            "metric_id": row.metric,
            "metric_name": row.metric,
            "metric_parameters": {"filter": row.filter, "estimand": row.estimand},
            "lower_is_better": lower_is_better,
            **_range(row),
        },
        "score_details": {"score": row.value, "details": _details(row), "uncertainty": _uncertainty(row)},
    }


def _result_id(row: uq.Estimate) -> str:
    return "/".join((row.metric, row.filter, row.estimand))


def _range(row: uq.Estimate) -> Record:
    """The range of the score, if it is known."""
    if row.structure is None or row.structure.bounds is None:
        return {}
    low, high = row.structure.bounds
    score_type = "binary" if row.structure.score_type == "binary" else "continuous"
    return {"score_type": score_type, "min_score": low, "max_score": high}


def _uncertainty(row: uq.Estimate) -> Record:
    uncertainty: Record = {}
    if (error := uq.finite_or_none(row.std_error)) is not None:
        kind = "analytic" if row.posterior_mean is None else "posterior standard deviation"
        uncertainty["standard_error"] = {"value": error, "method": f"{kind}: {row.method}"}
    if row.interval and None not in (
        ends := (uq.finite_or_none(row.interval.low), uq.finite_or_none(row.interval.high))
    ):
        uncertainty["confidence_interval"] = {
            "lower": ends[0],
            "upper": ends[1],
            "confidence_level": row.interval.level,
            "method": f"{_KINDS[row.interval.kind]}: {row.method}",
        }
    if row.n_questions is not None:
        uncertainty["num_samples"] = row.n_questions
    return uncertainty


_KINDS = {
    "hdi": "highest-density credible interval",
    "quantile": "equal-tailed credible interval",
    "confidence": "confidence interval",
}


def _details(row: uq.Estimate) -> dict[str, str]:
    """Facts for which the schema has no field; unknown ones are left out."""
    details = {
        "scope": row.scope,
        "method": row.method,
        "method_reason": row.method_reason,
        "estimand": row.estimand,
        "filter": row.filter,
        "clusters": f"{row.n_clusters} by {row.cluster_key}" if row.n_clusters else "none",
        "trials_per_question": row.n_trials,
        "posterior_mean": uq.finite_or_none(row.posterior_mean),
        "design_effect": uq.finite_or_none(row.design_effect),
        "harness_score": uq.finite_or_none(row.harness.value),
        "harness_standard_error": uq.finite_or_none(row.harness.std_error),
        "messages": uq.join_messages(uq.with_severity(row.messages, "refusal", "error", "warning")) or None,
        "harness_uq_version": uq.__version__,
    }
    return {name: str(value) for name, value in details.items() if value is not None}


def _epoch(text: str) -> str:
    """Seconds since 1970 of an ISO time with a time zone; any other text unchanged."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return str(int(moment.timestamp())) if moment.tzinfo else text


@dataclass(frozen=True, slots=True)
class EveryEvalEver:
    """The output format."""

    name: str = "eee"
    suffix: str = ".jsonl"
    accepts: Set[str] | None = frozenset({"estimates"})
    has_errors: bool = False
    needs_logs: bool = True

    def render(self, results: uq.ResultSet, options: uq.RenderOptions) -> str:
        """The records, one per line."""
        return eee_lines(eee_records(results.lists["estimates"], options.logs, when=time.time()))

    def files(self, rows: Sequence[uq.Estimate], logs: Iterable[uq.TaskLog]) -> Iterator[tuple[PurePosixPath, str]]:
        """Path and content of each file of a data store."""
        return eee_files(rows, logs, when=time.time())
