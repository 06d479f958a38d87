"""Rows, axes and ticks that all figures of intervals share, without matplotlib."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import NormalDist
from typing import TypeAlias

from harness_uq.messages.control_characters import escape_control
from harness_uq.plots.label_texts import shorten, task_title
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate, Interval, Posterior
from harness_uq.results.overall import Overall
from harness_uq.results.ranking import Ranking

Span: TypeAlias = tuple[float, float]
Pictured: TypeAlias = Estimate | Comparison | Ranking | Overall

SCORE_SCALE = "score"
PAIR = " − "
OVERALL_GROUP = "overall"
ALL_QUESTIONS = "all questions"
_UNIT = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One interval of a forest plot.

    Attributes
    ----------
    group : heading that adjacent rows share: task, metric and filter
    label : system or pair of systems
    value : position of the dot; None if there is none
    span : the interval; None if not estimable
    level : level of the interval; None without an interval
    scale : label of the axis; rows with the same label share an axis
    bounds : smallest and largest possible value; None if unknown
    reference : the value of the harness ± z standard errors at the same level, which may exceed the bounds (figures cut
        it there); None if the harness reports none
    zero : position of no difference; None for scores
    margin : smallest difference of interest; 0 for scores
    posterior : the distribution, for `gradient_intervals`
    system : the system of the score, or the first system of a difference
    is_decided : False for a difference whose verdict is undecided
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
    posterior: Posterior | None = None
    system: str = ""
    is_decided: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows on one axis.

    Attributes
    ----------
    scale : label of the axis
    rows : in the order to draw
    limits : ends of the axis
    ticks : positions within the limits, increasing
    """

    scale: str
    rows: tuple[ForestRow, ...]
    limits: Span
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Position of `value` along the axis, from 0 at its left end to 1 at its right end; clipped to these."""
        low, high = self.limits
        return min(max((value - low) / (high - low), 0.0), 1.0)

    @property
    def groups(self) -> list[tuple[str, list[ForestRow]]]:
        """Neighbouring rows under their heading."""
        return [(name, list(rows)) for name, rows in groupby(self.rows, key=lambda row: row.group)]


def as_list(results: "Pictured | Iterable[Pictured]") -> list[Pictured]:
    """The results as a list, which a single result is not."""
    return [results] if isinstance(results, Estimate | Comparison | Ranking | Overall) else list(results)


def forest_rows(results: Iterable[Pictured], *, with_differences: bool = False) -> list[ForestRow]:
    """Rows of a forest plot, neighbours by task: scores of estimates and rankings, differences of comparisons.

    Overall results are represented by their scores, or by the differences from their baseline `with_differences`.
    """
    rows: list[ForestRow] = []
    pictured = list(results)
    times = _times_of_reruns([result for result in pictured if isinstance(result, Estimate)])
    for result in pictured:
        if isinstance(result, Estimate):
            rows.append(_estimate_row(result, times.get(id(result), "")))
        elif isinstance(result, Comparison):
            rows.append(_comparison_row(result))
        elif isinstance(result, Overall):
            rows += _overall_differences(result) if with_differences else _overall_scores(result)
        else:
            rows += [
                ForestRow(
                    group=task_title(result.task, result.metric, result.filter),
                    label=ranked.system,
                    value=ranked.value,
                    span=(ranked.interval.low, ranked.interval.high),
                    level=ranked.interval.level,
                    scale=result.metric,
                    system=ranked.system,
                )
                for ranked in result.systems
            ]
    order = {group: place for place, group in enumerate(dict.fromkeys(row.group for row in rows))}
    return sorted(rows, key=lambda row: order[row.group])


def pair_rows(comparisons: Iterable[Comparison]) -> list[ForestRow]:
    """As `forest_rows`, for comparisons of one pair of systems: rows carry the task's name, not the pair's."""
    return [replace(row, label=row.group, group="") for row in forest_rows(comparisons)]


def panels(rows: Sequence[ForestRow]) -> list[Panel]:
    """One panel a scale, in the order of first appearance; rows keep theirs."""
    by_scale: dict[str, list[ForestRow]] = {}
    for row in rows:
        by_scale.setdefault(row.scale, []).append(row)
    return [_panel(scale, members) for scale, members in by_scale.items()]


def common_level(rows: Iterable[ForestRow]) -> float | None:
    """The level of all intervals; None if there is none or they differ."""
    levels = {row.level for row in rows if row.level is not None}
    return levels.pop() if len(levels) == 1 else None


def margin_text(rows: Iterable[ForestRow]) -> str:
    """`±0.02`, or `±0.02 to ±0.05` if margins differ; empty without margins."""
    margins = sorted({row.margin for row in rows})
    return " to ".join(f"±{margin:g}" for margin in dict.fromkeys((margins[0], margins[-1]))) if margins[-1] else ""


def legend_level(rows: Iterable[ForestRow]) -> str:
    """`95 % interval`, or `interval` where levels differ."""
    level = common_level(rows)
    return "interval" if level is None else f"{100 * level:g} % interval"


def comparison_title(row: Comparison) -> str:
    """As `task_title`; the comparison over all tasks has the title `all questions`, as all questions count equally."""
    return task_title(displayed_task(row), row.metric, row.filter)


def displayed_task(row: Comparison) -> str:
    """The task, or `all questions` for a comparison over all tasks."""
    return ALL_QUESTIONS if row.task == OVERALL_GROUP else row.task


def harness_span(row: Estimate) -> Span | None:
    """The harness's value ± z standard errors at the level of our interval; None if it reports no standard error."""
    value, std_error = row.harness.value, row.harness.std_error
    if value is None or std_error is None or row.interval is None:
        return None
    half = NormalDist().inv_cdf((1 + row.interval.level) / 2) * std_error
    return value - half, value + half


