"""The limit of the alarm in `level_change`: largest evidence in 300 runs without a change.

For each variance between runs, relative to the variance of trials, 3,000 sequences of normal contrasts are drawn, and
the 90, 95 and 99 % quantiles of the largest e-value are computed. Run `python benchmarks/sim_history_limit.py`, which
takes about five minutes and writes `benchmarks/results/history_limit.json`.
"""

import json
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq.stats.sequential.level_change import _FIRST, _RUN_VARIANCES, _SIZES

OUT = Path(__file__).parent / "results" / "history_limit.json"
REPS, N_RUNS = 3000, 300
RUN_VARIANCES = (0.0, 0.25, 1.0, 2.0, 4.0, 8.0, 16.0)


def largest(contrasts: np.ndarray) -> np.ndarray:
    """Largest e-value over all runs of each sequence; `contrasts` has shape (n_sequences, N_RUNS - 1).

    It is the maximum of `_log_e`, computed for all sequences at once.
    """
    t = np.arange(2, N_RUNS + 1)
    weighted = np.cumsum(contrasts / np.sqrt(t * (t - 1.0)), axis=1)
    squares = np.cumsum(contrasts**2, axis=1)
    highest = np.full(len(contrasts), -np.inf)
    for n in t:
        k, m = t[: n - 1], n - 1
        sums = (k - 1) * (weighted[:, [m - 1]] - np.pad(weighted[:, : m - 1], ((0, 0), (1, 0))))
        spread = 1 + _SIZES[:, None, None] ** 2 * (k - 1) * (n - k + 1) / n
        prior = np.log(_FIRST / ((k + _FIRST - 2) * (k + _FIRST - 1)))
        mixture = []
        for ratio in _RUN_VARIANCES:
            variance = 1 + ratio
            factors = _SIZES[:, None, None] ** 2 * sums**2 / (2 * variance * spread) - 0.5 * np.log(spread)
            changes = special.logsumexp(factors + prior, axis=(0, 2)) - np.log(len(_SIZES))
            changes = np.logaddexp(changes, np.log(_FIRST / (n + _FIRST - 1)))
            mixture.append(changes - 0.5 * (m * np.log(variance) + squares[:, m - 1] / variance))
        null = np.maximum(1.0, squares[:, m - 1] / m)
        maximized = -0.5 * (m * np.log(null) + squares[:, m - 1] / null)
        highest = np.maximum(highest, special.logsumexp(mixture, axis=0) - np.log(len(_RUN_VARIANCES)) - maximized)
    return np.exp(highest)


def main() -> None:
    """Run all cells and write the table."""
    cells = []
    for i, ratio in enumerate(RUN_VARIANCES):
        rng = np.random.default_rng([31, i])
        values = largest(rng.normal(0, np.sqrt(1 + ratio), (REPS, N_RUNS - 1)))
        quantiles = {str(alpha): float(np.quantile(values, 1 - alpha)) for alpha in (0.1, 0.05, 0.01)}
        cells.append({"run_variance": ratio, "quantiles": quantiles})
        print(json.dumps(cells[-1]), flush=True)
    OUT.write_text(json.dumps({"replications": REPS, "runs": N_RUNS, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
