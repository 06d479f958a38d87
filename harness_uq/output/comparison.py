"""Comparisons for readers: a headline, a table per pair of systems, the reasons, then warnings and notes."""

from collections.abc import Sequence

from harness_uq.output.columns import decimals_of, format_interval, format_number, metric_name
from harness_uq.output.comparison_headline import comparison_answer, reasons
from harness_uq.output.document import Document, ResultKind, Section, count_cells
from harness_uq.output.footnotes import footnotes
from harness_uq.output.phrases import difference_header, join_names, percent, probability
from harness_uq.output.terminal import Cells
from harness_uq.plots.figure_rows import displayed_task
from harness_uq.results.comparison import Comparison

_COLOURS = {"better": "green", "worse": "red", "equivalent": "cyan", "undecided": "yellow"}


def comparisons_document(rows: Sequence[Comparison], digits: int = 4) -> Document:
    """Comparisons by pair of systems."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        pairs.setdefault((row.system_a, row.system_b), []).append(row)
    sections = [_section(pair, digits) for pair in pairs.values()]
    return Document(sections, footnotes(rows), caption="Differences between systems.")


def _section(rows: Sequence[Comparison], digits: int) -> Section:
    lines = reasons(rows)
    return Section(
        f"A: {rows[0].system_a}, B: {rows[0].system_b}",
        _columns(rows, digits),
        ["", *lines] if lines else [],
        comparison_answer(rows),
        _legend(rows),
        if_hidden={"A − B": f"{difference_header(rows)}: interval of the difference A − B."},
    )


def _columns(rows: Sequence[Comparison], digits: int) -> list[Cells]:
    several_metrics = len({(row.metric, row.filter) for row in rows}) > 1
    differences = [row.difference for row in rows]
    decimals = [decimals_of(row.metric, row.value_b, digits) for row in rows]
    intervals = [
        format_interval(one.interval if one else None, places)
        for one, places in zip(differences, decimals, strict=True)
    ]
    discordant = [f"{row.table.only_a}:{row.table.only_b}" if row.table else "-" for row in rows]
    needed = [f"+{row.n_additional_questions:,}" if row.n_additional_questions else "-" for row in rows]
    return [
        Cells("Task", [displayed_task(row) for row in rows], is_number=False, wraps=True),
        Cells(
            "Metric",
            [metric_name(row.metric, row.filter) for row in rows],
            is_number=False,
            spare=0 if several_metrics else 1,
            in_paper=several_metrics,
            wraps=True,
        ),
        Cells("A", [format_number(row.value_a, places) for row, places in zip(rows, decimals, strict=True)]),
        Cells("B", [format_number(row.value_b, places) for row, places in zip(rows, decimals, strict=True)]),
        Cells(
            "A − B",
            [
                format_number(one.value if one else None, places)
                for one, places in zip(differences, decimals, strict=True)
            ],
            spare=2,
            name="difference",
        ),
        Cells(difference_header(rows), intervals, name="interval"),
        Cells("P(A > B)", [probability(row.prob_positive) for row in rows], spare=4, name="probability"),
        Cells(
            "P(not worse)",
            [probability(row.prob_noninferior) if row.margin else "-" for row in rows],
            spare=8,
            name="noninferior",
            in_paper=False,
        ),
        Cells("Only A:B", discordant, spare=6, name="only", in_paper=False),
        Cells("Odds ratio", [format_number(row.odds_ratio, 2) for row in rows], spare=7, in_paper=False),
        Cells(
            "Var. reduction",
            [percent(row.variance_reduction) for row in rows],
            spare=8,
            name="variance-reduction",
            in_paper=False,
        ),
        *count_cells(
            [_questions(row) for row in rows],
            [row.n_clusters for row in rows],
            [row.cluster_key for row in rows],
            spare=1,
        ),
        Cells("Method", [row.method for row in rows], is_number=False, spare=9, in_paper=False),
        Cells("MDE", [format_number(row.minimum_detectable_effect, 3) for row in rows], spare=5, in_paper=False),
        Cells("N needed", needed, spare=3, in_paper=False),
        Cells("Verdict", [row.headline_verdict for row in rows], is_number=False, styles=_COLOURS),
        Cells(
            "Alone",
            [row.verdict for row in rows],
            is_number=False,
            spare=4,
            is_shown=any(row.verdict != row.headline_verdict for row in rows),
        ),
    ]


def _legend(rows: Sequence[Comparison]) -> dict[str, str]:
    lower = [row.metric for row in rows if not row.higher_is_better]
    sought = "the margin" if any(row.margin for row in rows) else "the observed one"
    return {
        "P(A > B)": "P(A > B): posterior probability that A scores higher than B.",
        "P(not worse)": "P(not worse): probability that A is not worse than B by more than the margin.",
        "Only A:B": "Only A:B: number of questions that only A and only B answered correctly.",
        "Odds ratio": "Odds ratio: odds of a correct answer of A divided by those of B.",
        "Var. reduction": "Var. reduction: share of the variance that pairing by question removes.",
        "MDE": "MDE: minimum detectable effect, the difference that 80 % of such runs would detect.",
        "N needed": f"N needed: additional questions to detect a difference as large as {sought} with 80 % power.",
        "Alone": "Alone: verdict without correction for the number of tasks (Holm's method).",
        "": f"Lower scores are better for {join_names(lower)}." if lower else "",
    }


def _questions(row: Comparison) -> str:
    if row.n_matched is None:
        counts = (row.n_unmatched_a, row.n_unmatched_b)
        return "-" if None in counts else f"{counts[0]}, {counts[1]} unmatched"
    return str(row.n_matched) if (row.n_trials or 1) == 1 else f"{row.n_matched}×{row.n_trials}"


KIND = ResultKind(Comparison, comparisons_document)


def comparisons_table(rows: Sequence[Comparison], *, width: int | None = None) -> str:
    """Comparisons as text.

    Parameters
    ----------
    rows : in the order to print
    width : characters per line; None takes the width of the terminal, or as many as needed without one
    """
    from harness_uq.output.text import document_text
    from harness_uq.results.result_set import RenderOptions

    return document_text(comparisons_document(rows), RenderOptions(width=width))
