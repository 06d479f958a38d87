"""Coverage and width of intervals of the score on new tasks: before, Student's t, and `new_tasks_posterior`.

Run as `python benchmarks/sim_new_tasks.py` (about five minutes of one core). Writes benchmarks/results/new_tasks.json.
Each task has 100 questions. Success probabilities of tasks are Beta-distributed with the given mean and mass; their
standard deviation is sqrt(mean (1 - mean) / (mass + 1)).
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq.stats import clustered_bounded_posterior, new_tasks_posterior

OUTPUT = Path(__file__).parent / "results" / "new_tasks.json"
N_QUESTIONS = 100
CELLS = list(product((5, 10, 20, 50), ((0.5, 4), (0.7, 20), (0.9, 4), (0.9, 20), (0.93, 4), (0.93, 20), (0.93, 100))))


def simulate(n_tasks: int, mean: float, mass: float, n: int) -> dict[str, object]:
    """Coverage and mean width of each interval on `n` data sets."""
    rng = np.random.default_rng([n_tasks, int(100 * mean), int(mass)])
    quantile, ones, rows = special.stdtrit(n_tasks - 1, 0.975), np.ones(n_tasks), []
    for _ in range(n):
        scores = rng.binomial(N_QUESTIONS, rng.beta(mass * mean, mass * (1 - mean), n_tasks)) / N_QUESTIONS
        half = quantile * scores.std(ddof=1) / np.sqrt(n_tasks)
        intervals = (
            clustered_bounded_posterior(scores, ones).interval(0.95, "hdi"),
            (scores.mean() - half, scores.mean() + half),
            new_tasks_posterior(scores, ones, n_tasks * N_QUESTIONS).interval(0.95, "hdi"),
        )
        rows.append([(low <= mean <= high, high - low) for low, high in intervals])
    summary = np.mean(np.array(rows, float), axis=0).round(4).tolist()
    cell: dict[str, object] = {"tasks": n_tasks, "mean": mean, "mass": mass, "n": n}
    return cell | dict(zip(("before", "t", "after"), summary, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2_000, help="data sets per cell (default 2000)")
    args = parser.parse_args()
    results = []
    for n_tasks, (mean, mass) in CELLS:
        results.append(simulate(n_tasks, mean, mass, args.draws))
        print(results[-1], flush=True)
    OUTPUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
