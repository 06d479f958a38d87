"""The formats `json` and `csv`: one document per command, and flat records with fixed columns.

`harness_uq/schemas` describes the documents. The records have a column `kind` if there are several kinds of results.
"""

import csv
import io
import json

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.output.declared import Record
from harness_uq.output.sanitize import csv_field, json_text

SCHEMA = 1


def render_json(results: ResultSet, options: RenderOptions) -> str:  # noqa: ARG001 -- no options apply
    """The document as JSON text."""
    return json_text(json.dumps(result_document(results), indent=2, allow_nan=False, ensure_ascii=False))


def result_document(results: ResultSet) -> dict[str, object]:
    """The document `{"schema": 1, NAME: [...], "errors": [...]}` as plain values; missing ones are None, never NaN."""
    parts: dict[str, object] = {}
    for name, rows in results.lists.items():
        kind = results.kinds[name]
        entries = [one.to_dict() for row in rows for one in kind.declared(row)]
        parts[name] = (entries[0] if entries else None) if kind.is_single else entries
        if kind.total is not None:
            total = kind.total(rows)
            parts[f"{name}_total"] = None if total is None else total.to_dict()
    return {"schema": SCHEMA, **parts, "errors": [dict(error) for error in results.errors]}


def render_csv(results: ResultSet, options: RenderOptions) -> str:  # noqa: ARG001 -- no options apply
    """The flat records of all tables."""
    has_kind = len(results.tables) > 1
    columns = dict.fromkeys(["kind"] if has_kind else [])
    records = []
    for name, rows in results.tables.items():
        kind = results.kinds[name]
        columns |= dict.fromkeys(kind.result_type.record_columns())
        first: Record = {"kind": name.removesuffix("s")} if has_kind else {}
        records += [first | record for row in rows for one in kind.declared(row) for record in one.to_records()]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_field(value) for name, value in record.items()} for record in records)
    return out.getvalue().strip("\n")
