"""Figures with one interval per row: scores, differences, and intervals shaded by the density of their posterior.

All rows are in one panel, or in one small panel per task if there are many systems.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness_uq.messages.errors import DataError
from harness_uq.output.figures.axes import (
    COLOURS,
    GREY,
    INK,
    PALE,
    SMALL,
    TEXT,
    axes_of,
    legend_below,
    need_rows,
    new_figure,
    tidy,
    without_markup,
)
from harness_uq.output.figures.marks import (
    SYSTEM_COLOURS,
    SYSTEM_MARKERS,
    Density,
    Mark,
    Panel,
    Style,
    as_list,
    legend_level,
    margin_text,
    marks_of,
    panels,
    short_label,
    system_styles,
    tick_text,
    ticks,
)
from harness_uq.output.short_names import shorten, shorten_names

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
_GRADIENT_ROW = 0.26
_DENSITY_CELLS = 256


@dataclass(frozen=True, slots=True)
class _Place:
    """A row with its vertical position."""

    y: float
    row: Mark


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


def plot_forest(results: Any, *, ax: "Axes | None" = None, title: str | None = None) -> AxesOrList:
    """Draw scores with their intervals, by task and system.

    Each system has one colour and marker. With many tasks and more than three systems, each task has a panel of its
    own. Scores with different ranges have separate axes. With at most 30 rows, a thin grey line shows the value of the
    harness ± z of its standard errors. An arrowhead styles an interval that exceeds the possible scores.

    Parameters
    ----------
    results : estimates, rankings and overall results, at least one
    ax : axes to draw in; None for a new figure of suitable size
    title : title of the figure or of `ax`

    Returns
    -------
    The axes; a list of axes if there are several panels. The figure is the attribute `figure` of the axes.

    Raises
    ------
    DataError : if there is nothing to draw, or several axes are necessary but `ax` is given
    MissingDependencyError : if matplotlib is not installed
    """
    rows = score_marks(results, "plot_forest draws scores. Use plot_difference for comparisons")
    return draw_intervals(rows, ax, title)


def plot_difference(results: Any, *, ax: "Axes | None" = None, title: str | None = None) -> AxesOrList:
    """Draw differences between systems with their intervals around a line at 0.

    Overall results contribute the differences from their baseline with simultaneous intervals. White markers are
    undecided. A grey band shows the margin.

    Parameters
    ----------
    results : comparisons, and overall results with a baseline, at least one
    ax, title : as for `plot_forest`

    Returns
    -------
    The axes; a list of axes if there are several panels

    Raises
    ------
    DataError : if there is nothing to draw, or several axes are necessary but `ax` is given
    MissingDependencyError : if matplotlib is not installed
    """
    rows = marks_of(as_list(results), differences=True)
    baselines = {row.baseline for row in rows}
    if len(pairs := {row.label for row in rows}) == 1:
        return draw_intervals(rows, ax, title or pairs.pop())
    if len(baselines) == 1:
        (baseline,) = baselines
        scale = f"difference from {shorten(baseline, 60)}"
        rows = [replace(row, label=row.system, scale=row.scale.replace("difference", scale, 1)) for row in rows]
    return draw_intervals(rows, ax, title, baselines)


def score_marks(results: Any, refusal: str) -> list[Mark]:
    """The scores of these results. Raises DataError with the text `refusal`, if one of the results is a difference."""
    rows = marks_of(as_list(results))
    if any(row.zero is not None for row in rows):
        raise DataError(refusal)
    return rows


def draw_intervals(
    rows: Sequence[Mark], ax: "Axes | None", title: str | None, others: Iterable[str] = ()
) -> AxesOrList:
    """Draw the rows, in `ax` if it is given; `others` are systems without rows that have a colour of their own. Raises
    DataError if there are no rows, or they need several axes but `ax` is given.
    """
    need_rows(rows, "results")
    parts, styles = panels(rows), system_styles([*(row.label for row in rows), *others])
    if ax is not None:
        if len(parts) > 1:
            scales = ", ".join(panel.scale for panel in parts)
            raise DataError(f"scores with different ranges need several axes, but ax is given. Scores: {scales}")
        _draw_panel(ax, parts[0], styles, _layout(parts[0], has_tasks=len(parts[0].groups) > 1))
        if title:
            ax.set_title(title, fontsize=TEXT + 1, color=INK)
        without_markup(ax)
        return ax
    if len(parts) == 1 and _needs_facets(parts[0]):
        return _draw_facets(parts[0], styles, title)
    return _draw_stack(parts, styles, title)


def _needs_facets(panel: Panel) -> bool:
    n_series = len({row.label for row in panel.rows})
    return len(panel.rows) > _MOST_ROWS and n_series > _FEW_SERIES and len(panel.groups) > 1


def _draw_stack(parts: Sequence[Panel], styles: Mapping[str, Style], title: str | None) -> AxesOrList:
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
        _draw_panel(one, panel, styles, replace(layout, has_legend=layout.has_legend and not systems <= explained))
        explained |= systems
    if title:
        figure.suptitle(title, fontsize=TEXT + 2, color=INK)
    without_markup(figure)
    return drawn if len(drawn) > 1 else drawn[0]


def _draw_facets(panel: Panel, styles: Mapping[str, Style], title: str | None) -> "list[Axes]":
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
            _draw_row(axes, _Place(series.index(row.label), replace(row, reference=None)), panel, styles)
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


def _draw_panel(axes: "Axes", panel: Panel, styles: Mapping[str, Style], layout: _Layout) -> None:
    tidy(axes)
    has_references = len(panel.rows) <= _MOST_REFERENCES
    for low, high in layout.bands:
        axes.axhspan(low, high, color=BAND, zorder=0, linewidth=0)
    for place in layout.places:
        drawn = place if has_references else replace(place, row=replace(place.row, reference=None))
        _draw_row(axes, drawn, panel, styles)
    _frame(axes, panel)
    draw_margins(axes, [(place.y, place.row) for place in layout.places])
    axes.set_ylim(layout.height - 0.4, -0.6)
    axes.set_yticks([y for y, _ in layout.labels], [text for _, text in layout.labels])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("\n".join(_lines(_axis_title_parts(panel))), fontsize=TEXT, color=INK)
    _add_legend(axes, panel, styles, layout, has_references=has_references)


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


def _draw_row(axes: "Axes", place: _Place, panel: Panel, styles: Mapping[str, Style]) -> None:
    row, y, (low, high) = place.row, place.y, panel.limits
    style = styles[row.label]
    colour = SYSTEM_COLOURS[style.colour]
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
            SYSTEM_MARKERS[style.marker],
            color=colour if row.is_decided else "white",
            markeredgecolor=colour,
            markersize=5,
            clip_on=False,
        )


def write_not_estimable(axes: "Axes", y: float, row: Mark, panel: Panel) -> None:
    """State that a row has no interval, beside its value or at the left end of the axis."""
    x = panel.limits[0] if row.value is None else row.value
    axes.annotate("not estimable", (x, y), (7, 0), textcoords="offset points", va="center", fontsize=SMALL)


def draw_margins(axes: "Axes", places: Iterable[tuple[float, Mark]]) -> None:
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
    axes: "Axes", panel: Panel, styles: Mapping[str, Style], layout: _Layout, *, has_references: bool
) -> None:
    """The systems, if the rows do not name them, and the interval of the harness."""
    if layout.has_legend:
        series = list(dict.fromkeys(row.label for row in panel.rows))
        for name, text in zip(series, shorten_names(series, LABEL), strict=True):
            style = styles[name]
            colour, shape = SYSTEM_COLOURS[style.colour], SYSTEM_MARKERS[style.marker]
            axes.plot([], [], color=colour, marker=shape, linewidth=2.2, markersize=5, label=text)
    if has_references and any(row.reference is not None for row in panel.rows):
        axes.plot([], [], color=GREY, linewidth=1, marker="|", label="harness: ± z SE")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=SMALL, frameon=False, borderaxespad=0.0)


def gradient_intervals(results: "Iterable[Any]", *, title: str | None = None) -> "Figure":
    """Forest plot whose rows show the posterior as a strip; darker values are more probable.

    Rows without a posterior (frequentist methods) show the interval only.

    Parameters
    ----------
    results : estimates, comparisons, rankings or overall results, at least one
    title : title of the figure

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if there is nothing to draw
    MissingDependencyError : if matplotlib is not installed
    """
    figure, drawn = _gradient_axes(marks_of(as_list(results)), title)
    for axes, panel in drawn:
        for y, row in _positions(panel):
            if row.posterior is not None:
                _draw_density(axes, y, row.posterior, panel)
            _draw_interval(axes, y, row, panel, width=1.2)
    _gradient_legend(drawn)
    return without_markup(figure)


def _gradient_axes(rows: Sequence[Mark], title: str | None) -> "tuple[Figure, list[tuple[Axes, Panel]]]":
    need_rows(rows, "results")
    parts = panels(rows)
    heights = [len(panel.rows) + len(panel.groups) + 2.0 for panel in parts]
    figure = new_figure(7.5, _GRADIENT_ROW * sum(heights) + 0.9)
    if title:
        figure.suptitle(title, fontsize=TEXT + 2, color=INK)
    drawn = list(zip(axes_of(figure, heights), parts, strict=True))
    for axes, panel in drawn:
        _gradient_frame(axes, panel)
    return figure, drawn


def _positions(panel: Panel) -> list[tuple[float, Mark]]:
    """Vertical position of every row; a heading takes one line above its rows."""
    placed, y = [], 0.0
    for _, rows in panel.groups:
        y += 1.0
        for row in rows:
            placed.append((y, row))
            y += 1.0
    return placed


def _gradient_frame(axes: "Axes", panel: Panel) -> None:
    low, high = panel.limits
    pad = 0.015 * (high - low)
    placed = _positions(panel)
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(placed[-1][0] + 0.8, -0.6)
    axes.set_xticks(panel.ticks, [tick_text(tick, panel.ticks) for tick in panel.ticks])
    margin = margin_text(panel.rows)
    title = shorten(panel.scale, 80) + (f", band: margin of {margin}" if margin else "")
    axes.set_xlabel(title, fontsize=TEXT, color=INK)
    axes.set_yticks([y for y, _ in placed], [short_label(row) for _, row in placed])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    y = 0.0
    for name, rows in panel.groups:
        axes.text(low - pad, y, shorten(name, 70), fontsize=TEXT, fontweight="bold", color=INK, va="center")
        y += len(rows) + 1.0
    if panel.rows[0].zero is not None:
        axes.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)
        draw_margins(axes, placed)


def _draw_interval(axes: "Axes", y: float, row: Mark, panel: Panel, *, width: float) -> None:
    if row.reference is not None:
        axes.plot(row.reference, [y + 0.3] * 2, color=GREY, linewidth=1.0, marker="|", markersize=4, clip_on=False)
    if row.span is not None:
        axes.plot(row.span, [y, y], color=COLOURS[0], linewidth=width, solid_capstyle="butt", clip_on=False)
    else:
        write_not_estimable(axes, y, row, panel)
    if row.value is not None:
        axes.plot([row.value], [y], "o", color="white", markeredgecolor=INK, markersize=5, clip_on=False)


def _draw_density(axes: "Axes", y: float, posterior: Density, panel: Panel) -> None:
    low, high = (float(end) for end in posterior.quantile(np.array([0.0005, 0.9995])))
    low, high = max(low, panel.limits[0]), min(high, panel.limits[1])
    if not high > low:
        return
    mass = np.diff(posterior.cdf(np.linspace(low, high, _DENSITY_CELLS + 1)))
    shade = np.empty((1, _DENSITY_CELLS, 4))
    shade[..., :3] = [int(COLOURS[0][k : k + 2], 16) / 255 for k in (1, 3, 5)]
    shade[..., 3] = 0.75 * np.clip(mass / mass.max(), 0.0, 1.0)
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(shade, extent=(low, high, y + 0.35, y - 0.35), aspect="auto", interpolation="bilinear", zorder=1)
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])


def _gradient_legend(drawn: "Sequence[tuple[Axes, Panel]]") -> None:
    rows = [row for _, panel in drawn for row in panel.rows]
    axes = drawn[0][0]
    names = ["score" if rows[0].zero is None else "difference", legend_level(rows)]
    axes.plot([], [], "o", color="white", markeredgecolor=INK, markersize=5, label=names[0])
    axes.plot([], [], color=COLOURS[0], linewidth=3, label=names[1])
    if any(row.reference is not None for row in rows):
        axes.plot([], [], color=GREY, linewidth=1, marker="|", label="harness: score ± z standard errors")
    legend_below(axes)
