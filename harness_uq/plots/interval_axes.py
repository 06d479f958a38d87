"""Axes with one interval per row: all rows in one panel, or one small panel per task if there are many systems."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness_uq.errors import DataError
from harness_uq.plots.figure import GREY, INK, PALE, SMALL, TEXT, axes_of, need_rows, new_figure, tidy, without_markup
from harness_uq.plots.figure_rows import ForestRow, Panel, legend_level, margin_text, panels, tick_text, ticks
from harness_uq.plots.label_texts import shorten, shorten_names
from harness_uq.plots.palette import SYSTEM_COLOURS, SYSTEM_MARKERS, Mark, system_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AxesOrList: TypeAlias = "Axes | list[Axes]"

ROW = 0.21
BAND = "#f3f4f6"
LABEL, PANEL_TITLE = 36, 26
_AXIS_TITLE = 72  # characters per line
_MOST_ROWS = 60
_FEW_SERIES = 3
_MOST_PANEL_COLUMNS = 6
_MOST_REFERENCES = 30
_GAP = 0.8


@dataclass(frozen=True, slots=True)
class _Place:
    """A row with its vertical position."""

    y: float
    row: ForestRow


@dataclass(frozen=True, slots=True)
class _Layout:
    """Rows at their positions, labels of the vertical axis, and bands that separate groups of rows."""

    places: tuple[_Place, ...]
    labels: tuple[tuple[float, str], ...]
    bands: tuple[tuple[float, float], ...]
    has_legend: bool

    @property
    def height(self) -> float:
        """Number of rows that the layout takes."""
        return max(place.y for place in self.places) + 1.0


def draw_intervals(
    rows: Sequence[ForestRow], ax: "Axes | None", title: str | None, others: Iterable[str] = ()
) -> AxesOrList:
    """Draw the rows, in `ax` if it is given; `others` are systems without rows that have a colour of their own.

    Raises
    ------
    DataError : if there are no rows, or they need several axes but `ax` is given
    MissingDependencyError : if matplotlib is not installed
    """
    need_rows(rows, "results")
    parts, marks = panels(rows), system_marks([*(row.label for row in rows), *others])
    if ax is not None:
        if len(parts) > 1:
            scales = ", ".join(panel.scale for panel in parts)
            raise DataError(f"scores with different ranges need several axes, but ax is given. Scores: {scales}")
        _draw_panel(ax, parts[0], marks, _layout(parts[0], has_tasks=len(parts[0].groups) > 1))
        if title:
            ax.set_title(title, fontsize=TEXT + 1, color=INK)
        without_markup(ax)
        return ax
    if len(parts) == 1 and _needs_facets(parts[0]):
        return _draw_facets(parts[0], marks, title)
    return _draw_stack(parts, marks, title)


def _needs_facets(panel: Panel) -> bool:
    n_series = len({row.label for row in panel.rows})
    return len(panel.rows) > _MOST_ROWS and n_series > _FEW_SERIES and len(panel.groups) > 1


def _draw_stack(parts: Sequence[Panel], marks: Mapping[str, Mark], title: str | None) -> AxesOrList:
    """One panel below the other, one for each range of scores."""
    has_tasks = len({name for panel in parts for name, _ in panel.groups}) > 1
    layouts = [_layout(panel, has_tasks=has_tasks) for panel in parts]
    heights = [layout.height + 2.5 for layout in layouts]
    has_legend = any(layout.has_legend for layout in layouts)
    figure = new_figure(9.0 if has_legend else 7.5, ROW * sum(heights) + 0.5 + 0.3 * bool(title))
    drawn = axes_of(figure, heights)
    explained: set[str] = set()
    for one, panel, layout in zip(drawn, parts, layouts, strict=True):
        systems = {row.label for row in panel.rows}
        _draw_panel(one, panel, marks, replace(layout, has_legend=layout.has_legend and not systems <= explained))
        explained |= systems
    if title:
        figure.suptitle(title, fontsize=TEXT + 2, color=INK)
    without_markup(figure)
    return drawn if len(drawn) > 1 else drawn[0]


def _draw_facets(panel: Panel, marks: Mapping[str, Mark], title: str | None) -> "list[Axes]":
    """One small panel per task; all panels have the same axes."""
    series = list(dict.fromkeys(row.label for row in panel.rows))
    groups = panel.groups
    figure, grid = facet_grid(len(groups), ROW * 0.8 * len(series) + 0.5, title)
    few_ticks = tuple(ticks(*panel.limits, n=3))
    names = shorten_names(task_names([name for name, _ in groups]), PANEL_TITLE)
    for k, (axes, name, (_, rows)) in enumerate(zip(grid, names, groups, strict=True)):
        for y in range(0, len(series), 2):
            axes.axhspan(y - 0.5, y + 0.5, color=BAND, zorder=0, linewidth=0)
        for row in rows:
            _draw_row(axes, _Place(series.index(row.label), replace(row, reference=None)), panel, marks)
        _frame(axes, replace(panel, ticks=few_ticks))
        draw_margins(axes, [(series.index(row.label), row) for row in rows])
        axes.set_ylim(len(series) - 0.4, -0.6)
        label_systems(axes, series, is_first=k % n_columns(len(grid)) == 0)
        axes.set_title(name, fontsize=TEXT)
    figure.supxlabel(", ".join(_axis_title_parts(panel)), fontsize=TEXT + 1, color=INK)
    without_markup(figure)
    return grid


def facet_grid(n: int, height: float, title: str | None) -> "tuple[Figure, list[Axes]]":
    """A figure with `n` axes of this height in inches, in lines of `n_columns(n)`."""
    n_lines = math.ceil(n / n_columns(n))
    figure = new_figure(2.1 * n_columns(n) + 1.8, height * n_lines + 0.6 + 0.3 * bool(title))
    grid = figure.subplots(n_lines, n_columns(n), squeeze=False).ravel().tolist()
    for axes in grid[n:]:
        axes.remove()
    if title:
        figure.suptitle(title, fontsize=TEXT + 2, color=INK)
    return figure, grid[:n]


def n_columns(n: int) -> int:
    """Number of axes per line of a figure with `n` axes."""
    return min(_MOST_PANEL_COLUMNS, math.ceil(math.sqrt(n)))


def label_systems(axes: "Axes", systems: Sequence[str], *, is_first: bool = True) -> None:
    """Label the rows of the axes with the systems, unless these are not the first axes of a line."""
    axes.set_yticks(range(len(systems)), shorten_names(systems, LABEL) if is_first else [""] * len(systems))
    axes.tick_params(axis="y", length=0)


def task_names(groups: Sequence[str]) -> list[str]:
    """Headings of groups of rows, without the metric if it is the same in all."""
    metrics = {name.partition(", ")[2] for name in groups if ", " in name}
    return [name.partition(", ")[0] for name in groups] if len(metrics) == 1 else list(groups)


def _draw_panel(axes: "Axes", panel: Panel, marks: Mapping[str, Mark], layout: _Layout) -> None:
    tidy(axes)
    has_references = len(panel.rows) <= _MOST_REFERENCES
    for low, high in layout.bands:
        axes.axhspan(low, high, color=BAND, zorder=0, linewidth=0)
    for place in layout.places:
        drawn = place if has_references else replace(place, row=replace(place.row, reference=None))
        _draw_row(axes, drawn, panel, marks)
    _frame(axes, panel)
    draw_margins(axes, [(place.y, place.row) for place in layout.places])
    axes.set_ylim(layout.height - 0.4, -0.6)
    axes.set_yticks([y for y, _ in layout.labels], [text for _, text in layout.labels])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("\n".join(_lines(_axis_title_parts(panel))), fontsize=TEXT, color=INK)
    _add_legend(axes, panel, marks, layout, has_references=has_references)


def _layout(panel: Panel, *, has_tasks: bool) -> _Layout:
    """Labels are tasks if the figure has several; systems then differ by colour and marker. Else labels are systems."""
    groups = panel.groups
    names = shorten_names(task_names([name for name, _ in groups]), LABEL)
    has_rows_alone = all(len(rows) == 1 for _, rows in groups) and len({row.label for row in panel.rows}) == 1
    places: list[_Place] = []
    labels: list[tuple[float, str]] = []
    bands: list[tuple[float, float]] = []
    y = 0.0
    for k, (name, (_, rows)) in enumerate(zip(names, groups, strict=True)):
        top = y
        places += [_Place(top + j, row) for j, row in enumerate(rows)]
        y += len(rows)
        if not has_tasks:
            series = shorten_names([row.label for row in rows], LABEL)
            labels += [(top + j, text) for j, text in enumerate(series)]
        else:
            labels.append(((top + y - 1) / 2, name))
        if has_tasks and not has_rows_alone:
            if k % 2 == 0:
                bands.append((top - 0.5 - _GAP / 2, y - 0.5 + _GAP / 2))
            y += _GAP
    return _Layout(tuple(places), tuple(labels), tuple(bands), has_tasks and not has_rows_alone)


def _draw_row(axes: "Axes", place: _Place, panel: Panel, marks: Mapping[str, Mark]) -> None:
    row, y, (low, high) = place.row, place.y, panel.limits
    mark = marks[row.label]
    colour = SYSTEM_COLOURS[mark.colour]
    if row.reference is not None:
        ends = np.clip(row.reference, low, high)
        axes.plot(ends, [y + 0.32] * 2, color=GREY, linewidth=1.0, marker="|", markersize=4)
    if row.span is not None:
        axes.plot(np.clip(row.span, low, high), [y, y], color=colour, linewidth=2.2, solid_capstyle="butt")
        for end, is_cut, arrow in ((low, row.span[0] < low, "<"), (high, row.span[1] > high, ">")):
            if is_cut:
                axes.plot([end], [y], arrow, color=colour, markersize=5, clip_on=False)
    else:
        write_not_estimable(axes, y, row, panel)
    if row.value is not None:
        axes.plot(
            [row.value],
            [y],
            SYSTEM_MARKERS[mark.marker],
            color=colour if row.is_decided else "white",
            markeredgecolor=colour,
            markersize=5,
            clip_on=False,
        )


def write_not_estimable(axes: "Axes", y: float, row: ForestRow, panel: Panel) -> None:
    """State that a row has no interval, beside its value or at the left end of the axis."""
    x = panel.limits[0] if row.value is None else row.value
    axes.annotate("not estimable", (x, y), (7, 0), textcoords="offset points", va="center", fontsize=SMALL)


def draw_margins(axes: "Axes", places: Iterable[tuple[float, ForestRow]]) -> None:
    """Draw a grey band for the margin of all rows, or for each row if margins differ."""
    margins = {y: row.margin for y, row in places}
    style: dict[str, Any] = {"color": PALE, "alpha": 0.6, "zorder": 0.5, "linewidth": 0}
    if len(set(margins.values())) > 1:
        for y, margin in margins.items():
            axes.fill_betweenx([y - 0.5, y + 0.5], -margin, margin, **style)
    elif margin := max(margins.values()):
        axes.axvspan(-margin, margin, **style)


def _frame(axes: "Axes", panel: Panel) -> None:
    low, high = panel.limits
    tidy(axes)
    axes.set_xlim(low, high)
    axes.set_xticks(panel.ticks, [tick_text(tick, panel.ticks) for tick in panel.ticks])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    if panel.rows[0].zero is not None:
        axes.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)


def _axis_title_parts(panel: Panel) -> list[str]:
    parts = [shorten(panel.scale, 80), legend_level(panel.rows)]
    if margin := margin_text(panel.rows):
        parts.append(f"band: margin of {margin}")
    if not all(row.is_decided for row in panel.rows):
        parts.append("white: undecided")
    return parts


def _lines(parts: Sequence[str]) -> list[str]:
    """The parts with commas between them; a line that would be too long ends after a comma."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) > _AXIS_TITLE:
            lines[-1] += ","
            lines.append(part)
        else:
            lines[-1] += f", {part}"
    return lines


def _add_legend(
    axes: "Axes", panel: Panel, marks: Mapping[str, Mark], layout: _Layout, *, has_references: bool
) -> None:
    """The systems, if the rows do not name them, and the interval of the harness."""
    if layout.has_legend:
        series = list(dict.fromkeys(row.label for row in panel.rows))
        for name, text in zip(series, shorten_names(series, LABEL), strict=True):
            mark = marks[name]
            colour, shape = SYSTEM_COLOURS[mark.colour], SYSTEM_MARKERS[mark.marker]
            axes.plot([], [], color=colour, marker=shape, linewidth=2.2, markersize=5, label=text)
    if has_references and any(row.reference is not None for row in panel.rows):
        axes.plot([], [], color=GREY, linewidth=1, marker="|", label="harness: ± z SE")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=SMALL, frameon=False, borderaxespad=0.0)
