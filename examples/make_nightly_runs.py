"""Write twenty simulated nightly runs of one system; from the fourteenth on, it fails nine more questions.

Run `python examples/make_nightly_runs.py` in the root of the repository.
"""

import csv
from pathlib import Path

import numpy as np

N_QUESTIONS, N_RUNS, CHANGE = 120, 20, 14
FOLDER = Path(__file__).parent / "tables" / "nightly"


def main() -> None:
    """Write one table for each night."""
    rng = np.random.default_rng(20261101)
    right = np.where(rng.random(N_QUESTIONS) < 0.85, rng.random(N_QUESTIONS) < 0.8, rng.random(N_QUESTIONS))
    failing = np.flatnonzero(right > 0.9)[:9]
    for night in range(1, N_RUNS + 1):
        if night == CHANGE:
            right[failing] = 0.0
        with (FOLDER / f"2026-11-{night:02d}.csv").open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["question", "score"])
            table.writerows([f"q{i}", int(rng.random() < p)] for i, p in enumerate(right.tolist()))


if __name__ == "__main__":
    main()
