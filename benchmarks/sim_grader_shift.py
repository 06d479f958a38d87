"""How often a comparison with labels of both systems warns that the grader overrates one of them (UQ234).

Both systems answer 70 % of the questions correctly. The grader's sensitivity and specificity for A are (1 + J) / 2; for
B its sensitivity is higher and its specificity lower by `lenience`. Without lenience, warnings are false alarms. Each
of the 18 cells has 2,000 data sets, which the labels of the questions alone determine.

    python benchmarks/sim_grader_shift.py [--reps 2000] [--output benchmarks/results/grader_shift.json]
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

from harness_uq.data.panel import panel_of_scores
from harness_uq.inference.contrasts import paired_contrast

GRADERS = (0.9, 0.7, 0.5)
LENIENCE = (0.0, 0.1, 0.2)
N_LABELS = (50, 200)
ACCURACY, LEVEL = 0.7, 0.95


def warns(j: float, lenience: float, n: int, rng: np.random.Generator) -> bool:
    """Whether the interval and the t test of the difference of the mean errors exclude 0 in one data set."""
    shared = rng.random(n)
    truth = np.where(rng.random((2, n)) < 0.5, shared, rng.random((2, n))) < ACCURACY
    shift = np.array([0.0, lenience])
    sensitivity, specificity = np.minimum((1 + j) / 2 + shift, 1.0), (1 + j) / 2 - shift
    u = rng.random((2, n))
    graded = np.where(truth, u < sensitivity[:, None], u > specificity[:, None])
    errors = graded.astype(float) - truth
    panel = panel_of_scores([*errors], None, (-1.0, 1.0))
    finding = paired_contrast(panel)
    low, high = finding.posterior.interval(LEVEL)
    return finding.p_value is not None and finding.p_value <= 1 - LEVEL and not low <= 0 <= high


def main() -> None:
    """Run all cells and write their results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/grader_shift.json"))
    args = parser.parse_args()
    cells = []
    for seed, (j, lenience, n) in enumerate(product(GRADERS, LENIENCE, N_LABELS)):
        rng = np.random.default_rng([2028, seed])
        rate = float(np.mean([warns(j, lenience, n, rng) for _ in range(args.reps)]))
        cells.append({"j": j, "lenience": lenience, "labels": n, "reps": args.reps, "warned": rate})
        print(json.dumps(cells[-1]), flush=True)
    args.output.write_text(json.dumps({"cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
