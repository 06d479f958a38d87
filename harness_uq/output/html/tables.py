"""Tables of scores for the HTML report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from harness_uq.output.columns import Column, estimate_columns, format_number, metric_name
from harness_uq.output.document import Section
from harness_uq.output.error_ratio import error_ratio
from harness_uq.output.overall import overall_document
from harness_uq.plots.label_texts import counted, task_title
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import Overall
from harness_uq.results.ranking import Ranking

Cells: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """A table: headers, which of them hold numbers, and rows under headings; the first cell of a row is its header."""

    caption: str
    headers: Cells
    is_number: tuple[bool, ...]
    groups: tuple[tuple[str, tuple[Cells, ...]], ...]


def _table(caption: str, shown: Sequence[Column], rows: Sequence[Estimate]) -> TableView:
    ordered = by_task(rows)
    groups = tuple(
        (title, tuple(tuple(column.cell(row) for column in shown) for row in members)) for title, members in ordered
    )
    return TableView(caption, tuple(c.header for c in shown), tuple(c.is_number for c in shown), groups)


def by_task(rows: Iterable[Estimate]) -> list[tuple[str, list[Estimate]]]:
    """Estimates under the title of their task, metric and filter, in the order of first appearance."""
    groups: dict[str, list[Estimate]] = {}
    for row in rows:
        groups.setdefault(task_title(row.task, row.metric, row.filter), []).append(row)
    return list(groups.items())


def best_first(
    rows: Sequence[Estimate], comparisons: Sequence[Comparison], rankings: Sequence[Ranking]
) -> list[Estimate]:
    """Estimates by task, the best first, if comparisons and rankings show which direction is better."""
    lower = {(row.task, row.metric) for row in comparisons if not row.higher_is_better}
    for ranking in rankings:
        if ranking.systems[0].value < ranking.systems[-1].value:
            lower.add((ranking.task, ranking.metric))

    def order(row: Estimate) -> float:
        if row.value is None:
            return inf
        return row.value if (row.task, row.metric) in lower else -row.value

    return [row for _, members in by_task(rows) for row in sorted(members, key=order)]


def section_table(section: Section) -> TableView:
    """The visible columns of a section of a document."""
    columns = section.visible_columns()
    return TableView(
        section.title,
        tuple(column.header for column in columns),
        (False, *(column.is_number for column in columns[1:])),  # the first cell of a row is its header
        (("", tuple(zip(*(column.texts for column in columns), strict=True))),),
    )


def overall_view(overall: Overall) -> dict[str, object]:
    """The overall scores, and the tasks with their metrics and weights."""
    (section,) = overall_document([overall]).sections
    systems = section_table(section)
    rows = ((task.task, metric_name(task.metric, task.filter), format_number(task.weight, 3)) for task in overall.tasks)
    tasks = TableView(
        "Tasks of the overall score", ("Task", "Metric", "Weight"), (False, False, True), (("", tuple(rows)),)
    )
    return {"systems": systems, "tasks": tasks}


def scores_table(rows: Sequence[Estimate]) -> TableView:
    """Scores with intervals, by task; columns without content are left out."""
    columns = [
        column
        for column in estimate_columns(rows)
        if column.is_shown
        and column.name not in ("task", "metric")
        and any(column.cell(row) not in ("-", "") for row in rows)
    ]
    return _table("Scores with intervals, by task", [_SYSTEM, *columns], rows)


def ratio_table(rows: Sequence[Estimate]) -> TableView:
    """The standard errors of this report and of the harness, with the reason for their ratio."""
    ratios = {id(row): error_ratio(row) for row in rows}

    def ratio(row: Estimate) -> str:
        value = ratios[id(row)].value
        return "-" if value is None else f"{value:.2f}"

    columns = [
        _SYSTEM,
        Column("Harness SE", lambda row: format_number(row.harness.std_error), True),
        Column("SE here", lambda row: format_number(row.std_error), True),
        Column("Ratio", ratio, True),
        Column("Reason", lambda row: ratios[id(row)].reason),
    ]
    caption = "Standard errors of the harness and of this report"
    reasons = {ratios[id(row)].reason for row in rows}
    if len(reasons) == 1 < len(rows):
        return _table(f"{caption}. Reason for all scores: {reasons.pop()}", columns[:-1], rows)
    return _table(caption, columns, rows)


def variance_table(rows: Sequence[Estimate]) -> TableView | None:
    """Variance components, correlation and design effect; None if no score has any."""
    candidates = [
        Column("Variance between", lambda row: format_number(row.variance_between), True),
        Column("Variance within", lambda row: format_number(row.variance_within), True),
        Column("ICC", lambda row: format_number(row.icc, 2), True),
        Column("Design effect", lambda row: format_number(row.design_effect, 2), True),
        Column("Effective questions", lambda row: format_number(row.effective_questions, 0), True),
    ]
    with_variance = [row for row in rows if any(column.cell(row) != "-" for column in candidates)]
    if not with_variance:
        return None
    columns = [column for column in candidates if any(column.cell(row) != "-" for row in with_variance)]
    units = Column("Units", _units)
    return _table("Variance components of the scores", [_SYSTEM, units, *columns], with_variance)


def _units(row: Estimate) -> str:
    if row.n_clusters:
        return f"{row.n_clusters} {row.cluster_key}"
    return counted(row.n_questions, "question") if row.n_questions else "-"


_SYSTEM = Column("System", lambda row: row.system)
