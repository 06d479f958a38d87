"""The format `table`: tables and sentences for a terminal."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.document import GUIDE, Document, ResultKind
from harness_uq.output.table_documents import documents_of
from harness_uq.output.terminal import TerminalPage, legend_text
from harness_uq.results.result_set import RenderOptions, ResultSet


@dataclass(frozen=True, slots=True)
class _Text:
    name: str = "table"
    suffix: str = ".txt"
    accepts: Set[str] | None = None
    has_errors: bool = False
    needs_logs: bool = False

    def render(self, results: ResultSet, options: RenderOptions) -> str:
        def present(kind: ResultKind, rows: Sequence[object], digits: int) -> Document:
            return kind.text(rows) if kind.text else kind.document(rows, digits)

        return "\n\n".join(document_text(document, options) for document in documents_of(results, options, present))


FORMAT = _Text()


def document_text(document: Document, options: RenderOptions) -> str:
    """A document for a terminal: its sections, then the footnotes, then the meaning of the columns that are shown."""
    page = TerminalPage(options.width, is_terminal=options.is_terminal)
    for section in document.sections:
        if section.answer:
            page.add(f"\n{section.answer}", "bold")
        if section.title:
            page.add(f"\n{escape_control(section.title)}", "" if section.answer else "bold")
        headers: list[str] = []
        if columns := section.visible_columns(options.columns if section.columns else None):
            headers = page.add_table(columns)
        for line in section.lines:
            page.add(escape_control(line))
        left_out = {column.header for column in columns} - set(headers)
        hidden = [text for header, text in section.if_hidden.items() if header in left_out]
        if legend := " ".join([*hidden, legend_text(section.legend, headers)]).strip():
            page.add(f"\n{legend}", "dim")
    page.add_hidden_columns()
    page.add_footnotes(document.footnotes)
    page.add_footnotes({GUIDE: [text for header, text in document.guide.items() if header not in page.hidden]})
    return page.text.strip("\n")
