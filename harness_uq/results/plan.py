"""Plan of a future run: designs with their expected precision."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One design of a future run.

    Attributes
    ----------
    n_questions, n_trials : number of questions, and of trials per question
    expected_width : expected width of the interval of one score
    detectable : smallest difference of two systems that is detected with the power of the plan; None for one system
    cost : cost in the unit of the prices; None without prices
    """

    n_questions: int
    n_trials: int
    expected_width: float | None
    detectable: float | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Plan(Declared, HasMessages):
    """Designs of a future run for one task, metric and filter.

    Attributes
    ----------
    recommended : the design that meets the target; None if no design does
    rows : designs for the table and the curve
    variance_between, variance_within : variance of the expected scores between questions, and of the trials within
        questions; None if unknown
    design_effect : of one score: variance of its mean with clusters, divided by that without
    answer : recommendation as one sentence
    task, metric, filter, systems : of the pilot run; empty if the plan was made from given variances
    variance_difference : variance between questions of the difference of two systems; None for one system
    design_effect_difference : design effect of that difference
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "rows"
    record_methods: ClassVar = ("is_recommended",)
    not_in_records: ClassVar = ("recommended",)

    rows: tuple[PlanRow, ...]
    recommended: PlanRow | None
    level: float
    power: float
    variance_between: float | None
    variance_within: float | None
    design_effect: float
    answer: str
    messages: tuple[Message, ...] = ()
    task: str = ""
    metric: str = ""
    filter: str = "none"
    systems: tuple[str, ...] = ()
    variance_difference: float | None = None
    design_effect_difference: float | None = None

    @property
    def status(self) -> Status:
        """`ok`, `not_estimable` (`reason` says why) or `failed` (an unexpected error)."""
        return status_of(self.messages, has_result=bool(self.rows))

    def is_recommended(self, row: PlanRow) -> bool:
        """Whether this design is the recommended one."""
        return row == self.recommended
