"""Coverage of the interval of the effective number of graders.

K graders err in a binary score of which 70 % are right. Whether grader k errs depends on a normal variable with
correlation `rho` between graders and a threshold that gives error rates of `rate` - `spread` to `rate` + `spread`. The
true effective number is that of 1,000,000 answers. Each of the 15 cells has 2,000 data sets.

    python benchmarks/sim_effective_graders.py [--reps 2000] [--output benchmarks/results/effective_graders.json]
"""

from itertools import product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq.errors import NotEstimableError
from harness_uq.stats.labels.effective_graders import effective_graders

PANELS = ((3, 0.15, 0.05, 0.0), (3, 0.15, 0.05, 0.6), (5, 0.1, 0.0, 0.6), (3, 0.1, 0.0, 0.9), (7, 0.1, 0.05, 0.5))
CELLS = list(product(PANELS, (50, 100, 200)))


def errors(panel: tuple[int, float, float, float], n: int, rng: np.random.Generator) -> np.ndarray:
    """Score minus label; shape (n, K)."""
    n_graders, rate, spread, rho = panel
    latent = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, n_graders))
    is_wrong = latent < stats.norm.ppf(rate + spread * np.linspace(-1, 1, n_graders))
    return np.where(is_wrong, np.where(rng.random((n, 1)) < 0.7, -1.0, 1.0), 0.0)


def run_cell(panel: tuple[int, float, float, float], n_labels: int, reps: int, seed: int) -> dict[str, object]:
    """Coverage and mean width in one cell."""
    truth = effective_graders(errors(panel, 1_000_000, np.random.default_rng(29))).value
    rng, found = np.random.default_rng([29, seed]), []
    for _ in range(reps):
        try:
            found.append(effective_graders(errors(panel, n_labels, rng)))
        except NotEstimableError:
            continue
    return {
        "graders": panel[0],
        "error_rate": panel[1],
        "spread": panel[2],
        "rho": panel[3],
        "n_labels": n_labels,
        "truth": truth,
        "reps": reps,
        "estimable": len(found) / reps,
        "mean": float(np.mean([one.value for one in found])),
        "coverage": float(np.mean([one.low <= truth <= one.high for one in found])),
        "median_width": float(np.median([one.high - one.low for one in found])),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="effective_graders")
