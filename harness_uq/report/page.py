"""Text and tables on lines of a given width: names are cut, numbers never, and what is left out is named."""

import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness_uq.report.clean import lines, plain
from harness_uq.report.words import commands_as

_UNLIMITED = 100_000
_GAP = 2
_COMFORTABLE = 16
_NARROWEST = 10


@dataclass(frozen=True, slots=True)
class Cells:
    """One column.

    Attributes
    ----------
    header, texts : what stands above, and a text a row
    is_number : to the right, and never cut
    spare : columns of the greatest number are left out first where a line is too short; those of 0 never are
    short : the columns in its place where a line is too short; none where another's short form says it too
    styles : how a text is shown on a terminal, such as `bold`
    """

    header: str
    texts: Sequence[str]
    is_number: bool = True
    spare: int = 0
    short: "Sequence[Cells] | None" = None
    styles: Mapping[str, str] = field(default_factory=dict)

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

    def table(self, columns: Sequence[Cells]) -> list[str]:
        """A table without frame, of the columns that find room; their headers."""
        shown, left_out = _with_room(columns, self._width)
        self._left_out |= dict.fromkeys(left_out)
        # a gap is a column: before 14.3 rich counts the padding after the last column
        table = Table(box=None, padding=0, header_style="bold")
        widths = _widths(shown, self._width)
        for column, width in zip(shown, widths, strict=True):
            if table.columns:
                table.add_column(min_width=_GAP)
            table.add_column(column.header, justify="right" if column.is_number else "left", min_width=width)
        for row in zip(*(column.texts for column in shown), strict=True):
            cells = [
                Text(cut(text, width), style=column.styles.get(text, ""))
                for text, column, width in zip(row, shown, widths, strict=True)
            ]
            table.add_row(*[part for cell in cells for part in ("", cell)][1:])
        self._console.print(table)
        return [column.header for column in shown]

    def say_legend(self, legend: Mapping[str, str], shown: Iterable[str]) -> None:
        """What the columns shown mean, in one paragraph; what stands under no column's name is always said."""
        names = set(shown)
        said = " ".join(text for header, text in legend.items() if text and (header in names or not header))
        if said:
            self.say(f"\n{said}", "dim")

    def lacks(self, header: str) -> bool:
        """Whether a column of this header found no room."""
        return header in self._left_out

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


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, its middle left out where it is longer.

    >>> cut("mmlu_pro_plus_chemistry", 16)
    'mmlu_pro…emistry'
    """
    if cell_len(text) <= width:
        return text
    head, tail = text, text
    while cell_len(head) > width // 2:
        head = head[:-1]
    while cell_len(tail) > width - 1 - width // 2:
        tail = tail[1:]
    return f"{head}…{tail}"


def _with_room(columns: Sequence[Cells], width: int) -> tuple[list[Cells], list[str]]:
    """The columns that find room, and the headers of the others.

    Names are cut first, then short forms are taken, then the spare columns go, those of the greatest number first.
    """
    if _total(map(_readable, columns)) <= width:
        return list(columns), []
    shown = [short for column in columns for short in ([column] if column.short is None else column.short)]
    candidates = list(shown)
    while _total(map(_readable, shown)) > width and (most := max(column.spare for column in shown)):
        shown = [column for column in shown if column.spare < most]
    return shown, [column.header for column in candidates if column not in shown]


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
    """The least width at which a reader can still tell the column's texts apart."""
    full = _full(column)
    if column.is_number:
        return full
    distinct = set(column.texts)
    least = min(full, max(_COMFORTABLE, cell_len(column.header)))
    return next((w for w in range(least, full) if len({cut(text, w) for text in distinct}) == len(distinct)), full)
