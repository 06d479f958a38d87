"""Probabilities that one system is better than another, for all pairs."""

from typing import TYPE_CHECKING

import numpy as np

from harness_uq.plots.figure import GREY, INK, SMALL, TEXT, need_rows, new_figure, without_markup
from harness_uq.plots.label_texts import counted, percent_text, shorten, task_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from harness_uq.data.task_log import FloatArray
    from harness_uq.results.ranking import Ranking

_MAX_WRITTEN = 25


def pairwise_probabilities(ranking: "Ranking", *, title: str | None = None) -> "Figure":
    """All pairs: probability that the system of the row is better than the system of the column.

    With up to 25 systems, the cells show the probabilities in per cent.

    Parameters
    ----------
    ranking : of at least one system
    title : above the figure; the task by default

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if the ranking holds no system
    MissingDependencyError : if matplotlib is not installed
    """
    need_rows(ranking.systems, "systems")
    n = len(ranking.systems)
    side = min(max(0.42 * n, 1.6), 14.0)
    figure = new_figure(side + 3.6, side + 1.8)
    figure.set_layout_engine("compressed")
    axes = figure.subplots()
    table = np.array(ranking.prob_better, float)
    np.fill_diagonal(table, np.nan)
    image = axes.imshow(table, vmin=0.0, vmax=1.0, cmap="PuOr_r")
    names = [shorten(system.system, 28) for system in ranking.systems]
    size = SMALL if n <= 30 else max(4.0, SMALL * 30 / n)
    axes.set_xticks(range(n), [str(k + 1) for k in range(n)], fontsize=size)
    axes.set_yticks(range(n), [f"{name}  {k + 1}" for k, name in enumerate(names)], fontsize=size)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    n_questions = counted(ranking.n_questions, "question")
    default_title = f"{task_title(ranking.task, ranking.metric, ranking.filter)}: {n_questions}"
    axes.set_title(title or shorten(default_title, 90), fontsize=TEXT + 1, color=INK)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 3.0 / side))
    bar.set_label("P(row is better than column)", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    if n <= _MAX_WRITTEN:
        _write_cells(axes, table)
    return without_markup(figure)


def _write_cells(axes: "Axes", table: "FloatArray") -> None:
    for (i, j), value in np.ndenumerate(table):
        if np.isnan(value):
            axes.text(j, i, "–", ha="center", va="center", color=GREY, fontsize=SMALL)
            continue
        colour = "white" if abs(value - 0.5) > 0.35 else INK
        axes.text(j, i, percent_text(value), ha="center", va="center", color=colour, fontsize=SMALL - 1)
