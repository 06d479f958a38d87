"""Find the known format that a file without a reader resembles most, by the names of its members."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness_uq.io import paths as io_paths
from harness_uq.messages import Message
from harness_uq.messages.catalogue.reading import RESEMBLES_FORMAT

_MOST_BYTES = 64 << 20  # of a JSON document
_LONGEST_LINE = 4 << 20
_MIN_SHARE = 0.6  # of the members of a format, so that two common names do not make a format
_MIN_MEMBERS = 2


@dataclass(frozen=True, slots=True)
class FormatSignature:
    """The members that identify a format."""

    name: str  # of the format in messages
    members: tuple[str, ...]  # dotted names in the document, in its first item if it is a list, or in the first line
    values: Mapping[str, tuple[object, ...]] = field(default_factory=dict)  # supported values, by dotted name


SIGNATURES = (
    FormatSignature("results of lm-eval", ("results", "configs", "versions", "n-shot", "config.model")),
    FormatSignature("samples of lm-eval", ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps")),
    FormatSignature("a log of Inspect AI", ("version", "status", "eval.task", "eval.model", "plan"), {"version": (2,)}),
    FormatSignature("a trial of Harbor", ("task_name", "trial_name", "agent_info", "verifier_result", "source")),
    FormatSignature("a job of Harbor", ("n_total_trials", "stats", "started_at")),
    FormatSignature("a trial of Terminal-Bench", ("task_id", "trial_name", "is_resolved", "failure_mode")),
    FormatSignature("a run of Terminal-Bench", ("results", "accuracy", "n_resolved", "n_unresolved")),
    FormatSignature("results of Every Eval Ever", ("schema_version", "evaluation_results", "model_info")),
    FormatSignature("samples of Every Eval Ever", ("evaluation_id", "sample_id", "interaction_type", "evaluation")),
    FormatSignature(
        "results of promptfoo",
        ("evalId", "results.version", "results.results", "config"),
        {"results.version": (2, 3)},
    ),
    FormatSignature("result lines of promptfoo", ("testIdx", "promptIdx", "provider", "vars", "success")),
    FormatSignature("results of lighteval", ("config_general", "results", "config_tasks")),
    FormatSignature("statistics of HELM", ("instance_id", "train_trial_index", "stats")),
    FormatSignature("a run specification of HELM", ("scenario_spec", "adapter_spec", "metric_specs")),
    FormatSignature("events of OpenAI evals", ("run_id", "event_id", "sample_id", "type", "data")),
    FormatSignature("a report of SWE-bench", ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids")),
    FormatSignature("results of DeepEval", ("testCases", "metricsScores", "testPassed", "testFailed")),
)


def nearest_format(path: str) -> Message | None:
    """Name the known format that a JSON file resembles, and the members that it lacks; None if it resembles none."""
    record = _first_record(path)
    if record is None:
        return None
    signature = max(SIGNATURES, key=lambda one: _share(one, record))
    if _share(signature, record) < _MIN_SHARE:
        return None
    return RESEMBLES_FORMAT(format=signature.name, reason=_reason(signature, record))


def _first_record(path: str) -> Mapping[str, object] | None:
    """The document, its first item or the first line; None if it is no object or too large."""
    name = io_paths.name_of(path).lower()
    try:
        if name.endswith((".jsonl", ".ndjson")):
            with io_paths.open_binary(path) as file:
                content = json.loads(file.readline(_LONGEST_LINE))
        elif name.endswith(".json") and io_paths.size(path) <= _MOST_BYTES:
            content = json.loads(io_paths.read_bytes(path))
        else:
            return None
    except (ValueError, RecursionError):
        return None
    if isinstance(content, list) and content:
        content = content[0]
    return content if isinstance(content, dict) else None


def _share(signature: FormatSignature, record: Mapping[str, object]) -> float:
    present = sum(_has(record, member) for member in signature.members)
    return present / len(signature.members) if present >= _MIN_MEMBERS else 0.0


def _reason(signature: FormatSignature, record: Mapping[str, object]) -> str:
    if missing := [member for member in signature.members if not _has(record, member)]:
        return f"has no {', '.join(f'`{member}`' for member in missing)}"
    for member, supported in signature.values.items():
        if (value := _parent(record, member)[member.rpartition(".")[2]]) not in supported:
            expected = " or ".join(map(str, supported))
            return f"`{member}` is {str(value)[:40]} ({expected} expected)"
    return "no installed reader accepts it"


def _has(record: Mapping[str, object], member: str) -> bool:
    return member.rpartition(".")[2] in _parent(record, member)


def _parent(record: Mapping[str, object], member: str) -> Mapping[str, object]:
    """The object that contains a member with this dotted name, if the record has one; otherwise an empty object."""
    parent: object = record
    for name in member.split(".")[:-1]:
        parent = parent.get(name) if isinstance(parent, dict) else None
    return parent if isinstance(parent, dict) else {}
