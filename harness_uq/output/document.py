"""Results as a document for readers: columns, tables with a headline above and a legend below, then footnotes.

A module of `harness_uq.results` declares each kind of result once, as a `Kind` with its columns and sentences; the
formats of this package render it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import DataError
from harness_uq.output.table_notes import message_lists
from harness_uq.output.words import text

if TYPE_CHECKING:
    from harness_uq.output.declared import Declared
    from harness_uq.output.figures.marks import Board, Mark

Decimals: TypeAlias = int | Callable[[Any], int]

GUIDE = "How to read the columns"
OVERALL = "overall"
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Column:
    """Declaration of one column of a table.

    - `value`: attribute of a row, such as `difference.value`, or a function of a row.
    - `show`: a value and a number of decimals as text; the columns with names show them as they are.
    - `name`: the name by which `--columns` selects the column; empty for the header in lower case with hyphens.
    - `is_number`: numbers are aligned to the right and never shortened; None for every column but those with names.
    - `spare`: on short lines, columns with the largest value are dropped first. A column with 1 is dropped only if the
      rest does not fit with names in several lines, and a column with 0 never.
    - `in_title`: whether it moves to the title on short lines if all rows have the same text.
    - `short`: columns that replace this one on short lines; empty if another column's short form includes it.
    - `styles`: terminal style of a text, such as `bold`.
    - `is_shown`: whether the column is rendered if no columns are selected.
    - `in_paper`: whether it also belongs to a table for a paper if no columns are selected.
    - `wraps`: whether its text wraps in a table for a paper.
    - `legend`: the meaning of the column, printed below the table after its header.
    """

    header: str
    value: str | Callable[[Any], Any]
    show: Callable[[Any, int], str] = text
    name: str = ""
    is_number: bool | None = None
    spare: int = 0
    short: "Sequence[Column] | None" = None
    styles: Mapping[str, str] = field(default_factory=dict)
    is_shown: bool = True
    in_paper: bool = True
    wraps: bool = False
    in_title: bool = False
    legend: str = ""

    def cell(self, row: object, digits: int) -> str:
        """The text of a row; parts of the row that are None have None as their attributes."""
        if not isinstance(self.value, str):
            return self.show(self.value(row), digits)
        part: Any = row
        for name in self.value.split("."):
            part = None if part is None else getattr(part, name)
        return self.show(part, digits)


@dataclass(frozen=True, slots=True)
class Cells:
    """One column of a table with its texts, one per row; the other attributes are those of `Column`."""

    header: str
    texts: Sequence[str]
    is_number: bool = True
    spare: int = 0
    short: "Sequence[Cells] | None" = None
    styles: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    is_shown: bool = True
    in_paper: bool = True
    wraps: bool = False
    in_title: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", escape_control(self.header))
        object.__setattr__(self, "texts", [escape_control(one) for one in self.texts])
        object.__setattr__(self, "name", self.name or "-".join(self.header.lower().split()))


def cells_of(columns: Iterable[Column], rows: Sequence[Any], digits: Decimals) -> list[Cells]:
    """The columns of these rows; `digits` is a number of decimals, or a function that gives that of a row."""
    decimals = [digits if isinstance(digits, int) else digits(row) for row in rows]
    return [
        Cells(
            header=column.header,
            texts=[column.cell(row, places) for row, places in zip(rows, decimals, strict=True)],
            is_number=column.show is not text if column.is_number is None else column.is_number,
            spare=column.spare,
            short=None if column.short is None else cells_of(column.short, rows, digits),
            styles=column.styles,
            name=column.name,
            is_shown=column.is_shown,
            in_paper=column.in_paper,
            wraps=column.wraps,
            in_title=column.in_title,
        )
        for column in columns
    ]


def legend_of(columns: Iterable[Column]) -> dict[str, str]:
    """The meaning of the columns that have one, by header."""
    every = (one for column in columns for one in (column, *(column.short or ())))
    return {column.header: f"{column.header}: {column.legend}" for column in every if column.legend}


def question_columns(
    rows: Iterable[Any],
    questions: str | Callable[[Any], Any],
    show: Callable[[Any, int], str] = text,
    clusters: Callable[[Any], str] = lambda row: f"{row.n_clusters} {row.cluster_key}",
    *,
    spare: int = 0,
    part: Callable[[Any], Any] = lambda row: row,
) -> tuple[Column, Column]:
    """The columns of numbers of questions and of their clusters; on short lines they share one column.

    `questions`, `show`: value of the first column, and how it is shown. `clusters`: text of the second column for a
    part of a row with clusters. `spare`: of the column on short lines. `part`: the part of a row with the attribute
    `n_clusters`.
    """
    alone = Column("Questions", questions, show, is_number=True, in_paper=False)

    def both(row: Any) -> str:
        n, n_clusters = alone.cell(row, 0), part(row).n_clusters
        return f"{n}/{n_clusters}" if n_clusters else n

    def of_clusters(row: Any) -> str:
        return clusters(part(row)) if part(row).n_clusters else "-"

    legend = "questions/clusters." if any(part(row).n_clusters for row in rows) else ""
    short = [Column("N", both, is_number=True, spare=spare, legend=legend)]
    return replace(alone, short=short), Column("Clusters", of_clusters, is_number=True, short=[], in_paper=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A table with the text around it.

    `columns`: of equal length; columns without content are not rendered. `lines`: below the table. `legend`: the
    meaning of each column by its header; the text under an empty header is always printed. `group`: header of a column
    for the title, in formats that join sections with the same columns in one table. `is_optional`: whether the table
    adds detail that does not belong in a paper. `if_hidden`: sentences by header, each printed if its column does not
    fit into the terminal. `is_in_answer`: whether the answer states the table, which a terminal then shows only with
    chosen columns.
    """

    title: str
    columns: Sequence[Cells] = ()
    lines: Sequence[str] = ()
    answer: str = ""
    legend: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    is_optional: bool = False
    if_hidden: Mapping[str, str] = field(default_factory=dict)
    is_in_answer: bool = False

    def visible_columns(self, names: Sequence[str] | None = None) -> list[Cells]:
        """The columns with these names or headers, in this order; without names, those to show by default. `all` and
        the default leave out columns without content.

        If other tables have some of these columns, the rows of this one are named by its first column. Without a column
        besides that one, the table is empty.
        """
        if names is None:
            return [column for column in self.columns if column.is_shown and set(column.texts) - {"-", ""}]
        if list(names) == [_ALL]:
            return [column for column in self.columns if set(column.texts) - {"-", ""}]
        by_name = {name: column for column in self.columns for name in (column.header, column.name)}
        chosen = [by_name[name] for name in names if name in by_name]
        if len(chosen) == len(names):
            return chosen
        first = next((column for column in self.columns if column.is_shown), self.columns[0])
        rest = [column for column in chosen if column is not first]
        return (chosen if first in chosen else [first, *rest]) if rest else []


