"""Coverage and width of the score of a group of tasks, some of which are much smaller than others.

Run as `python benchmarks/sim_groups.py`; writes benchmarks/results/groups.json. The tasks have equal weights. Intervals
are those of `group_posterior`, of its hierarchy alone, and of MOVER (Zou and Donner 2008) with Wilson limits.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from harness_uq import stats

OUTPUT = Path(__file__).parent / "results" / "groups.json"
SEED = 20261124
CELLS = {  # success rates and numbers of questions
    "9 x 300 at 0.95, 10 at 0.6": ([0.95] * 9 + [0.6], [300] * 9 + [10]),
    "4 x 200 at 0.99, 12 at 0.8": ([0.99] * 4 + [0.8], [200] * 4 + [12]),
    "1 x 500 at 0.99, 10 at 0.8": ([0.99, 0.8], [500, 10]),
    "4 x 200 at 0.6, 12 at 0.95": ([0.6] * 4 + [0.95], [200] * 4 + [12]),
    "6 x 150 at 0.9, 8 at 0.4": ([0.9] * 6 + [0.4], [150] * 6 + [8]),
    "2 x 400 at 0.7, 15 at 0.97": ([0.7] * 2 + [0.97], [400] * 2 + [15]),
    "9 x 300 at 0.95, 3 x 10 at 0.6": ([0.95] * 9 + [0.6] * 3, [300] * 9 + [10] * 3),
    "3 x 300 at 0.95, 3 x 10 at 0.6": ([0.95] * 3 + [0.6] * 3, [300] * 3 + [10] * 3),
    "20 to 400 at 0.9": ([0.9] * 6, [20, 40, 80, 150, 300, 400]),
    "57 of 20 to 600 at 0.95": ([0.95] * 57, np.linspace(20, 600, 57).round().tolist()),
    "10 x 10 at 0.2, 13 x 250 at 0.9": ([0.2] * 10 + [0.9] * 13, [10] * 10 + [250] * 13),
    "6 x 100 at 0.7": ([0.7] * 6, [100] * 6),
    "10 x 50 at 0.9": ([0.9] * 10, [50] * 10),
    "14 x 9 at 0.9": ([0.9] * 14, [9] * 14),
    "5 x 30 at 0.97": ([0.97] * 5, [30] * 5),
}


def mover(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """MOVER limits from Wilson limits of each task."""
    scores, (low, high) = right / n, stats.binomial_interval(right, n, 0.95, "wilson")
    below, above = (np.sqrt(np.sum((scores - limit) ** 2)) / len(n) for limit in (low, high))
    return float(scores.mean() - below), float(scores.mean() + above)


def run(rates: np.ndarray, n: np.ndarray, n_sets: int) -> dict[str, float]:
    """Results of one cell."""
    rng = np.random.default_rng([SEED, len(n), int(n.sum()), round(1000 * rates.sum())])
    known: dict[tuple[float, ...], np.ndarray] = {}
    rows = []
    for right in rng.binomial(n.astype(int), rates, (n_sets, len(n))):
        if tuple(right) not in known:
            posterior = stats.group_posterior(right, n)
            parts = (posterior, posterior.hierarchy)
            known[tuple(right)] = np.array([*(part.interval(0.95, "hdi") for part in parts), mover(right, n)])
        rows.append(known[tuple(right)])
    low, high = np.moveaxis(np.array(rows), -1, 0)
    coverage = ((low <= rates.mean()) & (rates.mean() <= high)).mean(axis=0)
    width = (high - low).mean(axis=0)
    names = ("default", "hierarchy", "mover")
    return {
        "n": n_sets,
        "below": float((high[:, 0] < rates.mean()).mean()),
        **{f"coverage, {name}": float(value) for name, value in zip(names, coverage, strict=True)},
        **{f"width, {name}": float(value) for name, value in zip(names, width, strict=True)},
    }


def main() -> None:
    """Run all cells and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="data sets per cell")
    args = parser.parse_args()
    cells = {}
    for name, (rates, n) in CELLS.items():
        result = run(np.array(rates), np.array(n, float), args.n)
        cells[name] = {key: round(value, 5) for key, value in result.items()}
        print(name, cells[name], flush=True)
    OUTPUT.write_text(json.dumps({"seed": SEED, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
