"""Plan of an active evaluation: the expected width of the interval by number of questions."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared


@dataclass(frozen=True, slots=True)
class ActivePlanRow(Declared):
    """A number of questions, and the precision to expect from it.

    Attributes
    ----------
    n_questions : number of questions that a new system answers
    expected_width : mean width of the interval if the questions are chosen actively
    std_error : Monte Carlo standard error of `expected_width`
    expected_width_uniform : mean width of the interval of the plain mean if the questions are drawn at random
    """

    n_questions: int
    expected_width: float
    std_error: float
    expected_width_uniform: float


@dataclass(frozen=True, slots=True)
class ActivePlan(Declared, HasMessages):
    """How many questions an active evaluation needs, by evaluating reference systems as if they were new.

    Attributes
    ----------
    task, metric, filter : scores of the reference runs
    level : nominal coverage of the interval
    n_all : number of questions of the benchmark
    n_systems : number of reference systems
    n_simulated : number of reference systems that were evaluated as if they were new
    target_width : width to reach; None if there is none
    rows : numbers of questions with their expected widths, in increasing order
    recommended : number of questions for the target width; None if there is no target
    n_uniform : number of randomly drawn questions for the target width; None if there is no target
    answer : the result as one or two sentences
    messages : the reason if there is no plan
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "rows"

    task: str
    metric: str
    filter: str
    level: float
    n_all: int | None = None
    n_systems: int | None = None
    n_simulated: int | None = None
    target_width: float | None = None
    rows: tuple[ActivePlanRow, ...] = ()
    recommended: int | None = None
    n_uniform: int | None = None
    answer: str = ""
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, or why there is no plan."""
        return status_of(self.messages, has_result=bool(self.rows))
