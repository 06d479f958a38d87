"""Setting of a group of tasks whose weighted mean is reported as one score."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from harness_uq.analysis import solve
from harness_uq.calibration.clusters import spread_of, success_rates
from harness_uq.calibration.design import Answer, Cell, DataSet, Setting, Size
from harness_uq.calibration.scores import plugins_once
from harness_uq.data import FloatArray, Questions, Source, TaskGroup, TaskLog
from harness_uq.estimands import Mean
from harness_uq.hookspecs import Problem
from harness_uq.stats.posterior import BetaPosterior
from harness_uq.structure import StructureOptions
from harness_uq.task_groups import group_structure


@dataclass(frozen=True, slots=True, eq=False)
class Tasks(DataSet):
    """Right answers of each of K tasks of n questions; the truth is the mean of the tasks' success rates."""

    truth: float
    successes: FloatArray
    size: int

    @property
    def key(self) -> bytes:
        return np.sort(self.successes).tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method == "bayes":
            return self._estimated(levels)
        s, n, k = self.successes, float(self.size), len(self.successes)
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
        k, n = len(self.successes), self.size
        values = (np.arange(n) < self.successes[:, None]).astype(float).ravel()
        names = tuple(f"task {i}" for i in range(k))
        data = TaskGroup(
            "score", "none", values, np.repeat(np.arange(k), n), np.arange(k * n), np.full(k, 1 / k), names
        )
        log = TaskLog("simulated", "group", Source("simulated", "simulated"), Questions(()), (), subtasks=names)
        problem = Problem(Mean(), data, group_structure(data, StructureOptions()), log, levels[0])
        row = solve(problem, "bayes", plugins_once())
        if row.interval is None or row.posterior is None or row.interval.kind == "confidence":
            return None
        kind = row.interval.kind
        return Answer(tuple(row.posterior.interval(level, kind) for level in levels), row.warnings)


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
    return prior + fixed


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    k, n = (int(part) for part in cell.text("tasks").split("×"))
    theta, d = (rng.random(), spread_of(rng.random())) if cell.averaged else (cell.number("theta"), cell.number("d"))
    rates = success_rates(theta, d, k, rng)
    return Tasks(float(rates.mean()), rng.binomial(n, rates).astype(float), n)


GROUPS = Setting(
    "groups",
    "The mean score of these tasks",
    ("bayes", "sum of Beta(1, 1)", "clt"),
    _cells,
    _draw,
)
