"""Tables of any result: columns of text, printed for a terminal or as Markdown, and records as CSV and JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness_uq.report.clean import csv_field, json_text, markdown, plain
from harness_uq.report.page import Cells, Page
from harness_uq.results.estimate import SCHEMA

GUIDE = "How to read this"


@dataclass(frozen=True, slots=True)
class Section:
    """A table with what stands above and below it.

    Attributes
    ----------
    title : above the table
    columns : of equal length; columns without content are left out
    lines : below the table
    answer : what it comes to, said before everything else
    legend : what a column means, by its header; under an empty header what is said in any case
    """

    title: str
    columns: Sequence[Cells]
    lines: Sequence[str] = ()
    answer: str = ""
    legend: Mapping[str, str] = field(default_factory=dict)


def counts_of(
    questions: Sequence[str], n_clusters: Sequence[int | None], keys: Sequence[str | None]
) -> tuple[Cells, Cells]:
    """The columns of questions and of the clusters that they form, which in short are one."""
    clusters = [f"{n} {key}" if n else "-" for n, key in zip(n_clusters, keys, strict=True)]
    in_short = [f"{count}/{n}" if n else count for count, n in zip(questions, n_clusters, strict=True)]
    header = "N/clusters" if any(n_clusters) else "N"
    return Cells("Questions", questions, short=[Cells(header, in_short)]), Cells("Clusters", clusters, short=[])


def sections_text(
    sections: Sequence[Section],
    footnotes: Mapping[str, Sequence[str]],
    width: int | None = None,
    guide: Mapping[str, str] | None = None,
) -> str:
    """The sections for a terminal, then the footnotes by heading, each once, then what the columns mean.

    `guide` says it by their headers; what is said of a column that found no room is left out.
    """
    page = Page(width)
    for section in sections:
        if section.answer:
            page.say(f"\n{section.answer}", "bold")
        page.say(f"\n{section.title}", "" if section.answer else "bold")
        shown: list[str] = []
        if any(column.texts for column in section.columns):
            shown = page.table(_kept(section.columns))
        for line in section.lines:
            page.say(line)
        page.say_legend(section.legend, shown)
    page.say_left_out()
    page.say_footnotes(footnotes)
    told = [text for header, text in (guide or {}).items() if not page.lacks(header)]
    page.say_footnotes({GUIDE: told})
    return page.text().strip("\n")


def sections_markdown(sections: Sequence[Section], footnotes: Mapping[str, Sequence[str]]) -> str:
    """The sections as Markdown, then the footnotes by heading, each once."""
    blocks: list[str] = []
    for section in sections:
        blocks.append(f"### {plain(section.title)}")
        if section.answer:
            blocks.append(f"**{plain(section.answer)}**")
        kept = _kept(section.columns)
        if kept:
            blocks.append(_markdown_table(kept))
        blocks += [plain(line) for line in section.lines if line]
        headers = {column.header for column in kept}
        if said := [text for header, text in section.legend.items() if text and (header in headers or not header)]:
            blocks.append(plain(" ".join(said)))
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
    name: str,
    records: Sequence[Mapping[str, object]],
    errors: Sequence[Mapping[str, str | None]] = (),
    *,
    more: Mapping[str, object] | None = None,
) -> str:
    """JSON, schema 1: `{"schema": 1, NAME: [...], MORE..., "errors": [...]}`; missing is null, never NaN."""
    document = {"schema": SCHEMA, name: list(records), **(more or {}), "errors": [dict(error) for error in errors]}
    return json_text(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def _kept(columns: Sequence[Cells]) -> list[Cells]:
    return [column for column in columns if set(column.texts) - {"-", ""}]
