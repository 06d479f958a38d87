"""How best to spend a budget over questions, trials and the levels of what else varies: a value."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness_uq.results.notebook import NotebookTable


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A balanced run.

    Attributes
    ----------
    name : `best`, `as many levels as now` or `as now`
    questions, trials : how many, and answers to each in every condition
    levels : of each further factor, those that stay included
    cost : in the unit of the prices
    half_width : expected, of the interval of the mean over new levels
    """

    name: str
    questions: int
    trials: int
    levels: Mapping[str, int]
    cost: float
    half_width: float


@dataclass(frozen=True, slots=True)
class SplitPlan(NotebookTable):
    """The best split for one model, task, metric and filter.

    Attributes
    ----------
    rows : the best run first; no `best` where none reaches the target
    new : factors whose levels are a sample of those to come
    answer : one sentence
    is_share : scores lie in [0, 1], so that differences are points
    warnings : for the report
    """

    model: str
    task: str
    metric: str
    filter: str
    level: float
    rows: tuple[SplitRow, ...]
    new: tuple[str, ...]
    answer: str
    is_share: bool
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain values, as in the JSON form."""
        rows = [
            {
                "name": row.name,
                "questions": row.questions,
                "trials": row.trials,
                "levels": dict(row.levels),
                "cost": row.cost,
                "half_width": row.half_width,
            }
            for row in self.rows
        ]
        return {
            "model": self.model,
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "level": self.level,
            "new": list(self.new),
            "answer": self.answer,
            "rows": rows,
            "warnings": list(self.warnings),
        }
