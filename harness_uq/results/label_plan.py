"""Plan of human labels for a corrected score or a corrected comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import INTERNAL, Declared


@dataclass(frozen=True, slots=True)
class LabelStratum(Declared):
    """Questions with similar grades, and how many of them to label.

    Attributes
    ----------
    grades : mean grade of each system in the stratum
    n_questions, n_pilot : number of questions, and number of questions that have labels already
    n_labels : number of questions that have labels in the end
    probability : `n_labels / n_questions`, the share of questions that have labels in the end
    """

    grades: tuple[float, ...]
    n_questions: int
    n_pilot: int
    n_labels: int
    probability: float


@dataclass(frozen=True, slots=True)
class LabelTotal(Declared):
    """Labels that the plans of several tasks require together.

    Attributes
    ----------
    n_plans : number of plans
    n_new_labels : number of answers to label in all plans
    """

    n_plans: int
    n_new_labels: int


@dataclass(frozen=True, slots=True)
class LabelPlan(Declared, HasMessages):
    """Labels that give the interval of a corrected score, or of a corrected difference, a certain width.

    Attributes
    ----------
    task, metric, filter : scores of the grader
    systems : the system, or the two systems to compare, whose answers to each question are labeled
    level, target_width : level and width of the interval to reach
    expected_width : expected width with these labels; None if there is no plan
    n_labels : number of questions with labels in the end, including the pilot
    n_new : number of questions to label
    n_new_labels : number of answers to label, which is `n_new` for each system
    n_uniform : number of questions with labels that would be needed if they were drawn uniformly
    strata : groups of questions by their grades
    answer : recommendation as one sentence
    template : rows of the table for the labels: identifier, task, system, score (empty if there is none) and
        probability, whose inverse is the weight of the label in the correction
    messages : notes and warnings, and the reason if there is no plan
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "strata"

    task: str
    metric: str
    filter: str
    systems: tuple[str, ...]
    level: float
    target_width: float
    expected_width: float | None = None
    n_labels: int = 0
    n_new: int = 0
    n_new_labels: int = 0
    n_uniform: int | None = None
    strata: tuple[LabelStratum, ...] = ()
    answer: str = ""
    template: tuple[tuple[str, ...], ...] = field(default=(), metadata=INTERNAL)
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no plan."""
        return status_of(self.messages, has_result=self.expected_width is not None)


def total_of(plans: Sequence[LabelPlan]) -> LabelTotal | None:
    """The labels that plans of different tasks require together; None for fewer than two tasks or several metrics."""
    possible = [plan for plan in plans if plan.strata]
    if len({plan.task for plan in possible}) < len(possible) or len(possible) < 2:
        return None
    return LabelTotal(len(possible), sum(plan.n_new_labels for plan in possible))
