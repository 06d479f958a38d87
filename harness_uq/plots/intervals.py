"""Intervals shaded by the density of their posterior."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.plots.figure import (
    COLOURS,
    GREY,
    INK,
    TEXT,
    axes_of,
    legend_below,
    need_rows,
    new_figure,
    without_markup,
)
from harness_uq.plots.figure_rows import (
    ForestRow,
    Panel,
    Pictured,
    forest_rows,
    legend_level,
    margin_text,
    panels,
    short_label,
    tick_text,
)
from harness_uq.plots.interval_axes import draw_margins, write_not_estimable
from harness_uq.plots.label_texts import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from harness_uq.results.estimate import Posterior

_ROW_HEIGHT = 0.26
_DENSITY_CELLS = 256


def gradient_intervals(results: "Iterable[Pictured]", *, title: str | None = None) -> "Figure":
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
    figure, drawn = _panel_axes(forest_rows(results), title)
    for axes, panel in drawn:
        for y, row in _positions(panel):
            if row.posterior is not None:
                _draw_density(axes, y, row.posterior, panel)
            _draw_interval(axes, y, row, panel, width=1.2)
    _legend(drawn)
    return without_markup(figure)


def _panel_axes(rows: Sequence[ForestRow], title: str | None) -> "tuple[Figure, list[tuple[Axes, Panel]]]":
    need_rows(rows, "results")
    parts = panels(rows)
    heights = [len(panel.rows) + len(panel.groups) + 2.0 for panel in parts]
    figure = new_figure(7.5, _ROW_HEIGHT * sum(heights) + 0.9)
    if title:
        figure.suptitle(title, fontsize=TEXT + 2, color=INK)
    drawn = list(zip(axes_of(figure, heights), parts, strict=True))
    for axes, panel in drawn:
        _frame(axes, panel)
    return figure, drawn


def _positions(panel: Panel) -> list[tuple[float, ForestRow]]:
    """Vertical position of every row; a heading takes one line above its rows."""
    placed, y = [], 0.0
    for _, rows in panel.groups:
        y += 1.0
        for row in rows:
            placed.append((y, row))
            y += 1.0
    return placed


def _frame(axes: "Axes", panel: Panel) -> None:
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


def _draw_interval(axes: "Axes", y: float, row: ForestRow, panel: Panel, *, width: float) -> None:
    if row.reference is not None:
        axes.plot(row.reference, [y + 0.3] * 2, color=GREY, linewidth=1.0, marker="|", markersize=4, clip_on=False)
    if row.span is not None:
        axes.plot(row.span, [y, y], color=COLOURS[0], linewidth=width, solid_capstyle="butt", clip_on=False)
    else:
        write_not_estimable(axes, y, row, panel)
    if row.value is not None:
        axes.plot([row.value], [y], "o", color="white", markeredgecolor=INK, markersize=5, clip_on=False)


def _draw_density(axes: "Axes", y: float, posterior: "Posterior", panel: Panel) -> None:
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


def _legend(drawn: "Sequence[tuple[Axes, Panel]]") -> None:
    rows = [row for _, panel in drawn for row in panel.rows]
    axes = drawn[0][0]
    names = ["score" if rows[0].zero is None else "difference", legend_level(rows)]
    axes.plot([], [], "o", color="white", markeredgecolor=INK, markersize=5, label=names[0])
    axes.plot([], [], color=COLOURS[0], linewidth=3, label=names[1])
    if any(row.reference is not None for row in rows):
        axes.plot([], [], color=GREY, linewidth=1, marker="|", label="harness: score ± z standard errors")
    legend_below(axes)
