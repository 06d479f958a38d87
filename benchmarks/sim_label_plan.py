"""Whether a plan of labels reaches its width: `harness-uq plan --target labels`.

Systems with accuracies 0.7 and 0.6 answer 1,000 questions, and their answers to a question are correlated. The
grader's Youden J is `j`, equal in sensitivity and specificity. A pilot of `pilot` questions has labels of people. The
planned questions are then labeled, and the corrected score (one system) or difference (two systems) is estimated as
by `harness-uq estimate --labels` and `compare --labels`. The table has the mean of the reached width divided by the
target, the coverage, and the numbers of labels of the plan and of uniform drawing.

The 12 cells and their seeds are fixed below. Run `python benchmarks/sim_label_plan.py`, which takes about three hours
on one core (`--reps 200`, the committed table: 20 minutes) and writes `benchmarks/results/label_plan.json`.
"""

import argparse
import itertools
import json
from pathlib import Path

import numpy as np

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.label_design import design_labels

OUT = Path(__file__).parent / "results" / "label_plan.json"
N, ACCURACIES = 1000, (0.7, 0.6)
# number of systems, Youden's J, labels of the pilot; and the width for each number of systems
CELLS = list(itertools.product((1, 2), (0.9, 0.7, 0.5), (30, 60)))
WIDTHS = {1: 0.1, 2: 0.13}


def one(n_systems: int, j: float, pilot: int, rng: np.random.Generator) -> tuple[float, bool, int, int] | None:
    """Reached width / target, whether the interval covers, and numbers of labels; None if there is no plan."""
    shared = rng.random(N)
    own = rng.random((N, 2))
    h = (np.where(rng.random((N, 2)) < 0.5, shared[:, None], own) < ACCURACIES)[:, :n_systems].astype(float)
    f = np.where(h == 1, rng.random(h.shape) < (1 + j) / 2, rng.random(h.shape) < (1 - j) / 2).astype(float)
    has_label = np.zeros(N, bool)
    has_label[rng.choice(N, pilot, replace=False)] = True
    width = WIDTHS[n_systems]
    try:
        design = design_labels(f, np.where(has_label[:, None], h, np.nan), width, rng=rng)
    except NotEstimableError:
        return None
    has_label[design.draw(has_label, rng)] = True
    labels = np.where(has_label[:, None], h, np.nan)
    correct = judge_corrected_posterior if n_systems == 1 else judge_corrected_difference
    low, high = correct(*f.T, *labels.T, probabilities=design.probabilities).interval(0.95)
    truth = ACCURACIES[0] - (ACCURACIES[1] if n_systems == 2 else 0.0)
    return (high - low) / width, low <= truth <= high, int(design.n_labels.sum()), design.n_uniform or N


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    args = parser.parse_args()
    cells = []
    for i, (n_systems, j, pilot) in enumerate(CELLS):
        rng = np.random.default_rng([29, i])
        found = [result for _ in range(args.reps) if (result := one(n_systems, j, pilot, rng)) is not None]
        ratio, covered, labels, uniform = (np.array(column, float) for column in zip(*found, strict=True))
        cells.append(
            {
                "systems": n_systems,
                "j": j,
                "pilot": pilot,
                "planned": len(found) / args.reps,
                "width_ratio": float(ratio.mean()),
                "coverage": float(covered.mean()),
                "labels": float(labels.mean()),
                "uniform": float(uniform.mean()),
            }
        )
        print(json.dumps(cells[-1]), flush=True)
    OUT.write_text(json.dumps({"replications": args.reps, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
