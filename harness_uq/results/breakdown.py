"""Scores and differences by groups of questions."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.data.task_log import Source
from harness_uq.messages import HasMessages, Message
from harness_uq.results.comparison import Verdict
from harness_uq.results.declaration import Declared
from harness_uq.results.estimate import Interval


@dataclass(frozen=True, slots=True)
class GroupScore(Declared):
    """Score of one group of questions.

    Attributes
    ----------
    group : value of the field, or a range of numbers
    n_questions, n_clusters : numbers of scored questions, and of their clusters; None without clusters
    value, interval, std_error : estimate from the questions of the group alone; None if it is not estimable
    pooled_value, pooled_interval : partially pooled estimate, shrunk towards the other groups; None if unavailable
    """

    group: str
    n_questions: int
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    std_error: float | None = None
    pooled_value: float | None = None
    pooled_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Breakdown(Declared, HasMessages):
    """Scores of one task by groups of questions.

    Attributes
    ----------
    field : field that defines the groups
    groups : in the order of the field's values
    source : log of the run
    heterogeneity_p : p-value of the hypothesis that all groups have the same score; None if it cannot be tested
    spread : posterior median of the standard deviation between the true scores of groups; None without pooling
    messages : notes and warnings
    """

    record_rows: ClassVar = "groups"

    system: str
    task: str
    metric: str
    filter: str
    field: str
    groups: tuple[GroupScore, ...]
    source: Source
    heterogeneity_p: float | None = None
    spread: float | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupDifference(Declared):
    """Difference between two systems on one group of questions.

    Attributes
    ----------
    group : value of the field, or a range of numbers
    n_questions : number of questions that both systems answered; None if they could not be matched
    value_a, value_b : scores of the two systems
    value, interval, std_error : difference A minus B from the questions of the group alone; None if not estimable
    pooled_value, pooled_interval : partially pooled difference; None if it is unavailable
    p_value : two-sided p-value of the hypothesis that the systems are equal on this group
    adjusted_p : the same, adjusted by Holm's method over the groups of all fields, tasks, metrics and filters
    verdict : `better`, `worse` or `undecided`, by `adjusted_p`
    """

    group: str
    n_questions: int | None = None
    value_a: float | None = None
    value_b: float | None = None
    value: float | None = None
    interval: Interval | None = None
    std_error: float | None = None
    pooled_value: float | None = None
    pooled_interval: Interval | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    verdict: Verdict = "undecided"


@dataclass(frozen=True, slots=True)
class DifferenceBreakdown(Declared, HasMessages):
    """Differences between two systems on one task by groups of questions.

    Attributes
    ----------
    field : field that defines the groups
    groups : first those on which A loses most by the pooled difference, last those without a difference
    higher_is_better : whether higher scores are better
    heterogeneity_p : p-value of Cochran's Q test of the hypothesis that the difference is the same on all groups
    spread : posterior median of the standard deviation between the true differences of groups; None without pooling
    n_tests : number of groups for which verdicts are corrected, of all fields, tasks, metrics and filters
    messages : notes and warnings
    """

    record_rows: ClassVar = "groups"

    system_a: str
    system_b: str
    task: str
    metric: str
    filter: str
    field: str
    groups: tuple[GroupDifference, ...]
    higher_is_better: bool = True
    heterogeneity_p: float | None = None
    spread: float | None = None
    n_tests: int = 0
    messages: tuple[Message, ...] = ()
