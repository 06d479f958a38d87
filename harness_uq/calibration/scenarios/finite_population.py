"""Setting with a subset of a benchmark: the score on all of its questions."""

from collections.abc import Callable

import numpy as np

from harness_uq.calibration.scenarios.scores import ScoreData
from harness_uq.calibration.scenarios.types import Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray

_Draw = Callable[[int, np.random.Generator], FloatArray]


def _rates(n: int, rng: np.random.Generator) -> FloatArray:
    """Success rates of easy questions, with one in ten always answered wrong."""
    return np.where(rng.random(n) < 0.1, 0.0, rng.beta(9, 1, n))


def _single(n: int, rng: np.random.Generator) -> FloatArray:
    return (rng.random((n, 1)) < 0.8).astype(float)


def _trials(n: int, rng: np.random.Generator) -> FloatArray:
    return (rng.random((n, 4)) < _rates(n, rng)[:, None]).astype(float)


def _graded(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.choice([0.0, 0.5, 1.0], size=(n, 1), p=[0.1, 0.3, 0.6])


def _bounded(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.beta(9, 1, (n, 1))


def _clustered(n: int, rng: np.random.Generator) -> FloatArray:
    """Passages of five questions, in order, with success rates Beta(4, 1)."""
    return (rng.random((n, 1)) < np.repeat(rng.beta(4, 1, -(-n // 5)), 5)[:n, None]).astype(float)


def _unbounded(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.lognormal(0.0, 1.0, (n, 1))


KINDS: dict[str, _Draw] = {
    "one answer": _single,
    "four trials": _trials,
    "passages of 5": _clustered,
    "0, 1/2, 1": _graded,
    "Beta(9, 1)": _bounded,
    "log-normal": _unbounded,
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
