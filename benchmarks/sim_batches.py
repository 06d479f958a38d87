"""How often the warning of batch effects appears, and coverage with and without batches, by simulation.

Run as `python benchmarks/sim_batches.py`; it writes benchmarks/results/batches.json. Each question has a success rate
from a Beta distribution. All trials of one column share a normal error on the logit scale. The true value is the
expected score over new batches, of new questions (population) or of the simulated questions (benchmark).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from harness_uq.inference.diagnostics import BATCH_EFFECT_P
from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats import benchmark_posterior, clustered_score_posterior, cochran_q

OUTPUT = Path(__file__).parent / "results" / "batches.json"
SEED = 2407
DESIGNS = ((30, 4), (100, 4), (100, 8), (400, 4))
LAWS = {"Beta(2, 2)": (2.0, 2.0), "Beta(9, 1)": (9.0, 1.0)}
ERRORS = (0.0, 0.25, 0.5, 1.0)
THRESHOLDS = (0.01, 0.03, 0.05, 0.09, 0.15, 0.2)  # of the p-value, for the curve of power against false alarms
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def expected_rate(logits: np.ndarray, error: float) -> np.ndarray:
    """Expected success rate of each question over new batches."""
    return expit(np.asarray(logits)[..., None] + error * NODES) @ WEIGHTS


def simulate(design: tuple[int, int], law: tuple[float, float], error: float, n: int, n_covered: int) -> dict:
    """Rates of the warning, mean intra-batch correlation and coverage in one cell."""
    rng = np.random.default_rng([SEED, *design, int(100 * law[0]), int(100 * error)])
    population = expected_rate(logit(rng.beta(*law, 200_000)), error).mean()
    p_values, correlations, covered = [], [], []
    for i in range(n):
        logits = logit(rng.beta(*law, design[0]))
        rates = expit(logits[:, None] + error * rng.standard_normal(design[1]))
        scores = (rng.random(design) < rates).astype(float)
        try:
            test = cochran_q(scores)
        except NotEstimableError:
            continue
        p_values.append(test.p_value)
        correlations.append(test.intra_batch_correlation)
        if i < n_covered:
            right, trials = scores.sum(axis=1), np.full(design[0], design[1])
            truths = (population, expected_rate(logits, error).mean())
            intervals = (
                clustered_score_posterior(right, trials, np.ones(design[0])).interval(0.95, "hdi"),
                benchmark_posterior(right, trials).interval(0.95, "hdi"),
            )
            covered.append([low <= truth <= high for (low, high), truth in zip(intervals, truths, strict=True)])
    shares = np.mean(covered, axis=0).tolist()
    return {
        "warned": sum(p < BATCH_EFFECT_P for p in p_values) / n,
        "warned_at": {str(threshold): sum(p < threshold for p in p_values) / n for threshold in THRESHOLDS},
        "intra_batch_correlation": float(np.mean(correlations)),
        "coverage_population": shares[0],
        "coverage_benchmark": shares[1],
    }


def main() -> None:
    """Simulate each cell, then save and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=2000, help="data sets per cell (default: %(default)s)")
    parser.add_argument("--covered", type=int, default=300, help="of these, for coverage (default: %(default)s)")
    options = parser.parse_args()
    rows = []
    for design in DESIGNS:
        for name, law in LAWS.items():
            for error in ERRORS:
                cell = {"questions": design[0], "trials": design[1], "success_rates": name, "logit_sd": error}
                rows.append(cell | simulate(design, law, error, options.data_sets, options.covered))
                print("  ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in rows[-1].values()), flush=True)
    document = {"seed": SEED, "data_sets": options.data_sets, "covered": options.covered, "cells": rows}
    OUTPUT.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
