"""Curves of a calibration run: what intervals cover, what that costs in width, and how it depends on size."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict

import numpy as np

from harness_uq.output.figures.axes import (
    COLOURS,
    GREY,
    INK,
    TEXT,
    draw_series,
    legend_below,
    need_rows,
    new_figure,
    tidy,
)
from harness_uq.stats.common.validate_arrays import check_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOWER_TICKS = (0.01, 0.1, 0.3, 0.5, 0.7)


class Series(TypedDict):
    """One line: `x` and `y` of equal length, and the Monte Carlo standard error of `y` where known."""

    x: Sequence[float]
    y: Sequence[float]
    mc_error: NotRequired[Sequence[float]]


AllSeries: TypeAlias = Mapping[str, Series]


def coverage(series: AllSeries) -> "Figure":
    """Coverage against nominal level, both on logit axes; the diagonal is perfect calibration.

    Parameters
    ----------
    series : by method; `x` nominal level in (0, 1), `y` share of intervals that held the truth, in [0, 1]; shares
        of 0 and 1, which a logit axis cannot show, are drawn at its ends as triangles

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if there is no series
    MissingDependencyError : if matplotlib is not installed
    """
    figure, axes = _start(series)
    levels = sorted({float(x) for one in series.values() for x in one["x"]})
    shares = [float(y) for one in series.values() for y in one["y"]]
    across, up = _logit_limits(levels), _logit_limits([*levels, *shares])
    axes.plot(across, across, color=GREY, linewidth=1.0)
    for k, (name, one) in enumerate(series.items()):
        x, y = np.asarray(one["x"], float), np.asarray(one["y"], float)
        _line(axes, k, name, one, up)
        for outside, marker, edge in ((y < up[0], "v", up[0]), (y > up[1], "^", up[1])):
            if outside.any():
                axes.plot(x[outside], 0 * x[outside] + edge, marker, color=COLOURS[k % len(COLOURS)], clip_on=False)
    axes.set(xscale="logit", yscale="logit", xlim=across, ylim=up)
    marks = sorted({*levels, *(tick for tick in _LOWER_TICKS if up[0] < tick < levels[0])})
    axes.set_xticks(levels, [f"{level:g}" for level in levels])
    axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
    axes.set_xticks([], minor=True)
    axes.set_yticks([], minor=True)
    _label(axes, "nominal level", "coverage")
    return figure


def coverage_against_width(series: AllSeries, level: float) -> "Figure":
    """Coverage against mean width, a line a method; good methods are to the left on the line of the nominal `level`.

    `x` mean width, `y` coverage. Return and errors as in `coverage`.
    """
    figure, axes = _start(series)
    axes.axhline(check_level(level), color=GREY, linewidth=1.0)
    for k, (name, one) in enumerate(series.items()):
        _line(axes, k, name, one)
    _label(axes, "mean width", f"coverage, nominal {level:g}")
    return figure


def coverage_error(series: AllSeries) -> "Figure":
    """Coverage error against the number of questions, on a logarithmic axis.

    `x` questions, `y` coverage minus nominal level, or its mean absolute value. Return and errors as in `coverage`.
    """
    figure, axes = _start(series)
    axes.axhline(0.0, color=GREY, linewidth=1.0)
    for k, (name, one) in enumerate(series.items()):
        _line(axes, k, name, one)
    axes.set_xscale("log")
    sizes = sorted({float(x) for one in series.values() for x in one["x"]})
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.set_xticks([], minor=True)
    _label(axes, "questions", "coverage error")
    return figure


def _start(series: AllSeries) -> "tuple[Figure, Axes]":
    need_rows(list(series), "series")
    figure = new_figure(6.5, 4.8 + 0.1 * len(series))
    return figure, tidy(figure.subplots())


def _logit_limits(shares: Sequence[float]) -> tuple[float, float]:
    """Ends of a logit axis around the shares strictly between 0 and 1."""
    inside = [share for share in shares if 0 < share < 1] or [0.5]
    return min(inside) / 1.1, 1 - (1 - max(inside)) / 1.6


def _line(axes: "Axes", k: int, name: str, one: Series, limits: tuple[float, float] = (-np.inf, np.inf)) -> None:
    """A line with error bars of two Monte Carlo standard errors, both kept within `limits`."""
    y = np.clip(np.asarray(one["y"], float), *limits)
    error = one.get("mc_error")
    if error is None:
        draw_series(axes, k, name, one["x"], y)
        return
    half = 2 * np.asarray(error, float)
    draw_series(axes, k, name, one["x"], y, np.minimum(half, [y - limits[0], limits[1] - y]))


def _label(axes: "Axes", x: str, y: str) -> None:
    axes.set_xlabel(x, fontsize=TEXT, color=INK)
    axes.set_ylabel(y, fontsize=TEXT, color=INK)
    legend_below(axes)
