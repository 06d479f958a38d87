"""Text and tables on lines of a given width: words fold, numbers never do, and what finds no room is named."""

import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness_uq.report.clean import lines, plain
from harness_uq.report.words import commands_as

_UNLIMITED = 100_000
_GAP = 2
_LINES_A_CELL = 2
_LONGEST_PIECE = 20
_NARROWEST = 8
_PIECE = re.compile(r".+?(?:[\s_/-]+|$)")


@dataclass(frozen=True, slots=True)
class Cells:
    """One column.

    Attributes
    ----------
    header, texts : what stands above, and a text a row
    is_number : to the right, and never folded
    spare : columns of the greatest number are left out first where a line is too short; those of 0 never are
    """

    header: str
    texts: Sequence[str]
    is_number: bool = True
    spare: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", plain(self.header))
        object.__setattr__(self, "texts", [plain(text) for text in self.texts])


class Page:
    """What a command prints, line by line.

    Parameters
    ----------
    width : characters a line; None takes the terminal's, or as many as needed where there is none
    """

    def __init__(self, width: int | None = None) -> None:
        is_terminal = sys.stdout.isatty()
        self._width = width or (Console().width if is_terminal else _UNLIMITED)
        self._out = io.StringIO()
        self._console = Console(file=self._out, width=_UNLIMITED, force_terminal=is_terminal, highlight=False)
        self._left_out: dict[str, None] = {}

    def say(self, text: str, style: str = "") -> None:
        """Prose, folded between words; commands stand without backticks."""
        self._console.print(Text(commands_as(lines(text), "", ""), style=style), width=self._width)

    def table(self, columns: Sequence[Cells]) -> None:
        """A table without frame, of the columns that find room."""
        shown = _with_room(columns, self._width)
        self._left_out |= dict.fromkeys(column.header for column in columns if column not in shown)
        # a gap is a column: before 14.3 rich counts the padding after the last column
        table = Table(box=None, padding=0, header_style="bold")
        widths = _widths(shown, self._width)
        for column, width in zip(shown, widths, strict=True):
            if table.columns:
                table.add_column(min_width=_GAP)
            table.add_column(column.header, justify="right" if column.is_number else "left", min_width=width)
        for row in zip(*(column.texts for column in shown), strict=True):
            cells = [Text("\n".join(folded(t, width))) for t, width in zip(row, widths, strict=True)]
            table.add_row(*[part for cell in cells for part in ("", cell)][1:])
        self._console.print(table)

    def say_left_out(self) -> None:
        """Name the columns that found no room, and where they are."""
        if self._left_out:
            names = ", ".join(self._left_out)
            self.say(f"\nLeft out for want of room: {names}. A wider terminal or --format markdown shows them.", "dim")

    def say_footnotes(self, footnotes: Mapping[str, Sequence[str]]) -> None:
        """Sentences under their headings, each once."""
        for heading, texts in footnotes.items():
            if texts:
                self.say(f"\n{heading}", "bold")
                for text in dict.fromkeys(texts):
                    self.say(f"- {text}", "yellow" if heading == "Warnings" else "dim")

    def text(self) -> str:
        """Everything so far."""
        return self._out.getvalue()


def folded(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, broken after spaces, underscores, slashes and hyphens where it can be.

    >>> folded("exact_match (custom-extract)", 16)
    ['exact_match', '(custom-extract)']
    >>> folded("demo_word_problems", 12), folded("0123456789", 4)
    (['demo_word_', 'problems'], ['0123', '4567', '89'])
    """
    parts = [""]
    for piece in _PIECE.findall(text):
        if cell_len(parts[-1] + piece.rstrip()) <= width:
            parts[-1] += piece
        else:
            parts += [piece] if cell_len(piece.rstrip()) <= width else chop_cells(piece.rstrip(), width)
    return [part.rstrip() for part in parts if part] or [""]


def _with_room(columns: Sequence[Cells], width: int) -> list[Cells]:
    """The columns left when the spare ones are taken away, greatest number first, until a line holds the rest."""
    shown = list(columns)
    while _total(map(_readable, shown)) > width and (most := max(column.spare for column in shown)):
        shown = [column for column in shown if column.spare < most]
    return shown


def _widths(columns: Sequence[Cells], width: int) -> list[int]:
    """Widths of the columns: full ones, from which those of words give way, the one with the most to give first."""
    least = [_readable(column) for column in columns]
    if _total(least) > width:
        least = [n if column.is_number else min(n, _NARROWEST) for n, column in zip(least, columns, strict=True)]
    widths = [_full(column) for column in columns]
    while _total(widths) > width and widths != least:
        room = [n - m for n, m in zip(widths, least, strict=True)]
        widths[room.index(max(room))] -= 1
    return widths


def _total(widths: Iterable[int]) -> int:
    return sum(n + _GAP for n in widths) - _GAP


def _full(column: Cells) -> int:
    return max(cell_len(text) for text in (column.header, *column.texts))


def _readable(column: Cells) -> int:
    """The least width at which no cell takes more than two lines and no word of usual length is cut."""
    if column.is_number:
        return _full(column)
    pieces = [cell_len(piece.rstrip()) for text in column.texts for piece in _PIECE.findall(text)]
    width = max(cell_len(column.header), min(_LONGEST_PIECE, max(pieces, default=0)))
    for text in column.texts:
        while len(folded(text, width)) > _LINES_A_CELL:
            width += 1
    return width
