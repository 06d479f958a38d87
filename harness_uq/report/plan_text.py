"""Plans as text, Markdown, LaTeX, CSV and JSON."""

from collections.abc import Mapping, Sequence

from harness_uq.report.attribution import footnotes
from harness_uq.report.cells import Section, document_json, records_csv, sections_markdown, sections_text
from harness_uq.report.columns import number
from harness_uq.report.comparison_text import Format
from harness_uq.report.latex import plan_latex
from harness_uq.report.page import Cells
from harness_uq.report.words import named
from harness_uq.results.flat import to_dicts
from harness_uq.results.plan import Plan, PlanRow


def plans_as(
    plans: Sequence[Plan], form: Format, *, errors: Sequence[Mapping[str, str]] = (), width: int | None = None
) -> str:
    """Plans in the form asked for.

    Parameters
    ----------
    plans : in the order to print
    form : as in `comparisons_as`; JSON is `{"schema": 1, "plans": [...], "errors": [...]}`
    errors : paths that could not be read, for the JSON form
    width : characters a line of the terminal form
    """
    if form == "json":
        return document_json("plans", [plan.to_dict() for plan in plans], errors)
    if form == "csv":
        return records_csv(to_dicts(plans))
    if form == "latex":
        return "\n".join(plan_latex(plan).strip("\n") for plan in plans if plan.rows)
    sections = [_section(plan) for plan in plans]
    said = footnotes(plans)
    return sections_markdown(sections, said) if form == "markdown" else sections_text(sections, said, width)


def _section(plan: Plan) -> Section:
    metric = plan.metric if plan.filter == "none" else f"{plan.metric} ({plan.filter})"
    title = f"{plan.task}, {metric}, from a pilot of {named(plan.systems)}" if plan.task else "Plan"
    if not plan.rows:
        return Section(title, [], answer=plan.answer)
    columns = [
        Cells("", [">" if row == plan.recommended else "" for row in plan.rows], is_number=False),
        Cells("Questions", [f"{row.n_questions:,}" for row in plan.rows]),
        Cells("Trials", [str(row.n_trials) for row in plan.rows]),
        Cells(f"Width of {100 * plan.level:g}% interval", [number(row.expected_width) for row in plan.rows]),
        Cells(f"Difference found ({100 * plan.power:g}%)", [number(row.detectable) for row in plan.rows]),
        Cells("Cost", [_cost(row) for row in plan.rows]),
    ]
    return Section(title, columns, ["", _basis(plan)], plan.answer)


def _cost(row: PlanRow) -> str:
    return "-" if row.cost is None else f"{row.cost:,.6g}"


def _basis(plan: Plan) -> str:
    """The variances that the plan rests on."""
    named = [
        ("between questions", plan.variance_between),
        ("between trials", plan.variance_within),
        ("of the difference", plan.variance_difference),
    ]
    parts = [f"{value:.4g} {name}" for name, value in named if value is not None]
    effects = {plan.design_effect: "design effect", plan.design_effect_difference or 1.0: "of the difference"}
    parts += [f"{name} {value:.2f}" for value, name in effects.items() if value != 1.0]
    return f"Rests on variances {', '.join(parts)}."
