"""Preference of graders for systems of their own family for readers: a sentence and a line for each grader."""

from collections.abc import Sequence

from harness_uq.output.columns import format_interval, format_number
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header, join_names, probability
from harness_uq.output.terminal import Cells
from harness_uq.results.grader import SelfPreference

_COLOURS = {"higher": "red", "lower": "red", "undecided": "yellow"}


def self_preferences_document(rows: Sequence[SelfPreference], digits: int = 4) -> Document:
    """One table of all graders and tasks."""
    intervals = [row.interval for row in rows]
    columns = [
        Cells("Grader", [row.grader for row in rows], is_number=False, wraps=True),
        Cells("Task", [row.task for row in rows], is_number=False, wraps=True),
        Cells("Own − others", [format_number(row.value, digits) for row in rows], name="difference"),
        Cells(interval_header(intervals), [format_interval(one, digits) for one in intervals], name="interval"),
        Cells("Questions", [str(row.n_questions) for row in rows], spare=1),
        Cells("Adjusted p", [probability(row.adjusted_p) for row in rows], spare=2),
        Cells("Verdict", [row.verdict for row in rows], is_number=False, styles=_COLOURS),
    ]
    first = rows[0]
    title = f"Self-preference (own family: {join_names(first.own)}; others: {join_names(first.others)})"
    legend = {
        "Own − others": "Own − others: mean error (score minus label) on the answers of the grader's family, minus "
        "that on the answers of the other systems to the same questions.",
        "Adjusted p": "Adjusted p: two-sided p-value, corrected by Holm's method for the number of lines.",
    }
    section = Section(title, columns, (), preference_answer(rows), legend)
    return Document([section], message_lists(rows), caption="Self-preference of graders.")


def preference_answer(rows: Sequence[SelfPreference]) -> str:
    """Which graders overrate their own family, or the other systems."""
    sentences = [
        f"{row.grader} overrates {'its own family' if row.verdict == 'higher' else 'the other systems'} more on "
        f"{row.task}, by {abs(row.value or 0.0):.3f}."
        for row in rows
        if row.verdict != "undecided"
    ]
    return " ".join(sentences) or "The labels show no preference of the grader for systems of its own family."


KIND = ResultKind(SelfPreference, self_preferences_document)
