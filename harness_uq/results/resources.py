"""Totals and ratios of the resources that systems used: class, columns and sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from harness_uq.messages import Message, distinct
from harness_uq.output.declared import Result
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.table_notes import texts_with_code
from harness_uq.output.words import count, metric_name

Quantity = Literal[
    "total_cost",
    "total_tokens",
    "total_time",
    "cost",
    "tokens",
    "time",
    "cost_per_solved",
    "tokens_per_solved",
    "score_per_dollar",
]

_NAMES = {
    "total_cost": "total cost ($)",
    "total_tokens": "total tokens",
    "total_time": "total time (s)",
    "cost": "cost per question",
    "tokens": "tokens per question",
    "time": "time per question",
    "cost_per_solved": "cost per solved question",
    "tokens_per_solved": "tokens per solved question",
    "score_per_dollar": "score per dollar",
}
CERTAINTY = 0.95  # probability from which a system is called dominated
_COMPARED = {"cost": ("costs", "as much"), "tokens": ("uses", "as many tokens"), "time": ("takes", "as long")}


@dataclass(frozen=True, slots=True)
class ResourceUse(Result):
    """A total or a ratio of resources of one system, or the ratio of two systems.

    - `quantity`: `total_cost` (US dollars), `total_tokens` and `total_time` (seconds) of a run like this one; `cost`,
      `tokens` and `time` per question, for two systems; `cost_per_solved`, `tokens_per_solved` and `score_per_dollar`.
    - `metric`, `filter`: the score of the ratio; empty for totals and for ratios without a score.
    - `system`, `baseline`: the system, and the system in the denominator; None if the value is not a ratio of two
      systems.
    - `value`: the total or the ratio; None if it is infinite or unknown.
    - `low`, `high`: limits of the confidence interval; `high` is None if the interval has no upper limit.
    - `is_unbounded`: whether the interval has no upper limit.
    - `prob_dominated`: for `cost_per_solved` of several systems: probability that another system has a better score and
      costs less; else None.
    - `dominated_by`: the system that most probably does.
    - `n_questions`, `n_clusters`: number of questions, and of clusters if there are any.
    - `messages`: notes, warnings, and why there is no interval.
    """

    needed: ClassVar = "low"

    system: str
    baseline: str | None
    task: str
    metric: str
    filter: str
    quantity: Quantity
    value: float | None
    low: float | None
    high: float | None
    level: float
    is_unbounded: bool = False
    prob_dominated: float | None = None
    dominated_by: str | None = None
    n_questions: int | None = None
    n_clusters: int | None = None
    messages: tuple[Message, ...] = ()


def _footnotes(rows: Sequence[ResourceUse]) -> dict[str, list[str]]:
    """Each message once."""
    messages = distinct(message for row in rows for message in row.messages)
    severe = texts_with_code(messages, "warning", "refusal", "error")
    return {"Warnings": severe, "Notes": texts_with_code(messages, "note")}


def _sections(rows: Sequence[ResourceUse], digits: int) -> Iterator[Section]:
    """A table for each task, after a sentence for each ratio of two systems and each dominated system."""
    for task in dict.fromkeys(row.task for row in rows if row.value is not None or row.low is not None):
        members = [row for row in rows if row.task == task]
        has_metrics = len({(row.metric, row.filter) for row in members if row.metric}) > 1
        columns = [
            Column("System", lambda row: row.system if row.baseline is None else f"{row.system} / {row.baseline}"),
            Column("Resource", partial(_quantity, has_metrics=has_metrics), wraps=True),
            Column("Value", lambda row: _number(row.value, digits, row.is_unbounded), is_number=True),
            Column("Interval", lambda row: _interval(row, digits), is_number=True),
            Column("Questions", "n_questions", count, in_paper=False),
        ]
        sentences = [_sentence(row, digits) for row in members if row.baseline is not None and row.value is not None]
        answer = "\n".join([*sentences, *dominated_systems(members)])
        yield table(f"{task}: resources", columns, members, digits, answer=answer, group="Task")


def _quantity(row: ResourceUse, *, has_metrics: bool) -> str:
    unit = " ($)" if row.quantity == "cost_per_solved" and row.baseline is None else ""
    metric = f", {metric_name(row.metric, row.filter)}" if has_metrics and row.metric else ""
    return f"{_NAMES[row.quantity]}{unit}{metric}"


def _number(value: float | None, digits: int, is_infinite: bool = False) -> str:
    """The number with significant digits, because costs and tokens differ by orders of magnitude."""
    if value is None:
        return "∞" if is_infinite else "-"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"


def _interval(row: ResourceUse, digits: int) -> str:
    if row.low is None:
        return "-"
    return f"[{_number(row.low, digits)}, {_number(row.high, digits, row.is_unbounded)}]"


def _sentence(row: ResourceUse, digits: int) -> str:
    """The ratio of two systems as a sentence."""
    digits = min(digits, 3)
    resource, _, per_solved = row.quantity.partition("_per_")
    verb, as_much = _COMPARED[resource]
    unit = f"solved question ({metric_name(row.metric, row.filter)})" if per_solved else "question"
    limits = f"{_number(row.low, digits)} to {_number(row.high, digits, row.is_unbounded)}"
    ratio = f"{_number(row.value, digits)} times {as_much} as {row.baseline} per {unit} ({limits})"
    return f"{row.task}: {row.system} {verb} {ratio}."


def dominated_systems(rows: Sequence[ResourceUse]) -> list[str]:
    """A sentence for each system that is dominated with a probability of more than 0.95."""
    return [
        f"{row.task}, {metric_name(row.metric, row.filter)}: {row.system} is dominated with probability "
        f"{min(row.prob_dominated, 0.999):.3f}; {row.dominated_by} has a better score and costs less."
        for row in rows
        if row.prob_dominated is not None and row.prob_dominated > CERTAINTY
    ]


ResourceUse.KIND = Kind("resource_use", ResourceUse, _sections, "Resources of the systems.", _footnotes)
