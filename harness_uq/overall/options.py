"""Options of an overall result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness_uq.errors import DataError

WeightScheme: TypeAlias = Literal["equal", "questions", "group", "subtasks"]
MissingTasks: TypeAlias = Literal["common", "drop-system", "error"]

WEIGHT_SCHEMES: tuple[WeightScheme, ...] = ("equal", "questions", "group", "subtasks")


@dataclass(frozen=True, slots=True)
class OverallOptions:
    """How the scores of several tasks are combined.

    Attributes
    ----------
    weights : weights of the tasks: `equal`, `questions` (in proportion to their numbers of questions), `group` (those
        by which the only group in the logs weights its tasks), `subtasks` (equal, for all tasks of groups instead of
        the groups) or a mapping from each task to a non-negative number. A group counts as one task, except with
        `subtasks`. If a group is the only task, its tasks are used with the weights of the group
    metrics : metric of single tasks, `METRIC` or `METRIC,FILTER`; for other tasks the first that the harness reports,
        or `acc_norm` if there are `acc` and `acc_norm`
    normalization : `chance` reports each score as (score - chance) / (1 - chance)
    chance : score of random answers by task, for `normalization="chance"`
    missing_tasks : if some systems lack a task, use the `common` tasks, `drop-system` or raise an `error`
    generalizes_over_tasks : whether the tasks are a sample of tasks, so that the interval refers to new tasks
    """

    weights: WeightScheme | Mapping[str, float] = "equal"
    metrics: Mapping[str, str] = field(default_factory=dict)
    normalization: Literal["none", "chance"] = "none"
    chance: Mapping[str, float] = field(default_factory=dict)
    missing_tasks: MissingTasks = "common"
    generalizes_over_tasks: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.weights, str):
            if self.weights not in WEIGHT_SCHEMES:
                raise DataError(
                    f"weights must be one of {', '.join(WEIGHT_SCHEMES)} or a mapping; got {self.weights!r}"
                )
        elif any(not weight >= 0 for weight in self.weights.values()) or not sum(self.weights.values()) > 0:
            raise DataError(f"weights must be numbers >= 0, not all 0; got {dict(self.weights)}")
        for task, chance in self.chance.items():
            if not 0 <= chance < 1:
                raise DataError(f"the chance of task {task!r} must be at least 0 and below 1; got {chance:g}")
