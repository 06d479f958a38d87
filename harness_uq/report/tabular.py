"""Estimates for programs and documents: JSON, CSV and Markdown."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from harness_uq.report.attribution import sentences, warnings_of
from harness_uq.report.columns import columns
from harness_uq.results import SCHEMA, Estimate


def estimates_json(rows: Sequence[Estimate], *, errors: Sequence[Mapping[str, str | None]] = ()) -> str:
    """JSON, schema 1: `{"schema": 1, "estimates": [...], "errors": [...]}`; missing is null, never NaN."""
    document = {"schema": SCHEMA, "estimates": [row.to_dict() for row in rows], "errors": [dict(e) for e in errors]}
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)


def estimates_csv(rows: Sequence[Estimate]) -> str:
    """CSV with the fields of the JSON form, nested ones joined by `_`, lists by `; `."""
    table = [_flat(row.to_dict()) for row in rows]
    header = list(dict.fromkeys(name for row in table for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def estimates_markdown(rows: Sequence[Estimate]) -> str:
    """Markdown: one table, the system in its first column; warnings below it."""
    shown = columns(rows)
    lines = ["| System | " + " | ".join(c.header for c in shown) + " |"]
    lines.append("| :-- |" + "".join(" --: |" if c.is_number else " :-- |" for c in shown))
    for row in rows:
        cells = [row.system, *[c.cell(row) for c in shown]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    warnings = [f"- {text}" for text in sentences(warnings_of(rows))]
    return "\n".join([*lines, "", *warnings] if warnings else lines) + "\n"


def _flat(value: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, item in value.items():
        if isinstance(item, Mapping):
            flat |= _flat(item, f"{prefix}{name}_")
        elif isinstance(item, list):
            flat[prefix + name] = "; ".join(map(str, item))
        else:
            flat[prefix + name] = "" if item is None else item
    return flat
