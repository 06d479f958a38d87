"""Difference of two systems graded by a model with errors of its own for each system, corrected with human labels.

Two systems answer the same questions, a grader scores all answers, and a person labels random questions for both
systems. The grader's sensitivity and specificity are equal, so that J = sensitivity + specificity - 1. `shift` is the
difference of J between the systems, half of it up and half down. Each of the cells below has
2,000 data sets.

Methods: `corrected` is `judge_corrected_difference` with labels of both systems; `raw` compares the grader's scores;
`shared` divides the difference of the grader's scores by J, estimated from the labels of both systems together;
`labels` compares the labels alone.

    python benchmarks/sim_judge_differences.py [--reps 2000] [--output benchmarks/results/judge_differences.json]
"""

from itertools import product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq.stats import judge_corrected_difference
from harness_uq.stats.pairs.paired import paired_posterior

DIFFERENCES = (0.0, 0.03, 0.1)
GRADERS = ((0.9, 0.0), (0.7, 0.1), (0.7, 0.3), (0.5, 0.0))
SIZES = ((300, 50), (1000, 200))
CELLS = list(product(DIFFERENCES, GRADERS, SIZES))
ACCURACY, CORRELATION, LEVEL = 0.7, 0.5, 0.95
Limits = tuple[float, float]


def data_set(
    difference: float, j: tuple[float, float], n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """True and graded answers of the systems A and B, bool (2, n) each."""
    shared, own = rng.normal(size=n), rng.normal(size=(2, n))
    latent = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own
    truth = latent < stats.norm.ppf([ACCURACY, ACCURACY - difference])[:, None]
    is_right_grade = rng.random((2, n)) < (1 + np.array(j))[:, None] / 2
    return truth, truth == is_right_grade


def table(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int, int]:
    """Numbers of questions that both, only A, only B and neither answered correctly."""
    return int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())


def shared_calibration(graded: np.ndarray, truth: np.ndarray, labeled: np.ndarray) -> Limits:
    """Limits of the raw difference divided by the J of both systems together, by the delta method."""
    t, g = truth[:, labeled].ravel(), graded[:, labeled].ravel()
    sensitivity, specificity = (g[t].sum() + 0.5) / (t.sum() + 1), ((~g)[~t].sum() + 0.5) / ((~t).sum() + 1)
    j = sensitivity + specificity - 1
    variance_j = sensitivity * (1 - sensitivity) / t.sum() + specificity * (1 - specificity) / max((~t).sum(), 1)
    d = graded[0].astype(float) - graded[1]
    estimate = d.mean() / j
    error = np.sqrt(d.var(ddof=1) / len(d) / j**2 + estimate**2 * variance_j / j**2)
    return estimate - stats.norm.ppf((1 + LEVEL) / 2) * error, estimate + stats.norm.ppf((1 + LEVEL) / 2) * error


def limits(truth: np.ndarray, graded: np.ndarray, labeled: np.ndarray, seed: int) -> dict[str, Limits]:
    """Limits of the interval of each method."""
    human = np.where(labeled, truth, np.nan)
    corrected = judge_corrected_difference(*graded.astype(float), *human, n_draws=4000, rng=np.random.default_rng(seed))
    return {
        "corrected": corrected.interval(LEVEL),
        "raw": paired_posterior(table(*graded)).interval(LEVEL),
        "shared": shared_calibration(graded, truth, labeled),
        "labels": paired_posterior(table(*truth[:, labeled])).interval(LEVEL),
    }


def run_cell(
    difference: float, grader: tuple[float, float], size: tuple[int, int], reps: int, seed: int
) -> dict[str, object]:
    """Coverage, wrong directions and mean width of each method in one cell."""
    (j, shift), (n, n_labels) = grader, size
    rng = np.random.default_rng([2026, seed])
    rows = []
    for k in range(reps):
        # a grader that is stricter with the better system hides the difference
        truth, graded = data_set(difference, (j - shift / 2, j + shift / 2), n, rng)
        labeled = np.zeros(n, bool)
        labeled[rng.choice(n, n_labels, replace=False)] = True
        rows.append(limits(truth, graded, labeled, k))
    found: dict[str, object] = {
        "difference": difference,
        "j": j,
        "shift": shift,
        "n": n,
        "labels": n_labels,
        "reps": reps,
    }
    for name in rows[0]:
        low, high = np.array([row[name] for row in rows]).T
        is_wrong = (low > 0) | (high < 0) if difference == 0 else high < 0
        found[name] = {
            "coverage": float(np.mean((low <= difference) & (difference <= high))),
            "wrong_direction": float(np.mean(is_wrong)) / (2 if difference == 0 else 1),
            "width": float(np.mean(high - low)),
        }
    return found


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="judge_differences")
