"""Figures of several systems: pairwise probabilities and ranks."""

from typing import TYPE_CHECKING

import numpy as np

from harness_uq.plots.figure import COLOURS, GREY, INK, SMALL, TEXT, need_rows, new_figure, tidy, without_markup
from harness_uq.plots.figure_rows import counted, percent_text, shorten, task_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from harness_uq.data.task_log import FloatArray
    from harness_uq.results.ranking import Ranking

_MAX_WRITTEN = 25


def heat_map(ranking: "Ranking", *, title: str | None = None) -> "Figure":
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
    axes.set_title(title or shorten(_title(ranking), 90), fontsize=TEXT + 1, color=INK)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 3.0 / side))
    bar.set_label("P(row is better than column)", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    if n <= _MAX_WRITTEN:
        _write_cells(axes, table)
    return without_markup(figure)


def rank_distribution(ranking: "Ranking", *, title: str | None = None) -> "Figure":
    """Ranks of the systems: the shade is P(rank), the line the credible interval, the dot the expected rank.

    The grey bracket is the rank set; the rank sets of all systems hold simultaneously.

    Parameters, return value and errors are those of `heat_map`. Without `Ranking.prob_rank` there is no shade.
    """
    need_rows(ranking.systems, "systems")
    n = len(ranking.systems)
    figure = new_figure(7.5, 0.26 * n + 1.6)
    axes = tidy(figure.subplots())
    axes.grid(visible=False, axis="y")
    if ranking.prob_rank is not None:
        table = np.array(ranking.prob_rank, float)
        image = axes.imshow(
            table, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto", extent=(0.5, table.shape[1] + 0.5, n - 0.5, -0.5)
        )
        bar = figure.colorbar(image, ax=axes, fraction=0.04)
        bar.set_label("P(rank)", fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)
    for y, system in enumerate(ranking.systems):
        ends = [system.rank_low, system.rank_high]
        axes.plot(ends, [y, y], color=COLOURS[1], linewidth=1.6, marker="|", markersize=7)
        if system.rank_set is not None:
            low, high = system.rank_set[0] - 0.5, system.rank_set[1] + 0.5
            axes.plot([low, low, high, high], [y + 0.2, y + 0.35, y + 0.35, y + 0.2], color=GREY, linewidth=1.0)
        axes.plot([system.expected_rank], [y], "o", color="white", markeredgecolor=INK, markersize=5)
    axes.set_xlim(0.5, n + 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xticks([k for k in range(1, n + 1) if n <= 20 or k == 1 or k % 5 == 0])
    axes.set_yticks(range(n), [shorten(system.system) for system in ranking.systems], fontsize=SMALL)
    axes.set_xlabel("rank, 1 is best", fontsize=TEXT, color=INK)
    axes.set_title(title or shorten(_title(ranking), 90), fontsize=TEXT + 1, color=INK)
    return without_markup(figure)


def _write_cells(axes: "Axes", table: "FloatArray") -> None:
    for (i, j), value in np.ndenumerate(table):
        if np.isnan(value):
            axes.text(j, i, "–", ha="center", va="center", color=GREY, fontsize=SMALL)
            continue
        colour = "white" if abs(value - 0.5) > 0.35 else INK
        axes.text(j, i, percent_text(value), ha="center", va="center", color=colour, fontsize=SMALL - 1)


def _title(ranking: "Ranking") -> str:
    return f"{task_title(ranking.task, ranking.metric, ranking.filter)}: {counted(ranking.n_questions, 'question')}"