def table(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Any],
    digits: Decimals,
    *,
    legend: Mapping[str, str] | None = None,
    **parts: Any,
) -> Section:
    """A section with these columns of the rows and their meanings.

    `legend`: further sentences of the legend by header. `**parts`: other parts of the section: `lines`, `answer`,
    `group`, `is_optional`, `if_hidden` and `is_in_answer`.
    """
    return Section(title, cells_of(columns, rows, digits), legend=legend_of(columns) | dict(legend or {}), **parts)


@dataclass(frozen=True, slots=True)
class Document:
    """Results for readers.

    `sections`: in the order to print. `footnotes`: sentences by heading. `guide`: the meaning of columns that need a
    sentence each, by header. `caption`: of a table for a paper. `notes`: sentences below a table for a paper, in
    addition to its legend and warnings.
    """

    sections: Sequence[Section]
    footnotes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guide: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    notes: Sequence[str] = ()


def joined(sections: Sequence[Section]) -> list[Cells]:
    """The columns of sections that have the same ones, with the texts of all sections."""
    return [
        replace(column, texts=[text for section in sections for text in section.columns[k].texts])
        for k, column in enumerate(sections[0].columns)
    ]


def require_columns(sections: Iterable[Section], names: Sequence[str]) -> None:
    """Require that a table of these sections has a column of each name. Raises DataError if no table has a column of
    one of these names.
    """
    columns = [column for section in sections for column in section.columns]
    known = dict.fromkeys(column.name for column in columns)
    unknown = [name for name in names if name not in {*known, *(one.header for one in columns)} and name != _ALL]
    if known and unknown:
        raise DataError(f"Unknown column: {unknown[0]!r}. Available columns: {', '.join([*known, _ALL])}.")


