"""The format `table`: text and tables for a terminal of a given width.

Names are shortened if they do not fit, numbers never are, and the columns that do not fit are named below the tables.
"""

import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from shutil import get_terminal_size

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness_uq.data.names import names_without_settings
from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control, escape_lines
from harness_uq.output.document import GUIDE, Cells, Document, Kind, Section
from harness_uq.output.message_links import with_links
from harness_uq.output.short_names import line_width, lost_beginning, piece_width, shorten_names, wrap_names
from harness_uq.output.table_notes import folded, prominent_sentences
from harness_uq.output.table_options import documents_of
from harness_uq.output.words import MAX_NAMED, commands_as, join_names

_UNLIMITED = 100_000
_WIDTH_OF_PIPES = 100
_GAP = 2
_NARROW = 80
_FEW_DIGITS = 3
_LONGEST = 500
_LONG = 24
_SHORT = 16
_NARROWEST = 7
_TRAILING_SPACES = re.compile(r" +$", re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"(?<=[\w%.]) (?=\w)")


def render(results: ResultSet, options: RenderOptions) -> str:
    """The documents of all lists as text."""
    page = TerminalPage(options.width, is_terminal=options.is_terminal, in_python=options.in_python)
    page.renames = names_without_settings(name for rows in results.lists.values() for name in _systems(rows))
    documents = documents_of(results, options, Kind.text)
    is_crowded = any(_is_crowded(section, page.width) for document in documents for section in document.sections)
    if is_crowded and page.width <= _NARROW and options.digits is None and not options.percent:
        documents = documents_of(results, replace(options, digits=_FEW_DIGITS), Kind.text)
    return documents_text(documents, options, page)


def documents_text(documents: Iterable[Document], options: RenderOptions, page: "TerminalPage | None" = None) -> str:
    """Documents for a terminal: headlines and tables, then the legend and the messages of all in one line each.

    `page`: an empty page to which they are added.
    """
    page = page or TerminalPage(options.width, is_terminal=options.is_terminal, in_python=options.in_python)
    legend: dict[str, bool] = {}
    footnotes: dict[str, list[str]] = {}
    guide: dict[str, str] = {}
    for document in documents:
        for section in document.sections:
            legend |= page.add_section(section, options)
        for heading, texts in document.footnotes.items():
            footnotes.setdefault(heading, []).extend(texts)
        guide |= document.guide
    guided = [text for header, text in guide.items() if header not in page.hidden]
    if options.detail == "notes":
        page.add_below([" ".join(legend), page.hidden_columns()])
        page.add_footnotes({**footnotes, GUIDE: guided})
    elif options.detail == "brief":
        page.add_warnings(footnotes)
        page.add_below([_in_one_line(legend | dict.fromkeys(guided, False), page.width), *page.status(footnotes)])
    return page.text.strip("\n")


