"""Crossed effects as text, Markdown, LaTeX, CSV and JSON."""

from collections.abc import Mapping, Sequence

from harness_uq.report.cells import Section, document_json, records_csv, sections_markdown, sections_text
from harness_uq.report.columns import interval, number
from harness_uq.report.comparison_text import Format
from harness_uq.report.latex import sections_latex
from harness_uq.report.page import Cells
from harness_uq.results.effects import Component, Effects
from harness_uq.results.points import number as difference


def effects_as(
    found: Sequence[Effects], form: Format, *, errors: Sequence[Mapping[str, str]] = (), width: int | None = None
) -> str:
    """Effects in the form asked for; CSV has a record a component, JSON `{"schema": 1, "effects": [...]}`."""
    if form == "json":
        return document_json("effects", [row.to_dict() for row in found], errors)
    if form == "csv":
        return records_csv([record for row in found for record in _records(row)])
    sections = [_section(row) for row in found]
    if form == "latex":
        return sections_latex(sections)
    notes = {
        "Warnings": [text for row in found for text in row.warnings],
        "Notes": [text for row in found for text in row.notes],
    }
    return sections_markdown(sections, notes) if form == "markdown" else sections_text(sections, notes, width)


def _records(row: Effects) -> list[dict[str, object]]:
    own = {"model": row.model, "task": row.task, "metric": row.metric, "filter": row.filter}
    document = row.to_dict()["components"]
    return [own | dict(part) for part in document] if isinstance(document, list) else []


def _section(row: Effects) -> Section:
    parts, unit = row.components, "points" if row.is_share else "units"
    columns = [
        Cells("Component", [part.name for part in parts], is_number=False),
        Cells("Levels", [f"{part.n_levels:,}" for part in parts]),
        Cells(f"Sd, {unit}", [difference(part.sd, in_points=row.is_share) for part in parts]),
        Cells(f"{row.interval.level:.0%} interval", [_ends(part, row) for part in parts], spare=1),
        Cells("Share of variance", [f"{part.share:.0%}" for part in parts]),
        Cells("interval", ["{:.0%} to {:.0%}".format(*part.share_interval) for part in parts], spare=2),
        Cells("Share of uncertainty", [_share(row.uncertainty.get(part.name)) for part in parts]),
    ]
    lines = [
        "",
        f"Mean {number(row.value)}, {interval(row.interval)} over new levels of {', '.join(row.new)}; "
        f"{interval(row.interval_alone)} if only {row.unit} is new and the rest stays as it is.",
        row.sentence,
        *(f"{name}: {evidence}." for name, evidence in row.evidence.items()),
        *([f"Not told from the residual: {', '.join(row.untold)}."] if row.untold else []),
    ]
    metric = row.metric if row.filter == "none" else f"{row.metric} ({row.filter})"
    return Section(f"{row.model} on {row.task}, {metric}: {row.n_questions:,} questions", columns, lines)


def _ends(part: Component, row: Effects) -> str:
    return " to ".join(difference(end, in_points=row.is_share) for end in part.sd_interval)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
