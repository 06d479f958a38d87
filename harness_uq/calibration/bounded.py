"""Setting of bounded and graded scores of independent questions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness_uq.calibration.design import LEVELS, Cell, DataSet, Setting, Size
from harness_uq.calibration.scores import ScoreData
from harness_uq.data import FloatArray

Draw = Callable[[int, np.random.Generator], FloatArray]


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution of scores in [0, 1].

    Attributes
    ----------
    mean : its mean
    draw : of n scores
    levels : for graded scores, those that are possible
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
    "Beta(.5, .5)": _beta(0.5, 0.5),
    "0, 1/2, 1 equally often": _graded((1 / 3, 1 / 3, 1 / 3)),
    "0, 1/2, 1: .02 .08 .90": _graded((0.02, 0.08, 0.90)),
    "5 levels, middle": _graded((0.05, 0.2, 0.5, 0.2, 0.05)),
    "5 levels, high": _graded((0.01, 0.02, 0.07, 0.3, 0.6)),
    "11 levels, high": _graded((0.0, 0.0, 0.0, 0.0, 0.01, 0.02, 0.07, 0.1, 0.2, 0.3, 0.3)),
    "11 levels, even": _graded((1 / 11,) * 11),
    ".3 at 0, else Beta(8, 2)": _inflated(0.3, 0.0, 8, 2),
    ".9 at 0, else Beta(2, 2)": _inflated(0.9, 0.0, 2, 2),
    ".02 at 0, else Beta(400, 100)": _inflated(0.02, 0.0, 400, 100),
    ".10 at 0, else Beta(400, 100)": _inflated(0.10, 0.0, 400, 100),
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


BOUNDED = Setting(
    "bounded",
    "Graded and bounded scores of independent questions",
    ("bayes", "t", "clt", "bayesian-bootstrap", "bootstrap"),
    _cells,
    _draw,
    every={"bayesian-bootstrap": 10, "bootstrap": 10, "t": 2, "clt": 2},
)
