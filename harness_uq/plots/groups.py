"""Scores, or differences of two systems, by groups of questions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.plots.figure import COLOURS, GREY, SMALL, axes_or_new, need_rows, tidy, without_markup
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown, GroupDifference, GroupScore
from harness_uq.results.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.27
_OFFSET = 0.14


def plot_groups(
    breakdown: "Breakdown | DifferenceBreakdown", *, ax: "Axes | None" = None, title: str | None = None
) -> "Axes":
    """Draw the partially pooled value of each group, and above it in grey that from its own questions alone.

    Groups are ordered by their pooled value, with the lowest at the bottom.

    Parameters
    ----------
    breakdown : result of `estimate_by` or `compare_by` for one task and metric
    ax : axes to draw in; None for a new figure
    title : title of the axes

    Returns
    -------
    The axes

    Raises
    ------
    DataError : if no group has a value
    MissingDependencyError : if matplotlib is not installed
    """
    groups = sorted((one for one in breakdown.groups if one.value is not None), key=_order)
    need_rows(groups, "groups")
    axes = axes_or_new(ax, 7.0, 1.2 + _ROW * len(groups))
    tidy(axes)
    alone = [(one.value, one.interval) for one in groups]
    pooled = [(one.pooled_value, one.pooled_interval) for one in groups]
    has_pooled = any(value is not None for value, _ in pooled)
    _draw(axes, alone, _OFFSET if has_pooled else 0.0, GREY, "group alone")
    if has_pooled:
        _draw(axes, pooled, -_OFFSET, COLOURS[0], "pooled")
    axes.set_yticks(range(len(groups)), [one.group for one in groups])
    axes.set_ylim(-0.8, len(groups) - 0.2)
    name = breakdown.metric
    if isinstance(breakdown, DifferenceBreakdown):
        axes.axvline(0, color=GREY, linewidth=0.8)
        name = f"{name}: {breakdown.system_a} − {breakdown.system_b}"
    axes.set_xlabel(name, fontsize=SMALL)
    axes.set_title(title or "", fontsize=SMALL + 1)
    axes.legend(fontsize=SMALL, frameon=False, loc="lower right")
    return without_markup(axes)


def _order(one: GroupScore | GroupDifference) -> float:
    value = one.value if one.pooled_value is None else one.pooled_value
    return 0.0 if value is None else value


def _draw(
    axes: "Axes", values: Sequence[tuple[float | None, Interval | None]], shift: float, colour: str, label: str
) -> None:
    """Draw one marker and line per group, moved up by `shift`."""
    known = [(height + shift, value) for height, (value, _) in enumerate(values) if value is not None]
    spans = [(height + shift, one) for height, (_, one) in enumerate(values) if one is not None]
    heights, low, high = ([at for at, _ in spans], [one.low for _, one in spans], [one.high for _, one in spans])
    axes.hlines(heights, low, high, color=colour, linewidth=1.6)
    axes.plot([x for _, x in known], [y for y, _ in known], "o", markersize=4, color=colour, label=label)
