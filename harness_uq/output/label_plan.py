"""Plans of labels for readers: the recommendation, and a table of the questions to label by their grades."""

from collections.abc import Sequence

from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.terminal import Cells
from harness_uq.results.label_plan import LabelPlan


def label_plans_document(plans: Sequence[LabelPlan], digits: int = 4) -> Document:
    """One table of strata for each plan."""
    return Document([_section(plan, digits) for plan in plans], message_lists(plans), caption="Answers to label.")


def _section(plan: LabelPlan, digits: int) -> Section:
    strata = plan.strata
    columns = [
        *(
            Cells(
                "Grade" if len(plan.systems) == 1 else f"Grade of {system}",
                [format_number(one.grades[i], digits if one.grades[i] % 1 else 0) for one in strata],
                name=f"grade-{i + 1}",
            )
            for i, system in enumerate(plan.systems)
        ),
        Cells("Questions", [f"{one.n_questions:,}" for one in strata]),
        Cells("Labeled", [f"{one.n_pilot:,}" for one in strata]),
        Cells("To label", [f"{max(0, one.n_labels - one.n_pilot):,}" for one in strata], name="to-label"),
        Cells("Probability", [f"{one.probability:.3f}" for one in strata], spare=1),
    ]
    legend = {"Probability": "Probability: share of the questions that have a label in the end."}
    title = f"{', '.join(plan.systems)} on {plan.task}, {metric_name(plan.metric, plan.filter)}"
    return Section(title, columns, (), plan.answer, legend)


KIND = ResultKind(LabelPlan, label_plans_document)
