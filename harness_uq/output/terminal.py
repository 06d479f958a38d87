"""The format `table`: text and tables for a terminal of a given width.

Names are shortened if they do not fit, numbers never are, and the columns that do not fit are named below the tables.
"""

import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control, escape_lines
from harness_uq.output.document import GUIDE, Cells, Document, Kind, Section
from harness_uq.output.message_links import with_links
from harness_uq.output.short_names import shorten_names
from harness_uq.output.table_notes import folded, prominent_sentences
from harness_uq.output.table_options import documents_of
from harness_uq.output.words import commands_as

_UNLIMITED = 100_000
_WIDTH_OF_PIPES = 100
_SHORTEST_LINE = 30
_GAP = 2
_COMFORTABLE = 16
_NARROWEST = 8


def render(results: ResultSet, options: RenderOptions) -> str:
    """The documents of all lists as text."""
    return documents_text(documents_of(results, options, Kind.text), options)


def documents_text(documents: Iterable[Document], options: RenderOptions) -> str:
    """Documents for a terminal: headlines and tables, then one legend, and the messages of all in one line."""
    page = TerminalPage(options.width, is_terminal=options.is_terminal)
    legend: list[str] = []
    footnotes: dict[str, list[str]] = {}
    guide: dict[str, str] = {}
    for document in documents:
        for section in document.sections:
            legend += page.add_section(section, options)
        for heading, texts in document.footnotes.items():
            footnotes.setdefault(heading, []).extend(texts)
        guide |= document.guide
    guided = [text for header, text in guide.items() if header not in page.hidden]
    if options.detail == "notes":
        page.add_below([" ".join(dict.fromkeys(legend)), page.hidden_columns()])
        page.add_footnotes({**footnotes, GUIDE: guided})
    elif options.detail == "brief":
        page.add_warnings(footnotes)
        page.add_below([" ".join(dict.fromkeys([*legend, *guided])), *page.status(footnotes)])
    return page.text.strip("\n")


