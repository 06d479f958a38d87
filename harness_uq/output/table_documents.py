"""The documents of result lists for the formats with tables, as the options request them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness_uq.output.document import Document, ResultKind, Section, require_columns, result_kind
from harness_uq.results.result_set import RenderOptions, ResultSet

PERCENT_NOTE = "Scores from 0 to 1 are in per cent; their differences and standard errors are in points."
_DIGITS = 4


def documents_of(
    results: ResultSet, options: RenderOptions, present: Callable[[ResultKind, Sequence[Any], int], Document]
) -> list[Document]:
    """The document of each list of results, in per cent and only with the named columns if the options request it.

    Parameters
    ----------
    present : makes the document of one list, given its kind, its results and the number of decimals

    Raises
    ------
    DataError : if no table has a column that the options name
    """
    if options.percent:
        from harness_uq.output.percent import PERCENT_DIGITS, in_percent

        digits, shown = options.digits_or(PERCENT_DIGITS), in_percent(results)
    else:
        digits, shown = options.digits_or(_DIGITS), results
    documents = [present(result_kind(name), rows, digits) for name, rows in shown.lists.items() if rows]
    if options.columns is not None:
        documents = _with_columns(documents, options.columns)
    if options.percent and documents:
        documents[-1] = replace(documents[-1], guide={**documents[-1].guide, "": PERCENT_NOTE})
    return documents


def _with_columns(documents: Sequence[Document], names: Sequence[str]) -> list[Document]:
    """The documents without the tables that have none of the named columns, and without the guide to other columns."""
    require_columns([section for document in documents for section in document.sections], names)
    return [
        replace(
            document,
            sections=[_selected(section, names) for section in document.sections],
            guide={header: text for header, text in document.guide.items() if header not in _left_out(document, names)},
        )
        for document in documents
    ]


def _selected(section: Section, names: Sequence[str]) -> Section:
    """The section; only its headline if its table has none of the named columns."""
    is_selected = not section.columns or section.visible_columns(names)
    return section if is_selected else Section("", (), answer=section.answer)


def _left_out(document: Document, names: Sequence[str]) -> set[str]:
    """Headers of the columns that are not named."""
    named = {column.header for section in document.sections for column in section.visible_columns(names)}
    return {column.header for section in document.sections for column in section.columns} - named
