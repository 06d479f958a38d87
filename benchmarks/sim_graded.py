"""Coverage and width of the default intervals of graded scores and of their differences.

The cells are fixed before the run: light-tailed, skewed, sparse and J-shaped scores, and rare losses of the whole
range. The results contain the coverage and the width relative to Student's t, the coverage of the latter, and the
shares of data sets with a note or a warning that the sample may miss rare losses. `is_held` is the share in which the
interval covers or there is such a message. The seed of a cell is its number.

    python -m benchmarks.sim_graded
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from benchmarks.run_cells import run_cells
from harness_uq.stats.means.bounded import bounded_posterior, rare_loss_of_scores
from harness_uq.stats.units.contrasts import PairedDifferences, paired_difference_posterior, rare_loss_of_differences
from harness_uq.stats.units.process import quantiles
from harness_uq.stats.units.rare_losses import RareLoss

Draw = Callable[[np.random.Generator, int], np.ndarray]

SIZES = (10, 20, 50, 100)


def _normal(mean: float, sd: float, low: float) -> Draw:
    return lambda rng, n: np.clip(rng.normal(mean, sd, n), low, 1.0)


def _trials(rng: np.random.Generator, n: int) -> np.ndarray:
    p = rng.random(n)
    return (rng.binomial(8, p) - rng.binomial(8, p)) / 8


def _sparse(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.05, 0.25 * rng.choice([-1.0, 1.0], n), 0.0)


def _losses(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.01, -1.0, np.clip(rng.normal(0.0, 0.05, n), -1.0, 1.0))


def _beta(a: float, b: float, zeros: float = 0.0) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < zeros, 0.0, rng.beta(a, b, n))


PAIRS: dict[str, tuple[Draw, float, tuple[int, ...]]] = {
    **{f"normal, sd {sd:g}": (_normal(0.02, sd, -1.0), 0.02, SIZES) for sd in (0.02, 0.05, 0.1, 0.2, 0.3)},
    "gamma, sd 0.05": (lambda rng, n: 0.05 * (rng.standard_exponential(n) - 1.0), 0.0, SIZES),
    "5 % differ by a quarter": (_sparse, 0.0, SIZES),
    "8 trials": (_trials, 0.0, SIZES),
    "sd 0.05, 1 % lose the range": (_losses, -0.01, SIZES),
}
SINGLE: dict[str, tuple[Draw, float, tuple[int, ...]]] = {
    **{f"normal, sd {sd:g}": (_normal(0.6, sd, 0.0), 0.6, SIZES) for sd in (0.02, 0.05, 0.1)},
    "Beta(90, 10)": (_beta(90, 10), 0.9, SIZES),
    "Beta(9, 1)": (_beta(9, 1), 0.9, SIZES),
    "Beta(2, 2)": (_beta(2, 2), 0.5, SIZES),
    "Beta(0.2, 4)": (_beta(0.2, 4), 0.2 / 4.2, (5, 10, 15, 19, 30, 100)),
    "Beta(0.9, 0.1)": (_beta(0.9, 0.1), 0.9, (5, 10, 15, 19, 30, 100)),
    "0, 1/2 or 1": (lambda rng, n: rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.4, 0.5]), 0.7, SIZES),
    "Beta(90, 10), 1 % zeros": (_beta(90, 10, 0.01), 0.891, SIZES),
}
CELLS = tuple(
    (kind, name, n)
    for kind, families in (("pair", PAIRS), ("single", SINGLE))
    for name, (_, _, sizes) in families.items()
    for n in sizes
)


def run_cell(kind: str, name: str, n: int, reps: int, seed: int) -> dict[str, object]:
    """Coverage and relative width of one cell."""
    draw, truth, _ = (PAIRS if kind == "pair" else SINGLE)[name]
    rng = np.random.default_rng([42, seed])
    data = np.stack([draw(rng, n) for _ in range(reps)])
    half = special.stdtrit(n - 1, 0.975) * data.std(axis=1, ddof=1) / np.sqrt(n)
    student = data.mean(axis=1)[:, None] + half[:, None] * np.array([-1.0, 1.0])
    if kind == "pair":
        found = quantiles([paired_difference_posterior(d, 0, 1) for d in data], [0.025, 0.975])
    else:
        found = np.array([bounded_posterior(x, 0, 1).interval(0.95, "hdi") for x in data])
    is_wide = half > 0
    losses = [_rare_loss(kind, row) for row in data]
    shift = np.array([0.0 if loss is None else loss.shift for loss in losses])
    is_named = [loss is not None and loss.matters(w / 2) for loss, w in zip(losses, np.ptp(found, axis=1), strict=True)]
    is_covered = (found[:, 0] <= truth) & (truth <= found[:, 1])
    return {
        "kind": kind,
        "family": name,
        "n": n,
        "n_data_sets": reps,
        "seed": seed,
        "coverage": _share(is_covered),
        "coverage_t": _share((student[:, 0] <= truth) & (truth <= student[:, 1])),
        "width_over_t": round(
            float(np.ptp(found[is_wide], axis=1).mean() / np.ptp(student[is_wide], axis=1).mean()), 4
        ),
        "is_named": _share(is_named),
        "is_warned": _share(np.array(is_named) & (shift > np.ptp(found, axis=1) / 2)),
        "is_held": _share(is_covered | is_named),
    }


def _rare_loss(kind: str, row: np.ndarray) -> RareLoss | None:
    if kind == "pair":
        return rare_loss_of_differences(PairedDifferences(row, 0, 1))
    return rare_loss_of_scores(row, np.ones(len(row)), 0, 1)


def _share(is_so: ArrayLike) -> float:
    return round(float(np.mean(is_so)), 4)


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, 2000, "graded")