def short_label(row: ForestRow, width: int = 40) -> str:
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


def _panel(scale: str, rows: Sequence[ForestRow]) -> Panel:
    values = [row.value for row in rows if row.value is not None]
    limits = _limits([x for row in rows for x in _drawn(row)] or list(_UNIT), _common_bounds(rows), values)
    return Panel(scale, tuple(rows), limits, ticks(*limits))


def _limits(seen: Sequence[float], bounds: Span | None, values: Sequence[float]) -> Span:
    """Round ends around what is drawn, within the possible values; intervals that exceed these are cut."""
    low, high = min(seen), max(seen)
    if bounds is None and low >= 0 and high <= 1:
        bounds = _UNIT  # the result does not contain the range of its metric
    pad = 0.04 * (high - low) or 0.1 * max(abs(low), 1.0)
    step = _step(low - pad, high + pad, 10)
    outer = _multiple(math.floor((low - pad) / step), step), _multiple(math.ceil((high + pad) / step), step)
    if bounds is None:
        return outer
    return max(outer[0], min(bounds[0], *values, math.inf)), min(outer[1], max(bounds[1], *values, -math.inf))


def _drawn(row: ForestRow) -> list[float]:
    low, high = row.bounds or (-math.inf, math.inf)
    values = [row.value, row.zero, *(row.span or ()), *(min(max(x, low), high) for x in row.reference or ())]
    if row.zero is not None and row.margin:
        values += [-row.margin, row.margin]
    return [x for x in values if x is not None and math.isfinite(x)]


def _common_bounds(rows: Sequence[ForestRow]) -> Span | None:
    if any(row.bounds is None for row in rows):
        return None
    bounds = [row.bounds for row in rows if row.bounds is not None]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _times_of_reruns(rows: Sequence[Estimate]) -> dict[int, str]:
    """When each run was logged, for those that share system, task, metric and filter, by identity."""

    def name(row: Estimate) -> tuple[str, ...]:
        return row.system, row.task, row.metric, row.filter

    counts = Counter(map(name, rows))
    return {id(row): (row.source.time or "")[:16].replace("T", " ") for row in rows if counts[name(row)] > 1}


def _estimate_row(row: Estimate, time: str) -> ForestRow:
    bounds = row.structure.bounds if row.structure is not None else None
    return ForestRow(
        group=task_title(row.task, row.metric, row.filter),
        label=f"{row.system}, {time}" if time else row.system,
        value=row.value,
        span=(row.interval.low, row.interval.high) if row.interval else None,
        level=row.interval.level if row.interval else None,
        scale=SCORE_SCALE if bounds == _UNIT else row.metric,
        bounds=bounds,
        reference=harness_span(row),
        posterior=row.posterior,
        system=row.system,
    )


def _overall_scores(result: Overall) -> list[ForestRow]:
    return [
        ForestRow(
            group=OVERALL_GROUP,
            label=system.system,
            value=system.value,
            span=_ends(system.interval),
            level=system.interval.level,
            scale=SCORE_SCALE,
            system=system.system,
        )
        for system in result.systems
    ]


def _overall_differences(result: Overall) -> list[ForestRow]:
    return [
        ForestRow(
            group=OVERALL_GROUP,
            label=f"{one.system}{PAIR}{result.baseline}",
            value=one.value,
            span=_ends(one.interval),
            level=one.interval.level,
            scale=_difference_scale(SCORE_SCALE, higher_is_better=result.higher_is_better),
            zero=0.0,
            system=one.system,
            is_decided=one.verdict != "undecided",
        )
        for one in result.differences
    ]


def _difference_scale(metric: str, *, higher_is_better: bool) -> str:
    return f"difference in {metric}" + ("" if higher_is_better else ", lower is better")


def _ends(interval: Interval) -> Span:
    return interval.low, interval.high


def _comparison_row(row: Comparison) -> ForestRow:
    difference = row.difference
    values = [value for value in (row.value_a, row.value_b) if value is not None]
    is_share = row.in_points and len(values) == 2 and min(values) >= 0 and max(values) <= 1
    scale = SCORE_SCALE if is_share and row.higher_is_better else row.metric
    return ForestRow(
        group=comparison_title(row),
        label=f"{row.system_a}{PAIR}{row.system_b}",
        value=difference.value if difference else None,
        span=_ends(difference.interval) if difference else None,
        level=difference.interval.level if difference else None,
        scale=_difference_scale(scale, higher_is_better=row.higher_is_better),
        bounds=(-1.0, 1.0) if is_share else None,
        zero=0.0,
        margin=row.margin,
        posterior=row.posterior,
        system=row.system_a,
        is_decided=row.headline_verdict != "undecided",
    )
