"""Coverage and width of the difference of the overall scores of two systems.

Run as `python benchmarks/sim_overall_differences.py`; writes benchmarks/results/overall_differences.json. The cells
were declared before the first run. Tasks are fixed and have equal weights. The questions of all tasks are pooled, as in
the row of a group of tasks in `compare`.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special
from scipy import stats as scipy_stats

from harness_uq.data.panel import pair_panel, pool
from harness_uq.data.selection import select_runs
from harness_uq.data.structure import StructureOptions
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.inference.load_plugins import load_plugins
from tests.data.toy import task_log

OUTPUT = Path(__file__).parent / "results" / "overall_differences.json"
SEED, LEVEL = 7, 0.95
Array = np.ndarray
Draw = Callable[[np.random.Generator], tuple[Array, Array, Array | None]]


def plain(n: int, a: float, b: float) -> Draw:
    """Right-or-wrong answers of two systems with a latent correlation of 0.5."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, None]:
        common = rng.standard_normal(n)
        latent = [np.sqrt(0.5) * common + np.sqrt(0.5) * rng.standard_normal(n) < special.ndtri(p) for p in (a, b)]
        return latent[0].astype(float), latent[1].astype(float), None

    return draw


def clustered(n_clusters: int, size: int, a: float, b: float) -> Draw:
    """Right-or-wrong answers with a success rate per system and cluster (intraclass correlation 0.2)."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, Array]:
        answers = [
            (rng.random((n_clusters, size)) < rng.beta(4 * p, 4 * (1 - p), (n_clusters, 1))).astype(float).ravel()
            for p in (a, b)
        ]
        return answers[0], answers[1], np.repeat(np.arange(n_clusters), size)

    return draw


def graded(n: int, a: float, b: float) -> Draw:
    """Scores between 0 and 1 with a standard deviation of 0.1 and a correlation of 0.5."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, None]:
        common = 0.07 * rng.standard_normal(n)
        scores = [np.clip(p + common + 0.07 * rng.standard_normal(n), 0, 1) for p in (a, b)]
        return scores[0], scores[1], None

    return draw


def trials(n: int, n_trials: int, a: float, b: float) -> Draw:
    """Repeated right-or-wrong trials of questions whose ranks of difficulty agree between systems."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, None]:
        rank = rng.random(n)
        rates = [scipy_stats.beta.ppf(rank, 3 * p, 3 * (1 - p))[:, None] for p in (a, b)]
        answers = [(rng.random((n, n_trials)) < rate).astype(float) for rate in rates]
        return answers[0], answers[1], None

    return draw


UNLIKE = [(0.7, 0.9), (0.6, 0.7), (0.8, 0.8), (0.7, 0.6), (0.8, 0.6), (0.8, 0.5)]
GRADED = [(0.5, 0.6), (0.5, 0.5), (0.6, 0.5), (0.6, 0.5), (0.7, 0.5)]
UNLIKE_GRADED = [(0.3, 0.6), (0.5, 0.5), (0.6, 0.5), (0.6, 0.4), (0.8, 0.4)]
CELLS: dict[str, tuple[float, list[Draw]]] = {
    "4 tasks of 100 at 0.75 and 0.70": (0.05, [plain(100, 0.75, 0.70)] * 4),
    "3 tasks of 200 at 0.75 and 0.70, 1 of 10 at 0.7 and 0.5": (
        0.0875,
        [*[plain(200, 0.75, 0.70)] * 3, plain(10, 0.7, 0.5)],
    ),
    "1 task of 300 at 0.75 and 0.70, 1 of 10 at 0.7 and 0.5": (
        0.125,
        [plain(300, 0.75, 0.70), plain(10, 0.7, 0.5)],
    ),
    "2 tasks of 20 clusters of 5 at 0.7 and 0.6": (0.1, [clustered(20, 5, 0.7, 0.6)] * 2),
    "6 tasks of 60, differences of -0.2 to 0.3": (0.05, [plain(60, a, b) for a, b in UNLIKE]),
    "20 tasks of 12 at 0.95 and 0.93": (0.02, [plain(12, 0.95, 0.93)] * 20),
    "3 tasks of 30 questions with 4 trials at 0.8 and 0.7": (0.1, [trials(30, 4, 0.8, 0.7)] * 3),
    "5 tasks of 40 graded scores, differences of -0.1 to 0.2": (0.06, [graded(40, a, b) for a, b in GRADED]),
    "5 tasks of 40 graded scores, differences of -0.3 to 0.4": (0.08, [graded(40, a, b) for a, b in UNLIKE_GRADED]),
}


def run(truth: float, tasks: list[Draw], n_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Results of one cell."""
    plugins, ends, seen = load_plugins(), np.empty((n_sets, 2)), np.empty(n_sets)
    for k in range(n_sets):
        logs = []
        for task, draw in enumerate(tasks):
            *scores, clusters = draw(rng)
            fields = {} if clusters is None else {"passage": [str(code) for code in clusters]}
            logs += [task_log(x, task=f"t{task}", system=s, fields=fields) for s, x in zip("ab", scores, strict=True)]
        sides = select_runs(logs)
        pairs = [pair_panel(sides["a"][key], sides["b"][key], StructureOptions(), plugins) for key in sides["a"]]
        pair = pool(pairs, [1 / len(tasks)] * len(tasks))
        ends[k] = paired_contrast(pair).posterior.interval(LEVEL)
        seen[k] = pair.scores[0] - pair.scores[1]
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    width = (ends[:, 1] - ends[:, 0]).mean()
    return {"n": n_sets, "coverage": covered, "width": width, "width needed": 3.92 * seen.std()}


def main() -> None:
    """Run all cells and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="data sets per cell")
    parser.add_argument("--cells", type=int, nargs="*", help="numbers of the cells to run (default: all)")
    args = parser.parse_args()
    for k, (name, (truth, tasks)) in enumerate(CELLS.items()):
        if args.cells is not None and k not in args.cells:
            continue
        result = run(truth, tasks, args.n, np.random.default_rng([SEED, k]))
        cells = json.loads(OUTPUT.read_text())["cells"] if OUTPUT.exists() else {}
        cells[name] = {key: round(float(value), 5) for key, value in result.items()}
        print(name, cells[name], flush=True)
        OUTPUT.write_text(json.dumps({"seed": SEED, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
