"""Setting with a subset of a benchmark: the score on all of its questions."""

from collections.abc import Callable

import numpy as np

from benchmarks.calibration.scenarios.scores import ScoreData
from benchmarks.calibration.scenarios.types import Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray

_Draw = Callable[[int, np.random.Generator], FloatArray]


def _trials(n: int, rng: np.random.Generator) -> FloatArray:
    draws = rng.random((n, 4))
    # easy questions, but one in ten is always answered wrong
    rates = np.where(rng.random(n) < 0.1, 0.0, rng.beta(9, 1, n))
    return (draws < rates[:, None]).astype(float)


KINDS: dict[str, _Draw] = {
    "one answer": lambda n, rng: (rng.random((n, 1)) < 0.8).astype(float),
    "four trials": _trials,
    "passages of 5": lambda n, rng: np.where(
        rng.random((n, 1)) < np.repeat(rng.beta(4, 1, -(-n // 5)), 5)[:n, None], 1.0, 0.0
    ),
    "0, 1/2, 1": lambda n, rng: rng.choice([0.0, 0.5, 1.0], size=(n, 1), p=[0.1, 0.3, 0.6]),
    "Beta(9, 1)": lambda n, rng: rng.beta(9, 1, (n, 1)),
    "log-normal": lambda n, rng: rng.lognormal(0.0, 1.0, (n, 1)),
}
_BOUNDS = {"0, 1/2, 1": (0.0, 1.0), "Beta(9, 1)": (0.0, 1.0)}


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    asked = ((30, 100),) if smoke else ((30, 100), (90, 100), (100, 1000))
    return [
        Cell("full", "kinds", {"scores": name, "questions": n, "of": n_all}, 100 if smoke else 400)
        for name in KINDS
        for n, n_all in asked
    ]


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    name, n, n_all = cell.text("scores"), int(cell.number("questions")), int(cell.number("of"))
    values = KINDS[name](n_all, rng)
    clusters = np.arange(n) // 5 if name == "passages of 5" else None
    truth, asked = float(values.mean()), values[:n]
    return ScoreData(truth, asked, clusters, scope="full", bounds=_BOUNDS.get(name), n_original=n_all)


FULL = Scenario("full", "All questions of a benchmark of which a part was asked", ("bayes",), _cells, _draw)
