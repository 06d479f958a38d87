"""Ranks of systems with their uncertainty."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness_uq.messages.errors import DataError
from harness_uq.output.figures.axes import GREY, INK, SMALL, TEXT, axes_or_new, need_rows, tidy, without_markup
from harness_uq.output.figures.forest import (
    BAND,
    PANEL_TITLE,
    ROW,
    AxesOrList,
    facet_grid,
    label_systems,
    n_columns,
    task_names,
)
from harness_uq.output.figures.marks import (
    SYSTEM_COLOURS,
    SYSTEM_MARKERS,
    RankMark,
    Style,
    as_list,
    boards_of,
    system_styles,
)
from harness_uq.output.short_names import shorten, shorten_names
from harness_uq.output.words import whole_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_SHADE = 0.005


def plot_ranks(results: Any, *, ax: "Axes | None" = None, title: str | None = None) -> AxesOrList:
    """Draw the possible ranks of systems.

    The marker is the expected rank, the line its interval, and the bracket the rank set. The rank sets of all systems
    hold simultaneously. Shades show the probability of each rank if it is known. Several rankings have a panel each,
    with the systems in the order of the first.

    Parameters
    ----------
    results : rankings, and overall results with ranks, at least one
    ax : axes to draw a single ranking in; None for a new figure of suitable size
    title : title of the figure or of `ax`; by default the task of a single ranking

    Returns
    -------
    The axes; a list of axes if there are several rankings

    Raises
    ------
    DataError : if there is nothing to draw, or several rankings but `ax` is given
    MissingDependencyError : if matplotlib is not installed
    """
    boards = boards_of(as_list(results))
    need_rows(boards, "ranked systems")
    systems = list(dict.fromkeys(row.system for board in boards for row in board.rows))
    styles = system_styles(systems)
    if ax is not None and len(boards) > 1:
        raise DataError(f"ax shows one ranking; got {len(boards)}")
    if len(boards) == 1:
        name, rows = boards[0].title, boards[0].rows
        axes = axes_or_new(ax, 8.0, ROW * 1.25 * len(rows) + 1.3)
        _draw_board(axes, rows, [row.system for row in rows], styles)
        _write_chances(axes, rows)
        axes.set_xlabel("rank, 1 is best", fontsize=TEXT, color=INK)
        axes.set_title(title or shorten(name, 90), fontsize=TEXT + 1, color=INK)
        without_markup(axes)
        return axes
    figure, grid = facet_grid(len(boards), ROW * 0.9 * len(systems) + 0.5, title)
    names = shorten_names(task_names([board.title for board in boards]), PANEL_TITLE)
    for k, (axes, name, board) in enumerate(zip(grid, names, boards, strict=True)):
        _draw_board(axes, board.rows, systems, styles)
        label_systems(axes, systems, is_first=k % n_columns(len(grid)) == 0)
        axes.set_title(name, fontsize=TEXT)
    figure.supxlabel("rank, 1 is best", fontsize=TEXT + 1, color=INK)
    without_markup(figure)
    return grid


def _draw_board(axes: "Axes", rows: Sequence[RankMark], systems: Sequence[str], styles: Mapping[str, Style]) -> None:
    n = len(systems)
    tidy(axes)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    for y in range(0, n, 2):
        axes.axhspan(y - 0.5, y + 0.5, color=BAND, zorder=0, linewidth=0)
    for row in rows:
        _draw_rank(axes, systems.index(row.system), row, styles[row.system])
    axes.set_xlim(0.5, n + 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xticks([k for k in range(1, n + 1) if n <= 6 or k == 1 or k % (3 if n <= 20 else 5) == 0])
    label_systems(axes, systems)


def _draw_rank(axes: "Axes", y: int, row: RankMark, style: Style) -> None:
    colour = SYSTEM_COLOURS[style.colour]
    # of many systems, each rank has little probability
    strongest = max(row.prob_rank, default=1.0)
    for rank, share in enumerate(row.prob_rank, 1):
        if share >= _LEAST_SHADE:
            axes.barh([y], [1.0], left=rank - 0.5, height=0.56, color=colour, alpha=0.45 * share / strongest, zorder=1)
    if row.interval is not None:
        axes.plot(row.interval, [y, y], color=colour, linewidth=2.2, solid_capstyle="round")
    if row.rank_set is not None:
        low, high = row.rank_set[0] - 0.45, row.rank_set[1] + 0.45
        axes.plot([low, low, high, high], [y + 0.2, y + 0.38, y + 0.38, y + 0.2], color=GREY, linewidth=1.0)
    axes.plot([row.expected], [y], SYSTEM_MARKERS[style.marker], color="white", markeredgecolor=colour, markersize=5)


def _write_chances(axes: "Axes", rows: Sequence[RankMark]) -> None:
    """P(best) in per cent at the right of each row."""
    axes.annotate("P(best), %", (1.02, -0.9), **_beside(axes))
    for y, row in enumerate(rows):
        if row.prob_best is not None:
            axes.annotate(whole_percent(row.prob_best), (1.02, y), **_beside(axes))


def _beside(axes: "Axes") -> dict[str, Any]:
    """Arguments of a text whose x is a share of the width of the axes."""
    coordinates = axes.get_yaxis_transform()
    return {"xycoords": coordinates, "annotation_clip": False, "va": "center", "fontsize": SMALL, "color": INK}
