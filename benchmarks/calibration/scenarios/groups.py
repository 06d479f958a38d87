"""Setting with a group of tasks whose weighted mean is reported as one score."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.clusters import spread_of, success_rates
from benchmarks.calibration.scenarios.scores import plugins_once
from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Scenario, Size
from harness_uq.data.estimands import Mean
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_groups import group_structure
from harness_uq.data.task_log import FloatArray, Questions, Source, TaskGroup, TaskLog
from harness_uq.inference.marginals import solve
from harness_uq.io.plugins.protocols import Problem
from harness_uq.stats.clusters.quadrature import beta_binomial_grid
from harness_uq.stats.common.posterior import BetaPosterior

HIERARCHICAL = "hierarchical mean"
_TASKS: dict[str, tuple[Sequence[float], Sequence[int]]] = {  # success rates and numbers of questions
    "57×100, half at 0.95, half at 0.3": ([0.95] * 28 + [0.3] * 29, [100] * 57),
    "57×100, 54 at 0.97, 3 at 0": ([0.97] * 54 + [0.0] * 3, [100] * 57),
    "57×9, 54 at 0.97, 3 at 0": ([0.97] * 54 + [0.0] * 3, [9] * 57),
    "6×100, 5 at 0.99, 1 at 0.1": ([0.99] * 5 + [0.1], [100] * 6),
    "10×10 at 0.2, 13×250 at 0.9": ([0.2] * 10 + [0.9] * 13, [10] * 10 + [250] * 13),
    "14 of 9 to 1500, 0.95 falling to 0.3": (
        np.linspace(0.95, 0.3, 14).tolist(),
        np.geomspace(9, 1500, 14).round().astype(int).tolist(),
    ),
    "57 of 20 to 600, 0.95 falling to 0.3": (
        np.linspace(0.95, 0.3, 57).tolist(),
        np.linspace(20, 600, 57).round().astype(int).tolist(),
    ),
    "2 of 5 and 200, at 0.5 and 0.9": ([0.5, 0.9], [5, 200]),
    "9×300 at 0.95, 10 at 0.6": ([0.95] * 9 + [0.6], [300] * 9 + [10]),
    "4×200 at 0.99, 12 at 0.8": ([0.99] * 4 + [0.8], [200] * 4 + [12]),
    "500 at 0.99, 10 at 0.8": ([0.99, 0.8], [500, 10]),
    "4×200 at 0.6, 12 at 0.95": ([0.6] * 4 + [0.95], [200] * 4 + [12]),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tasks(DataSet):
    """Right answers and questions of each of K tasks; the true value is the mean of their success rates."""

    truth: float
    successes: FloatArray
    sizes: FloatArray

    @property
    def key(self) -> bytes:
        order = np.lexsort((self.successes, self.sizes))
        return self.successes[order].tobytes() + self.sizes[order].tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method == "bayes":
            return self._estimated(levels)
        s, n, k = self.successes, self.sizes, len(self.successes)
        if method == HIERARCHICAL:
            moments = _hierarchical_moments(s, n)
            return Answer(tuple(BetaPosterior.from_moments(*moments).interval(level, "hdi") for level in levels))
        if method == "sum of Beta(1, 1)":
            mean = (s + 1) / (n + 2)
            variance = float(np.sum(mean * (1 - mean) / (n + 3))) / k**2
            posterior = BetaPosterior.from_moments(float(mean.mean()), variance)
            return Answer(tuple(posterior.interval(level) for level in levels))
        p = s / n
        half = np.sqrt(float(np.sum(p * (1 - p) / (n - 1))) / k**2)
        z = special.ndtri((1 + np.array(levels)) / 2)
        return Answer(tuple((float(p.mean() - q * half), float(p.mean() + q * half)) for q in z))

    def _estimated(self, levels: tuple[float, ...]) -> Answer | None:
        k, n = len(self.successes), self.sizes.astype(np.int64)
        tasks = np.repeat(np.arange(k), n)
        place = np.arange(len(tasks)) - np.repeat(np.cumsum(n) - n, n)
        values = (place < self.successes[tasks]).astype(float)
        names = tuple(f"task {i}" for i in range(k))
        data = TaskGroup("score", "none", values, tasks, np.arange(len(tasks)), np.full(k, 1 / k), names)
        log = TaskLog("simulated", "group", Source("simulated", "simulated"), Questions(()), (), subtasks=names)
        problem = Problem(Mean(), data, group_structure(data, StructureOptions()), log, levels[0])
        row = solve(problem, "bayes", plugins_once())
        if row.interval is None or row.posterior is None or row.interval.kind == "confidence":
            return None
        kind = row.interval.kind
        return Answer(tuple(row.posterior.interval(level, kind) for level in levels), row.warnings)


def _hierarchical_moments(successes: FloatArray, sizes: FloatArray) -> tuple[float, float]:
    """Mean and variance of the mean of pi_k ~ Beta(d theta, d (1 - theta)), over the posterior of (theta, d)."""
    grid = beta_binomial_grid(successes, sizes)
    d, theta, n_tasks = grid.dispersion, grid.theta[:, None], len(sizes)
    mean, within = np.zeros(grid.weights.shape), np.zeros(grid.weights.shape)
    for s, n in zip(successes, sizes, strict=True):
        rate = (d * theta + s) / (d + n)
        mean += rate / n_tasks
        within += rate * (1 - rate) / (d + n + 1) / n_tasks**2
    average = float(np.sum(grid.weights * mean))
    return average, float(np.sum(grid.weights * (within + (mean - average) ** 2)))


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    prior = [
        Cell("groups", "prior", {"tasks": "14×9"}, 200 if smoke else 2000, averaged=True),
    ]
    shapes = ("14×9",) if smoke else ("14×9", "20×50", "57×100")
    spreads = (np.inf,) if smoke else (np.inf, 20.0, 4.0)
    fixed = [
        Cell("groups", "fixed", {"tasks": shape, "theta": theta, "d": d}, 150 if smoke else 250)
        for shape, theta, d in product(shapes, (0.9,) if smoke else (0.7, 0.9, 0.95), spreads)
    ]
    uneven = [] if smoke else [Cell("groups", "far from Beta", {"tasks": name}, 250) for name in _TASKS]
    return prior + fixed + uneven


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    if cell.family == "far from Beta":
        rates, sizes = (np.array(column) for column in _TASKS[cell.text("tasks")])
        return Tasks(float(rates.mean()), rng.binomial(sizes, rates).astype(float), sizes.astype(float))
    k, n = (int(part) for part in cell.text("tasks").split("×"))
    theta, d = (rng.random(), spread_of(rng.random())) if cell.averaged else (cell.number("theta"), cell.number("d"))
    rates = success_rates(theta, d, k, rng)
    return Tasks(float(rates.mean()), rng.binomial(n, rates).astype(float), np.full(k, float(n)))


GROUPS = Scenario(
    "groups",
    "The mean score of these tasks",
    ("bayes", HIERARCHICAL, "sum of Beta(1, 1)", "clt"),
    _cells,
    _draw,
)
