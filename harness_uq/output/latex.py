"""The format `latex`: tables for a paper, as wide as its text."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

from harness_uq.errors import DataError
from harness_uq.output.document import Document, Section, require_columns, result_kind
from harness_uq.output.latex_grid import grid_latex
from harness_uq.output.latex_table import table_latex
from harness_uq.output.percent import in_percent
from harness_uq.output.table_documents import PERCENT_NOTE
from harness_uq.output.terminal import Cells, legend_text
from harness_uq.results.result_set import RenderOptions, ResultSet

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
        lists = [(name, rows) for name, rows in results.tables.items() if rows]
        if options.layout == "grid":
            tables = [_grid(name, rows, digits, options) for name, rows in lists]
        else:
            documents = [result_kind(name).document(rows, digits) for name, rows in lists]
            tables = list(_tables([_for_paper(document, options) for document in documents], options))
        return "\n".join(tables).strip("\n")


FORMAT = _Latex()


def _grid(name: str, rows: Sequence[object], digits: int, options: RenderOptions) -> str:
    """Results as systems by tasks.

    Raises
    ------
    DataError : if the results have no such layout, or columns are selected
    """
    if options.columns is not None:
        raise DataError("Layout 'grid' has no columns to select. Use layout 'rows', or select no columns.")
    grid = result_kind(name).grid
    if grid is None:
        raise DataError(f"Layout 'grid' is not available for {name}; use 'rows'.")
    made = grid(rows, digits)
    return grid_latex(replace(made, notes=[*made.notes, *([PERCENT_NOTE] if options.percent else [])]), options)


def _for_paper(document: Document, options: RenderOptions) -> Document:
    """The document with the tables that belong in a paper."""
    sections = [section for section in document.sections if section.columns and not section.is_optional]
    return replace(document, sections=sections, notes=[*document.notes, *([PERCENT_NOTE] if options.percent else [])])


def _tables(documents: Sequence[Document], options: RenderOptions) -> Iterator[str]:
    """The tables of the documents; those without any of the selected columns are left out.

    Raises
    ------
    DataError : if no table has a column that the options name
    """
    if options.columns is not None:
        require_columns([section for document in documents for section in document.sections], options.columns)
    for document in documents:
        sections = [one for one in document.sections if options.columns is None or one.visible_columns(options.columns)]
        for _, members in groupby(sections, key=lambda section: [column.name for column in section.columns]):
            yield _table(document, list(members), options)


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
