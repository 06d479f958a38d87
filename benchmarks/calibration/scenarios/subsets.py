"""Setting with a subset of a benchmark and the scores of earlier systems on all of it."""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import Literal

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.types import Answer, Cell, DataSet, Parameter, Scenario, Size
from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.stats import Subset, draw_additional, draw_subset, subset_estimate
from harness_uq.stats.subsets.draw import Design

N_ALL = 1000
_AHEAD = {"like them": None, "ahead of all": 1.0, "behind all": -1.0}


@dataclass(frozen=True, slots=True, eq=False)
class BankData(DataSet):
    """Scores of a new system and of earlier systems on all questions, some of which are tried.

    Attributes
    ----------
    n_tried : int
        Number of questions to draw.
    truth : float
        Mean score of the new system on all questions.
    scores : ndarray, shape (n_all,)
        Scores of the new system.
    history : ndarray, shape (n_systems, n_all)
        Scores of earlier systems.
    """

    n_tried: int
    truth: float
    scores: FloatArray
    history: FloatArray

    @property
    def key(self) -> bytes:
        return blake2b(self.scores.tobytes() + self.history.tobytes(), digest_size=12).digest()

    def answer(self, method: str, levels: tuple[float, ...], rng: np.random.Generator) -> Answer | None:
        design, is_assisted = _METHODS[method]
        if design == "in parts":
            subset = self._two_parts(rng)
        else:
            subset = draw_subset(N_ALL, self.n_tried, history=self.history, design=design, rng=rng)
        history = self.history if is_assisted else None
        estimate = subset_estimate(self._observed(subset.indices), subset.probabilities, history=history)
        return Answer(tuple(estimate.interval(level) for level in levels))

    def _observed(self, indices: IntArray) -> FloatArray:
        tried = np.full(N_ALL, np.nan)
        tried[indices] = self.scores[indices]
        return tried

    def _two_parts(self, rng: np.random.Generator) -> Subset:
        """A quarter of the questions, then the others based on its scores."""
        n = self.n_tried
        first = draw_subset(N_ALL, n // 4, history=self.history, design="stratified", rng=rng)
        observed, p = self._observed(first.indices), first.probabilities
        more = draw_additional(observed, n - n // 4, history=self.history, probabilities=p, rng=rng)
        return Subset(np.union1d(first.indices, more.indices), more.probabilities)


_METHODS: dict[str, tuple[Design | Literal["in parts"], bool]] = {
    "stratified, history": ("stratified", True),
    "two parts, history": ("in parts", True),
    "uniform, history": ("uniform", True),
    "informative, history": ("informative", True),
    "uniform, plain mean": ("uniform", False),
}
_COMPETITORS = ("uniform, history", "informative, history", "uniform, plain mean")


def _cells(size: Size) -> list[Cell]:
    if size == "smoke":
        return [_cell(200, 2.5, 20, "ahead of all", 60)]
    designs = [*product((200,), (1.5, 2.5), (5, 20, 100), _AHEAD), *product((50,), (1.5, 2.5), (20,), _AHEAD)]
    return [_cell(*design, 1000) for design in designs]


def _cell(tried: int, spread: float, n_systems: int, place: str, n_data_sets: int) -> Cell:
    parameters: dict[str, Parameter] = {
        "tried": tried,
        "difficulties' sd": spread,
        "systems": n_systems,
        "the new one": place,
    }
    return Cell("subset", "two-parameter logistic", parameters, n_data_sets)


def _draw(cell: Cell, rng: np.random.Generator) -> DataSet:
    slope = 1.7 * np.exp(rng.normal(0.0, 0.5, N_ALL))
    difficulty = rng.normal(0.0, cell.number("difficulties' sd"), N_ALL)
    ability = rng.normal(size=int(cell.number("systems")))
    ahead = _AHEAD[cell.text("the new one")]
    new = rng.normal() if ahead is None else ahead + (ability.max() if ahead > 0 else ability.min())
    history = rng.random((len(ability), N_ALL)) < special.expit(slope * (ability[:, None] - difficulty))
    scores = (rng.random(N_ALL) < special.expit(slope * (new - difficulty))).astype(float)
    return BankData(int(cell.number("tried")), float(scores.mean()), scores, history.astype(float))


SUBSET = Scenario(
    "subset",
    "The whole benchmark from a part of it",
    tuple(_METHODS),
    _cells,
    _draw,
    every=dict.fromkeys(_COMPETITORS, 5),
)
