"""Differences between graders for readers: a sentence for each difference that the data show, and a table."""

from collections.abc import Sequence

from harness_uq.output.columns import format_interval, format_number
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header, percent, probability
from harness_uq.output.terminal import Cells
from harness_uq.results.grader import GraderDifference

_COLOURS = {"higher": "red", "lower": "red", "undecided": "yellow"}


def grader_differences_document(rows: Sequence[GraderDifference], digits: int = 4) -> Document:
    """One table of all differences."""
    intervals = [row.interval for row in rows]
    columns = [
        Cells("A", [row.grader_a for row in rows], is_number=False, wraps=True, name="grader-a"),
        Cells("B", [row.grader_b for row in rows], is_number=False, wraps=True, name="grader-b"),
        Cells("Task", _unless_constant([row.task for row in rows]), is_number=False, wraps=True),
        Cells("System", _unless_constant([row.system for row in rows]), is_number=False, wraps=True),
        Cells("A − B", [format_number(row.value, digits) for row in rows], name="difference"),
        Cells(interval_header(intervals), [format_interval(one, digits) for one in intervals], name="interval"),
        Cells("Different", [percent(row.share_different) for row in rows], spare=1),
        Cells("Questions", [str(row.n_questions) for row in rows], spare=2),
        Cells("Adjusted p", [probability(row.adjusted_p) for row in rows], spare=3),
        Cells("Verdict", [row.verdict for row in rows], is_number=False, styles=_COLOURS),
    ]
    legend = {
        "Different": "Different: share of the answers to which the graders give different scores.",
        "Adjusted p": "Adjusted p: two-sided p-value, corrected by Holm's method for the number of differences.",
    }
    section = Section("Graders of the same answers", columns, (), difference_answer(rows), legend)
    return Document([section], message_lists(rows), caption="Differences between graders.")


def difference_answer(rows: Sequence[GraderDifference]) -> str:
    """Which graders score the same answers higher or lower than others."""
    decided = [row for row in rows if row.verdict != "undecided"]
    if not decided:
        return "The data show no difference between the mean scores of graders of the same answers."
    return " ".join(
        f"{row.grader_a} scores the answers of {row.system} to {row.task} {row.verdict} than {row.grader_b}."
        for row in decided
    )


def _unless_constant(texts: Sequence[str]) -> list[str]:
    """The texts, or dashes if all are equal, so that the column is not shown."""
    return list(texts) if len(set(texts)) > 1 else ["-"] * len(texts)


KIND = ResultKind(GraderDifference, grader_differences_document)
