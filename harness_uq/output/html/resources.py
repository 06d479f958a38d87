"""The section of the HTML report about resources: scores against costs, dominated systems, totals and ratios."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness_uq.output.columns import metric_name
from harness_uq.output.html.forest import SHAPES
from harness_uq.output.html.tables import TableView
from harness_uq.output.resource_use import dominated_systems, resource_use_document
from harness_uq.plots.label_texts import task_title
from harness_uq.plots.palette import Mark, system_marks
from harness_uq.plots.pareto import pareto_front
from harness_uq.results.estimate import Estimate
from harness_uq.results.resource_use import ResourceUse

HEIGHT = 300  # of a plot, in pixels
_COST = "cost"
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class PlottedSystem:
    """A system in a plot: x in percent of the width, y in pixels; `left`, `right`, `top` and `bottom` are limits."""

    system: str
    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    colour: int
    shape: str
    is_on_front: bool
    description: str


@dataclass(frozen=True, slots=True)
class ParetoView:
    """Scores against costs on one task: ticks are (place, text), and `front` joins the systems on the Pareto front."""

    title: str
    score: str
    systems: tuple[PlottedSystem, ...]
    front: tuple[tuple[float, float, float, float], ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    height: int = HEIGHT


def resources_view(estimates: Sequence[Estimate], rows: Sequence[ResourceUse]) -> dict[str, object]:
    """The plots, the sentences about dominated systems, and the table."""
    tables = []
    for section in resource_use_document(rows).sections:
        columns = section.visible_columns()
        cells = tuple(zip(*(column.texts for column in columns), strict=True))
        headers, numbers = tuple(column.header for column in columns), tuple(column.is_number for column in columns)
        tables.append(TableView(section.title, headers, numbers, (("", cells),)))
    return {"plots": list(_plots(estimates)), "sentences": dominated_systems(rows), "tables": tables}


def _plots(estimates: Sequence[Estimate]) -> "Iterable[ParetoView]":
    costs = {(row.task, row.system): row for row in estimates if row.metric == _COST and _is_positive(row)}
    scores: dict[tuple[str, str, str], list[Estimate]] = {}
    shares = [row for row in estimates if row.interval is not None and row.structure is not None]
    for row in shares:
        if row.structure is not None and row.structure.bounds == (0, 1) and (row.task, row.system) in costs:
            scores.setdefault(row.key, []).append(row)
    marks = system_marks(row.system for row in estimates)
    for (task, metric, name), members in scores.items():
        if len(members) > 1:
            yield _plot(task_title(task, metric, name), metric_name(metric, name), members, costs, marks)


def _is_positive(row: Estimate) -> bool:
    return row.value is not None and row.value > 0 and row.interval is not None and row.interval.high > 0


def _plot(
    title: str,
    score: str,
    members: Sequence[Estimate],
    costs: Mapping[tuple[str, str], Estimate],
    marks: Mapping[str, Mark],
) -> ParetoView:
    limits = [(_limits(costs[row.task, row.system]), _limits(row)) for row in members]
    lowest = min(cost[1] for cost, _ in limits) / 20  # an interval that reaches 0 has no end on a logarithmic axis
    ends = [math.log10(max(limit, lowest)) for cost, _ in limits for limit in cost]
    low, high = min(ends) - 0.05, max(ends) + 0.05
    y_low, y_high = min(y[0] for _, y in limits), max(y[2] for _, y in limits)

    def x_place(cost: float) -> float:
        return round(100 * (math.log10(max(cost, lowest)) - low) / (high - low), 2)

    def y_place(value: float) -> float:
        return round(HEIGHT * (1 - (value - y_low) / max(y_high - y_low, 1e-9)), 1)

    front = pareto_front([cost[1] for cost, _ in limits], [y[1] for _, y in limits], higher_is_better=True)
    systems = tuple(
        PlottedSystem(
            row.system,
            x_place(cost[1]),
            y_place(y[1]),
            x_place(cost[0]),
            x_place(cost[2]),
            y_place(y[2]),
            y_place(y[0]),
            marks[row.system].colour,
            SHAPES[marks[row.system].marker],
            k in front,
            f"{row.system}: {score} {_described(y)}, cost {_described(cost)}",
        )
        for k, (row, (cost, y)) in enumerate(zip(members, limits, strict=True))
    )
    corners = [(systems[k].x, systems[k].y) for k in front]
    x_ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in _STEPS]
    return ParetoView(
        title,
        score,
        systems,
        tuple((*first, *second) for first, second in pairwise(corners)),
        tuple((x_place(tick), f"${tick:g}") for tick in x_ticks if low <= math.log10(tick) <= high),
        tuple((y_place(tick / 10), f"{tick / 10:.1f}") for tick in range(11) if y_low <= tick / 10 <= y_high),
    )


def _limits(row: Estimate) -> tuple[float, float, float]:
    if row.interval is None or row.value is None:
        raise ValueError(row)
    return row.interval.low, row.value, row.interval.high


def _described(limits: tuple[float, float, float]) -> str:
    low, value, high = limits
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"
