"""Difference of two graded systems if only one has human labels and the grader's errors differ by up to 0.1.

The data are those of sim_judge_differences.py with sensitivity = specificity = 0.9 or 0.8 for system A. The columns of
`SHIFTS` are added to sensitivity and specificity for system B, which has no labels. Each of the 24 cells has 2,000
data sets. Methods: `outer` allows for differences up to 0.1, `equal` assumes none.

    python benchmarks/sim_one_system_labels.py [--reps 2000] [--output benchmarks/results/one_system_labels.json]
"""

from itertools import product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq.stats import one_sided_correction

DIFFERENCES = (0.0, 0.1)
SHIFTS = ((0.0, 0.0), (0.1, -0.1), (-0.1, 0.1))
RATES = (0.9, 0.8)
SIZES = ((300, 50), (1000, 200))
CELLS = list(product(DIFFERENCES, RATES, SHIFTS, SIZES))
ACCURACY, CORRELATION, LEVEL = 0.7, 0.5, 0.95


def data_set(
    difference: float, rate: float, shift: tuple[float, float], n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """True and graded answers of the systems A and B, bool (2, n) each."""
    latent = np.sqrt(CORRELATION) * rng.normal(size=n) + np.sqrt(1 - CORRELATION) * rng.normal(size=(2, n))
    truth = latent < stats.norm.ppf([ACCURACY, ACCURACY - difference])[:, None]
    added = np.array([(0.0, 0.0), shift])
    sensitivity, specificity = (rate + added[:, k, None] for k in (0, 1))
    u = rng.random((2, n))
    return truth, np.where(truth, u < sensitivity, u > specificity)


def run_cell(
    difference: float, rate: float, shift: tuple[float, float], size: tuple[int, int], reps: int, seed: int
) -> dict[str, object]:
    """Coverage, wrong directions and mean width of each method in one cell."""
    n, n_labels = size
    rng = np.random.default_rng([2027, seed])
    limits: dict[str, list[tuple[float, float]]] = {"outer": [], "equal": []}
    for k in range(reps):
        truth, graded = data_set(difference, rate, shift, n, rng)
        human = np.full(n, np.nan)
        rows = rng.choice(n, n_labels, replace=False)
        human[rows] = truth[0, rows]
        found = one_sided_correction(*graded.astype(float), human, n_draws=4000, rng=np.random.default_rng(k))
        limits["outer"].append(found.outer.interval(LEVEL))
        limits["equal"].append(found.equal.interval(LEVEL))
    row: dict[str, object] = {"difference": difference, "rate": rate, "shift": shift, "n": n, "labels": n_labels}
    for name, pairs in limits.items():
        low, high = np.array(pairs).T
        is_wrong = (low > 0) | (high < 0) if difference == 0 else high < 0
        row[name] = {
            "coverage": float(np.mean((low <= difference) & (difference <= high))),
            "wrong_direction": float(np.mean(is_wrong)) / (2 if difference == 0 else 1),
            "width": float(np.mean(high - low)),
        }
    return row | {"reps": reps}


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="one_system_labels")
