"""Precision and recall of the questions that a gate lists as broken and as flaky.

Of 300 questions, 255 are settled (right with probability 0.97 or 0.03), 30 are flaky (right with probability 0.3 to
0.7), and 15 break in the new system (from 0.97 to 0.03). The new system has one run or two. `worse` is the list of
large changes without flaky questions, `likely` its part with a probability of at least 0.5, and `naive` all questions
that were right in the last run of the baseline and are always wrong now. `known` lists the questions that are always
wrong now although their probability, which is known, was 0.97: no rule without further data separates them.

Run `python benchmarks/sim_flips.py`; it takes a minute and writes `benchmarks/results/flips.json`.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np

from harness_uq.stats.trials.question_changes import FLAKY, LARGE_CHANGE, question_changes

OUT = Path(__file__).parent / "results" / "flips.json"
REPS = 300


def scores(n_runs: int, n_new: int, rng: np.random.Generator) -> dict[str, tuple[int, int, int]]:
    """Listed questions, correctly listed ones, and all planted ones of each list."""
    p = np.where(rng.random(300) < 0.7, 0.97, 0.03)
    p[:30] = rng.uniform(0.3, 0.7, 30)
    p[30:45] = 0.97
    later = p.copy()
    later[30:45] = 0.03
    runs = rng.random((n_runs, 300)) < p
    new = (rng.random((n_new, 300)) < later).sum(axis=0).astype(float)
    right, n = runs.sum(axis=0).astype(float), np.full(300, float(n_runs))
    found = question_changes(right, n, new, np.full(300, float(n_new)))
    is_flaky = (found.flakiness >= FLAKY) & (right > 0) & (right < n)
    worse = (right / n - new / n_new >= LARGE_CHANGE) & ~is_flaky
    planted = np.arange(300)
    broken, flaky = (planted >= 30) & (planted < 45), planted < 30
    lists = {
        "worse": (worse, broken),
        "likely": (worse & (found.probability >= 0.5), broken),
        "naive": (runs[-1] & (new == 0), broken),
        "known": ((p == 0.97) & (new == 0), broken),
        "flaky": (is_flaky, flaky),
    }
    return {name: (int(a.sum()), int((a & b).sum()), int(b.sum())) for name, (a, b) in lists.items()}


def main() -> None:
    """Run all cells and write the table."""
    cells = []
    for n_new, n_runs in product((1, 2), (3, 5, 10, 20)):
        rng = np.random.default_rng([33, n_runs, n_new])
        drawn = [scores(n_runs, n_new, rng) for _ in range(REPS)]
        cell: dict[str, object] = {"n_runs": n_runs, "n_new": n_new}
        for name in drawn[0]:
            listed, right, planted = np.sum([one[name] for one in drawn], axis=0).tolist()
            cell[name] = {"precision": round(right / max(listed, 1), 3), "recall": round(right / planted, 3)}
        cells.append(cell)
        print(json.dumps(cell), flush=True)
    OUT.write_text(json.dumps({"replications": REPS, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
