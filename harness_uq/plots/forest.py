"""Forest plots: scores per task and system, and differences of systems, with their intervals."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.errors import DataError
from harness_uq.plots.figure_rows import Pictured, as_list, forest_rows
from harness_uq.plots.interval_axes import AxesOrList, draw_intervals
from harness_uq.plots.label_texts import shorten
from harness_uq.results.comparison import Comparison
from harness_uq.results.overall import Overall

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_forest(
    results: "Pictured | Iterable[Pictured]", *, ax: "Axes | None" = None, title: str | None = None
) -> AxesOrList:
    """Draw scores with their intervals, by task and system.

    Each system has one colour and marker. With many tasks and more than three systems, each task has a panel of its
    own. Scores with different ranges have separate axes. With at most 30 rows, a thin grey line shows the value of the
    harness ± z of its standard errors. An arrowhead marks an interval that exceeds the possible scores.

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
    pictured = as_list(results)
    if any(isinstance(result, Comparison) for result in pictured):
        raise DataError("plot_forest draws scores. Use plot_difference for comparisons")
    return draw_intervals(forest_rows(pictured), ax, title)


def plot_difference(
    results: "Comparison | Overall | Iterable[Comparison | Overall]",
    *,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> AxesOrList:
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
    pictured = as_list(results)
    rows = [row for row in forest_rows(pictured, with_differences=True) if row.zero is not None]
    baselines = {result.system_b for result in pictured if isinstance(result, Comparison)}
    baselines |= {result.baseline for result in pictured if isinstance(result, Overall) and result.baseline}
    if len(pairs := {row.label for row in rows}) == 1:
        return draw_intervals(rows, ax, title or pairs.pop())
    if len(baselines) == 1:
        (baseline,) = baselines
        scale = f"difference from {shorten(baseline, 60)}"
        rows = [replace(row, label=row.system, scale=row.scale.replace("difference", scale, 1)) for row in rows]
    return draw_intervals(rows, ax, title, baselines)
