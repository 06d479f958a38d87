"""Plans for readers: the answer, a table of designs, then warnings and notes."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import footnotes
from harness_uq.output.phrases import join_names
from harness_uq.output.terminal import Cells
from harness_uq.results.plan import Plan


def plans_document(plans: Sequence[Plan], digits: int = 4) -> Document:
    """One table of designs for each plan."""
    sections = [_section(plan, digits) for plan in plans]
    if with_table := [k for k, section in enumerate(sections) if section.columns]:
        sections[with_table[-1]] = replace(sections[with_table[-1]], legend=_legend(plans))
    return Document(sections, footnotes(plans), caption="Designs of the next run.")


def _section(plan: Plan, digits: int) -> Section:
    title = "Plan"
    if plan.task:
        title = f"{plan.task}, {metric_name(plan.metric, plan.filter)}; pilot: {join_names(plan.systems)}"
    if not plan.rows:
        return Section(title, [], answer=plan.answer)
    columns = [
        Cells("", [">" if row == plan.recommended else "" for row in plan.rows], is_number=False, name="recommended"),
        Cells("Questions", [f"{row.n_questions:,}" for row in plan.rows]),
        Cells("Trials", [str(row.n_trials) for row in plan.rows]),
        Cells(
            f"Width of {100 * plan.level:g}% interval",
            [format_number(row.expected_width, digits) for row in plan.rows],
            name="width",
        ),
        Cells(
            _mde_header(plan),
            [format_number(row.detectable, digits) for row in plan.rows],
            name="mde",
        ),
        Cells("Cost", ["-" if row.cost is None else f"{row.cost:,.6g}" for row in plan.rows]),
    ]
    return Section(title, columns, ["", _basis(plan)], plan.answer)


def _legend(plans: Sequence[Plan]) -> dict[str, str]:
    return {
        "": "> marks the recommended design." if any(plan.recommended for plan in plans) else "",
        _mde_header(plans[0]): "MDE: minimum detectable effect, the smallest difference between two systems that is "
        "detected with this power.",
    }


def _mde_header(plan: Plan) -> str:
    return f"MDE ({100 * plan.power:g}% power)"


def _basis(plan: Plan) -> str:
    """The variances behind the plan, as one sentence."""
    variances = [
        ("between questions", plan.variance_between),
        ("between trials", plan.variance_within),
        ("of the difference", plan.variance_difference),
    ]
    parts = [f"{value:.4g} {name}" for name, value in variances if value is not None]
    effects = {
        "design effect": plan.design_effect,
        "design effect of the difference": plan.design_effect_difference or 1.0,
    }
    parts += [f"{name} {value:.2f}" for name, value in effects.items() if value != 1.0]
    return f"The plan assumes these variances: {', '.join(parts)}." if parts else ""


KIND = ResultKind(Plan, plans_document)
