"""Coverage of the policies for missing scores, and how often the dependence on the default policy is reported.

Each data set has `n` questions with one right-or-wrong answer each, of which some have no score. In the cells `outcome`
an answer that would have been wrong is lost twice as often as a right one; in the cells `difficulty` half of the
questions are hard (accuracy 0.25 lower, or 0.05 with an accuracy of 0.95) and are lost twice as often as the easy ones;
in the cells `random` all answers are lost alike. Estimands: `drop` the expected score of an answer that is not lost,
`zero` the expected score if lost answers count as wrong, `bounds` the expected score of all answers.

    python benchmarks/sim_missing.py [--reps 2000] [--output benchmarks/results/missing.json]
"""

import argparse
import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from harness_uq import estimate_scores
from harness_uq.analyses.estimate import estimate
from harness_uq.data.task_log import log_of_array
from harness_uq.messages.catalogue.estimation import MISSING_SCORES_MATTER

SIZES = (50, 300, 2000)
ACCURACIES = (0.5, 0.8, 0.95)
LOST = (0.05, 0.1, 0.2, 0.3)
LOST_AT_RANDOM = (0.01, 0.019)
CELLS = [
    *product(("outcome", "difficulty"), SIZES, ACCURACIES, LOST),
    *product(("random",), SIZES, ACCURACIES, LOST_AT_RANDOM),
]
Limits = tuple[float, float]


@dataclass(frozen=True)
class Found:
    """Intervals of one data set by policy, and whether the dependence on missing scores is reported."""

    drop: Limits
    zero: Limits
    bounds: Limits
    is_reported: bool


@cache
def found(n: int, n_right: int, n_lost: int) -> Found:
    """Results of a data set; with independent questions they depend on these numbers only."""
    scores = np.zeros(n)
    scores[:n_right] = 1.0
    scores[n - n_lost :] = np.nan
    log = log_of_array(scores, "array", clusters=None, metric="score")
    default = estimate_scores(scores)
    warning = next((m for m in default.messages if m.code == MISSING_SCORES_MATTER.code), None)
    if warning is None:
        zero, bounds = (
            estimate(log, missing=policy, range={"score": (0, 1)})[0].interval for policy in ("zero", "bounds")
        )
        limits = (zero.low, zero.high), (bounds.low, bounds.high)
    else:
        p = warning.params
        limits = (p["worst_low"], p["worst_high"]), (p["lowest"], p["highest"])
    return Found((default.interval.low, default.interval.high), *limits, warning is not None)


def rates(kind: str, accuracy: float, lost: float) -> np.ndarray:
    """Probability of a right answer that is kept, a wrong one that is kept, and a lost one that was right."""
    if kind == "difficulty":
        step = 0.05 if accuracy > 0.9 else 0.25
        groups = [(accuracy + step if accuracy + step < 1 else 1.0, 2 / 3), (accuracy - step, 4 / 3)]
    elif kind == "outcome":
        base = 1 / (accuracy + 2 * (1 - accuracy))
        kept_right, kept_wrong = accuracy * (1 - lost * base), (1 - accuracy) * (1 - 2 * lost * base)
        return np.array([kept_right, kept_wrong, accuracy * lost * base])
    else:
        groups = [(accuracy, 1.0), (accuracy, 1.0)]
    right = sum(p * (1 - lost * factor) for p, factor in groups) / 2
    wrong = sum((1 - p) * (1 - lost * factor) for p, factor in groups) / 2
    lost_right = sum(p * lost * factor for p, factor in groups) / 2
    return np.array([right, wrong, lost_right])


def run_cell(kind: str, n: int, accuracy: float, lost: float, reps: int, seed: int) -> dict[str, object]:
    """Coverage of each policy in one cell."""
    right, wrong, lost_right = rates(kind, accuracy, lost)
    p_lost = 1 - right - wrong
    truth = {"drop": right / (1 - p_lost), "zero": right, "bounds": right + lost_right}
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, [right, wrong, p_lost], size=reps)
    results = [found(n, int(row[0]), int(row[2])) for row in counts]
    covered = {
        name: float(np.mean([getattr(one, name)[0] <= value <= getattr(one, name)[1] for one in results]))
        for name, value in truth.items()
    }
    full = truth["bounds"]
    return {
        "kind": kind,
        "n": n,
        "accuracy": accuracy,
        "lost": lost,
        "reps": reps,
        "coverage": covered,
        "default_covers_all": float(np.mean([one.drop[0] <= full <= one.drop[1] for one in results])),
        "width_bounds_to_drop": float(
            np.mean([one.bounds[1] - one.bounds[0] for one in results])
            / np.mean([one.drop[1] - one.drop[0] for one in results])
        ),
        "reported": float(np.mean([one.is_reported for one in results])),
    }


def main() -> None:
    """Run all cells and write their results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/missing.json"))
    args = parser.parse_args()
    cells = []
    for seed, (kind, n, accuracy, lost) in enumerate(CELLS):
        cells.append(run_cell(kind, n, accuracy, lost, args.reps, seed))
        print(cells[-1], flush=True)
    args.output.write_text(json.dumps({"cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
