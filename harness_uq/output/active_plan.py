"""Plans of active evaluations for readers: the answer, and a table of numbers of questions."""

from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.terminal import Cells
from harness_uq.results.active_plan import ActivePlan


def _section(plan: ActivePlan, digits: int) -> Section:
    title = f"{plan.task}, {metric_name(plan.metric, plan.filter)}"
    if not plan.rows:
        return Section(title, [], answer=plan.answer)
    marks = [">" if row.n_questions == plan.recommended else "" for row in plan.rows]
    columns = [
        Cells("", marks, is_number=False, name="recommended"),
        Cells("Questions", [f"{row.n_questions:,}" for row in plan.rows]),
        Cells("Width", [format_number(row.expected_width, digits) for row in plan.rows]),
        Cells("± (simulation)", [format_number(row.std_error, digits) for row in plan.rows], name="std-error"),
        Cells(
            "Width if random", [format_number(row.expected_width_uniform, digits) for row in plan.rows], name="uniform"
        ),
    ]
    legend = {
        "": "> marks the recommended number of questions." if plan.recommended else "",
        "± (simulation)": "± (simulation): Monte Carlo standard error of the width.",
        "Width if random": "Width if random: of the mean score of as many questions that are drawn at random.",
    }
    basis = (
        f"The widths are means over {plan.n_simulated} of the {plan.n_systems} reference systems, evaluated as if they "
        "were new."
    )
    return Section(title, columns, ["", basis], plan.answer, legend)


KIND = ResultKind(ActivePlan, one_section_each(_section, "Expected widths."))
