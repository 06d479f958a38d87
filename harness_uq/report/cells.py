"""Tables of any result: columns of text, printed for a terminal or as Markdown, and records as CSV and JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_uq.report.clean import csv_field, json_text, markdown, plain
from harness_uq.report.page import Cells, Page
from harness_uq.results.estimate import SCHEMA


@dataclass(frozen=True, slots=True)
class Section:
    """A table with what stands above and below it.

    Attributes
    ----------
    title : above the table
    columns : of equal length; columns without content are left out
    lines : below the table
    """

    title: str
    columns: Sequence[Cells]
    lines: Sequence[str] = ()


def sections_text(sections: Sequence[Section], footnotes: Mapping[str, Sequence[str]], width: int | None = None) -> str:
    """The sections for a terminal, then the footnotes by heading, each once."""
    page = Page(width)
    for section in sections:
        page.say(f"\n{section.title}", "bold")
        if any(column.texts for column in section.columns):
            page.table(_kept(section.columns))
        for line in section.lines:
            page.say(line)
    page.say_left_out()
    page.say_footnotes(footnotes)
    return page.text().strip("\n")


def sections_markdown(sections: Sequence[Section], footnotes: Mapping[str, Sequence[str]]) -> str:
    """The sections as Markdown, then the footnotes by heading, each once."""
    blocks: list[str] = []
    for section in sections:
        blocks.append(f"### {plain(section.title)}")
        if section.columns:
            blocks.append(_markdown_table(_kept(section.columns)))
        blocks += [plain(line) for line in section.lines if line]
    for heading, texts in footnotes.items():
        if texts:
            blocks.append(f"**{heading}**\n\n" + "\n".join(f"- {plain(text)}" for text in dict.fromkeys(texts)))
    return "\n\n".join(blocks)


def _markdown_table(columns: Sequence[Cells]) -> str:
    rows = zip(*(column.texts for column in columns), strict=True)
    head = ["| " + " | ".join(markdown(c.header) for c in columns) + " |"]
    head.append("|" + "".join(" --: |" if c.is_number else " :-- |" for c in columns))
    return "\n".join([*head, *("| " + " | ".join(markdown(text) for text in row) + " |" for row in rows)])


def records_csv(records: Sequence[Mapping[str, object]]) -> str:
    """CSV of flat records; missing is empty."""
    out = io.StringIO()
    names = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_field(value) for name, value in record.items()} for record in records)
    return out.getvalue().strip("\n")


def document_json(
    name: str, records: Sequence[Mapping[str, object]], errors: Sequence[Mapping[str, str | None]] = ()
) -> str:
    """JSON, schema 1: `{"schema": 1, NAME: [...], "errors": [...]}`; missing is null, never NaN."""
    document = {"schema": SCHEMA, name: list(records), "errors": [dict(error) for error in errors]}
    return json_text(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def _kept(columns: Sequence[Cells]) -> list[Cells]:
    return [column for column in columns if set(column.texts) - {"-", ""}]
