"""Difference of two graded systems, corrected with the mean labels of several raters who disagree.

The data are those of `sim_judge_differences.py` with J = 0.7 that differs by 0.1. Each rater labels an answer
wrongly with probability 0.15, independently, so that the mean scores of a rater differ by 0.7 times the difference of
the answers that are right. Each of the first eight cells below has 1,000 data sets.

In four further cells with 2,000 data sets each, the raters label answers of system A only, and the grader's
sensitivity and specificity are 0.9 for both systems. With respect to the labels of a rater, the grader's errors then
differ between systems with different scores, by up to 0.066, and `--grader-shift 0.1` allows for this.

    python benchmarks/sim_several_raters.py [--reps 1000] [--output benchmarks/results/several_raters.json]
"""

from itertools import product

import numpy as np
from run_cells import run_cells
from sim_judge_differences import LEVEL, SIZES, data_set

from harness_uq.stats import judge_corrected_difference, one_sided_correction

RATERS, DIFFERENCES, ERROR_RATE = (2, 3), (0.0, 0.1), 0.15
CELLS = [*product((2,), RATERS, DIFFERENCES, SIZES), *product((1,), (2,), DIFFERENCES, SIZES)]


def run_cell(
    n_labeled: int, n_raters: int, difference: float, size: tuple[int, int], reps: int, seed: int
) -> dict[str, object]:
    """Coverage and mean width in one cell."""
    n, n_labels = size
    rng, limits = np.random.default_rng([60, seed]), []
    reps, j = (reps, (0.65, 0.75)) if n_labeled == 2 else (2 * reps, (0.8, 0.8))
    for k in range(reps):
        truth, graded = data_set(difference, j, n, rng)
        ratings = truth ^ (rng.random((n_raters, 2, n)) < ERROR_RATE)
        human = np.full((2, n), np.nan)
        chosen = rng.choice(n, n_labels, replace=False)
        human[:, chosen] = ratings.mean(axis=0)[:, chosen]
        grades, draw = graded.astype(float), np.random.default_rng(k)
        if n_labeled == 2:
            limits.append(judge_corrected_difference(*grades, *human, n_draws=2000, rng=draw).interval(LEVEL))
        else:
            limits.append(one_sided_correction(*grades, human[0], n_draws=2000, rng=draw).outer.interval(LEVEL))
    low, high = np.array(limits).T
    target = round((1 - 2 * ERROR_RATE) * difference, 6)
    return {
        "labeled_systems": n_labeled,
        "raters": n_raters,
        "difference": target,
        "n": n,
        "n_labels": n_labels,
        "reps": reps,
        "coverage": float(np.mean((low <= target) & (target <= high))),
        "width": float(np.mean(high - low)),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=1000, name="several_raters")
