"""Plans of graders for readers: the recommendation, and a table of designs with the same number of grades."""

from harness_uq.output.columns import format_number
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.terminal import Cells
from harness_uq.results.grader_plan import GraderPlan


def _section(plan: GraderPlan, digits: int) -> Section:
    designs = plan.designs
    columns = [
        Cells("Design", [one.design for one in designs]),
        Cells("Answers", [f"{one.n_answers:,}" for one in designs]),
        Cells("Graders per answer", [f"{one.n_per_answer:,}" for one in designs], name="per-answer"),
        Cells("Std. error", [format_number(one.std_error, digits) for one in designs], name="std-error"),
    ]
    legend = {
        "Design": "Design: rotation lets the graders take turns.",
        "Std. error": (
            "Std. error: standard error of the mean score as an estimate of the mean score of all graders on new "
            "questions; for one grader it includes the difference between this grader and the others."
        ),
    }
    title = f"{plan.system} on {plan.task}, graders {', '.join(plan.graders)}"
    lines = (
        [f"The standard errors account for clusters of questions ({plan.n_clusters} in the pilot)."]
        if plan.designs and plan.n_clusters
        else []
    )
    return Section(title, columns, lines, plan.answer, legend)


KIND = ResultKind(GraderPlan, one_section_each(_section, "Designs of graders."))
