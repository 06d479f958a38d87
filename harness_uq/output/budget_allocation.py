"""Allocations of a budget for readers: the answer, a table of runs, then warnings."""

from harness_uq.output.columns import metric_name
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.terminal import Cells
from harness_uq.results.budget_allocation import BudgetAllocation
from harness_uq.results.format_points import difference_number


def _section(plan: BudgetAllocation, _: int) -> Section:
    rows, unit = plan.rows, "points" if plan.is_share else "units"
    columns = [
        Cells("Run", [row.name for row in rows], is_number=False),
        Cells("Questions", [f"{row.questions:,}" for row in rows]),
        *(
            Cells(name.capitalize(), [f"{row.levels[name]:,}" for row in rows], name=name)
            for name in (rows[0].levels if rows else ())
        ),
        Cells("Trials", [str(row.trials) for row in rows]),
        Cells("Cost", [f"{row.cost:,.6g}" for row in rows]),
        Cells(
            f"Half-width, {unit}",
            [difference_number(row.half_width, in_points=plan.is_share) for row in rows],
            name="half-width",
        ),
    ]
    line = (
        f"Half-width: half the width of the {100 * plan.level:g}% interval of the mean score over new levels of "
        f"{', '.join(plan.new)}. Factors without a column keep their levels."
    )
    title = f"{plan.model} on {plan.task}, {metric_name(plan.metric, plan.filter)}"
    return Section(title, columns, ["", line], plan.answer)


KIND = ResultKind(BudgetAllocation, one_section_each(_section, "Allocations of the budget."))
