"""Coverage, width and centre of intervals of F1, recall, precision, MCC, macro F1 and kappa of clustered questions.

Run as `python benchmarks/sim_clustered_metrics.py`; writes benchmarks/results/clustered_metrics.json. Every cluster has
its own share of positives, recall and false positive rate, drawn from Betas with the intraclass correlation `icc`. The
true value is the metric of the expected confusion matrix. The reference is the delete-one-cluster jackknife with
Student's t.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from harness_uq import stats

OUTPUT = Path(__file__).parent / "results" / "clustered_metrics.json"
SEED = 20261123
RECALL = PRECISION = 0.7
DESIGNS = {  # clusters, questions per cluster, share of positives
    "10 x 50, 8 % positives": (10, 50, 0.08),
    "20 x 40, 4 % positives": (20, 40, 0.04),
    "15 x 40, 2 % positives": (15, 40, 0.02),
    "40 x 5, 30 % positives": (40, 5, 0.3),
}
BINARY = ("f1", "recall", "precision", "mcc")
METRICS = (*BINARY, "macro_f1", "kappa")


def expected_cells(share: float) -> np.ndarray:
    """Expected confusion matrix, by target and prediction."""
    positive = share * RECALL / PRECISION  # predicted positives
    return np.array(
        [[1 - share - positive * (1 - PRECISION), positive * (1 - PRECISION)], [share * (1 - RECALL), share * RECALL]]
    )


def simulate(rng: np.random.Generator, design: tuple[int, int, float], icc: float) -> np.ndarray:
    """Confusion matrix of each cluster, shape (n_clusters, 2, 2)."""
    n_clusters, size, share = design
    cells = expected_cells(share)
    false_positive_rate = cells[0, 1] / cells[0].sum()

    def rate(mean: float) -> np.ndarray:
        if icc == 0:
            return np.full(n_clusters, mean)
        return rng.beta(mean * (1 / icc - 1), (1 - mean) * (1 / icc - 1), n_clusters)

    positives = rng.binomial(size, rate(share))
    right = rng.binomial(positives, rate(RECALL))
    wrong = rng.binomial(size - positives, rate(false_positive_rate))
    return np.stack([size - positives - wrong, wrong, positives - right, right], axis=1).reshape(-1, 2, 2)


def score(matrix: np.ndarray, metric: str) -> float:
    """Metric of one matrix."""
    if metric in BINARY:
        return float(stats.confusion_score(matrix[1, 1], matrix[0, 1], matrix[1, 0], matrix[0, 0], metric))
    return stats.multiclass_score(matrix, metric)


def interval(matrices: np.ndarray, metric: str, n_draws: int) -> tuple[float, float]:
    """Interval of the package."""
    cells = np.tile(np.arange(4), len(matrices))
    clusters, counts = np.repeat(np.arange(len(matrices)), 4), matrices.reshape(-1)
    data = (np.repeat(values, counts) for values in (cells // 2, cells % 2, clusters))
    if metric in BINARY:
        return stats.clustered_confusion_posterior(*data, metric, n_draws=n_draws).interval()
    return stats.clustered_multiclass_posterior(*data, metric, n_classes=2, n_draws=n_draws).interval()


def jackknife(matrices: np.ndarray, metric: str) -> tuple[float, float]:
    """Score and half-width of the jackknife interval."""
    n, total = len(matrices), matrices.sum(axis=0)
    without_one = np.array([score(total - matrix, metric) for matrix in matrices])
    std_error = np.sqrt((n - 1) / n * np.sum((without_one - without_one.mean()) ** 2))
    return score(total, metric), float(student.ppf(0.975, n - 1) * std_error)


def run(design: tuple[int, int, float], icc: float, metric: str, n: int, n_draws: int) -> dict[str, float]:
    """Results of one cell."""
    rng = np.random.default_rng([SEED, *design[:2], round(1000 * icc)])
    truth = score(expected_cells(design[2]), metric)
    rows = []
    for _ in range(n):
        matrices = simulate(rng, design, icc)
        low, high = interval(matrices, metric, n_draws)
        value, half = jackknife(matrices, metric)
        rows.append((low <= truth <= high, high - low, (low + high) / 2, value, abs(value - truth) <= half, 2 * half))
    covered, width, centre, values, jackknife_covered, jackknife_width = np.array(rows, float).T
    return {
        "n": n,
        "coverage": covered.mean(),
        "width": width.mean(),
        "width over jackknife's": width.mean() / jackknife_width.mean(),
        "centre minus truth, half-widths": np.mean((centre - truth) / (width / 2)),
        "centre minus score, half-widths": np.mean((centre - values) / (width / 2)),
        "coverage of jackknife": jackknife_covered.mean(),
    }


def main() -> None:
    """Run all cells and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="data sets per cell")
    parser.add_argument("--icc", type=float, nargs="+", default=[0.0, 0.05, 0.2], help="intraclass correlations")
    parser.add_argument("--n-draws", type=int, default=2000, help="posterior draws of MCC, macro F1 and kappa")
    args = parser.parse_args()
    cells = json.loads(OUTPUT.read_text())["cells"] if OUTPUT.exists() else {}
    for icc in args.icc:
        for name, design in DESIGNS.items():
            for metric in METRICS:
                result = run(design, icc, metric, args.n, args.n_draws)
                cells[f"{metric}, {name}, ICC {icc:g}"] = {k: round(float(v), 4) for k, v in result.items()}
                print(icc, name, metric, {k: round(float(v), 3) for k, v in result.items()}, flush=True)
                OUTPUT.write_text(json.dumps({"seed": SEED, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
