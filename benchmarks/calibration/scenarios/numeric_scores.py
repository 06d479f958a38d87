"""Settings with bounded, graded or unbounded scores of independent questions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.calibration.scenarios.scores import ScoreData
from benchmarks.calibration.scenarios.types import LEVELS, Cell, DataSet, Scenario, Size
from harness_uq.data.task_log import FloatArray

Draw = Callable[[int, np.random.Generator], FloatArray]


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution of scores.

    Attributes
    ----------
    mean : float
        Expected score.
    draw : callable
        Draws n scores.
    levels : tuple of float or None
        Possible values of graded scores.
    """

    mean: float
    draw: Draw
    levels: tuple[float, ...] | None = None


def _beta(a: float, b: float) -> Shape:
    return Shape(a / (a + b), lambda n, rng: rng.beta(a, b, n))


def _graded(probabilities: tuple[float, ...]) -> Shape:
    p = np.array(probabilities)
    levels = np.linspace(0, 1, len(p))
    return Shape(float(p @ levels), lambda n, rng: rng.choice(levels, size=n, p=p), tuple(levels.tolist()))


def _inflated(share: float, at: float, a: float, b: float) -> Shape:
    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        return np.where(rng.random(n) < share, at, rng.beta(a, b, n))

    return Shape(share * at + (1 - share) * a / (a + b), draw)


SHAPES: dict[str, Shape] = {
    "uniform": _beta(1, 1),
    "Beta(9, 1)": _beta(9, 1),
    "Beta(2, 8)": _beta(2, 8),
    "Beta(30, 1.5), skewed": _beta(30, 1.5),
    "Beta(200, 50), tight": _beta(200, 50),
    "Beta(0.5, 0.5)": _beta(0.5, 0.5),
    "0, 1/2, 1 equally often": _graded((1 / 3, 1 / 3, 1 / 3)),
    "0, 1/2, 1: 0.02 0.08 0.90": _graded((0.02, 0.08, 0.90)),
    "5 levels, middle": _graded((0.05, 0.2, 0.5, 0.2, 0.05)),
    "5 levels, high": _graded((0.01, 0.02, 0.07, 0.3, 0.6)),
    "11 levels, high": _graded((0.0, 0.0, 0.0, 0.0, 0.01, 0.02, 0.07, 0.1, 0.2, 0.3, 0.3)),
    "11 levels, even": _graded((1 / 11,) * 11),
    "0.3 at 0, else Beta(8, 2)": _inflated(0.3, 0.0, 8, 2),
    "0.9 at 0, else Beta(2, 2)": _inflated(0.9, 0.0, 2, 2),
    "0.02 at 0, else Beta(400, 100)": _inflated(0.02, 0.0, 400, 100),
    "0.10 at 0, else Beta(400, 100)": _inflated(0.10, 0.0, 400, 100),
    "Beta(90, 10), tight": _beta(90, 10),
    "0.01 at 0, else Beta(90, 10)": _inflated(0.01, 0.0, 90, 10),
    "10 levels, mostly 7-9": _graded((0.0, 0.0, 0.0, 0.0, 0.02, 0.05, 0.25, 0.38, 0.25, 0.05)),
}

TAILS: dict[str, Shape] = {
    "normal": Shape(0.0, lambda n, rng: rng.normal(size=n)),
    "Laplace": Shape(0.0, lambda n, rng: rng.laplace(size=n)),
    "exponential": Shape(1.0, lambda n, rng: rng.exponential(size=n)),
    "log-normal, sigma 1": Shape(np.exp(0.5), lambda n, rng: rng.lognormal(0.0, 1.0, n)),
    "log-normal, sigma 1.5": Shape(np.exp(1.125), lambda n, rng: rng.lognormal(0.0, 1.5, n)),
    "Pareto 2.5": Shape(5 / 3, lambda n, rng: 1 + rng.pareto(2.5, n)),
    "0.02 at -50, else normal": Shape(-1.0, lambda n, rng: np.where(rng.random(n) < 0.02, -50.0, rng.normal(size=n))),
    "0.6 at 0, else 100 Beta(2, 3)": Shape(
        16.0, lambda n, rng: np.where(rng.random(n) < 0.6, 0.0, 100 * rng.beta(2, 3, n))
    ),
    "1 to 5, mostly 5": Shape(4.42, lambda n, rng: rng.choice(np.arange(1.0, 6.0), n, p=(0.03, 0.02, 0.05, 0.3, 0.6))),
}


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    names = ("uniform", "5 levels, middle") if smoke else tuple(SHAPES)
    sizes = (30,) if smoke else (5, 10, 30, 100)
    return [
        Cell(
            "bounded",
            "shapes",
            {"scores": name, "questions": n},
            200 if smoke else 500,
            levels=LEVELS if (name, n) == ("uniform", 30) and not smoke else (0.95,),
        )
        for name in names
        for n in sizes
    ]


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    shape = SHAPES[cell.text("scores")]
    scores = np.sort(shape.draw(int(cell.number("questions")), rng))[:, None]
    return ScoreData(shape.mean, scores, bounds=None if shape.levels else (0.0, 1.0), levels=shape.levels)


BOUNDED = Scenario(
    "bounded",
    "Graded and bounded scores of independent questions",
    ("bayes", "t", "clt", "bayesian-bootstrap", "bootstrap"),
    _cells,
    _draw,
    every={"bayesian-bootstrap": 10, "bootstrap": 10, "t": 2, "clt": 2},
)


def _tail_cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    names = ("normal", "log-normal, sigma 1") if smoke else tuple(TAILS)
    return [
        Cell("unbounded", "shapes", {"scores": name, "questions": n}, 200 if smoke else 500)
        for name in names
        for n in ((30,) if smoke else (10, 30, 100))
    ]


def _draw_tails(cell: Cell, rng: np.random.Generator) -> DataSet:
    shape = TAILS[cell.text("scores")]
    return ScoreData(shape.mean, np.sort(shape.draw(int(cell.number("questions")), rng))[:, None])


UNBOUNDED = Scenario(
    "unbounded",
    "Scores of unknown range of independent questions",
    ("bayes", "t", "bayesian-bootstrap"),
    _tail_cells,
    _draw_tails,
    every={"bayesian-bootstrap": 10},
)