class TerminalPage:
    """The text that a command prints, built line by line.

    `width`: characters per line; None takes the width of the terminal, or without one that of the environment variable
    `COLUMNS`, or 100. `is_terminal`: whether to use styles; None asks standard output. `in_python`: see
    `RenderOptions`. `hidden`: headers of the columns that did not fit, in the order of the tables. `renames`: names in
    the text and what is printed instead.
    """

    def __init__(self, width: int | None = None, *, is_terminal: bool | None = None, in_python: bool = False) -> None:
        is_terminal = sys.stdout.isatty() if is_terminal is None else is_terminal
        self.width = width or (Console().width if is_terminal else get_terminal_size((_WIDTH_OF_PIPES, 0)).columns)
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=_UNLIMITED,
            force_terminal=is_terminal,
            highlight=False,
            markup=False,  # headers can be names in data
            emoji=False,
        )
        self.hint_of_notes = ".messages" if in_python else "--notes"
        self.hint_of_columns = ".render(columns='all')" if in_python else "--columns all"
        self.hidden: dict[str, None] = {}
        self._shown: dict[str, None] = {}
        self.renames: Mapping[str, str] = {}
        self._sentences: list[str] = []
        self._is_headline = False  # of the section before

    def add_section(self, section: Section, options: RenderOptions) -> dict[str, bool]:
        """Add a section without its legend, and return the sentences of the legend, and whether each is required."""
        lead = "" if self._is_headline and section.answer else "\n"
        self._is_headline = section.is_in_answer and options.columns is None
        if self._is_headline:
            legend = section.legend if options.detail == "notes" else {}
            section = Section("", answer=section.answer, legend=legend)
        columns = section.visible_columns(options.columns if section.columns else None)
        if options.columns is not None:  # all of them are printed, however long the lines
            columns = [replace(one, spare=0, short=None) for one in columns]
        title = section.title
        if options.columns is None and _total(map(_full, columns)) > self.width:
            shared = [one for one in columns if one.in_title and len(set(one.texts)) == 1]
            columns = [one for one in columns if one not in shared]
            title = ", ".join([title, *(one.texts[0] for one in shared)])
        for text, style in (
            (section.answer, "bold"),
            (escape_control(title), "" if section.answer else "bold"),
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
        texts = {text: not header for header, text in section.legend.items() if text and header in {*headers, ""}}
        return dict.fromkeys(hidden, True) | texts

    def add(self, text: str, style: str = "") -> None:
        """Add prose, folded between words; commands are printed without backticks, message codes as links.

        The further lines of an indented text are indented by two more spaces.
        """
        text = self._renamed(text)
        prose = with_links(Text(commands_as(escape_lines(text), "", ""), style=style))
        if not text.startswith(" "):
            self._console.print(prose, width=self.width)
            return
        indent = len(text) - len(text.lstrip(" ")) + 2
        first, *rest = prose.wrap(self._console, max(self.width - indent, _NARROWEST))
        for line in (first, *(Text(" " * indent) + line for line in rest)):
            self._console.print(line, width=self.width)

    def add_table(self, columns: Sequence[Cells]) -> list[str]:
        """Add a table with the columns that fit, and return their headers.

        If main columns do not fit beside the names, or names would take several lines, each row has two lines.
        """
        columns = [replace(one, texts=[self._renamed(text) for text in one.texts]) for one in columns]
        columns = [one if one.is_number else replace(one, texts=shorten_names(one.texts, _LONGEST)) for one in columns]
        fitting, hidden = _fitting(columns, self.width)
        n_names = next((k for k, one in enumerate(columns) if one.is_number), 0)
        in_pairs: list[Cells] = []
        if (n_names and _total(map(_short, fitting)) > self.width) or any(map(_is_main, hidden)):
            in_pairs, hidden_in_pairs = _fitting(columns[n_names:], self.width - _GAP)
            is_whole = sum(map(_is_main, hidden)) <= sum(map(_is_main, hidden_in_pairs))
            is_whole = is_whole and _total(map(_wrapped, fitting)) <= self.width
            if is_whole and _n_lines(fitting, self.width) <= 2 * len(columns[0].texts):
                in_pairs = []
        if in_pairs:
            self._add_in_pairs(columns[:n_names], in_pairs)
            fitting, hidden = [*columns[:n_names], *in_pairs], hidden_in_pairs
        else:
            self._console.print(_grid(fitting, _widths(fitting, self.width)))
        self.hidden |= dict.fromkeys(column.header for column in hidden)
        self._shown |= dict.fromkeys(column.header for column in fitting)
        return [column.header for column in fitting]

    def _add_in_pairs(self, names: Sequence[Cells], columns: Sequence[Cells]) -> None:
        """Add rows of two lines: the names, and below them the columns, indented."""
        header, *more = (one.header for one in names)
        rows = zip(*(one.texts for one in names), strict=True)
        titles = [", ".join([header, *(one.lower() for one in more)]), *map(", ".join, rows)]
        widths = _widths(columns, self.width - _GAP)
        for k, title in enumerate(titles):
            self._console.print(Text(title, style="" if k else "bold"), width=self.width)
            texts = [replace(one, texts=one.texts[k - 1 : k] if k else []) for one in columns]
            self._console.print(Padding(_grid(texts, widths, has_header=not k), (0, 0, 0, _GAP)))

    def _renamed(self, text: str) -> str:
        for name, short in self.renames.items():
            text = text.replace(name, short)
        return text

    def hidden_columns(self, most: int = MAX_NAMED) -> str:
        """The columns that fit in no table, at most `most` of them by name, and how to see them; empty without any."""
        headers = [header for header in self.hidden if header not in self._shown]
        if not headers:
            return ""
        text = f"Hidden: {', '.join(headers)} ({self.hint_of_columns})"
        is_short = cell_len(text) <= self.width and most == MAX_NAMED
        return text if is_short else f"Hidden: {join_names(headers, most)} ({self.hint_of_columns})"

    def status(self, footnotes: Mapping[str, Sequence[str]]) -> list[str]:
        """The number and names of the messages and the hidden columns, in one line if it has room for both."""
        for most in range(MAX_NAMED, 0, -1):
            hidden = self.hidden_columns(most)
            names = folded(footnotes, self.width - cell_len(hidden) - _GAP, self.hint_of_notes)
            together = ". ".join(text for text in (names, hidden) if text)
            if cell_len(together) <= self.width:
                return [together]
        return [folded(footnotes, self.width, self.hint_of_notes), self.hidden_columns()]

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
        return _TRAILING_SPACES.sub("", self._out.getvalue())


def _grid(columns: Sequence[Cells], widths: Sequence[int], *, has_header: bool = True) -> Table:
    """The columns in these widths."""
    # a gap is a column: before 14.3 rich counts the padding after the last column
    table = Table(box=None, padding=0, header_style="bold", show_header=has_header)
    contents = []
    for column, width in zip(columns, widths, strict=True):
        if table.columns:
            table.add_column(min_width=_GAP)
        names = wrap_names(column.texts, width)
        header = _header_lines(_header_with_beginning(column, names, width), width)
        table.add_column("\n".join(header), justify="right" if column.is_number else "left", min_width=width)
        contents.append(
            [Text(name, style=column.styles.get(text, "")) for text, name in zip(column.texts, names, strict=True)]
        )
    for cells in zip(*contents, strict=True):
        table.add_row(*[part for cell in cells for part in ("", cell)][1:])
    return table


def _header_with_beginning(column: Cells, names: Sequence[str], width: int) -> str:
    """The header, followed by the beginning that the names have lost if there is room for it."""
    header = f"{column.header} ({beginning}…)" if (beginning := lost_beginning(column.texts, names)) else column.header
    return header if cell_len(header) <= width else column.header


def _fitting(columns: Sequence[Cells], width: int) -> tuple[list[Cells], list[Cells]]:
    """The columns that fit on a line, and the others.

    Short forms are used first, then spare columns are dropped, largest `spare` first. Long names lose their common part
    and headers are wrapped before columns with 2 are dropped, and all names before columns with 1 are dropped.
    """
    if _total(map(_comfortable, columns)) <= width:
        return list(columns), []
    candidates = [short for column in columns for short in ([column] if column.short is None else column.short)]
    fitting = candidates
    for least_width, last in ((_comfortable, 1), (_wrapped, 0)):
        while _total(map(least_width, fitting)) > width and (most := max(column.spare for column in fitting)) > last:
            fitting = [column for column in fitting if column.spare < most]
    return fitting, [column for column in candidates if column not in fitting]


def _is_main(column: Cells) -> bool:
    return column.spare <= 1


def _n_lines(columns: Sequence[Cells], width: int) -> int:
    """The number of lines of all rows in a terminal of this width."""
    texts = [wrap_names(one.texts, width) for one, width in zip(columns, _widths(columns, width), strict=True)]
    return sum(1 + max(text.count("\n") for text in row) for row in zip(*texts, strict=True))


def _widths(columns: Sequence[Cells], width: int) -> list[int]:
    """Widths of the columns: headers and common parts of names are narrowed first, then names are wrapped, then cut."""
    widths = [_full(one) if one.is_number else min(_full(one), width) for one in columns]
    for least_width in (_least, _shortest, _short, _wrapped, _cut):
        least = [min(one, least_width(column)) for one, column in zip(widths, columns, strict=True)]
        while _total(widths) > width and widths != least:
            room = [k for k, one in enumerate(widths) if one > least[k]]
            n_breaks = {k: _n_breaks(columns[k], widths[k] - 1) for k in room}
            # columns that are narrowed already first
            widths[min(room, key=lambda k: (n_breaks[k], widths[k] == _full(columns[k]), least[k] - widths[k]))] -= 1
    return widths


def _full(column: Cells) -> int:
    return max(map(cell_len, (column.header, *column.texts)))


def _total(widths: Iterable[int]) -> int:
    return sum(n + _GAP for n in widths) - _GAP


def _header_lines(header: str, width: int = 0) -> list[str]:
    """A header in one line if the width has room for it, or in two that are broken between words, not within a formula
    such as P(A > B).
    """
    if cell_len(header) <= width:
        return [header]
    spaces = [space.start() for space in _BETWEEN_WORDS.finditer(header)]
    pairs = ([header[:at], header[at + 1 :]] for at in spaces)
    return min([[header], *pairs], key=lambda lines: max(map(cell_len, lines)))


def _comfortable(column: Cells) -> int:
    """As `_least`, but with names in full if all are short."""
    return _least(column) if column.is_number or _full(column) > _LONG else _full(column)


def _least(column: Cells, narrowest: int = _SHORT, *, breaks_header: bool = False) -> int:
    """The smallest width in which each text and the header have one line, or with `breaks_header` the texts alone.

    Names may lose their common part, but take at least `narrowest` cells.
    """
    headers = _header_lines(column.header) if breaks_header else [column.header]
    texts = max(map(cell_len, column.texts), default=0) if column.is_number else line_width(column.texts, narrowest)
    return max([texts, *map(cell_len, headers)])


_shortest = partial(_least, narrowest=_NARROWEST)
_short = partial(_shortest, breaks_header=True)


def _wrapped(column: Cells) -> int:
    """The smallest width in which names are wrapped or without their common part, but not cut."""
    pieces = max([_NARROWEST, piece_width(column.texts), *map(cell_len, _header_lines(column.header))])
    return _short(column) if column.is_number else min(_short(column), pieces)


def _cut(column: Cells) -> int:
    """The smallest width of a column; numbers and verdicts are never cut."""
    return _wrapped(column) if column.is_number or column.styles else min(_wrapped(column), _NARROWEST)


def _n_breaks(column: Cells, width: int) -> int:
    """In how many places the texts of a column are broken in this width."""
    if column.is_number or width >= _full(column):
        return 0
    return sum(text.count("\n") for text in wrap_names(column.texts, width))


def _is_crowded(section: Section, width: int) -> bool:
    """Whether the main columns do not fit with each header and row on one line."""
    columns = [short for one in section.visible_columns() for short in ([one] if one.short is None else one.short)]
    return _total(_least(column) for column in columns if _is_main(column)) > width


def _in_one_line(sentences: Mapping[str, bool], width: int) -> str:
    """The required sentences, or else one, and the others that fit on the same line."""
    required = [sentence for sentence, is_required in sentences.items() if is_required]
    fitting = [sentence for sentence in sentences if cell_len(sentence) <= width]
    required = required or (fitting or [*sentences])[:1]
    line = " ".join(required)
    for sentence in sentences:
        if sentence not in required and cell_len(f"{line} {sentence}") <= width:
            line = f"{line} {sentence}"
    return line


_SYSTEMS = {"system", "system_a", "system_b", "baseline"}


def _systems(value: object) -> Iterator[str]:
    """The names of systems in results."""
    if isinstance(value, list | tuple):
        for one in value if value and is_dataclass(value[0]) else ():
            yield from _systems(one)
    elif is_dataclass(value):
        for one in fields(value):
            part = getattr(value, one.name)
            if isinstance(part, str):
                yield from (part,) if one.name in _SYSTEMS else ()
            elif one.metadata.get("json") != "internal":
                yield from _systems(part)
