"""Coverage and cost of stopping epochs once the interval is narrow enough, by simulation.

Run as `python benchmarks/sim_adaptive_epochs.py`; writes benchmarks/results/adaptive_epochs.json. Questions have
success rates from a Beta law, trials come question by question, epoch by epoch, and the rule looks ten times an epoch,
as `harness_uq_inspect.stop_when` does. The fixed design makes as many epochs as the hardest law needs for the width.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from harness_uq.stats import benchmark_posterior, clustered_posterior
from harness_uq.stats.common.posterior import Posterior

OUTPUT = Path(__file__).parent / "results" / "adaptive_epochs.json"
LAWS = {"Beta(1, 1)": (1.0, 1.0), "Beta(4, 1)": (4.0, 1.0), "Beta(9, 0.5)": (9.0, 0.5), "Beta(6, 6)": (6.0, 6.0)}
N_QUESTIONS, MAX_EPOCHS, MIN_TRIALS, LOOKS = 100, 16, 2, 10
WIDTHS = {"population": 0.13, "benchmark": 0.06}


def posterior(scope: str, right: np.ndarray, trials: np.ndarray) -> Posterior:
    """The posterior that `--uq bayes` reports."""
    return clustered_posterior(right, trials) if scope == "population" else benchmark_posterior(right, trials)


def run(scope: str, law: tuple[float, float], rng: np.random.Generator) -> tuple[int, bool, bool]:
    """Trials made, and whether the interval covers, stopped by width and after all epochs."""
    rates = rng.beta(*law, N_QUESTIONS)
    truth = law[0] / sum(law) if scope == "population" else rates.mean()
    hits = rng.random((MAX_EPOCHS, N_QUESTIONS)) < rates
    stop, covered = 0, False
    for n in range(MIN_TRIALS * N_QUESTIONS, MAX_EPOCHS * N_QUESTIONS + 1, N_QUESTIONS // LOOKS):
        low, high = interval(scope, hits, n)
        if high - low <= WIDTHS[scope] or n == MAX_EPOCHS * N_QUESTIONS:
            stop, covered = n, low <= truth <= high
            break
    low, high = interval(scope, hits, MAX_EPOCHS * N_QUESTIONS)
    return stop, covered, low <= truth <= high


def interval(scope: str, hits: np.ndarray, n: int) -> tuple[float, float]:
    """Highest-density interval after the first `n` trials."""
    made = np.arange(hits.size).reshape(hits.shape) < n
    return posterior(scope, (hits & made).sum(axis=0), made.sum(axis=0)).interval(0.95, "hdi")


def main() -> None:
    """Simulate every law and scope, then save and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=400, help="data sets a cell (default: %(default)s)")
    n = parser.parse_args().repetitions
    rows = []
    for scope in WIDTHS:
        for index, (name, law) in enumerate(LAWS.items()):
            rng = np.random.default_rng([2025, index, int(scope == "benchmark")])
            stops, covered, covered_all = map(np.array, zip(*(run(scope, law, rng) for _ in range(n)), strict=True))
            rows.append(
                {
                    "scope": scope,
                    "law": name,
                    "width": WIDTHS[scope],
                    "mean_epochs": float(stops.mean() / N_QUESTIONS),
                    "epochs_quantiles": np.quantile(stops / N_QUESTIONS, [0.05, 0.5, 0.95]).tolist(),
                    "coverage": float(covered.mean()),
                    "coverage_all_epochs": float(covered_all.mean()),
                    "n": n,
                }
            )
            print(rows[-1], flush=True)
    OUTPUT.write_text(json.dumps({"n_questions": N_QUESTIONS, "max_epochs": MAX_EPOCHS, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
