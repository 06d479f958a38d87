"""Totals and ratios of the resources that systems used."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared

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


@dataclass(frozen=True, slots=True)
class ResourceUse(Declared, HasMessages):
    """A total or a ratio of resources of one system, or the ratio of two systems.

    Attributes
    ----------
    quantity : `total_cost` (US dollars), `total_tokens` and `total_time` (seconds) of a run like this one; `cost`,
        `tokens` and `time` per question, for two systems; `cost_per_solved`, `tokens_per_solved` and
        `score_per_dollar`
    metric, filter : the score of the ratio; empty for totals and for ratios without a score
    system, baseline : the system, and the system in the denominator; None if the value is not a ratio of two systems
    value : the total or the ratio; None if it is infinite or unknown
    low, high : limits of the confidence interval; `high` is None if the interval has no upper limit
    level : nominal coverage
    is_unbounded : whether the interval has no upper limit
    prob_dominated : for `cost_per_solved` of several systems: probability that another system has a better score and
        costs less; else None
    dominated_by : the system that most probably does
    n_questions, n_clusters : number of questions, and of clusters if there are any
    messages : notes, warnings, and why there is no interval
    """

    json_properties: ClassVar = ("status",)

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

    @property
    def status(self) -> Status:
        """`ok`, `not_estimable` (`reason` says why) or `failed` (an unexpected error)."""
        return status_of(self.messages, has_result=self.low is not None)
