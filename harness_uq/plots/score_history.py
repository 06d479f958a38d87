"""Scores of repeated runs over time, with the levels before and after each change."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from harness_uq.errors import DataError
from harness_uq.plots.figure import COLOURS, INK, SMALL, TEXT, new_figure, tidy, without_markup
from harness_uq.plots.figure_rows import shorten
from harness_uq.results.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_history(histories: Sequence[History]) -> "Figure":
    """Draw the scores of runs over time, one panel for each history.

    Each run has its score with an interval. Horizontal lines show the mean score between changes, dashed vertical lines
    the first run with a new level, and triangles the runs whose settings differ from the run before.

    Parameters
    ----------
    histories : results of `history` with runs

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if there are no histories with runs
    MissingDependencyError : if matplotlib is not installed
    """
    shown = [row for row in histories if row.runs]
    if not shown:
        raise DataError("there are no results to draw")
    figure = new_figure(7.5, 2.4 * len(shown) + 0.5)
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for axes, row in zip(panels, shown, strict=True):
        _draw(tidy(axes), row)
    panels[-1].set_xlabel("run", fontsize=TEXT, color=INK)
    return without_markup(figure)


def _draw(axes: "Axes", row: History) -> None:
    numbers = list(range(1, len(row.runs) + 1))
    values = [run.value for run in row.runs]
    axes.vlines(
        numbers,
        [run.interval.low for run in row.runs],
        [run.interval.high for run in row.runs],
        color=COLOURS[0],
        linewidth=1.2,
        alpha=0.5,
    )
    axes.plot(numbers, values, "o", color=COLOURS[0], markersize=4)
    starts = [1, *(shift.first_run for shift in row.shifts), len(numbers) + 1]
    for first, end in pairwise(starts):
        level = sum(values[first - 1 : end - 1]) / (end - first)
        axes.hlines(level, first - 0.4, end - 0.6, color=INK, linewidth=1.2)
    for shift in row.shifts:
        axes.axvline(shift.first_run - 0.5, color=COLOURS[1], linewidth=1.2, linestyle="--")
        axes.annotate(
            f"{shift.value:+.3f}",
            (shift.first_run - 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -9),
            textcoords="offset points",
            fontsize=SMALL,
            color=INK,
        )
    changed = [number for number, run in zip(numbers, row.runs, strict=True) if run.settings_changed]
    axes.plot(changed, [0.03] * len(changed), "^", transform=axes.get_xaxis_transform(), color=INK, markersize=5)
    axes.set_ylabel("score", fontsize=TEXT, color=INK)
    axes.set_title(shorten(f"{row.system} on {row.task}, {row.metric}", 90), fontsize=TEXT, color=INK, loc="left")
