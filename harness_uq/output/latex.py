"""The format `latex`: tables for a paper, as wide as its text."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

from harness_uq.errors import DataError
from harness_uq.output.document import Document, Section, result_kind
from harness_uq.output.formats import RenderOptions, ResultSet
from harness_uq.output.latex_grid import grid_latex
from harness_uq.output.latex_table import table_latex
from harness_uq.output.percent import PERCENT_NOTE, in_percent
from harness_uq.output.terminal import Cells, legend_text

_DIGITS = 3


@dataclass(frozen=True, slots=True)
class _Latex:
    name: str = "latex"
    suffix: str = ".tex"
    accepts: Set[str] | None = None
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        digits = options.digits_or(1 if options.percent else _DIGITS)
        if options.percent:
            results = in_percent(results)
        lists = ((name, rows) for name, rows in results.tables.items() if rows)
        render = _grid if options.layout == "grid" else _tables
        return "\n".join(render(name, rows, digits, options) for name, rows in lists).strip("\n")


FORMAT = _Latex()


def _grid(name: str, rows: Sequence[object], digits: int, options: RenderOptions) -> str:
    """Results as systems by tasks.

    Raises
    ------
    DataError : if the results have no such layout
    """
    grid = result_kind(name).grid
    if grid is None:
        raise DataError(f"Layout 'grid' is not available for {name}; use 'rows'.")
    made = grid(rows, digits)
    return grid_latex(replace(made, notes=[*made.notes, *([PERCENT_NOTE] if options.percent else [])]), options)


def _tables(name: str, rows: Sequence[object], digits: int, options: RenderOptions) -> str:
    document = result_kind(name).document(rows, digits)
    if options.percent:
        document = replace(document, notes=[*document.notes, PERCENT_NOTE])
    sections = [section for section in document.sections if section.columns and not section.is_optional]
    same_columns = groupby(sections, key=lambda section: [column.name for column in section.columns])
    return "\n".join(_table(document, list(members), options) for _, members in same_columns)


def _table(document: Document, sections: Sequence[Section], options: RenderOptions) -> str:
    """Sections with the same columns as one table, with their titles as headings."""
    joined = [
        replace(column, texts=[text for section in sections for text in section.columns[k].texts])
        for k, column in enumerate(sections[0].columns)
    ]
    columns = _chosen(joined, options)
    titles = [section.title for section in sections for _ in section.columns[0].texts]
    headers = [column.header for column in columns]
    notes = [*_sentences(sections, headers), *document.notes, *document.footnotes.get("Warnings", ())]
    return table_latex(columns, options, document.caption, groups=titles, notes=list(dict.fromkeys(notes)))


def _chosen(columns: Sequence[Cells], options: RenderOptions) -> list[Cells]:
    section = Section("", columns)
    if options.columns is not None:
        return section.visible_columns(options.columns)
    return [column for column in section.visible_columns() if column.in_paper]


def _sentences(sections: Sequence[Section], headers: Sequence[str]) -> Iterator[str]:
    for section in sections:
        yield from section.answer.splitlines()
        yield from (line for line in section.lines if line)
    for section in sections:
        if legend := legend_text(section.legend, headers):
            yield legend
