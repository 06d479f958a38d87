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
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import TypeAlias, cast

from harness_uq._version import __version__
from harness_uq.data.task_log import TaskLog
from harness_uq.messages import join_messages, with_severity
from harness_uq.output.formats import RenderOptions, ResultSet
from harness_uq.output.sanitize import json_text
from harness_uq.results.estimate import Estimate, finite_or_none

SCHEMA_VERSION = "0.3.0"
Record: TypeAlias = dict[str, object]

_LIBRARIES = {"lm-eval": "lm_eval", "inspect": "inspect_ai"}  # as its converters call them
_UNKNOWN = "unknown"


def eee_records(rows: Sequence[Estimate], logs: Iterable[TaskLog], *, when: float) -> list[Record]:
    """One record for each task of a run, with a result for each of its scores; estimates without a value are left out.

    Parameters
    ----------
    rows : from `estimate`
    logs : the logs of the estimates, which hold the direction of each metric
    when : time of the records, in seconds since 1970
    """
    better = {(log.system, log.task, metric): up for log in logs for metric, up in log.higher_is_better.items()}
    tasks: dict[tuple[str, str, str, str | None], list[Estimate]] = {}
    for row in rows:
        if finite_or_none(row.value) is not None:
            tasks.setdefault((row.system, row.task, row.source.path, row.source.time), []).append(row)
    names = Counter[str]()
    records = []
    for (system, task, *_), members in tasks.items():
        names[name := f"{task}/{system}/{int(when)}"] += 1
        unique = name if names[name] == 1 else f"{name}/{names[name]}"
        records.append(_record(members, better, unique, str(int(when))))
    return records


def eee_lines(records: Iterable[Record]) -> str:
    """JSON Lines: one record per line."""
    return "\n".join(json_text(json.dumps(record, ensure_ascii=False)) for record in records)


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


def _record(rows: Sequence[Estimate], better: Mapping[tuple[str, str, str], bool], name: str, retrieved: str) -> Record:
    first = rows[0]
    timestamp = {} if first.source.time is None else {"evaluation_timestamp": _epoch(first.source.time)}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": name,
        **timestamp,
        "retrieved_timestamp": retrieved,
        "source_metadata": {
            "source_name": f"harness_uq {__version__}",
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


def _result(row: Estimate, *, lower_is_better: bool) -> Record:
    return {
        "evaluation_result_id": "/".join((row.metric, row.filter, row.estimand)),
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


def _range(row: Estimate) -> Record:
    """The range of the score, if it is known."""
    bounds = row.structure.bounds if row.structure else None
    return {} if bounds is None else {"score_type": "continuous", "min_score": bounds[0], "max_score": bounds[1]}


def _uncertainty(row: Estimate) -> Record:
    uncertainty: Record = {}
    if (error := finite_or_none(row.std_error)) is not None:
        kind = "analytic" if row.posterior_mean is None else "posterior standard deviation"
        uncertainty["standard_error"] = {"value": error, "method": f"{kind}: {row.method}"}
    if row.interval and None not in (ends := (finite_or_none(row.interval.low), finite_or_none(row.interval.high))):
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


def _details(row: Estimate) -> dict[str, str]:
    """Facts for which the schema has no field; unknown ones are left out."""
    details = {
        "scope": row.scope,
        "method": row.method,
        "method_reason": row.method_reason,
        "estimand": row.estimand,
        "filter": row.filter,
        "clusters": f"{row.n_clusters} by {row.cluster_key}" if row.n_clusters else "none",
        "trials_per_question": row.n_trials,
        "posterior_mean": finite_or_none(row.posterior_mean),
        "design_effect": finite_or_none(row.design_effect),
        "harness_score": finite_or_none(row.harness.value),
        "harness_standard_error": finite_or_none(row.harness.std_error),
        "messages": join_messages(with_severity(row.messages, "refusal", "error", "warning")) or None,
        "harness_uq_version": __version__,
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
class _EveryEvalEver:
    name: str = "eee"
    suffix: str = ".jsonl"
    accepts: Set[str] | None = frozenset({"estimates"})
    has_errors: bool = False
    needs_logs: bool = True

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        rows = cast("Sequence[Estimate]", results.lists["estimates"])
        return eee_lines(eee_records(rows, options.logs, when=time.time()))


FORMAT = _EveryEvalEver()
