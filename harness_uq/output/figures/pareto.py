"""Score against a resource such as cost, tokens or time, with the systems that no other one dominates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, unknown_name
from harness_uq.output.figures.axes import GREY, INK, SMALL, TEXT, axes_or_new, need_rows, tidy, without_markup
from harness_uq.output.figures.forest import LABEL, score_marks
from harness_uq.output.figures.marks import (
    SCORE_SCALE,
    SYSTEM_COLOURS,
    SYSTEM_MARKERS,
    Mark,
    Style,
    panels,
    pareto_front,
    system_styles,
)
from harness_uq.output.short_names import shorten, shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values: TypeAlias = Mapping[str, ArrayLike]
_LOG_RATIO = 20.0


@dataclass(frozen=True, slots=True)
class _Point:
    """One number with its interval, whose ends are equal to the number if it has none."""

    value: float
    low: float
    high: float


def plot_pareto(
    scores: Any,
    resource: Values,
    *,
    resource_name: str = "resource",
    score_name: str = "score",
    higher_is_better: bool = True,
    ax: "Axes | None" = None,
    title: str | None = None,
) -> "Axes":
    """Draw the score of each system against a resource that it uses, with intervals in both directions.

    The grey line is the Pareto front: the systems with filled markers, for which no other system has a better score
    with less of the resource. It is the front of the point values and does not account for their uncertainty.

    Parameters
    ----------
    scores : by system, a number or (value, low, high); or one overall result, one ranking or the estimates of one task
    resource : by system, a number or (value, low, high); less is better
    resource_name, score_name : labels of the axes
    higher_is_better : whether larger scores are better
    ax : axes to draw in; None for a new figure
    title : title of the axes

    Returns
    -------
    The axes; that of the resource is logarithmic if the largest value is more than 20 times the smallest

    Raises
    ------
    DataError : if there is nothing to draw, the two do not name the same systems, a system has several scores, or a
        value is not one or three finite numbers
    MissingDependencyError : if matplotlib is not installed
    """
    y = _points(scores, "scores") if isinstance(scores, Mapping) else _points_of_results(scores)
    x = _points(resource, "resource")
    need_rows(list(y), "scores")
    if missing := sorted(y.keys() ^ x.keys()):
        place = "resource" if missing[0] in y else "scores"
        raise DataError(unknown_name(f"system in {place}", missing[0], x if place == "resource" else y))
    axes = axes_or_new(ax, 8.5, 4.8)
    tidy(axes)
    if min(point.low for point in x.values()) > 0 and _ratio(x.values()) > _LOG_RATIO:
        axes.set_xscale("log")
    names, styles = list(y), system_styles(y)
    front = pareto_front(
        [x[name].value for name in names], [y[name].value for name in names], higher_is_better=higher_is_better
    )
    axes.plot(
        [x[names[k]].value for k in front],
        [y[names[k]].value for k in front],
        color=GREY,
        linewidth=1.2,
        drawstyle="steps-post",
        zorder=1,
        label="Pareto front",
    )
    for k, (name, text) in enumerate(zip(names, shorten_names(names, LABEL), strict=True)):
        _draw_point(axes, x[name], y[name], styles[name], text, is_filled=k in front)
    low, high = _score_limits(y.values())
    axes.set_ylim(low, high)
    axes.set_xlabel(shorten(resource_name, 80), fontsize=TEXT, color=INK)
    axes.set_ylabel(shorten(score_name, 60), fontsize=TEXT, color=INK)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=SMALL, frameon=False, borderaxespad=0.0)
    if title:
        axes.set_title(title, fontsize=TEXT + 1, color=INK)
    without_markup(axes)
    return axes


def _points(values: Values, name: str) -> dict[str, _Point]:
    points = {}
    for system, given in values.items():
        numbers = np.atleast_1d(np.asarray(given, float))
        if numbers.shape not in ((1,), (3,)) or not np.isfinite(numbers).all():
            raise DataError(f"{name} of {system!r} must be a finite number or (value, low, high); got {given!r}")
        points[system] = _Point(*(float(number) for number in (numbers if len(numbers) == 3 else [numbers[0]] * 3)))
    return points


def _points_of_results(results: Any) -> dict[str, _Point]:
    points: dict[str, _Point] = {}
    for row in score_marks(results, "plot_pareto draws scores, not comparisons"):
        if row.system in points:
            raise DataError(f"plot_pareto draws one score of each system; {row.system!r} has several")
        if row.value is not None:
            points[row.system] = _Point(row.value, *(row.span or (row.value, row.value)))
    return points


def _ratio(points: Iterable[_Point]) -> float:
    values = [point.value for point in points]
    return max(values) / min(values)


def _draw_point(axes: "Axes", x: _Point, y: _Point, style: Style, label: str, *, is_filled: bool) -> None:
    colour = SYSTEM_COLOURS[style.colour]
    axes.plot([x.low, x.high], [y.value, y.value], color=colour, linewidth=1.4, alpha=0.8)
    axes.plot([x.value, x.value], [y.low, y.high], color=colour, linewidth=1.4, alpha=0.8)
    axes.plot(
        [x.value],
        [y.value],
        SYSTEM_MARKERS[style.marker],
        color=colour if is_filled else "white",
        markeredgecolor=colour,
        markersize=5,
        label=label,
        zorder=3,
    )


def _score_limits(points: Iterable[_Point]) -> tuple[float, float]:
    """Round ends of the axis; within 0 and 1 if all intervals are."""
    rows = [Mark("", "", point.value, (point.low, point.high), None, SCORE_SCALE) for point in points]
    return panels(rows)[0].limits
