"""Simultaneous coverage and mean size of the rank sets of graded and right-or-wrong scores.

The designs are fixed before the run. A pair is separated if its rank sets and its contrast are, as in `rank`. The seed
of a cell is its number.

    OMP_NUM_THREADS=1 python -m benchmarks.sim_rank_sets
"""

from collections.abc import Callable

import numpy as np
from scipy import special

from benchmarks.run_cells import run_cells
from harness_uq.stats.pairs.rank_sets import has_long_tails, rank_sets
from harness_uq.stats.units.all_pairs import prob_better

Design = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def _graded(n_systems: int, n_questions: int, sd: float, spread: float, zeros: float = 0.0) -> Design:
    """Scores around 0.6 + a question's difficulty, with independent errors of this sd, and the systems' true scores."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        truth = 0.6 + spread * rng.standard_normal(n_systems) if spread else np.full(n_systems, 0.6)
        y = truth[:, None] + 0.1 * rng.standard_normal(n_questions) + sd * rng.standard_normal((n_systems, n_questions))
        is_zero = rng.random(y.shape) < zeros
        return np.clip(np.where(is_zero, 0.0, y), 0.0, 1.0), truth

    return draw


def _skewed(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.beta(1.0, 9.0, (6, 20)), np.full(6, 0.1)


def _clusters(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = 0.6 + np.repeat(0.05 * rng.standard_normal((6, 12)), 5, axis=1) + 0.05 * rng.standard_normal((6, 60))
    return np.clip(y, 0.0, 1.0), np.full(6, 0.6)


def _binary(n_systems: int, n_questions: int, n_trials: int, spread: float) -> Design:
    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        ability = spread * rng.standard_normal(n_systems)
        rates = special.ndtr(ability[:, None] + rng.standard_normal(n_questions))
        return rng.binomial(n_trials, rates) / n_trials, ability

    return draw


DESIGNS: dict[str, Design] = {
    "12 x 41 graded, sd 0.05, spread 0.03": _graded(12, 41, 0.05, 0.03),
    "12 x 41 graded, sd 0.05, equal": _graded(12, 41, 0.05, 0.0),
    "12 x 41 graded, sd 0.05, equal, 2 % zeros": _graded(12, 41, 0.05, 0.0, 0.02),
    "6 x 20 Beta(1, 9), equal": _skewed,
    "6 x 12 clusters of 5 graded, equal": _clusters,
    "12 x 41 right or wrong, 4 trials, equal": _binary(12, 41, 4, 0.0),
    "12 x 100 right or wrong, spread 0.15": _binary(12, 100, 1, 0.15),
    "20 x 500 graded, sd 0.3, equal": _graded(20, 500, 0.3, 0.0),
}
CELLS = tuple((name,) for name in DESIGNS)


def run_cell(name: str, reps: int, seed: int) -> dict[str, object]:
    """Coverage and mean size of the rank sets of one design."""
    rng = np.random.default_rng([43, seed])
    clusters = np.repeat(np.arange(12), 5) if "clusters" in name else None
    is_binary = "right or wrong" in name
    covered, sizes = [], []
    for _ in range(reps):
        y, truth = DESIGNS[name](rng)
        widest = (0.0, 1.0) if is_binary or has_long_tails(y, clusters=clusters) else None
        sets = rank_sets(y, clusters=clusters, bounds=widest)
        better = prob_better(y, 0.0, 1.0, clusters=clusters)
        above = sets.above & (np.maximum(better, 1.0 - better) > 0.975)
        low, high = 1 + above.sum(axis=0), len(above) - above.sum(axis=1)
        best, worst = 1 + (truth > truth[:, None]).sum(axis=1), len(truth) - (truth < truth[:, None]).sum(axis=1)
        covered.append(bool(((low <= best) & (worst <= high)).all()))
        sizes.append(float((high - low + 1).mean()))
    return {
        "design": name,
        "n_data_sets": reps,
        "seed": seed,
        "coverage": round(float(np.mean(covered)), 4),
        "mean_size": round(float(np.mean(sizes)), 3),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, 150, "rank_sets")
