"""The documents of result lists as the options request them: with some of the columns, and with scores in per cent."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.output.document import Document, Kind, Section, require_columns

PERCENT_NOTE = "Scores from 0 to 1 are in per cent; their differences and standard errors are in points."
PERCENT_DIGITS = 2
_DIGITS = 4
_ENDS = {"low", "high"}


def documents_of(
    results: ResultSet, options: RenderOptions, present: Callable[[Kind, Sequence[Any], int], Document] = Kind.document
) -> list[Document]:
    """The document of each list of results, in per cent and only with the named columns if the options request it.

    `present`: makes the document of one list, given its kind, its results and the number of decimals. Raises DataError
    if no table has a column that the options name.
    """
    digits = options.digits_or(PERCENT_DIGITS if options.percent else _DIGITS)
    shown = in_percent(results) if options.percent else results
    documents = []
    for name, rows in shown.lists.items():
        kind = results.kinds[name]
        if rows and kind.summary and options.columns is None and options.summarize:
            documents.append(replace(kind.document(rows, digits), sections=[*kind.summary(rows, digits)]))
        elif rows:
            documents.append(present(kind, rows, digits))
    if options.columns is not None:
        documents = _with_columns(documents, options.columns)
    else:
        documents = [replace(one, sections=[*filter(_has_shown_columns, one.sections)]) for one in documents]
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


def _has_shown_columns(section: Section) -> bool:
    return not section.columns or any(column.is_shown for column in section.columns)


def _selected(section: Section, names: Sequence[str]) -> Section:
    """The section; only its headline if its table has none of the named columns."""
    is_selected = not section.columns or section.visible_columns(names)
    return section if is_selected else Section("", (), answer=section.answer)


def _left_out(document: Document, names: Sequence[str]) -> set[str]:
    """Headers of the columns that are not named."""
    named = {column.header for section in document.sections for column in section.visible_columns(names)}
    return {column.header for section in document.sections for column in section.columns} - named


def in_percent(results: ResultSet) -> ResultSet:
    """The results with all scores multiplied by 100 whose values and intervals lie between 0 and 1.

    Scores with a known range other than 0 to 1, or without one, are not changed.
    """
    lists = {name: [_in_percent(row, results.kinds[name]) for row in rows] for name, rows in results.lists.items()}
    return replace(results, lists=lists)


def _in_percent(result: Any, kind: Kind) -> Any:
    scores = kind.shares(result)
    if scores is None or not all(score is None or 0 <= score <= 1 for score in scores):
        return result
    for path in kind.scaled:
        result = _scaled(result, path.split("."))
    return result


def _scaled(result: Any, path: Sequence[str]) -> Any:
    """The result, or each of a tuple of results, with the attribute of this path multiplied by 100."""
    if isinstance(result, tuple):
        return tuple(_scaled(one, path) for one in result)
    if result is None:
        return None
    if path:
        return replace(result, **{path[0]: _scaled(getattr(result, path[0]), path[1:])})
    if is_dataclass(result) and not isinstance(result, type):  # an interval
        return replace(
            result, **{one.name: 100 * getattr(result, one.name) for one in fields(result) if one.name in _ENDS}
        )
    return 100 * result
