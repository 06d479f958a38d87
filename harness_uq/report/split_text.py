"""Splits of a budget as text, Markdown, LaTeX, CSV and JSON."""

from collections.abc import Mapping, Sequence

from harness_uq.report.cells import Section, document_json, records_csv, sections_markdown, sections_text
from harness_uq.report.comparison_text import Format
from harness_uq.report.latex import sections_latex
from harness_uq.report.page import Cells
from harness_uq.results.points import number
from harness_uq.results.split import SplitPlan


def splits_as(
    found: Sequence[SplitPlan], form: Format, *, errors: Sequence[Mapping[str, str]] = (), width: int | None = None
) -> str:
    """Splits in the form asked for; CSV has a record a row, JSON `{"schema": 1, "splits": [...]}`."""
    if form == "json":
        return document_json("splits", [plan.to_dict() for plan in found], errors)
    if form == "csv":
        return records_csv([record for plan in found for record in _records(plan)])
    sections = [_section(plan) for plan in found]
    if form == "latex":
        return sections_latex(sections)
    notes = {"Warnings": [text for plan in found for text in plan.warnings]}
    return sections_markdown(sections, notes) if form == "markdown" else sections_text(sections, notes, width)


def _records(plan: SplitPlan) -> list[dict[str, object]]:
    own = {"model": plan.model, "task": plan.task, "metric": plan.metric, "filter": plan.filter}
    return [
        {
            **own,
            "name": row.name,
            "questions": row.questions,
            "trials": row.trials,
            **row.levels,
            "cost": row.cost,
            "half_width": row.half_width,
        }
        for row in plan.rows
    ]


def _section(plan: SplitPlan) -> Section:
    rows, unit = plan.rows, "points" if plan.is_share else "units"
    columns = [
        Cells("Run", [row.name for row in rows], is_number=False),
        Cells("Questions", [f"{row.questions:,}" for row in rows]),
        *(Cells(name.capitalize(), [f"{row.levels[name]:,}" for row in rows]) for name in rows[0].levels),
        Cells("Trials", [str(row.trials) for row in rows]),
        Cells("Cost", [f"{row.cost:,.6g}" for row in rows]),
        Cells(f"± {unit}, {100 * plan.level:g}%", [number(row.half_width, in_points=plan.is_share) for row in rows]),
    ]
    metric = plan.metric if plan.filter == "none" else f"{plan.metric} ({plan.filter})"
    lines = ["", f"About new levels of {', '.join(plan.new)}; what is not named stays as it is."]
    return Section(f"{plan.model} on {plan.task}, {metric}", columns, lines, plan.answer)
