"""Intermediate estimate of a run in progress."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared


@dataclass(frozen=True, slots=True)
class Snapshot(Declared, HasMessages):
    """Estimate of one score at one moment of a run.

    Attributes
    ----------
    system, task, metric, filter : the score
    n_scored : questions with a score
    n_used : questions that are used: those before the first question without a score, in the order of the run
    n_planned : number of questions of the whole run
    value : mean score of the questions that are used; None without any
    low, high : limits of an anytime-valid interval: all intervals of the run contain the score with probability
        `level`; None if there is no interval
    level : nominal coverage
    messages : why there is no interval, or what it assumes
    """

    json_properties: ClassVar = ("status",)

    system: str
    task: str
    metric: str
    filter: str
    n_scored: int
    n_used: int
    n_planned: int
    value: float | None
    low: float | None
    high: float | None
    level: float
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or `not_estimable` (`reason` says why)."""
        return status_of(self.messages, has_result=self.low is not None)
