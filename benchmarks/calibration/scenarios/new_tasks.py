"""Setting with a group of tasks that are a sample of tasks: the score on new tasks."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.calibration.scenarios.clusters import success_rates
from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.effects.new_tasks import new_tasks_posterior
from harness_uq.stats.means.bounded import clustered_bounded_posterior

PROCESS = "Dirichlet process"


@dataclass(frozen=True, slots=True, eq=False)
class TaskMeans(DataSet):
    """Mean scores of tasks of equal size; the true value is the expected mean score of a new task."""

    truth: float
    means: FloatArray
    n_questions: float

    @property
    def key(self) -> bytes:
        return np.sort(self.means).tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        y, ones = self.means, np.ones(len(self.means))
        posterior: Posterior
        if method == "t":
            spread = float(y.std(ddof=1))
            if not spread:
                return None
            posterior = StudentPosterior(float(y.mean()), spread / np.sqrt(len(y)), len(y) - 1)
            return Answer(tuple(posterior.interval(level) for level in levels))
        is_process = method == PROCESS
        posterior = (
            clustered_bounded_posterior(y, ones) if is_process else new_tasks_posterior(y, ones, self.n_questions)
        )
        return Answer(tuple(posterior.interval(level, "hdi") for level in levels))


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    numbers = (10,) if smoke else (5, 10, 20, 50)
    spreads = ((0.9, 4.0),) if smoke else ((0.5, 4.0), *product((0.7, 0.9, 0.93), (4.0, 20.0, 100.0)))
    return [
        Cell("new_tasks", "fixed", {"tasks": f"{k}×100", "theta": theta, "d": d}, 200 if smoke else 1000)
        for k, (theta, d) in product(numbers, spreads)
    ]


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    k, n = (int(part) for part in cell.text("tasks").split("×"))
    theta = cell.number("theta")
    rates = success_rates(theta, cell.number("d"), k, rng)
    return TaskMeans(theta, rng.binomial(n, rates) / n, float(k * n))


NEW_TASKS = Scenario("new_tasks", "The mean score of new tasks", ("bayes", PROCESS, "t"), _cells, _draw)
