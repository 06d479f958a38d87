"""Forest plot in characters, for a terminal."""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from harness_uq.plots.rows import ForestRow, Panel, Pictured, forest_rows, legend_level, panels, short_label, tick_text
from harness_uq.report.columns import number

_MIN_TRACK = 24
_MAX_TRACK = 72
_MAX_LABEL = 36


@dataclass(frozen=True, slots=True)
class _Pen:
    """Characters that draw: ends and line of an interval, its dot, the line at no difference and
    where an interval crosses it, axis and its marks.
    """

    left: str = "├"
    right: str = "┤"
    line: str = "─"
    dot: str = "●"
    zero: str = "┊"
    cross: str = "┼"
    axis: str = "─"
    mark: str = "┴"
    ellipsis: str = "…"
    minus: str = "−"


_ASCII = _Pen("|", "|", "-", "o", ":", "+", "-", "+", "~", "-")


def forest_text(results: "Iterable[Pictured]", *, width: int | None = None, ascii_only: bool | None = None) -> str:
    """Forest plot as text: a line a row with its numbers, an axis a range, under a heading a task.

    Parameters
    ----------
    results : estimates, comparisons or rankings
    width : characters a line, 40 or more to be readable; None takes the terminal's, or 100 where there is none
    ascii_only : draw with ASCII alone; None does so where standard output cannot encode the box characters

    Returns
    -------
    Text with a final line feed; empty where there is nothing to draw
    """
    rows = forest_rows(results)
    if not rows:
        return ""
    columns = width or shutil.get_terminal_size((100, 24)).columns
    pen = _ASCII if (ascii_only if ascii_only is not None else not _can_draw()) else _Pen()
    lines = [line for panel in panels(rows) for line in _panel_lines(panel, columns, pen)]
    key = f"{pen.dot} {'difference' if rows[0].zero is not None else 'plain score'}, "
    key += f"{pen.left}{pen.line}{pen.right} {legend_level(rows)}"
    return "\n".join([*lines, key]).rstrip() + "\n"


def _can_draw() -> bool:
    try:
        "".join(str(getattr(_Pen(), name)) for name in _Pen.__dataclass_fields__).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _panel_lines(panel: Panel, columns: int, pen: _Pen) -> list[str]:
    label = min(max(cell_len(row.label) for row in panel.rows), _MAX_LABEL)
    numbers = max(cell_len(_numbers(row)) for row in panel.rows)
    indent = label + numbers + 6
    if columns - indent < _MIN_TRACK:
        return _narrow_lines(panel, columns, pen)
    track = min(columns - indent, _MAX_TRACK)
    lines: list[str] = []
    for name, rows in panel.groups:
        lines.append(_cut(name, columns))
        lines += [
            f"  {set_cell_size(_written(row, label, pen), label)}  {_numbers(row):>{numbers}}  "
            + _draw(row, panel, track, pen)
            for row in rows
        ]
    axis, texts = _axis(panel, track, pen)
    return [*lines, " " * indent + axis, f"{_cut(panel.scale, indent - 2):>{indent - 2}}  {texts}", ""]


def _narrow_lines(panel: Panel, columns: int, pen: _Pen) -> list[str]:
    """Name, numbers and drawing below each other."""
    track = min(columns - 2, _MAX_TRACK)
    lines: list[str] = []
    for name, rows in panel.groups:
        lines.append(_cut(name, columns))
        for row in rows:
            lines += [
                f"  {_written(row, columns - 2, pen)}",
                f"  {_numbers(row)}",
                f"  {_draw(row, panel, track, pen)}",
            ]
    return [*lines, *(f"  {line}" for line in _axis(panel, track, pen)), f"  {_cut(panel.scale, columns - 2)}", ""]


def _cut(text: str, width: int) -> str:
    return set_cell_size(text, min(cell_len(text), width))


def _written(row: ForestRow, width: int, pen: _Pen) -> str:
    return short_label(row, max(width, 8)).replace("…", pen.ellipsis).replace("−", pen.minus)


def _numbers(row: ForestRow) -> str:
    value = number(row.value)
    return f"{value} [{number(row.span[0])}, {number(row.span[1])}]" if row.span else f"{value} not estimable"


def _draw(row: ForestRow, panel: Panel, track: int, pen: _Pen) -> str:
    cells = [" "] * track

    def place(value: float) -> int:
        return round(panel.share(value) * (track - 1))

    if row.zero is not None:
        cells[place(row.zero)] = pen.zero
    if row.span is not None:
        low, high = place(row.span[0]), place(row.span[1])
        cells[low : high + 1] = [pen.line] * (high - low + 1)
        if row.zero is not None and row.span[0] < row.zero < row.span[1]:
            cells[place(row.zero)] = pen.cross
        cells[low], cells[high] = pen.left, pen.right
    if row.value is not None:
        cells[place(row.value)] = pen.dot
    return "".join(cells).rstrip()


def _axis(panel: Panel, track: int, pen: _Pen) -> tuple[str, str]:
    line, texts = [pen.axis] * track, [" "] * track
    free = 0
    for tick in panel.ticks:
        place = round(panel.share(tick) * (track - 1))
        text = tick_text(tick, panel.ticks)
        start = min(max(place - len(text) // 2, 0), track - len(text))
        line[place] = pen.mark
        if start >= free:
            texts[start : start + len(text)] = text
            free = start + len(text) + 1
    return "".join(line), "".join(texts).rstrip()
