"""Comparisons as text, Markdown, LaTeX, CSV and JSON."""

from collections.abc import Mapping, Sequence
from typing import Literal

from harness_uq.plots.rows import task_title
from harness_uq.report.answers import comparison_answer, reasons
from harness_uq.report.attribution import footnotes
from harness_uq.report.cells import Section, counts_of, document_json, records_csv, sections_markdown, sections_text
from harness_uq.report.columns import interval, number
from harness_uq.report.latex import comparisons_latex
from harness_uq.report.page import Cells
from harness_uq.report.words import difference_header, named, probability
from harness_uq.results.comparison import Comparison, Disagreements
from harness_uq.results.flat import to_dicts

Format = Literal["table", "json", "csv", "markdown", "latex"]


def comparisons_as(
    rows: Sequence[Comparison],
    form: Format,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    width: int | None = None,
    disagreements: Sequence[Disagreements] = (),
) -> str:
    """Comparisons in the form asked for.

    Parameters
    ----------
    rows : in the order to print
    form : `table` for a terminal, `json` (schema 1, `{"schema": 1, "comparisons": [...], "errors": [...]}`), `csv`,
        `markdown` or `latex`
    errors : paths that could not be read, for the JSON form
    width : characters a line of the terminal form
    disagreements : questions on which the systems differ, for the text, Markdown and JSON forms, where it is one more
        list of that name
    """
    if form == "json":
        more = {"disagreements": [found.to_dict() for found in disagreements]} if disagreements else {}
        return document_json("comparisons", [row.to_dict() for row in rows], errors, more=more)
    if form == "csv":
        return records_csv(to_dicts(rows))
    if form == "latex":
        return comparisons_latex(rows).strip("\n")
    sections = [_section(rows)] if rows else []
    sections += [_questions_apart(found) for found in disagreements]
    if form == "markdown":
        return sections_markdown(sections, footnotes(rows))
    return sections_text(sections, footnotes(rows), width)


def _section(rows: Sequence[Comparison]) -> Section:
    a, b = rows[0].system_a, rows[0].system_b
    questions = [_questions(row) for row in rows]
    columns = [
        Cells("Task", [row.task for row in rows], is_number=False),
        Cells("Metric", [_metric(row) for row in rows], is_number=False),
        Cells("A", [number(row.value_a) for row in rows], spare=2),
        Cells("B", [number(row.value_b) for row in rows], spare=2),
        Cells("A - B", [number(row.difference.value if row.difference else None) for row in rows]),
        Cells(difference_header(rows), [interval(row.difference.interval if row.difference else None) for row in rows]),
        Cells("P(A > B)", [probability(row.prob_positive) for row in rows], spare=3),
        Cells("Only A:B", [f"{row.table[1]}:{row.table[2]}" if row.table else "-" for row in rows], spare=5),
        Cells("Odds ratio", [number(row.odds_ratio, 2) for row in rows], spare=6),
        Cells("Saved", [_percent(row.variance_saved) for row in rows], spare=7),
        *counts_of(questions, [row.n_clusters for row in rows], [row.cluster_key for row in rows]),
        Cells("Method", [row.method for row in rows], is_number=False, spare=8),
        Cells("Would show", [number(row.smallest_detectable, 3) for row in rows], spare=4),
        Cells("Needs", [f"+{n:,}" if (n := row.n_more_questions) else "-" for row in rows], spare=1),
        Cells("Verdict", [row.verdict for row in rows], is_number=False, styles=_COLOURS),
    ]
    return Section(
        f"A: {a}   B: {b}",
        columns,
        ["", *said] if (said := reasons(rows)) else [],
        comparison_answer(rows),
        _legend(rows),
    )


def _questions_apart(found: Disagreements) -> Section:
    columns = [
        Cells("Question", [question.id for question in found.questions], is_number=False),
        Cells("A", [number(question.value_a) for question in found.questions]),
        Cells("B", [number(question.value_b) for question in found.questions]),
    ]
    apart = found.n_a_better + found.n_b_better
    title = (
        f"{task_title(found.task, found.metric, found.filter)}: they differ on {apart} of {found.n_questions} "
        f"questions; A is better on {found.n_a_better}, B on {found.n_b_better}"
    )
    return Section(title, columns)


_COLOURS = {"better": "green", "worse": "red", "equivalent": "cyan", "undecided": "yellow"}


def _legend(rows: Sequence[Comparison]) -> dict[str, str]:
    lower = [row.metric for row in rows if not row.higher_is_better]
    sought = "the margin" if any(row.margin for row in rows) else "the one seen"
    return {
        "P(A > B)": "P(A > B): probability that A's score is higher, given these data.",
        "Only A:B": "Only A:B: questions that only A, only B got right.",
        "Odds ratio": "Odds ratio: of right answers, A's over B's; of matched questions, of those only one got right.",
        "Saved": "Saved: share of the variance that matching the questions removed.",
        "Would show": "Would show: difference that would have shown in 80 of 100 such runs.",
        "Needs": f"Needs: more questions to show a difference as large as {sought}.",
        "": f"Lower is better: {named(lower)}." if lower else "",
    }


def _metric(row: Comparison) -> str:
    return row.metric if row.filter == "none" else f"{row.metric} ({row.filter})"


def _questions(row: Comparison) -> str:
    if row.n_matched is None:
        counts = (row.n_unmatched_a, row.n_unmatched_b)
        return "-" if None in counts else f"{counts[0]}, {counts[1]} unmatched"
    return str(row.n_matched) if (row.n_trials or 1) == 1 else f"{row.n_matched}×{row.n_trials}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
