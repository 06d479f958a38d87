"""Plans of labels for readers: the recommendation, and a table of the questions to label by their grades."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.terminal import Cells
from harness_uq.results.label_plan import LabelPlan, total_of


def label_plans_document(plans: Sequence[LabelPlan], digits: int = 4) -> Document:
    """One table of strata for each plan, and the number of labels of plans of different tasks."""
    sections = [_section(plan, digits) for plan in plans]
    if (total := total_of(plans)) is not None:
        n = total.n_new_labels
        line = f"Together, the {total.n_plans} plans require {n:,} more label{'' if n == 1 else 's'}."
        sections[-1] = replace(sections[-1], lines=(line,))
    return Document(sections, message_lists(plans), caption="Answers to label.")


def _section(plan: LabelPlan, digits: int) -> Section:
    counts = [(one.n_questions, one.n_pilot, max(0, one.n_labels - one.n_pilot)) for one in plan.strata]
    shares = [one.probability for one in plan.strata]
    has_total = len(counts) > 1
    if has_total:
        counts.append((sum(n for n, _, _ in counts), sum(n for _, n, _ in counts), sum(n for _, _, n in counts)))
        shares.append(plan.n_labels / counts[-1][0])
    columns = [
        *(
            Cells(
                "Grade" if len(plan.systems) == 1 else f"Grade of {system}",
                [
                    *(format_number(one.grades[i], digits if one.grades[i] % 1 else 0) for one in plan.strata),
                    *["all"] * has_total,
                ],
                name=f"grade-{i + 1}",
            )
            for i, system in enumerate(plan.systems)
        ),
        Cells("Questions", [f"{n:,}" for n, _, _ in counts]),
        Cells("Labeled", [f"{n:,}" for _, n, _ in counts]),
        Cells("To label", [f"{n:,}" for _, _, n in counts], name="to-label"),
        Cells("Probability", [f"{share:.3f}" for share in shares], spare=1),
    ]
    legend = {"Probability": "Probability: share of the questions that have a label in the end."}
    title = f"{', '.join(plan.systems)} on {plan.task}, {metric_name(plan.metric, plan.filter)}"
    return Section(title, columns, (), plan.answer, legend)


KIND = ResultKind(LabelPlan, label_plans_document, total=total_of)
