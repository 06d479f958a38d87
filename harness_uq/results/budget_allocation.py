"""Allocation of a budget to questions, trials and levels of further factors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """A balanced design.

    Attributes
    ----------
    name : `best`, `as many levels as now` or `as now`
    questions, trials : number of questions, and of trials per question in each condition
    levels : number of levels of each further factor
    cost : cost in the unit of the prices
    half_width : expected half-width of the interval for the mean over new levels
    """

    name: str
    questions: int
    trials: int
    levels: Mapping[str, int]
    cost: float
    half_width: float


@dataclass(frozen=True, slots=True)
class BudgetAllocation(Declared, HasMessages):
    """The best allocation for one model, task, metric and filter.

    Attributes
    ----------
    rows : designs, the best first; without `best` if no design meets the target
    new : factors to generalize over, whose observed levels are a sample
    answer : recommendation as one sentence
    is_share : whether scores lie in [0, 1], so that differences are given in points
    messages : notes and warnings
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "rows"

    model: str
    task: str
    metric: str
    filter: str
    level: float
    rows: tuple[AllocationRow, ...]
    new: tuple[str, ...]
    answer: str
    is_share: bool
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or `not_estimable` if no run reaches the target."""
        return status_of(self.messages, has_result=bool(self.rows))
