"""Coverage of the interval of the effective number of graders.

K graders err in a binary score of which 70 % are right, so that all errors in an answer have the same sign. There are
five kinds of panels:

- `normal`: whether grader k errs depends on a normal variable with correlation `rho` between graders and a threshold
  that gives error rates of `rate` - `spread` to `rate` + `spread`. With `cluster_size` m, answers form clusters of m.
  Half of the variance of the normal variable is then between clusters (0.3 for all graders, 0.2 for each grader).
- `common`: a share `share` of the errors is made by all graders at once. The other errors are independent.
- `useless`: as `normal`, but the first grader errs in half of the answers at random.
- `identical`: all graders make the same errors.
- `graded`: errors are independent and have independent signs.

The true effective number is that of 1,000,000 answers. Each of the 93 cells has 2,000 data sets.

    python benchmarks/sim_effective_graders.py [--reps 2000] [--output benchmarks/results/effective_graders.json]
"""

from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.labels.effective_graders import effective_graders


@dataclass(frozen=True)
class Panel:
    """Graders and their errors."""

    kind: str
    graders: int
    rate: float
    spread: float = 0.0
    rho: float = 0.0
    share: float = 0.0
    cluster_size: int = 1


# three to seven graders, as in the first version of this simulation
TYPICAL = (
    Panel("normal", 3, 0.15, 0.05),
    Panel("normal", 3, 0.15, 0.05, 0.6),
    Panel("normal", 5, 0.1, 0.0, 0.6),
    Panel("normal", 3, 0.1, 0.0, 0.9),
    Panel("normal", 7, 0.1, 0.05, 0.5),
)
RATES = tuple(
    panel
    for graders, rate in product((2, 3, 5), (0.02, 0.1, 0.3))
    for panel in (Panel("normal", graders, rate), Panel("common", graders, rate, share=0.5))
)
SPECIAL = (
    Panel("useless", 3, 0.1, rho=0.4),
    Panel("useless", 5, 0.1, rho=0.4),
    Panel("identical", 3, 0.02),
    Panel("identical", 3, 0.1),
    Panel("graded", 3, 0.1),
    Panel("graded", 3, 0.3),
    Panel("normal", 3, 0.15, rho=0.3, cluster_size=5),
)
# five or seven graders make an error that all of them share in 2, 4 or 2 of the labeled answers on average
RARE_COMMON = Panel("common", 7, 0.1, share=0.2), Panel("common", 5, 0.05, share=0.2)
CELLS = [
    *product((*TYPICAL, *RATES, *SPECIAL), (50, 100, 200)),
    (RARE_COMMON[0], 100),
    (RARE_COMMON[0], 200),
    (RARE_COMMON[1], 200),
]


def errors(panel: Panel, n: int, rng: np.random.Generator) -> np.ndarray:
    """Score minus label; shape (n, K)."""
    if panel.kind == "graded":
        return _is_wrong(panel, n, rng) * rng.choice([-1.0, 1.0], (n, panel.graders))
    is_wrong = _is_wrong(panel, n, rng)
    return np.where(is_wrong, np.where(rng.random((n, 1)) < 0.7, -1.0, 1.0), 0.0)


def _is_wrong(panel: Panel, n: int, rng: np.random.Generator) -> np.ndarray:
    if panel.kind == "identical":
        return np.repeat(rng.random((n, 1)) < panel.rate, panel.graders, axis=1)
    if panel.kind == "common":
        common = panel.rate * panel.share
        own = rng.random((n, panel.graders)) < (panel.rate - common) / (1 - common)
        return own | (rng.random((n, 1)) < common)
    thresholds = stats.norm.ppf(panel.rate + panel.spread * np.linspace(-1, 1, panel.graders))
    is_wrong = _latent(panel, n, rng) < thresholds
    if panel.kind == "useless":
        is_wrong[:, 0] = rng.random(n) < 0.5
    return is_wrong


def _latent(panel: Panel, n: int, rng: np.random.Generator) -> np.ndarray:
    size, rho = (n, panel.graders), panel.rho
    if panel.cluster_size == 1:
        return np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=size)
    n_clusters = n // panel.cluster_size
    between = np.sqrt(0.3) * rng.normal(size=(n_clusters, 1)) + np.sqrt(0.2) * rng.normal(
        size=(n_clusters, panel.graders)
    )
    within = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(0.5 - rho) * rng.normal(size=size)
    return np.repeat(between, panel.cluster_size, axis=0) + within


def run_cell(panel: Panel, n_labels: int, reps: int, seed: int) -> dict[str, object]:
    """Coverage, rates of missing on each side, and median width in one cell."""
    truth = effective_graders(errors(panel, 1_000_000, np.random.default_rng(29))).value
    rng, found = np.random.default_rng([29, seed]), []
    clusters = np.arange(n_labels) // panel.cluster_size
    for _ in range(reps):
        try:
            found.append(effective_graders(errors(panel, n_labels, rng), clusters=clusters))
        except NotEstimableError:
            continue
    low, high = np.array([(one.low, one.high) for one in found]).T
    return {
        **asdict(panel),
        "n_labels": n_labels,
        "truth": truth,
        "reps": reps,
        "estimable": len(found) / reps,
        "mean": float(np.mean([one.value for one in found])),
        "coverage": float(np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9))),
        "too_high": float(np.mean(low > truth + 1e-9)),
        "too_low": float(np.mean(high < truth - 1e-9)),
        "median_width": float(np.median(high - low)),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="effective_graders")
