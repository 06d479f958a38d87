"""The format `markdown`: tables of GitHub's dialect, with sentences as paragraphs and lists."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.output.document import GUIDE, Cells, Document, Section, joined, legend_text
from harness_uq.output.sanitize import markdown, markdown_paragraph
from harness_uq.output.table_options import documents_of


def render(results: ResultSet, options: RenderOptions) -> str:
    """The documents of all lists as Markdown."""
    documents = documents_of(results, options)
    return "\n\n".join("\n\n".join(_blocks(document, options.columns)) for document in documents)


def _blocks(document: Document, names: Sequence[str] | None) -> Iterator[str]:
    for group, sections in groupby(document.sections, key=lambda section: section.group):
        if group:
            yield from _joined(group, list(sections), names)
        else:
            for section in sections:
                yield from _section(section, names)
    for heading, texts in {**document.footnotes, GUIDE: list(document.guide.values())}.items():
        if texts:
            items = "\n".join(f"- {markdown_paragraph(text)}" for text in dict.fromkeys(texts))
            yield f"**{heading}**\n\n{items}"


def _joined(group: str, sections: Sequence[Section], names: Sequence[str] | None) -> Iterator[str]:
    """Sections with the same columns as one table, whose first column holds their titles."""
    titles = Cells(group, [s.title.strip() for s in sections for _ in s.columns[0].texts], is_number=False)
    columns = [titles, *joined(sections)]
    yield from _section(Section("", columns, legend=sections[-1].legend), names and [titles.name, *names])


def _section(section: Section, names: Sequence[str] | None) -> Iterator[str]:
    if section.title:
        yield f"### {markdown(section.title)}"
    if section.answer:
        yield f"**{markdown_paragraph(section.answer)}**"
    columns = section.visible_columns(names if section.columns else None)
    if columns:
        yield _table(columns)
    yield from (markdown_paragraph(line) for line in section.lines if line)
    if legend := legend_text(section.legend, [column.header for column in columns]):
        yield markdown_paragraph(legend)


def _table(columns: Sequence[Cells]) -> str:
    rows = zip(*(column.texts for column in columns), strict=True)
    head = ["| " + " | ".join(markdown(column.header) for column in columns) + " |"]
    head.append("|" + "".join(" --: |" if column.is_number else " :-- |" for column in columns))
    return "\n".join([*head, *("| " + " | ".join(markdown(text) for text in row) + " |" for row in rows)])
