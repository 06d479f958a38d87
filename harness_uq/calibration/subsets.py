"""Setting of part of a benchmark, with earlier systems' scores on all of it."""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import product

import numpy as np
from scipy import special

from harness_uq.calibration.design import Answer, Cell, DataSet, Setting, Size
from harness_uq.logs.data import FloatArray
from harness_uq.stats import draw_subset, subset_estimate
from harness_uq.stats.subsets.draw import Design

N_ALL, N_TRIED = 1000, 200
_AHEAD = {"like them": None, "ahead of all": 1.0, "behind all": -1.0}


@dataclass(frozen=True, slots=True, eq=False)
class BankData(DataSet):
    """Scores of a new system and of earlier ones on all questions.

    Attributes
    ----------
    truth : the new system's mean score on all questions
    scores : float (n_all,), of the new system
    history : float (n_systems, n_all)
    """

    truth: float
    scores: FloatArray
    history: FloatArray

    @property
    def key(self) -> bytes:
        return blake2b(self.scores.tobytes() + self.history.tobytes(), digest_size=12).digest()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        design, is_assisted = _METHODS[method]
        drawn = draw_subset(N_ALL, N_TRIED, history=self.history, design=design, rng=rng)
        tried = np.full(N_ALL, np.nan)
        tried[drawn.indices] = self.scores[drawn.indices]
        history = self.history if is_assisted else None
        found = subset_estimate(tried, drawn.probabilities, history=history)
        return Answer(tuple(found.interval(level) for level in levels))


_METHODS: dict[str, tuple[Design, bool]] = {
    "stratified, history": ("stratified", True),
    "uniform, history": ("uniform", True),
    "informative, history": ("informative", True),
    "uniform, plain mean": ("uniform", False),
}


def _cells(size: Size) -> list[Cell]:
    smoke = size == "smoke"
    designs = [(2.5, 20, "ahead of all")] if smoke else list(product((1.5, 2.5), (5, 20, 100), _AHEAD))
    return [
        Cell(
            "subset",
            "two-parameter logistic",
            {"difficulties' sd": spread, "systems": n, "the new one": place},
            60 if smoke else 100,
        )
        for spread, n, place in designs
    ]


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    slope = 1.7 * np.exp(rng.normal(0.0, 0.5, N_ALL))
    difficulty = rng.normal(0.0, cell.number("difficulties' sd"), N_ALL)
    ability = rng.normal(size=int(cell.number("systems")))
    ahead = _AHEAD[cell.text("the new one")]
    new = rng.normal() if ahead is None else ahead + (ability.max() if ahead > 0 else ability.min())
    history = rng.random((len(ability), N_ALL)) < special.expit(slope * (ability[:, None] - difficulty))
    scores = (rng.random(N_ALL) < special.expit(slope * (new - difficulty))).astype(float)
    return BankData(float(scores.mean()), scores, history.astype(float))


SUBSET = Setting(
    "subset",
    "The whole benchmark from a fifth of it",
    tuple(_METHODS),
    _cells,
    _draw,
)
