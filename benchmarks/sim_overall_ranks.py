"""Rank sets and P(best) of overall scores: simultaneous coverage and calibration.

Run as `python benchmarks/sim_overall_ranks.py`; writes benchmarks/results/overall_ranks.json. Every system answers the
same questions of each task. The success probability of system s on question q of task t is that of a normal latent
ability: Phi(a_st + u_q), with u_q common to all systems. Cells were declared before the first run.
"""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy import special

from harness_uq import stats
from harness_uq.analyses.overall.joint_scores import _scaled, _within_fixed_tasks
from harness_uq.results.estimate import Interval
from harness_uq.results.overall import OverallSystem
from harness_uq.stats.pairs.rank_sets import rank_sets_of_normal
from harness_uq.stats.pairs.shrunk_scores import shrunk_draws

OUTPUT = Path(__file__).parent / "results" / "overall_ranks.json"
SEED = 20261127
N_DRAWS = 2000
CELLS = {  # number of tasks, questions per task, and overall scores of the systems; None draws them with this spread
    "12 equal systems, 30 tasks of 40": (30, 40, np.full(12, 0.6), None),
    "12 systems 0.5 to 0.7, 30 tasks of 40": (30, 40, np.linspace(0.5, 0.7, 12), None),
    "6 equal and 6 at 0.02 distance, 30 tasks of 40": (
        30,
        40,
        np.r_[np.full(6, 0.7), 0.68 - 0.02 * np.arange(6)],
        None,
    ),
    "5 systems, spread 0.01, 4 tasks of 50": (4, 50, np.full(5, 0.6), 0.01),
    "5 systems, spread 0.02, 4 tasks of 50": (4, 50, np.full(5, 0.6), 0.02),
    "5 systems, spread 0.05, 4 tasks of 50": (4, 50, np.full(5, 0.6), 0.05),
}


def simulate(n_tasks: int, n: int, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Answers, shape (n_tasks, n_systems, n); the expected score of each system on each task is its overall score."""
    common = rng.standard_normal((n_tasks, 1, n))
    latent = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.standard_normal((n_tasks, len(scores), n))
    return (latent < special.ndtri(scores)[None, :, None]).astype(float)


def overall(answers: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores and joint draws as `rank(overall=True)` computes them."""
    n_tasks, n_systems, n = answers.shape
    joints = [SimpleNamespace(draws=stats.joint_draws(task, 0, 1, n_draws=N_DRAWS, rng=rng)) for task in answers]
    combination = SimpleNamespace(coefficients=np.full(n_tasks, 1 / n_tasks))
    errors = _within_fixed_tasks(joints, [list(range(n_systems))] * n_tasks, combination, rng)
    values = answers.mean(axis=(0, 2))
    right = answers.sum(axis=2)
    systems = []
    for k, value in enumerate(values):
        low, high = stats.group_posterior(right[:, k], np.full(n_tasks, n)).interval(0.95, "hdi")
        systems.append(OverallSystem(str(k), float(value), Interval(low, high, 0.95, "hdi")))
    return values, values[:, None] + _scaled(errors, systems)


def run(n_tasks: int, n: int, scores: np.ndarray, spread: float | None, n_sets: int, rng: np.random.Generator) -> dict:
    """Results of one cell."""
    held, log_scores, best, stated, right = [], [], [], [], []
    for _ in range(n_sets):
        truth = scores if spread is None else np.clip(scores + spread * rng.standard_normal(len(scores)), 0.01, 0.99)
        values, draws = overall(simulate(n_tasks, n, truth, rng), rng)
        sets = rank_sets_of_normal(values, np.cov(draws), rng=rng)
        above = (truth[None] > truth[:, None] + 1e-12).sum(axis=1)
        below = (truth[None] < truth[:, None] - 1e-12).sum(axis=1)
        held.append(bool(np.all((sets.low <= 1 + above) & (sets.high >= len(truth) - below))))
        if spread is not None:
            for kind in (draws, shrunk_draws(draws, rng=rng)):
                p = stats.rank_posterior(kind, rng=rng).prob_best
                log_scores.append(float(np.log(max(p[np.argmax(truth)], 1 / N_DRAWS))))
                best.append(float(p.max()))
            stated.append(best[-1])
            right.append(bool(np.argmax(p) == np.argmax(truth)))
    result = {"n": n_sets, "simultaneous coverage of rank sets": float(np.mean(held))}
    if spread is None:
        return result
    return result | {
        "log score, flat": float(np.mean(log_scores[::2])),
        "log score": float(np.mean(log_scores[1::2])),
        "P(best) over 0.6, flat": float(np.mean(np.array(best[::2]) > 0.6)),
        "P(best) over 0.6": float(np.mean(np.array(best[1::2]) > 0.6)),
        "mean largest P(best)": float(np.mean(stated)),
        "share of right statements": float(np.mean(right)),
    }


def main() -> None:
    """Run all cells and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=400, help="data sets per cell")
    parser.add_argument("--cells", type=int, nargs="*", help="numbers of the cells to run (default: all)")
    args = parser.parse_args()
    for k, (name, (n_tasks, n, scores, spread)) in enumerate(CELLS.items()):
        if args.cells is not None and k not in args.cells:
            continue
        result = run(n_tasks, n, scores, spread, args.n, np.random.default_rng([SEED, k]))
        cells = json.loads(OUTPUT.read_text())["cells"] if OUTPUT.exists() else {}
        cells[name] = {key: round(value, 5) for key, value in result.items()}
        print(name, cells[name], flush=True)
        OUTPUT.write_text(json.dumps({"seed": SEED, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
