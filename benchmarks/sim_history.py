"""False alarms and delays of `harness-uq history` over 60 nightly runs.

Questions have probabilities of a right answer from a Beta distribution, fixed over the runs: `mixed` Beta(1, 0.6),
`easy` Beta(6, 0.2), and `settled`, where 90 % of the questions always have the same answer. `run_sd` is the standard
deviation of a shift of all probabilities in a run, on the scale of the score. Without a change, `alarm` is the share of
2,000 sequences with any alarm. With a drop of 0.05 from run 21 on, it is the share with an alarm within 10 runs;
`delay` is the median number of runs from the drop to the alarm, and `early` the share of alarms before the drop.

Compared with: `nightly`, an exact McNemar test of each run against the first run at 5 %; and `cusum`, a two-sided CUSUM
of the mean scores, standardized by the first ten runs, with reference value 0.5 and decision limit 5 (Montgomery,
"Introduction to Statistical Quality Control", table 9.3: average run length 465).

Run `python benchmarks/sim_history.py`; it takes about 20 minutes and writes `benchmarks/results/history.json`.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy import stats

from harness_uq.stats.sequential.level_change import level_change

OUT = Path(__file__).parent / "results" / "history.json"
N_RUNS, CHANGE = 60, 20
# questions, kind, standard deviation between runs, drop
CELLS = [
    *((n, "mixed", sd, 0.0) for n in (100, 300, 1000) for sd in (0.0, 0.01, 0.03)),
    (300, "easy", 0.0, 0.0),
    (300, "easy", 0.01, 0.0),
    (300, "settled", 0.0, 0.0),
    (300, "settled", 0.01, 0.0),
    *((300, "mixed", sd, 0.05) for sd in (0.0, 0.01, 0.02, 0.03)),
    (300, "easy", 0.0, 0.05),
    (300, "settled", 0.0, 0.05),
    (1000, "mixed", 0.01, 0.05),
]


def sequence(n: int, kind: str, run_sd: float, drop: float, rng: np.random.Generator) -> np.ndarray:
    """Scores of one sequence, bool (N_RUNS, n)."""
    if kind == "settled":
        p = np.where(rng.random(n) < 0.9, rng.random(n) < 0.6, rng.random(n))
    else:
        p = rng.beta(*((1.0, 0.6) if kind == "mixed" else (6.0, 0.2)), n)
    shift = rng.normal(0, run_sd, N_RUNS) - np.where(np.arange(N_RUNS) >= CHANGE, drop, 0.0)
    # a shift of the score changes right answers to wrong ones, or wrong ones to right ones, at random
    right = rng.random((N_RUNS, n)) < p
    mean = p.mean()
    down = np.clip(-shift / mean, 0, 1)[:, None]
    up = np.clip(shift / (1 - mean), 0, 1)[:, None]
    u = rng.random((N_RUNS, n))
    return np.where(right, u >= down, u < up)


def nightly(runs: np.ndarray) -> int | None:
    """First run that differs from the first one by an exact McNemar test."""
    lost, gained = (runs[0] & ~runs[1:]).sum(axis=1), (~runs[0] & runs[1:]).sum(axis=1)
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(lost, gained), lost + gained, 0.5))
    found = np.flatnonzero(p <= 0.05)
    return int(found[0]) + 1 if len(found) else None


def cusum(runs: np.ndarray) -> int | None:
    """First run in which a two-sided CUSUM exceeds its limit."""
    means = runs.mean(axis=1)
    z = (means[10:] - means[:10].mean()) / max(means[:10].std(ddof=1), 1e-9)
    high = low = 0.0
    for i, value in enumerate(z):
        high, low = max(0.0, high + value - 0.5), max(0.0, low - value - 0.5)
        if max(high, low) > 5:
            return i + 10
    return None


def summary(alarms: list[int | None], drop: float) -> dict[str, float | None]:
    """Rates and the median delay."""
    if not drop:
        return {"alarm": float(np.mean([alarm is not None for alarm in alarms]))}
    early = float(np.mean([alarm is not None and alarm < CHANGE for alarm in alarms]))
    delays = [alarm - CHANGE + 1 if alarm is not None and alarm >= CHANGE else np.inf for alarm in alarms]
    median = float(np.median(delays))
    return {
        "alarm": float(np.mean(np.array(delays) <= 10)),
        "early": early,
        "delay": median if np.isfinite(median) else None,
    }


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    args = parser.parse_args()
    cells = []
    for i, (n, kind, run_sd, drop) in enumerate(CELLS):
        rng = np.random.default_rng([30, i])
        alarms: dict[str, list[int | None]] = {"history": [], "nightly": [], "cusum": []}
        for _ in range(args.reps):
            runs = sequence(n, kind, run_sd, drop, rng)
            alarms["history"].append(level_change(runs).alarm)
            alarms["nightly"].append(nightly(runs))
            alarms["cusum"].append(cusum(runs))
        cell = {"n": n, "kind": kind, "run_sd": run_sd, "drop": drop}
        cells.append(cell | {name: summary(found, drop) for name, found in alarms.items()})
        print(json.dumps(cells[-1]), flush=True)
    OUT.write_text(json.dumps({"replications": args.reps, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
