"""What a run to come would tell."""

from dataclasses import dataclass

from harness_uq.results.estimate import finite_or_none
from harness_uq.results.notebook import NotebookTable


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One design of a run to come.

    Attributes
    ----------
    n_questions, n_trials : the design
    expected_width : expected width of the interval of one score
    detectable : smallest difference of two systems found with the plan's power; None without a second system
    cost : in the user's unit, None without prices
    """

    n_questions: int
    n_trials: int
    expected_width: float | None
    detectable: float | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Plan(NotebookTable):
    """What a run to come would tell.

    Attributes
    ----------
    recommended : the design that meets the target, None where none does
    rows : designs for the table and the curve
    variance_between, variance_within : of expected scores over questions, and of trials around them; None if unknown
    design_effect : of one score: variance of its mean with clusters over that without
    answer : one sentence
    task, metric, filter, systems : of the pilot; empty where the plan is from numbers
    variance_difference : over questions, of the difference of two systems' expected scores; None without a second one
    design_effect_difference : of that difference
    """

    rows: tuple[PlanRow, ...]
    recommended: PlanRow | None
    level: float
    power: float
    variance_between: float | None
    variance_within: float | None
    design_effect: float
    answer: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    task: str = ""
    metric: str = ""
    filter: str = "none"
    systems: tuple[str, ...] = ()
    variance_difference: float | None = None
    design_effect_difference: float | None = None

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1."""
        return {
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "systems": list(self.systems),
            "answer": self.answer,
            "recommended": _row_dict(self.recommended) if self.recommended else None,
            "rows": [_row_dict(row) for row in self.rows],
            "level": self.level,
            "power": self.power,
            "variance_between": finite_or_none(self.variance_between),
            "variance_within": finite_or_none(self.variance_within),
            "design_effect": finite_or_none(self.design_effect),
            "variance_difference": finite_or_none(self.variance_difference),
            "design_effect_difference": finite_or_none(self.design_effect_difference),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _row_dict(row: PlanRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("n_questions", "n_trials", "expected_width", "detectable", "cost")}
