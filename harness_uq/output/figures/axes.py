"""Matplotlib axes without global state, in colours that colour-blind readers can distinguish."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.control_characters import escape_lines
from harness_uq.messages.errors import DataError, MissingDependencyError
from harness_uq.output.figures.marks import Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Drawn = TypeVar("_Drawn", "Figure", "Axes")

# Okabe & Ito (2008), without yellow, which is too pale on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
INK, GREY, PALE = "#1a1a1a", "#767676", "#d9d9d9"
TEXT, SMALL = 9.0, 8.0
MAX_HEIGHT = 40.0


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, `width` × `height` inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("matplotlib is not installed. Run: pip install 'harness-uq[plot]'") from error
    return Figure(figsize=(width, min(height, MAX_HEIGHT)), layout="constrained")


def axes_of(figure: "Figure", heights: Sequence[float]) -> "list[Axes]":
    """Axes above each other with relative `heights`."""
    grid = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": list(heights)})
    return [tidy(row[0]) for row in grid]


def tidy(axes: "Axes") -> "Axes":
    """The axes without a frame at the top and right, with small text and a light grid."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=SMALL, colors=INK)
    axes.grid(visible=True, color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    return axes


def legend_below(axes: "Axes") -> None:
    """A legend of the axes' labelled artists under the figure, up to three entries a line."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.figure.legend(
            handles, labels, loc="outside lower center", ncols=min(len(labels), 3), fontsize=SMALL, frameon=False
        )


def draw_series(
    axes: "Axes", k: int, label: str, x: ArrayLike, y: ArrayLike, half_width: ArrayLike | None = None
) -> None:
    """The k-th line, distinguished from the others by colour, marker and dash, with error bars y ± half_width."""
    axes.errorbar(
        np.asarray(x, float),
        np.asarray(y, float),
        yerr=half_width,
        color=COLOURS[k % len(COLOURS)],
        marker=MARKERS[k % len(MARKERS)],
        linestyle=DASHES[(k // len(COLOURS) + k) % len(DASHES)],
        linewidth=1.4,
        markersize=4.5,
        elinewidth=0.9,
        capsize=2.0,
        label=label,
    )


def without_markup(artist: "_Drawn") -> "_Drawn":
    """The artist with all texts as written: `$` does not begin a formula, and control characters are visible."""
    from matplotlib.text import Text

    for text in artist.findobj(Text):
        text.set_parse_math(False)
        text.set_text(escape_lines(text.get_text()))
    return artist


def axes_or_new(ax: "Axes | None", width: float, height: float) -> "Axes":
    """`ax`, or if it is None the axes of a new figure, `width` × `height` inches."""
    return new_figure(width, height).subplots() if ax is None else ax


def need_rows(rows: Sequence[object], what: str) -> None:
    """Raise DataError if there is nothing to draw."""
    if not rows:
        raise DataError(f"nothing to draw: no {what} given")


def one_result(draw: "Callable[..., Figure]") -> "Callable[..., Figure]":
    """The function that draws the only result of a list. Raises DataError if the list has several results."""

    def figure(results: Sequence[object], **options: Any) -> "Figure":
        if len(results) > 1:
            raise DataError(f"a figure shows one result of type {type(results[0]).__name__}; got {len(results)}")
        return draw(results[0], **options)

    return figure


def draw_spans(
    axes: "Axes", values: Sequence[tuple[float | None, Span | None]], shift: float, colour: str, label: str
) -> None:
    """Draw one marker and line for each row, moved up by `shift`."""
    known = [(height + shift, value) for height, (value, _) in enumerate(values) if value is not None]
    spans = [(height + shift, *one) for height, (_, one) in enumerate(values) if one is not None]
    heights, low, high = ([one[k] for one in spans] for k in range(3))
    axes.hlines(heights, low, high, color=colour, linewidth=1.6)
    axes.plot([x for _, x in known], [y for y, _ in known], "o", markersize=4, color=colour, label=label)
