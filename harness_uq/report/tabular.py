"""Estimates for programs and documents: JSON, CSV and Markdown."""

from collections.abc import Mapping, Sequence

from harness_uq.report.attribution import sentences, warnings_of
from harness_uq.report.cells import document_json, records_csv
from harness_uq.report.clean import markdown, plain
from harness_uq.report.columns import columns
from harness_uq.results.estimate import Estimate


def estimates_json(rows: Sequence[Estimate], *, errors: Sequence[Mapping[str, str | None]] = ()) -> str:
    """JSON, schema 1: `{"schema": 1, "estimates": [...], "errors": [...]}`; missing is null, never NaN."""
    return document_json("estimates", [row.to_dict() for row in rows], errors)


def estimates_csv(rows: Sequence[Estimate]) -> str:
    """CSV with the fields of the JSON form, nested ones joined by `_`, lists by `; `."""
    return records_csv([_flat(row.to_dict()) for row in rows]) + "\n"


def estimates_markdown(rows: Sequence[Estimate]) -> str:
    """Markdown: one table, the system in its first column; warnings below it."""
    shown = columns(rows)
    lines = ["| System | " + " | ".join(c.header for c in shown) + " |"]
    lines.append("| :-- |" + "".join(" --: |" if c.is_number else " :-- |" for c in shown))
    for row in rows:
        cells = [row.system, *[c.cell(row) for c in shown]]
        lines.append("| " + " | ".join(markdown(cell) for cell in cells) + " |")
    warnings = [f"- {plain(text)}" for text in sentences(warnings_of(rows))]
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
