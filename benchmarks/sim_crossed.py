"""Coverage and width over new questions and new seeds in 120 cells, and what any interval could do with so few seeds.

Run as `python benchmarks/sim_crossed.py` (some ten minutes of one core) or with `--draws 0`, which leaves the cells
out; writes benchmarks/results/crossed_cells.json.

The edge: with normal errors of known variance an interval around the mean is a half-width h as a function of the mean
square of seeds. Its coverage at each sd of seeds is concave in h, its mean width at sd 0 linear, so that the least mean
width of all that cover c at every sd is found by a convex programme. It is given over Satterthwaite's mean width.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy import optimize, special, stats

from benchmarks.calibration.scenarios.crossed import CROSSED
from benchmarks.calibration.scenarios.types import Cell

OUTPUT = Path(__file__).parent / "results" / "crossed_cells.json"
METHODS = ("bayes", "two-way Satterthwaite t")
SDS = (0.0, 0.1, 0.3, 0.6, 1.0)
GRID = tuple(product((30, 100, 500), (2, 3, 5, 10), SDS, (0.5, 0.9)))
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
CHANCES = WEIGHTS / WEIGHTS.sum()


def simulate(questions: int, seeds: int, sd: float, accuracy: float, n: int, methods: tuple[str, ...]) -> dict:
    """Coverage and mean width of each method on `n` data sets."""
    parameters = {"questions": questions, "seeds": seeds, "sd": sd, "accuracy": accuracy}
    cell, rng = (
        Cell("crossed", "fixed", parameters, n),
        np.random.default_rng([questions, seeds, int(10 * sd), int(10 * accuracy)]),
    )
    held = {method: [] for method in methods}
    for _ in range(n):
        data = CROSSED.draw(cell, rng)
        for method in methods:
            low, high = data.answer(method, (0.95,), rng).ends[0]
            held[method].append((low <= accuracy <= high, high - low))
    return parameters | {method: np.mean(rows, axis=0).round(4).tolist() for method, rows in held.items()}


def variances(accuracy: float, sd: float) -> tuple[float, float, float]:
    """Of questions, of seeds and of what is left on the probability scale; questions have sd 1 on the logit scale."""

    def mean(centre: float) -> float:
        return float(special.expit(centre + np.hypot(1, sd) * NODES) @ CHANCES) - accuracy

    p = special.expit(optimize.brentq(mean, -20, 20) + NODES[:, None] + sd * NODES)
    question, seed = ((p @ CHANCES) ** 2 @ CHANCES, (CHANCES @ p) ** 2 @ CHANCES)
    return question - accuracy**2, seed - accuracy**2, accuracy + accuracy**2 - question - seed


def least_width(questions: int, seeds: int, accuracy: float, coverage: float, n_bins: int = 70) -> float:
    """Least mean width at sd 0 of intervals that cover as much at every sd."""
    parts = np.array([variances(accuracy, sd) for sd in SDS])
    noise = parts[:, 2] / questions
    sd = np.sqrt(parts[:, 0] / questions + parts[:, 1] / seeds + noise / seeds)
    ends = np.concatenate([[0.0], np.geomspace(1e-3, 3e4, n_bins)])  # of the mean square over its noise at sd 0
    scaled = np.multiply.outer(noise[0] / (noise + parts[:, 1]), ends)
    chance = np.diff(stats.chi2(seeds - 1).cdf(scaled * (seeds - 1)), axis=1)
    reach = sd[0] / sd[:, None]  # half-widths are in sds of the mean at sd 0
    top = 0.5 / sd[0]
    found = optimize.minimize(
        lambda h: chance[0] @ h,
        np.minimum(3 + 3 * np.sqrt(ends[1:]), top),
        jac=lambda _: chance[0],
        bounds=[(0, top)] * n_bins,
        constraints={
            "type": "ineq",
            "fun": lambda h: np.sum(chance * (2 * special.ndtr(reach * h) - 1), axis=1) - coverage,
            "jac": lambda h: chance * 2 * np.exp(-((reach * h) ** 2) / 2) / np.sqrt(2 * np.pi) * reach,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-8},
    )
    if not found.success:
        raise RuntimeError(f"no least width for {questions} × {seeds}, {coverage}: {found.message}")
    return 2 * float(sd[0]) * float(found.fun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=300, help="data sets in each of the 120 cells")
    parser.add_argument("--baseline", type=int, default=20_000, help="data sets for Satterthwaite's width at the edge")
    args = parser.parse_args()
    edge = []
    for seeds, accuracy in product((2, 3), (0.5, 0.9)):
        row = simulate(500, seeds, 0.0, accuracy, args.baseline, METHODS[1:])
        width = row[METHODS[1]][1]
        levels = (0.90, 0.91, 0.92, 0.93, 0.94, 0.95)
        row["least width over it"] = {c: round(least_width(500, seeds, accuracy, c) / width, 2) for c in levels}
        edge.append(row)
        print(row, flush=True)
    cells = [simulate(*cell, args.draws, METHODS) for cell in GRID] if args.draws else []
    if cells:
        for method in METHODS:
            covered = np.array([cell[method][0] for cell in cells])
            print(
                f"{method}: {covered.min():.3f} to {covered.max():.3f}, mean {covered.mean():.3f}, "
                f"{np.sum(covered < 0.9)} under .90"
            )
    OUTPUT.write_text(json.dumps({"edge": edge, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
