"""Plan of the graders of answers at a fixed number of grades."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import INTERNAL, Declared

GraderDesignName: TypeAlias = Literal["rotation", "all graders", "one grader"]


@dataclass(frozen=True, slots=True)
class GraderDesign(Declared):
    """A way to distribute grades over answers and graders.

    Attributes
    ----------
    design : `rotation` (the graders take turns), `all graders` score each answer, or `one grader` scores all answers
    n_answers : number of answers with a grade
    n_per_answer : number of graders of each answer
    std_error : predicted standard error of the mean score as an estimate of the panel's mean score; for one grader the
        root mean square error, which includes the difference between the grader and the panel
    """

    design: GraderDesignName
    n_answers: int
    n_per_answer: int
    std_error: float


@dataclass(frozen=True, slots=True)
class GraderPlan(Declared, HasMessages):
    """Which grader scores which answer, so that the mean score is precise at a fixed number of grades.

    Attributes
    ----------
    task, filter, system : answers
    graders : names of the graders
    budget : number of grades
    n_pilot, n_clusters : number of answers that all graders have scored, and of their clusters; None for independent
        questions
    sd_questions, sd_graders, sd_residual : standard deviations of the panel's mean score between questions, of the mean
        scores of graders, and of what remains; None if there is no plan
    sd_clusters : standard deviation of the panel's mean score between clusters, as a part of `sd_questions`; None for
        independent questions
    designs : the best rotation, all graders and one grader with at most this number of grades; the plan comes first
    answer : recommendation as one sentence
    messages : notes and warnings, and the reason if there is no plan
    template : rows of the table of grades: question, task, system, grader and score (empty if there is none)
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "designs"

    task: str
    filter: str
    system: str
    graders: tuple[str, ...]
    budget: int
    n_pilot: int = 0
    n_clusters: int | None = None
    sd_questions: float | None = None
    sd_graders: float | None = None
    sd_residual: float | None = None
    sd_clusters: float | None = None
    designs: tuple[GraderDesign, ...] = ()
    answer: str = ""
    messages: tuple[Message, ...] = ()
    template: tuple[tuple[str, ...], ...] = field(default=(), metadata=INTERNAL)

    @property
    def status(self) -> Status:
        """`ok`, or why there is no plan."""
        return status_of(self.messages, has_result=bool(self.designs))
