"""Variance components as a figure: the size of each component, and its share of the uncertainty of the mean."""

from typing import TYPE_CHECKING

from harness_uq.plots.figure import COLOURS, INK, SMALL, TEXT, new_figure, tidy, without_markup
from harness_uq.plots.label_texts import shorten
from harness_uq.results.effects import Component, Effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def effect_sizes(effects: Effects, *, title: str | None = None) -> "Figure":
    """Standard deviation of each component with its interval, and the shares of the uncertainty of the mean.

    Parameters
    ----------
    effects : variance components of one score
    title : title of the figure; None for the names of the model, task and metric

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError : if matplotlib is not installed
    """
    parts = effects.components
    figure = new_figure(7.5, 0.42 * len(parts) + 1.7)
    sizes, shares = (tidy(axes) for axes in figure.subplots(1, 2, sharey=True, width_ratios=[3, 2]))
    scale = 100.0 if effects.is_share else 1.0
    _draw_sizes(sizes, parts, scale)
    sizes.set_yticks(range(len(parts)), [f"{shorten(part.name)} ({part.n_levels:,})" for part in parts])
    sizes.invert_yaxis()
    unit = "points" if effects.is_share else "units of the score"
    sizes.set_xlabel(
        f"sd of one score, {unit},\nwith {100 * effects.interval.level:g} % interval", fontsize=TEXT, color=INK
    )
    _draw_shares(shares, effects)
    figure.suptitle(
        title or shorten(f"{effects.model} on {effects.task}, {effects.metric}", 90), fontsize=TEXT + 1, color=INK
    )
    return without_markup(figure)


def _draw_sizes(axes: "Axes", parts: tuple[Component, ...], scale: float) -> None:
    for row, part in enumerate(parts):
        low, high = (scale * end for end in part.sd_interval)
        axes.plot([low, high], [row, row], color=COLOURS[0], linewidth=2.2, solid_capstyle="butt")
        axes.plot([scale * part.sd], [row], "o", color=COLOURS[0], markersize=6)
    axes.set_xlim(left=0.0)


def _draw_shares(axes: "Axes", effects: Effects) -> None:
    for row, part in enumerate(effects.components):
        share = effects.uncertainty.get(part.name)
        if share is not None:
            axes.barh([row], [100 * share], color=COLOURS[4], height=0.6)
            axes.text(100 * share + 2, row, f"{share:.0%}", va="center", fontsize=SMALL, color=INK)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.set_xlim(0, 115)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_xlabel("share of the uncertainty\nof the mean, %", fontsize=TEXT, color=INK)
