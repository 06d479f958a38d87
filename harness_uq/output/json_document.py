"""The format `json`: one document per command, described by the schemas in `harness_uq/schemas`."""

import json
from collections.abc import Set
from dataclasses import dataclass

from harness_uq.output.document import result_kind
from harness_uq.output.sanitize import json_text
from harness_uq.results.estimate import SCHEMA
from harness_uq.results.result_set import RenderOptions, ResultSet


@dataclass(frozen=True, slots=True)
class _Json:
    name: str = "json"
    suffix: str = ".json"
    accepts: Set[str] | None = None
    has_errors: bool = True
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:  # noqa: ARG002 -- no options apply
        return json_text(json.dumps(result_document(results), indent=2, allow_nan=False, ensure_ascii=False))


FORMAT = _Json()


def result_document(results: ResultSet) -> dict[str, object]:
    """The document `{"schema": 1, NAME: [...], "errors": [...]}` as plain values; missing ones are None, never NaN."""
    parts: dict[str, object] = {}
    for name, rows in results.lists.items():
        kind = result_kind(name)
        entries = [one.to_dict() for row in rows for one in kind.declared(row)]
        parts[name] = (entries[0] if entries else None) if kind.is_single else entries
        if kind.total is not None:
            total = kind.total(rows)
            parts[f"{name}_total"] = None if total is None else total.to_dict()
    return {"schema": SCHEMA, **parts, "errors": [dict(error) for error in results.errors]}
