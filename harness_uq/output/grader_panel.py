"""Panels of graders for readers: the mean score of several graders, and how many independent graders they are worth."""

from collections.abc import Sequence

from harness_uq.output.columns import format_interval, format_number
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header
from harness_uq.output.terminal import Cells
from harness_uq.results.grader import GraderPanel


def grader_panels_document(rows: Sequence[GraderPanel], digits: int = 4) -> Document:
    """One table of the mean scores of several graders."""
    intervals = [row.interval for row in rows]
    columns = [
        Cells("Task", [row.task for row in rows], is_number=False, wraps=True),
        Cells("System", [row.system for row in rows], is_number=False, wraps=True),
        Cells("Mean", [format_number(row.value, digits) for row in rows]),
        Cells(interval_header(intervals), [format_interval(one, digits) for one in intervals], name="interval"),
        Cells("Corrected", [format_number(row.corrected, digits) for row in rows]),
        Cells(
            "Corrected interval",
            ["-" if row.corrected is None else format_interval(row.corrected_interval, digits) for row in rows],
            name="corrected-interval",
        ),
        Cells("Labels", [str(row.n_labels) if row.n_labels else "-" for row in rows], spare=1),
        Cells("Questions", [str(row.n_questions) for row in rows], spare=2),
    ]
    legend = {
        "Mean": "Mean: mean score of the graders.",
        "Corrected": "Corrected: score that people would give, estimated from the mean scores and the labels.",
    }
    graders = dict.fromkeys(", ".join(row.graders) for row in rows)
    section = Section(f"Mean of {'; '.join(graders)}", columns, (), panels_answer(rows), legend)
    return Document([section], message_lists(rows), caption="Panels of graders.")


def panels_answer(rows: Sequence[GraderPanel]) -> str:
    """The effective number of graders of each panel, as sentences."""
    return " ".join(
        f"On {row.system}'s answers to {row.task}, the {len(row.graders)} graders are as precise as "
        f"{row.effective_graders:.1f} {format_interval(row.effective_interval, 1)} graders with independent errors."
        for row in rows
        if row.effective_graders is not None
    )


KIND = ResultKind(GraderPanel, grader_panels_document)
