"""Scores of systems by task, with their uncertainty."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from harness_uq.output.figures.axes import INK, SMALL, TEXT, need_rows, new_figure, without_markup
from harness_uq.output.figures.forest import LABEL, score_marks, task_names
from harness_uq.output.figures.marks import Mark, Span
from harness_uq.output.short_names import shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Cells: TypeAlias = Mapping[tuple[str, str], Mark]

_CELL = 0.46
_CHARACTER = 0.075
_SMALLEST_TILE = 0.64
_LARGEST_TILE = 0.97
_DARK_TILE = 0.55
_MOST_WRITTEN = 45


def plot_heatmap(results: Any, *, ax: "Axes | None" = None, title: str | None = None) -> "Axes":
    """Draw the scores of systems (rows) on tasks (columns) as tiles; wider intervals have smaller tiles.

    The colour is the position of the score within the range of the metric, or, if the range is unknown, between the
    smallest and the largest score of the task. With at most 45 tasks, each tile shows the score and half the
    width of its interval, in per cent for scores from 0 to 1.

    Parameters
    ----------
    results : estimates, rankings and overall results, at least one; of several runs of a system the last counts
    ax : axes to draw in; None for a new figure of suitable size
    title : title of the axes

    Returns
    -------
    The axes

    Raises
    ------
    DataError : if there is nothing to draw
    MissingDependencyError : if matplotlib is not installed
    """
    rows = score_marks(results, "plot_heatmap draws scores, not comparisons")
    need_rows(rows, "results")
    cells = {(row.system, row.group): row for row in rows}
    systems = list(dict.fromkeys(row.system for row in rows))
    tasks = list(dict.fromkeys(row.group for row in rows))
    axes = ax
    if axes is None:
        figure = new_figure(
            _CELL * len(tasks) + _CHARACTER * _longest(systems) + 1.6,
            _CELL * len(systems) + 0.75 * _CHARACTER * _longest(task_names(tasks)) + 0.9,
        )
        figure.set_layout_engine("compressed")
        axes = figure.subplots()
    _draw_tiles(axes, cells, systems, tasks)
    _label_axes(axes, systems, tasks)
    if title:
        axes.set_title(title, fontsize=TEXT + 1, color=INK)
    without_markup(axes)
    return axes


def _draw_tiles(axes: "Axes", cells: _Cells, systems: Sequence[str], tasks: Sequence[str]) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    ranges = {task: _colour_range([row for row in cells.values() if row.group == task]) for task in tasks}
    widest = max((_half_width(row, ranges[row.group]) for row in cells.values()), default=0.0) or 1.0
    colours = colormaps["cividis"]
    for y, system in enumerate(systems):
        for x, task in enumerate(tasks):
            row = cells.get((system, task))
            if row is None or row.value is None:
                axes.text(x, y, "–", ha="center", va="center", fontsize=SMALL, color=INK)
                continue
            low, high = ranges[task]
            share = min(max((row.value - low) / (high - low), 0.0), 1.0)
            side = _LARGEST_TILE - (_LARGEST_TILE - _SMALLEST_TILE) * _half_width(row, ranges[task]) / widest
            corner = (x - side / 2, y - side / 2)
            axes.add_patch(Rectangle(corner, side, side, facecolor=colours(share), linewidth=0))
            if len(tasks) <= _MOST_WRITTEN:
                _write_score(axes, (x, y), row, ranges[task], "white" if share < _DARK_TILE else INK)
    if len(set(ranges.values())) == 1:
        _add_colourbar(axes, next(iter(ranges.values())))


def _longest(names: Sequence[str]) -> int:
    """Number of characters of the longest label."""
    return min(LABEL, max(map(len, names)))


def _colour_range(rows: Sequence[Mark]) -> Span:
    """The range of the metric of a task; 0 to 1 or else the smallest and largest score if it is unknown."""
    values = [row.value for row in rows if row.value is not None] or [0.0]
    bounds = [row.bounds for row in rows if row.bounds is not None]
    if bounds:
        return bounds[0]
    low, high = min(values), max(values)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1.0)


def _half_width(row: Mark, span: Span) -> float:
    """Half the width of the interval as a share of the range of the metric; 0 without an interval."""
    return 0.0 if row.span is None else (row.span[1] - row.span[0]) / (2 * (span[1] - span[0]))


def _write_score(axes: "Axes", place: tuple[int, int], row: Mark, span: Span, colour: str) -> None:
    scale = 100.0 if span == (0.0, 1.0) else 1.0
    x, y = place
    style: dict[str, Any] = {"ha": "center", "color": colour, "fontsize": SMALL - 0.5}
    value = scale * (row.value or 0.0)
    axes.text(x, y + 0.02, f"{value:.0f}" if scale > 1 else f"{value:.3g}", va="bottom", **style)
    if row.span is not None:
        half = scale * (row.span[1] - row.span[0]) / 2
        text = f"±{half:.0f}" if scale > 1 and half >= 1 else f"±{half:.1f}" if scale > 1 else f"±{half:.2g}"
        axes.text(x, y + 0.04, text, va="top", **{**style, "fontsize": SMALL - 2})


def _add_colourbar(axes: "Axes", span: Span) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = axes.figure.colorbar(ScalarMappable(Normalize(*span), "cividis"), ax=axes, fraction=0.02, pad=0.01)
    bar.set_label("score", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)


def _label_axes(axes: "Axes", systems: Sequence[str], tasks: Sequence[str]) -> None:
    axes.set_xlim(-0.5, len(tasks) - 0.5)
    axes.set_ylim(len(systems) - 0.5, -0.5)
    axes.set_xticks(
        range(len(tasks)), shorten_names(task_names(tasks), LABEL), rotation=45, ha="left", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(systems)), shorten_names(systems, LABEL))
    axes.tick_params(length=0, labelsize=SMALL, colors=INK, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("smaller tile: wider interval; ±: half of its width", fontsize=SMALL, color=INK)
