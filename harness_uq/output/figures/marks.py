"""What figures of intervals and ranks show, without a drawing library: rows, axes, ticks, colours and markers.

Matplotlib and the HTML report draw the same marks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.declared import Declared
from harness_uq.output.short_names import shorten
from harness_uq.output.words import Ends

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Span: TypeAlias = tuple[float, float]

SCORE_SCALE = "score"
PAIR = " − "
OVERALL_GROUP = "overall"
UNIT = (0.0, 1.0)
# Okabe & Ito (2008) without yellow, which is too pale on white, and five colours that differ from these and from each
# other by at least 16 units of CIELAB, in normal vision and in the simulated vision of Machado et al. (2009) without
# red, green or blue cones
SYSTEM_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1a1a1a"),
    *("#8700F0", "#692D00", "#001E96", "#4B0F5A", "#9678FF"),
)
SYSTEM_MARKERS = ("o", "s", "D", "^", "v", "P")


class Density(Protocol):
    """A distribution that a figure shows."""

    def quantile(self, p: "ArrayLike") -> "NDArray[np.float64]":
        """Value below which the estimand lies with probability `p`."""

    def cdf(self, x: "ArrayLike") -> "NDArray[np.float64]":
        """Probability that the estimand is at most `x`."""


@dataclass(frozen=True, slots=True)
class Style:
    """Positions of the colour and of the marker of a system in `SYSTEM_COLOURS` and `SYSTEM_MARKERS`."""

    colour: int
    marker: int


def style_of(k: int) -> Style:
    """The style of the system number `k`; those of the first 72 differ."""
    return Style(k % len(SYSTEM_COLOURS), (k + k // len(SYSTEM_COLOURS)) % len(SYSTEM_MARKERS))


def system_styles(systems: Iterable[str]) -> dict[str, Style]:
    """The style of each system, by its place in alphabetical order, so that all figures of the same systems agree."""
    return {system: style_of(k) for k, system in enumerate(sorted(set(systems)))}


@dataclass(frozen=True, slots=True)
class Mark:
    """One interval of a forest plot.

    - `group`: heading that adjacent rows share: task, metric and filter.
    - `label`: system or pair of systems.
    - `value`: position of the dot; None if there is none.
    - `span`: the interval; None if not estimable.
    - `level`: level of the interval; None without an interval.
    - `scale`: label of the axis; rows with the same label share an axis.
    - `bounds`: smallest and largest possible value; None if unknown.
    - `reference`: the value of the harness ± z standard errors at the same level, which may exceed the bounds (figures
      cut it there); None if the harness reports none.
    - `zero`: position of no difference; None for scores.
    - `margin`: smallest difference of interest; 0 for scores.
    - `posterior`: the distribution, for `gradient_intervals`.
    - `system`: the system of the score, or the first system of a difference.
    - `is_decided`: False for a difference whose verdict is undecided.
    - `baseline`: the second system of a difference.
    """

    group: str
    label: str
    value: float | None
    span: Span | None
    level: float | None
    scale: str
    bounds: Span | None = None
    reference: Span | None = None
    zero: float | None = None
    margin: float = 0.0
    posterior: Density | None = None
    system: str = ""
    is_decided: bool = True
    baseline: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows on one axis.

    `scale`: label of the axis. `rows`: in the order to draw. `limits`: ends of the axis. `ticks`: positions within the
    limits, increasing.
    """

    scale: str
    rows: tuple[Mark, ...]
    limits: Span
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Position of `value` along the axis, from 0 at its left end to 1 at its right end; clipped to these."""
        low, high = self.limits
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def place(self, value: float) -> float:
        """As `share`, in per cent."""
        return round(100 * self.share(value), 2)

    @property
    def zero(self) -> float | None:
        """Place of no difference in per cent; None for scores."""
        return None if self.rows[0].zero is None else self.place(0.0)

    @property
    def margin(self) -> Span | None:
        """Places in per cent of the ends of the largest margin; None without one."""
        margin = max(row.margin for row in self.rows)
        return (self.place(-margin), self.place(margin)) if margin else None

    @property
    def tick_marks(self) -> list[tuple[float, str, str]]:
        """Place in per cent and text of each tick, and which end of the text stands at the place."""
        placed = [(self.place(tick), tick_text(tick, self.ticks)) for tick in self.ticks]
        return [(x, text, "start" if x < 4 else "end" if x > 96 else "middle") for x, text in placed]

    @property
    def groups(self) -> list[tuple[str, list[Mark]]]:
        """Neighbouring rows under their heading."""
        return [(name, list(rows)) for name, rows in groupby(self.rows, key=lambda row: row.group)]


@dataclass(frozen=True, slots=True)
class RankMark:
    """The rank of one system: expected rank, interval, simultaneous rank set, probability of each rank and of rank 1.

    `interval` and `rank_set` contain the best and the worst rank, or are None.
    """

    system: str
    expected: float
    interval: tuple[int, int] | None
    rank_set: tuple[int, int] | None
    prob_rank: Sequence[float]
    prob_best: float | None


@dataclass(frozen=True, slots=True)
class Board:
    """The ranks of some systems, under a title."""

    title: str
    rows: Sequence[RankMark]


def as_list(results: Any) -> list[Any]:
    """The results as a list, which a single result is not."""
    return [results] if isinstance(results, Declared) else list(results)


def marks_of(results: Iterable[Any], *, differences: bool = False) -> list[Mark]:
    """Rows of a figure, neighbours by task: scores of estimates and rankings, differences of comparisons.

    Overall results are represented by their scores, or by the differences from their baseline with `differences`, where
    all other scores are left out.
    """
    rows: list[Mark] = []
    for kind, members in groupby(results, key=lambda result: type(result).KIND):
        rows += (kind.differences if differences else kind.marks)(list(members))
    order = {group: place for place, group in enumerate(dict.fromkeys(row.group for row in rows))}
    return sorted(rows, key=lambda row: order[row.group])


def boards_of(results: Iterable[Any]) -> list[Board]:
    """The ranks of the systems of each result that has any."""
    return [board for result in results for board in type(result).KIND.boards([result])]


def ends(interval: Ends | None) -> Span | None:
    """The limits of an interval; None without one."""
    return None if interval is None else (interval.low, interval.high)


def difference_scale(metric: str, *, higher_is_better: bool) -> str:
    """Label of an axis of differences."""
    return f"difference in {metric}" + ("" if higher_is_better else ", lower is better")


def panels(rows: Sequence[Mark]) -> list[Panel]:
    """One panel a scale, in the order of first appearance; rows keep theirs."""
    by_scale: dict[str, list[Mark]] = {}
    for row in rows:
        by_scale.setdefault(row.scale, []).append(row)
    return [_panel(scale, members) for scale, members in by_scale.items()]


def common_level(rows: Iterable[Mark]) -> float | None:
    """The level of all intervals; None if there is none or they differ."""
    levels = {row.level for row in rows if row.level is not None}
    return levels.pop() if len(levels) == 1 else None


def margin_text(rows: Iterable[Mark]) -> str:
    """`±0.02`, or `±0.02 to ±0.05` if margins differ; empty without margins."""
    margins = sorted({row.margin for row in rows})
    return " to ".join(f"±{margin:g}" for margin in dict.fromkeys((margins[0], margins[-1]))) if margins[-1] else ""


def legend_level(rows: Iterable[Mark]) -> str:
    """`95 % interval`, or `interval` where levels differ."""
    level = common_level(rows)
    return "interval" if level is None else f"{100 * level:g} % interval"


def short_label(row: Mark, width: int = 40) -> str:
    """The row's label in at most `width` cells; both names of a pair are shortened."""
    label = escape_control(row.label)
    names = label.split(PAIR)
    if len(names) != 2 or shorten(label, width) == label:
        return shorten(label, width)
    return PAIR.join(shorten(name, (width - len(PAIR)) // 2) for name in names)


def ticks(low: float, high: float, n: int = 5) -> tuple[float, ...]:
    """About `n` round numbers (1, 2 or 5 times a power of ten apart) from `low` to `high`.

    >>> ticks(0.0, 1.0)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    step = _step(low, high, n)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(_multiple(k, step) for k in range(first, last + 1))


def tick_text(value: float, positions: Sequence[float]) -> str:
    """`value` with as many decimals as its neighbours on the axis need.

    >>> tick_text(0.5, (0.25, 0.5)), tick_text(1000.0, (0.0, 1000.0))
    ('0.50', '1000')
    """
    digits = max((len(f"{p:.10g}".partition(".")[2]) for p in positions), default=0)
    return f"{value:.{digits}f}"


def _step(low: float, high: float, n: int) -> float:
    rough = (high - low) / n
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))


def _multiple(k: int, step: float) -> float:
    """`k` steps, without the dust of floating point."""
    return round(k * step, max(0, -math.floor(math.log10(step)))) + 0.0


def _panel(scale: str, rows: Sequence[Mark]) -> Panel:
    values = [row.value for row in rows if row.value is not None]
    limits = _limits([x for row in rows for x in _drawn(row)] or list(UNIT), _common_bounds(rows), values)
    return Panel(scale, tuple(rows), limits, ticks(*limits))


def _limits(seen: Sequence[float], bounds: Span | None, values: Sequence[float]) -> Span:
    """Round ends around what is drawn, within the possible values; intervals that exceed these are cut."""
    low, high = min(seen), max(seen)
    if bounds is None and low >= 0 and high <= 1:
        bounds = UNIT  # the result does not contain the range of its metric
    pad = 0.04 * (high - low) or 0.1 * max(abs(low), 1.0)
    step = _step(low - pad, high + pad, 10)
    outer = _multiple(math.floor((low - pad) / step), step), _multiple(math.ceil((high + pad) / step), step)
    if bounds is None:
        return outer
    return max(outer[0], min(bounds[0], *values, math.inf)), min(outer[1], max(bounds[1], *values, -math.inf))


def _drawn(row: Mark) -> list[float]:
    low, high = row.bounds or (-math.inf, math.inf)
    values = [row.value, row.zero, *(row.span or ()), *(min(max(x, low), high) for x in row.reference or ())]
    if row.zero is not None and row.margin:
        values += [-row.margin, row.margin]
    return [x for x in values if x is not None and math.isfinite(x)]


def _common_bounds(rows: Sequence[Mark]) -> Span | None:
    if any(row.bounds is None for row in rows):
        return None
    bounds = [row.bounds for row in rows if row.bounds is not None]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def pareto_front(resource: Sequence[float], scores: Sequence[float], *, higher_is_better: bool = True) -> list[int]:
    """Positions of the points that no other point dominates, by increasing resource.

    A point dominates another if it is at least as good in both and better in one.

    >>> pareto_front([1.0, 2.0, 3.0, 4.0], [0.5, 0.7, 0.6, 0.8])
    [0, 1, 3]
    """
    sign = 1 if higher_is_better else -1
    best = float("-inf")
    front: list[int] = []
    for k in sorted(range(len(scores)), key=lambda k: (resource[k], -sign * scores[k])):
        is_equal = bool(front) and resource[front[-1]] == resource[k] and scores[front[-1]] == scores[k]
        if sign * scores[k] > best or is_equal:
            best = sign * scores[k]
            front.append(k)
    return front
