"""Error rates of `harness-uq gate` if systems have several runs and scores vary between runs.

Questions have probabilities of a right answer from Beta(1, 0.6) and one answer per run. Each run, also that of the new
system, shifts all of its probabilities by a normal deviate with standard deviation `run_sd`, on the scale of the score.
The new system is worse by `drop` on average. The margin is 0.

`fail` and `pass` are the shares of gates with these decisions if a tail of alpha = 0.05 decides, and `fail_half` and
`pass_half` if a tail of alpha / 2 decides. `fail_one_run` is the share of failures if only the newest run of the
baseline is used (exact one-sided McNemar test at 0.05). The new system has `n_new` runs. With `drop` 0, every failure
and every pass is an error; with other drops, `fail` is the power.

Run `python benchmarks/sim_baseline_runs.py`; it takes about 15 minutes and writes
`benchmarks/results/baseline_runs.json`.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy import stats

from harness_uq.data.panel import panel_of_scores
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.stats.pairs.run_variation import DistributionOverRuns, pooled_variation, run_variation

OUT = Path(__file__).parent / "results" / "baseline_runs.json"
ALPHA = 0.05
# questions, runs of the baseline, standard deviation between runs, drop of the new system
CELLS = [
    *((300, n_runs, sd, 0.0) for n_runs in (2, 3, 5) for sd in (0.0, 0.01, 0.02, 0.03)),
    *((n, 3, sd, 0.0) for n in (30, 1000) for sd in (0.0, 0.01, 0.02, 0.03)),
    *((300, n_runs, sd, 0.1) for n_runs in (2, 3, 5, 10) for sd in (0.0, 0.02)),
]
# the same, and runs of the new system
CELLS_NEW = [
    *((300, n_runs, sd, 0.0, n_new) for n_runs, n_new in ((3, 3), (2, 2), (1, 3)) for sd in (0.0, 0.03)),
    *((300, 3, sd, 0.1, 3) for sd in (0.0, 0.02)),
]


def answers(p: np.ndarray, shifts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Right answers in runs with these shifts of the score; float (n_runs, n)."""
    right = rng.random((len(shifts), len(p))) < p
    mean = p.mean()
    down = np.clip(-shifts / mean, 0, 1)[:, None]
    up = np.clip(shifts / (1 - mean), 0, 1)[:, None]
    u = rng.random((len(shifts), len(p)))
    return np.where(right, u >= down, u < up).astype(float)


def gate(
    n: int, n_runs: int, run_sd: float, drop: float, rng: np.random.Generator, n_new: int = 1
) -> tuple[float, float]:
    """Probability that the difference is at most 0 over runs, and the p-value of a failure with one run."""
    p = rng.beta(1.0, 0.6, n)
    new = answers(p, rng.normal(-drop, run_sd, n_new), rng)
    runs = answers(p, rng.normal(0, run_sd, n_runs), rng)
    panel = panel_of_scores([new.T, runs.T], None, (0.0, 1.0), is_binary=True)
    variation = pooled_variation([run_variation(side) for side in (new, runs) if len(side) > 1])
    over_runs = DistributionOverRuns(paired_contrast(panel).posterior, variation, (n_new, n_runs))
    lost, won = int((runs[0] > new[0]).sum()), int((runs[0] < new[0]).sum())
    return float(over_runs.cdf(0.0)), float(stats.binom.sf(lost - 1, lost + won, 0.5))


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    args = parser.parse_args()
    cells = []
    for i, (n, n_runs, run_sd, drop, n_new) in enumerate([*((*cell, 1) for cell in CELLS), *CELLS_NEW]):
        rng = np.random.default_rng([31, i])
        drawn = [gate(n, n_runs, run_sd, drop, rng, n_new) for _ in range(args.reps)]
        below, one_run = (np.array(values) for values in zip(*drawn, strict=True))
        rates = {
            "fail": below >= 1 - ALPHA,
            "pass": below <= ALPHA,
            "fail_half": below >= 1 - ALPHA / 2,
            "pass_half": below <= ALPHA / 2,
            "fail_one_run": one_run <= ALPHA,
        }
        cell = {"n": n, "n_runs": n_runs, "run_sd": run_sd, "drop": drop, "n_new": n_new}
        cells.append(cell | {name: float(hits.mean()) for name, hits in rates.items()})
        print(json.dumps(cells[-1]), flush=True)
    OUT.write_text(json.dumps({"replications": args.reps, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
