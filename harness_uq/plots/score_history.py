"""Scores of repeated runs over time, with the levels before and after each change."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from harness_uq.errors import DataError
from harness_uq.plots.figure import COLOURS, GREY, INK, SMALL, TEXT, new_figure, tidy, without_markup
from harness_uq.plots.label_texts import shorten
from harness_uq.results.history import History, HistoryRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_CHANGES = 5
_WIDEST = 100


def plot_history(histories: Sequence[History]) -> "Figure":
    """Draw the scores of runs over time, one panel for each history.

    Each run has its score with an interval. Horizontal lines show the mean score between changes, and dashed vertical
    lines the first run with a new level. Triangles and dotted lines mark the runs whose configuration differs from that
    of the run before. The text below each panel lists the latest of these changes.

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
    notes = [_changes_below(row.runs) for row in shown]
    figure = new_figure(7.5, sum(2.6 + 0.17 * len(lines) for lines in notes))
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for axes, row, lines in zip(panels, shown, notes, strict=True):
        _draw(tidy(axes), row)
        axes.set_xlabel("\n".join(["run", *lines]), fontsize=SMALL, color=INK, loc="left")
    return without_markup(figure)


def _changes_below(runs: Sequence[HistoryRun]) -> list[str]:
    """A line for each of the latest runs whose configuration differs from that of the run before."""
    changed = [(number, run.settings_changed) for number, run in enumerate(runs, 1) if run.settings_changed]
    hidden = len(changed) - _MOST_CHANGES
    lines = [shorten(f"▲ run {number}: {'; '.join(texts)}", _WIDEST) for number, texts in changed[-_MOST_CHANGES:]]
    return [*([f"▲ {hidden} earlier runs with changes"] if hidden > 0 else []), *lines]


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
    for number in changed:
        axes.axvline(number, color=GREY, linewidth=0.8, linestyle=":", zorder=0.5)
    axes.plot(changed, [0.03] * len(changed), "^", transform=axes.get_xaxis_transform(), color=INK, markersize=5)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("score", fontsize=TEXT, color=INK)
    axes.set_title(shorten(f"{row.system} on {row.task}, {row.metric}", 90), fontsize=TEXT, color=INK, loc="left")
