"""Power of the default comparison in simulated data, and the power from which plans are computed.

The cells are fixed before the run. Each has 2,000 data sets, whose seed is the number of the cell. `planned` is the
power that `PairedDesign` computes from the true variance, `simulated` the share of default intervals for the difference
that exclude 0, and `normal` the power with a known standard error.

    python -m benchmarks.sim_plan_power
"""

from collections.abc import Callable

import numpy as np

from benchmarks.run_cells import run_cells
from harness_uq.stats.design.paired_power import PairedDesign, default_width_ratio
from harness_uq.stats.design.power import detection_power
from harness_uq.stats.units.contrasts import PairedDifferences, contrast_posteriors

Draw = Callable[[np.random.Generator], np.ndarray]

_LARGE = 500_000  # units whose mean and variance are those of the population


def _binary(rng: np.random.Generator, n: int, effect: float, share: float) -> np.ndarray:
    return rng.choice([1.0, -1.0, 0.0], n, p=[(share + effect) / 2, (share - effect) / 2, 1 - share])


def _graded(rng: np.random.Generator, n: int, effect: float, sd: float) -> np.ndarray:
    return np.clip(rng.normal(effect, sd, n), -1.0, 1.0)


def _clusters(rng: np.random.Generator, c: int, effect: float, sd: float) -> np.ndarray:
    """Answers to c passages of ten; the rates of the passages differ by `effect` and a normal shift."""
    base, shift = rng.uniform(0.3, 0.6, c), rng.normal(effect, sd, c)
    a, b = np.clip(base + shift / 2, 0, 1), np.clip(base - shift / 2, 0, 1)
    return (rng.random((c, 10)) < a[:, None]).astype(float) - (rng.random((c, 10)) < b[:, None])


def _trials(rng: np.random.Generator, n: int, effect: float, k: int) -> np.ndarray:
    p = rng.beta(2, 2, n) * (1 - effect)
    return (rng.binomial(k, p + effect) - rng.binomial(k, p)) / k


CELLS = (
    *(("binary", n, effect, 0.3) for n, effect in ((12, 0.25), (25, 0.2), (40, 0.2), (60, 0.2), (100, 0.15))),
    *(("binary", n, effect, 0.3) for n, effect in ((200, 0.1), (500, 0.07))),
    ("binary", 30, 0.25, 0.6),
    ("graded", 20, 0.014, 0.02),
    ("graded", 20, 0.035, 0.05),
    ("graded", 50, 0.02, 0.05),
    ("graded", 100, 0.028, 0.1),
    ("graded", 20, 0.1, 0.15),
    ("graded", 50, 0.12, 0.3),
    ("graded", 200, 0.06, 0.3),
    *(("clusters", c, effect, 0.15) for c, effect in ((4, 0.35), (5, 0.3), (6, 0.28), (8, 0.22))),
    *(("clusters", c, effect, 0.15) for c, effect in ((10, 0.2), (20, 0.13), (40, 0.09))),
    ("trials", 30, 0.12, 4),
    ("trials", 100, 0.07, 4),
)
DRAWS = {"binary": _binary, "graded": _graded, "clusters": _clusters, "trials": _trials}


def run_cell(kind: str, n: int, effect: float, spread: float, reps: int, seed: int) -> dict[str, object]:
    """Compute the planned and the simulated power of one cell."""
    rng = np.random.default_rng([42, 4, seed])
    data = [DRAWS[kind](rng, n, effect, spread).ravel() for _ in range(reps)]
    size = 10 if kind == "clusters" else 1
    labels = np.repeat(np.arange(n), 10) if kind == "clusters" else None
    answers = {"clusters": 10 * n, "trials": n * int(spread)}.get(kind)
    pairs = [PairedDifferences(d, 0.0, 1.0, labels, n_answers=answers) for d in data]
    found = np.array([one.interval(0.95) for one in contrast_posteriors(pairs)])
    simulated = float(np.mean((found[:, 0] > 0) | (found[:, 1] < 0)))
    large = DRAWS[kind](rng, _LARGE, effect, spread).reshape(_LARGE, -1).mean(axis=1)
    variance, mean = float(large.var() * size), float(large.mean())
    repeated = {"clusters": 1, "trials": int(spread)}.get(kind)
    ratio = default_width_ratio(round(float(large.std()), 3), size, repeated)
    design = PairedDesign(variance, size, spread if kind == "binary" else None, ratio)
    return {
        "kind": kind,
        "units": n,
        "effect": mean,
        "spread": spread,
        "simulated": simulated,
        "planned": round(design.power(effect if kind == "binary" else mean, n * size), 4),
        "normal": round(float(detection_power(mean, n * size, variance)), 4),
        "reps": reps,
    }


if __name__ == "__main__":
    run_cells(__doc__ or "", run_cell, CELLS, 2000, "plan_power")
