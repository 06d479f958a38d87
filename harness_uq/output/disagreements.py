"""Questions on which two systems differ, for readers: a table per task."""

from harness_uq.output.columns import format_number
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted, task_title
from harness_uq.results.comparison import Disagreements


def _section(row: Disagreements, digits: int) -> Section:
    columns = [
        Cells("Question", [question.id for question in row.questions], is_number=False, wraps=True),
        Cells("A", [format_number(question.value_a, digits) for question in row.questions]),
        Cells("B", [format_number(question.value_b, digits) for question in row.questions]),
    ]
    if any(question.probability is not None for question in row.questions):
        flaky = {True: "yes", False: "no", None: "-"}
        columns += [
            Cells("P(differ)", [format_number(question.probability, 3) for question in row.questions]),
            Cells("Flaky", [flaky[question.is_flaky] for question in row.questions], is_number=False),
        ]
    n = row.n_a_better + row.n_b_better
    name = task_title(row.task, row.metric, row.filter)
    title = (
        f"{name}: A and B differ on {n} of {counted(row.n_questions, 'question')}; A is better on {row.n_a_better}, "
        f"B on {row.n_b_better}"
    )
    return Section(title, columns)


KIND = ResultKind(Disagreements, one_section_each(_section, "Questions on which the systems differ."))