class TerminalPage:
    """The text that a command prints, built line by line.

    `width`: characters per line; None takes the width of the terminal, or without one that of the environment variable
    `COLUMNS`, or 100. `is_terminal`: whether to use styles; None asks standard output. `hidden`: headers of the columns
    that did not fit, in the order of the tables.
    """

    def __init__(self, width: int | None = None, *, is_terminal: bool | None = None) -> None:
        is_terminal = sys.stdout.isatty() if is_terminal is None else is_terminal
        self._width = width or (Console().width if is_terminal else get_terminal_size((_WIDTH_OF_PIPES, 0)).columns)
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=_UNLIMITED,
            force_terminal=is_terminal,
            highlight=False,
            markup=False,  # headers can be names in data
            emoji=False,
        )
        self.hidden: dict[str, None] = {}
        self._sentences: list[str] = []

    def add_section(self, section: Section, options: RenderOptions) -> list[str]:
        """Add a section without its legend, and return the sentences of the legend."""
        columns = section.visible_columns(options.columns if section.columns else None)
        lead = "\n"
        for text, style in (
            (section.answer, "bold"),
            (escape_control(section.title), "" if section.answer else "bold"),
        ):
            if text:
                self.add(f"{lead}{text}", style)
                lead = ""
        headers = self.add_table(columns) if columns else []
        lines = () if columns and options.detail == "quiet" else section.lines
        for line in lines:
            self.add(escape_control(line))
        self._sentences += [section.answer, *lines]
        left_out = {column.header for column in columns} - set(headers)
        hidden = [text for header, text in section.if_hidden.items() if header in left_out]
        return [*hidden, *(text for header, text in section.legend.items() if text and header in {*headers, ""})]

    def add(self, text: str, style: str = "") -> None:
        """Add prose, folded between words; commands are printed without backticks, message codes as links.

        The further lines of an indented text are indented by two more spaces.
        """
        prose = with_links(Text(commands_as(escape_lines(text), "", ""), style=style))
        if not text.startswith(" "):
            self._console.print(prose, width=self._width)
            return
        indent = len(text) - len(text.lstrip(" ")) + 2
        first, *rest = prose.wrap(self._console, max(self._width - indent, _NARROWEST))
        for line in (first, *(Text(" " * indent) + line for line in rest)):
            self._console.print(line, width=self._width)

    def add_table(self, columns: Sequence[Cells]) -> list[str]:
        """Add a table with the columns that fit, and return their headers."""
        fitting, hidden = _fitting(columns, self._width)
        self.hidden |= dict.fromkeys(hidden)
        # a gap is a column: before 14.3 rich counts the padding after the last column
        table = Table(box=None, padding=0, header_style="bold")
        widths = _widths(fitting, self._width)
        for column, width in zip(fitting, widths, strict=True):
            if table.columns:
                table.add_column(min_width=_GAP)
            table.add_column(column.header, justify="right" if column.is_number else "left", min_width=width)
        contents = [
            [
                Text(short, style=column.styles.get(text, ""))
                for text, short in zip(column.texts, shorten_names(column.texts, width), strict=True)
            ]
            for column, width in zip(fitting, widths, strict=True)
        ]
        for cells in zip(*contents, strict=True):
            table.add_row(*[part for cell in cells for part in ("", cell)][1:])
        self._console.print(table)
        return [column.header for column in fitting]

    def hidden_columns(self) -> str:
        """The columns that did not fit, and how to see them; empty if all did."""
        return f"Hidden columns: {', '.join(self.hidden)} (--format markdown)" if self.hidden else ""

    def status(self, footnotes: Mapping[str, Sequence[str]]) -> list[str]:
        """The number and names of the messages and the hidden columns, in one line if it has room for both."""
        hidden = self.hidden_columns()
        room = self._width - cell_len(hidden) - _GAP
        names = folded(footnotes, room if hidden and room >= _SHORTEST_LINE else self._width)
        together = ". ".join(text for text in (names, hidden) if text)
        return [together] if cell_len(together) <= self._width else [names, hidden]

    def add_warnings(self, footnotes: Mapping[str, Sequence[str]]) -> None:
        """Add a sentence for each of the warnings that change how a number is read."""
        printed = " ".join(self._sentences)
        lead = "\n"
        for text in prominent_sentences(footnotes, printed):
            self.add(f"{lead}{text}", "yellow")
            lead = ""

    def add_below(self, paragraphs: Iterable[str]) -> None:
        """Add paragraphs below the tables, each on a line of its own."""
        if texts := [text for text in paragraphs if text]:
            self.add("\n" + "\n".join(texts), "dim")

    def add_footnotes(self, footnotes: Mapping[str, Sequence[str]]) -> None:
        """Add sentences under their headings, each once."""
        for heading, texts in footnotes.items():
            if texts:
                self.add(f"\n{heading}", "bold")
                for text in dict.fromkeys(texts):
                    self.add(f"- {escape_control(text)}", "yellow" if heading == "Warnings" else "dim")

    @property
    def text(self) -> str:
        """The text so far."""
        return self._out.getvalue()


def _fitting(columns: Sequence[Cells], width: int) -> tuple[list[Cells], list[str]]:
    """The columns that fit on a line, and the headers of the others.

    Names are shortened first, then short forms are used, then spare columns are dropped, largest `spare` first.
    """
    if _total(map(_readable, columns)) <= width:
        return list(columns), []
    candidates = [short for column in columns for short in ([column] if column.short is None else column.short)]
    fitting = candidates
    while _total(map(_readable, fitting)) > width and (most := max(column.spare for column in fitting)):
        fitting = [column for column in fitting if column.spare < most]
    return fitting, [column.header for column in candidates if column not in fitting]


def _widths(columns: Sequence[Cells], width: int) -> list[int]:
    """Widths of the columns: text columns are narrowed, the one with most room to spare first, until the line fits."""
    least = [_readable(column) for column in columns]
    if _total(least) > width:
        least = [_readable(column, _NARROWEST) for column in columns]
    widths = [max(cell_len(text) for text in (column.header, *column.texts)) for column in columns]
    while _total(widths) > width and widths != least:
        room = [n - m for n, m in zip(widths, least, strict=True)]
        widths[room.index(max(room))] -= 1
    return widths


def _total(widths: Iterable[int]) -> int:
    return sum(n + _GAP for n in widths) - _GAP


def _readable(column: Cells, narrowest: int = _COMFORTABLE) -> int:
    """The smallest width of the column: that of its numbers, or `narrowest` for names."""
    full = max(cell_len(text) for text in (column.header, *column.texts))
    if column.is_number:
        return full
    return min(full, max(narrowest, cell_len(column.header)))
