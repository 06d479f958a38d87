"""Agreement of graders with people, differences between graders, panels of graders, and self-preference."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared
from harness_uq.results.estimate import Interval

AgreementMeasure: TypeAlias = Literal["agreement", "sensitivity", "specificity", "kappa", "ac1", "mean error"]
GraderVerdict: TypeAlias = Literal["higher", "lower", "undecided"]


@dataclass(frozen=True, slots=True)
class MeasuredAgreement(Declared):
    """One measure of the agreement between a grader and people.

    Attributes
    ----------
    measure : `agreement` (share of equal grades), `sensitivity`, `specificity`, Cohen's `kappa`, Gwet's `ac1`, or
        `mean error` (mean of the grader's score minus the label)
    value : value on the labeled answers
    interval : interval for new answers
    """

    measure: AgreementMeasure
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class GraderAgreement(Declared, HasMessages):
    """Agreement of a grader with human labels.

    Attributes
    ----------
    grader : metric with the grader's scores; in rescored logs, with the model of the grader or a number
    task, filter : the scores that are analyzed
    system : system whose answers were graded; None for the answers of all systems together
    field, group : field of the questions and its value, if the questions are divided into groups; otherwise None
    n_labels, n_questions : numbers of labeled answers and of their questions
    n_clusters : number of clusters of these questions; None without clusters
    measures : measures that these scores and labels allow
    messages : notes and warnings, and the reason if there are no measures
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "measures"

    grader: str
    task: str
    filter: str
    system: str | None
    field: str | None
    group: str | None
    n_labels: int
    n_questions: int
    n_clusters: int | None
    measures: tuple[MeasuredAgreement, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there are no measures."""
        return status_of(self.messages, has_result=bool(self.measures))


@dataclass(frozen=True, slots=True)
class GraderDifference(Declared, HasMessages):
    """Difference between the mean scores that two graders give to the same answers.

    Attributes
    ----------
    grader_a, grader_b : metrics with the scores of the two graders; in rescored logs, with the model or a number
    task, filter, system : the answers
    n_questions : number of questions whose answers both graders scored
    n_clusters : number of their clusters; None without clusters
    value, interval : difference A - B of the mean scores; None if it is not estimable
    share_different : share of the answers to which the graders give different scores
    p_value : two-sided p-value of the hypothesis of equal mean scores
    adjusted_p : the same, adjusted by Holm's method over all differences
    verdict : `higher` or `lower` if both the interval and `adjusted_p` show a difference, otherwise `undecided`
    messages : notes and warnings, and the reason if there is no difference
    """

    json_properties: ClassVar = ("status",)

    grader_a: str
    grader_b: str
    task: str
    filter: str
    system: str
    n_questions: int
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    share_different: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    verdict: GraderVerdict = "undecided"
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no difference."""
        return status_of(self.messages, has_result=self.interval is not None)


@dataclass(frozen=True, slots=True)
class SelfPreference(Declared, HasMessages):
    """How much more a grader overrates systems of its own family than other systems, compared with human labels.

    Attributes
    ----------
    grader, task, filter : the scores that are analyzed
    own, others : systems of the grader's family, and the other systems
    value, interval : mean error (score minus label) on the answers of its own family, minus that on the answers of
        other systems to the same questions; None if it is not estimable
    n_questions, n_clusters : numbers of questions with labels of both groups of systems, and of their clusters, None
        without clusters
    p_value, adjusted_p : two-sided p-value of the hypothesis of equal mean errors, and the same adjusted by Holm's
        method over all graders and tasks
    verdict : `higher` if the grader overrates its own family more, `lower` if it overrates the others more
    messages : notes and warnings, and the reason if there is no result
    """

    json_properties: ClassVar = ("status",)

    grader: str
    task: str
    filter: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    value: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    n_questions: int = 0
    n_clusters: int | None = None
    verdict: GraderVerdict = "undecided"
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no result."""
        return status_of(self.messages, has_result=self.interval is not None)


@dataclass(frozen=True, slots=True)
class GraderPanel(Declared, HasMessages):
    """Mean score of several graders of the same answers, and how many independent graders they are worth.

    Attributes
    ----------
    graders : the graders whose scores are averaged for each answer
    task, filter, system : the answers
    n_questions, n_clusters : numbers of questions that all graders scored, and of their clusters, None without
        clusters
    value, interval : mean score of the graders; None if it is not estimable
    n_labels : number of questions with labels
    corrected, corrected_interval : the score that people would give, estimated from the mean scores and the labels;
        None without enough labels
    effective_graders, effective_interval : number of graders with independent errors whose mean is as precise; None
        without labels, because errors that all graders share are then invisible
    error_correlation : correlation of the errors of two graders, as a mean over pairs; None without labels
    messages : notes and warnings, and the reason if there is no result
    """

    json_properties: ClassVar = ("status",)

    graders: tuple[str, ...]
    task: str
    filter: str
    system: str
    n_questions: int = 0
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    n_labels: int = 0
    corrected: float | None = None
    corrected_interval: Interval | None = None
    effective_graders: float | None = None
    effective_interval: Interval | None = None
    error_correlation: float | None = None
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no result."""
        return status_of(self.messages, has_result=self.interval is not None)
