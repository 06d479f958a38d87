"""Estimates for readers: a table per system, then warnings and notes."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.output.columns import (
    estimate_columns,
    format_interval,
    format_number,
    legend,
)
from harness_uq.output.document import Document, Grid, GridCell, ResultKind, Section, count_cells
from harness_uq.output.footnotes import footnotes, sentences, warnings_of
from harness_uq.output.phrases import missing_sentence
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import task_title
from harness_uq.results.estimate import Estimate


def estimates_document(rows: Sequence[Estimate], digits: int = 4) -> Document:
    """Estimates by system; each run of a system has its harness and version in the title."""
    systems: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        systems.setdefault(_title(row), []).append(k)
    columns = _columns(rows, digits)
    sections = [
        Section(
            title,
            [_at(column, members) for column in columns],
            answer=missing_sentence([rows[k] for k in members]),
            group="System",
        )
        for title, members in systems.items()
    ]
    if sections:
        sections[-1] = replace(sections[-1], legend=legend(rows))
    return Document(sections, footnotes(rows), caption="Scores with intervals.", notes=_methods(rows))


def _columns(rows: Sequence[Estimate], digits: int) -> list[Cells]:
    columns: list[Cells] = []
    for column in estimate_columns(rows, digits):
        texts = [column.cell(row) for row in rows]
        short: list[Cells] | None = None
        if column.name == "questions":
            both, _ = count_cells(texts, [row.n_clusters for row in rows], [row.cluster_key for row in rows])
            short = list(both.short or ())
        elif column.name == "clusters":
            short = []
        columns.append(
            Cells(
                column.header,
                texts,
                column.is_number,
                column.spare,
                short,
                name=column.name,
                is_shown=column.is_shown,
                in_paper=column.in_paper,
                wraps=column.name == "task",
            )
        )
    return columns


def _at(column: Cells, rows: Sequence[int]) -> Cells:
    """The column of some of the rows."""
    short = None if column.short is None else [_at(one, rows) for one in column.short]
    return replace(column, texts=[column.texts[k] for k in rows], short=short)


def _title(row: Estimate) -> str:
    version = f" {row.source.version}" if row.source.version else ""
    return f"{row.system} ({row.source.harness}{version})"


def _methods(rows: Sequence[Estimate]) -> list[str]:
    """The methods of the intervals as one sentence, with their tasks if there are several."""
    tasks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.interval is not None:
            tasks.setdefault(f"{row.method}, {row.interval.kind}", {})[row.task] = None
    if len(tasks) == 1:
        return [f"Method of the intervals: {next(iter(tasks))}."]
    parts = [f"{method} ({', '.join(names)})" for method, names in tasks.items()]
    return [f"Methods of the intervals: {'; '.join(parts)}."] if parts else []


def estimates_grid(rows: Sequence[Estimate], digits: int) -> Grid:
    """Systems by tasks; if a system ran a task several times, its last run is used."""
    cells = {
        (row.system, task_title(row.task, row.metric, row.filter)): GridCell(
            format_number(row.value, digits), format_interval(row.interval, digits)
        )
        for row in rows
    }
    level = next((row.interval.level for row in rows if row.interval), 0.95)
    notes = [f"{100 * level:g}% intervals are below the scores.", *sentences(warnings_of(rows))]
    return Grid(cells, "Scores with intervals.", notes)


KIND = ResultKind(Estimate, estimates_document, grid=estimates_grid)


def estimates_table(rows: Sequence[Estimate], *, width: int | None = None) -> str:
    """Estimates as text: a table per system, then each warning and note once.

    Parameters
    ----------
    rows : in the order to print
    width : characters per line; None takes the width of the terminal, or as many as needed without one
    """
    from harness_uq.output.text import document_text
    from harness_uq.results.result_set import RenderOptions

    return document_text(estimates_document(rows), RenderOptions(width=width))
