"""Setting with binary scores under several seeds: the mean over new questions and new seeds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Scenario, Size
from harness_uq.messages.errors import HarnessUqError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.effects.crossed import crossed_posterior

_QUESTION_SD = 1.0
_UNSOLVABLE = 0.05  # share of questions that are always answered wrong; the others are easy
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)

_EASY_AND_UNSOLVABLE = "easy and unsolvable"


@dataclass(frozen=True, slots=True, eq=False)
class CrossedData(DataSet):
    """Binary scores of shape (n_questions, n_seeds), and the mean over new questions and seeds."""

    truth: float
    values: FloatArray

    @property
    def key(self) -> bytes:
        return self.values.tobytes()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        if method != "bayes":
            return Answer(tuple(_METHODS[method](self.values, level) for level in levels))
        try:
            posterior = crossed_posterior(self.values.ravel(), _labels(*self.values.shape), new=("question", "seed"))
        except HarnessUqError:
            return None
        return Answer(tuple(posterior.interval(level) for level in levels))


@cache
def _labels(n_questions: int, n_seeds: int) -> "dict[str, FloatArray]":
    question, seed = np.divmod(np.arange(n_questions * n_seeds), n_seeds)
    return {"question": question, "seed": seed}


def _mean_squares(values: FloatArray) -> tuple[float, float, float, float]:
    """Mean, and mean squares of questions, of seeds and of the residual."""
    n, k = values.shape
    mean = float(values.mean())
    by_question = k * float(np.sum((values.mean(axis=1) - mean) ** 2))
    by_seed = n * float(np.sum((values.mean(axis=0) - mean) ** 2))
    residual = float(np.sum((values - mean) ** 2)) - by_question - by_seed
    return mean, by_question / (n - 1), by_seed / (k - 1), residual / ((n - 1) * (k - 1))


def _satterthwaite(values: FloatArray, level: float) -> tuple[float, float]:
    """Mean ± t with the degrees of freedom of MS_question + MS_seed - MS_residual: Satterthwaite (1946)."""
    n, k = values.shape
    mean, question, seed, residual = _mean_squares(values)
    variance = question + seed - residual
    spread = question**2 / (n - 1) + seed**2 / (k - 1) + residual**2 / ((n - 1) * (k - 1))
    if not (variance > 0 and spread > 0):
        return mean, mean
    half = float(special.stdtrit(variance**2 / spread, (1 + level) / 2)) * float(np.sqrt(variance / (n * k)))
    return max(mean - half, 0.0), min(mean + half, 1.0)


def _by_question(values: FloatArray, level: float) -> tuple[float, float]:
    means = values.mean(axis=1)
    half = float(special.stdtrit(len(means) - 1, (1 + level) / 2)) * float(means.std(ddof=1)) / np.sqrt(len(means))
    return float(means.mean() - half), float(means.mean() + half)


def _pooled(values: FloatArray, level: float) -> tuple[float, float]:
    mean, n = float(values.mean()), values.size
    half = float(special.ndtri((1 + level) / 2)) * float(np.sqrt(mean * (1 - mean) / (n - 1)))
    return mean - half, mean + half


_METHODS: dict[str, Callable[[FloatArray, float], tuple[float, float]]] = {
    "two-way Satterthwaite t": _satterthwaite,
    "clustered by question t": _by_question,
    "all scores pooled": _pooled,
}


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    grid = product((30, 500), (2, 10), (0.0, 0.3, 1.0), (0.5, 0.9))
    designs = [(100, 3, 0.6, 0.9), (30, 2, 0.3, 0.5)] if smoke else list(grid)
    normal = [
        Cell("crossed", "fixed", {"questions": q, "seeds": k, "sd": sd, "accuracy": p}, 60 if smoke else 100)
        for q, k, sd, p in designs
    ]
    shapes = () if smoke else ((100, 3), (500, 5), (2000, 10))
    mixtures = [
        Cell("crossed", _EASY_AND_UNSOLVABLE, {"questions": q, "seeds": k, "sd": sd, "accuracy": 0.92}, 100)
        for (q, k), sd in product(shapes, (0.0, 0.3))
    ]
    return normal + mixtures


@cache
def _centre(mean: float, sd: float) -> float:
    """Centre of a normal logit with standard deviation `sd` whose probability has the given mean."""
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        above = float(special.expit(middle + sd * _NODES) @ _WEIGHTS / _WEIGHTS.sum()) > mean
        low, high = (low, middle) if above else (middle, high)
    return (low + high) / 2


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    shape = int(cell.number("questions")), int(cell.number("seeds"))
    sd, accuracy = cell.number("sd"), cell.number("accuracy")
    seeds = sd * rng.standard_normal(shape[1])
    if cell.family == "fixed":
        centre = _centre(accuracy, float(np.hypot(_QUESTION_SD, sd)))
        logit = centre + _QUESTION_SD * rng.standard_normal(shape[0])[:, None] + seeds
    else:
        easy = rng.random(shape[0]) >= _UNSOLVABLE
        logit = np.where(easy[:, None], _centre(accuracy / (1 - _UNSOLVABLE), sd) + seeds, -np.inf)
    return CrossedData(accuracy, (rng.random(shape) < special.expit(logit)).astype(float))


CROSSED = Scenario(
    "crossed",
    "Questions under several seeds, about new questions and new seeds",
    ("bayes", *_METHODS),
    _cells,
    _draw,
)