def legend_text(legend: Mapping[str, str], headers: Iterable[str]) -> str:
    """The legend's sentences about these columns; the one under an empty header always belongs to it."""
    wanted = {*headers, ""}
    return " ".join(sentence for header, sentence in legend.items() if sentence and header in wanted)


@dataclass(frozen=True, slots=True)
class GridCell:
    """One score of a grid of systems by tasks; `letters` mark systems that the data do not separate."""

    value: str
    interval: str
    letters: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Systems by tasks: cells by (system, task), a caption, and notes."""

    cells: Mapping[tuple[str, str], GridCell]
    caption: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class GateCase:
    """One test of a gate, as CI systems show it.

    `name`: what is required. `outcome`: `pass`, `fail`, `error` if the gate needs the test and it is undecided, or
    `skipped` if this counts as a pass or the gate does not need it. `text`: the numbers behind the outcome.
    `is_needed`: whether the gate passes only if this test passes.
    """

    group: str
    name: str
    outcome: Literal["pass", "fail", "error", "skipped"]
    text: str
    is_needed: bool = True


@dataclass(frozen=True, slots=True)
class GateCases:
    """The tests of a gate, and its decision with the reason as sentences."""

    answer: str
    cases: Sequence[GateCase]


@dataclass(frozen=True, slots=True)
class Kind:
    """How the results of one list are presented.

    - `name`: of the list in documents, such as `estimates`.
    - `result_type`: class whose declaration defines JSON objects and flat records.
    - `sections`: results and the number of decimals, as tables with the text around them.
    - `caption`: of a table for a paper.
    - `footnotes`: warnings and notes of the results under their headings.
    - `guide`, `notes`: further parts of the document.
    - `displayed`: columns of the flat records that notebooks show; empty for all of them.
    - `declared`: instances of `result_type` for one result; by default the result itself.
    - `grid`: results and the number of decimals, as systems by tasks; None if the results have no such layout.
    - `summary`: shorter sections, shown unless the options request all details.
    - `as_text`: sections for the terminal, if they differ from `sections`.
    - `is_single`: whether a command has one such result or none, which JSON documents contain without a list.
    - `total`: the total of all results of a list, which JSON documents contain as NAME_total; None if there is no
      total.
    - `shares`: the scores of a result that are shown in per cent if they lie between 0 and 1; None without such scores.
    - `scaled`: attributes of the result that are then multiplied by 100.
    - `marks`, `differences`: rows of a figure of scores or of all intervals, and of a figure of differences.
    - `boards`: the ranks of systems in a figure, for each result that has any.
    - `figure`: function that draws a list of these results; None if there is no figure of them.
    """

    name: str
    result_type: "type[Declared]"
    sections: Callable[[Sequence[Any], int], Iterable[Section]]
    caption: str = ""
    footnotes: Callable[[Sequence[Any]], Mapping[str, Sequence[str]]] = message_lists
    guide: Callable[[Sequence[Any]], Mapping[str, str]] = lambda _: {}
    notes: Callable[[Sequence[Any]], Sequence[str]] = lambda _: ()
    displayed: Sequence[str] = ()
    declared: Callable[[Any], "Sequence[Declared]"] = lambda result: (result,)
    grid: Callable[[Sequence[Any], int], Grid] | None = None
    summary: Callable[[Sequence[Any], int], Iterable[Section]] | None = None
    as_text: Callable[[Sequence[Any]], Iterable[Section]] | None = None
    is_single: bool = False
    total: "Callable[[Sequence[Any]], Declared | None] | None" = None
    shares: Callable[[Any], Sequence[float | None] | None] = lambda _: None
    scaled: Sequence[str] = ()
    tests: Callable[[Any, int], GateCases] | None = None
    marks: "Callable[[Sequence[Any]], Sequence[Mark]]" = lambda _: ()
    differences: "Callable[[Sequence[Any]], Sequence[Mark]]" = lambda _: ()
    boards: "Callable[[Sequence[Any]], Iterable[Board]]" = lambda _: ()
    figure: Callable[..., Any] | None = None

    def document(self, results: Sequence[Any], digits: int = 4) -> Document:
        """The results as a document for readers."""
        return Document(
            list(self.sections(results, digits)),
            self.footnotes(results),
            self.guide(results),
            self.caption,
            self.notes(results),
        )

    def text(self, results: Sequence[Any], digits: int = 4) -> Document:
        """The results as a document for the terminal."""
        return self.document(results, digits) if self.as_text is None else Document(list(self.as_text(results)))
