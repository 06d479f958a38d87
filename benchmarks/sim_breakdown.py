"""Coverage of pooled intervals on average over groups, and false alarms: `python benchmarks/sim_breakdown.py`.

The cells and seeds are fixed below. Pooled intervals: 2,000 data sets of right-or-wrong answers per cell. The true
scores of groups are normal or lie in two clusters, so that the prior of the model holds only in the first case.
False alarms (argument `alarms`): two equal systems, and the share of data sets in which any group has a verdict.
"""

import sys

import numpy as np
from scipy import stats

from harness_uq import TaskLog
from harness_uq.analyses.breakdown import GroupValue, pooled_values
from harness_uq.analyses.compare import compare
from harness_uq.data.task_log import MetadataField, Questions, Scores, Source

N_DATA_SETS = 2_000
POOLED = [
    (kind, n_groups, sizes, centre, spread)
    for kind in ("normal", "two clusters")
    for n_groups, sizes in ((5, (40, 120)), (14, (40, 120)), (14, (10, 40)), (30, (20, 200)))
    for centre, spread in ((0.65, 0.0), (0.65, 0.05), (0.65, 0.12), (0.88, 0.05))
]
ALARMS = [(14, 40, 0.7), (5, 100, 0.9), (30, 20, 0.6), (14, 15, 0.85)]


def true_scores(kind: str, n: int, centre: float, spread: float, rng: np.random.Generator) -> np.ndarray:
    """True scores of groups with this mean and standard deviation."""
    if kind == "normal":
        return np.clip(rng.normal(centre, spread, n), 0.02, 0.98)
    return centre + spread * np.where(rng.random(n) < 0.5, -1.0, 1.0)


def coverage(cell: tuple[str, int, tuple[int, int], float, float], seed: int) -> tuple[float, float, float, float]:
    """Coverage of pooled and single intervals, and their mean widths."""
    kind, n_groups, sizes, centre, spread = cell
    rng = np.random.default_rng(seed)
    held = np.zeros(2)
    width = np.zeros(2)
    for _ in range(N_DATA_SETS):
        theta = true_scores(kind, n_groups, centre, spread, rng)
        n = rng.integers(sizes[0], sizes[1] + 1, n_groups)
        right = rng.binomial(n, theta)
        posterior = stats.beta(right + 1, n - right + 1)
        pooled = pooled_values(
            [GroupValue(x / m, sd, int(m)) for x, m, sd in zip(right, n, posterior.std(), strict=True)],
            0.95,
            (0.0, 1.0),
        )
        low, high = np.array([(one.low, one.high) for one in pooled.intervals]).T
        single = posterior.ppf(0.025), posterior.ppf(0.975)
        for k, (a, b) in enumerate(((low, high), single)):
            held[k] += ((a <= theta) & (theta <= b)).mean()
            width[k] += (b - a).mean()
    return (*(held / N_DATA_SETS), *(width / N_DATA_SETS))


def log(scores: np.ndarray, groups: np.ndarray, system: str) -> TaskLog:
    """A log of right-or-wrong answers with a field of groups."""
    labels = tuple(map(str, range(groups.max() + 1)))
    questions = Questions(tuple(map(str, range(len(scores)))), fields={"group": MetadataField(groups, values=labels)})
    data = (Scores("acc", "none", scores[:, None].astype(float)),)
    return TaskLog(system=system, task="t", source=Source(system, "table"), questions=questions, data=data)


def alarms(cell: tuple[int, int, float], seed: int, n_data_sets: int) -> float:
    """Share of data sets of two equal systems with a verdict on any group."""
    n_groups, size, centre = cell
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    n_alarms = 0
    for _ in range(n_data_sets):
        rate = rng.beta(4 * centre, 4 * (1 - centre), len(groups))
        runs = [log(rng.random(len(groups)) < rate, groups, name) for name in ("a", "b")]
        (row,) = compare(runs[0], runs[1], by="group")
        n_alarms += any(one.verdict_corrected != "undecided" for one in row.groups)
    return n_alarms / n_data_sets


def main() -> None:
    """Print a row per cell."""
    if "alarms" not in sys.argv:
        print("group effects | groups | questions | mean | sd | coverage pooled (single) | width pooled (single)")
        for seed, cell in enumerate(POOLED):
            pooled, single, width, single_width = coverage(cell, seed)
            kind, n_groups, sizes, centre, spread = cell
            design = f"{kind} | {n_groups} | {sizes[0]} to {sizes[1]} | {centre} | {spread}"
            print(f"{design} | {pooled:.3f} ({single:.3f}) | {width:.3f} ({single_width:.3f})", flush=True)
        return
    for seed, cell in enumerate(ALARMS):
        print(f"equal systems, {cell}: {alarms(cell, 100 + seed, N_DATA_SETS):.4f}", flush=True)


if __name__ == "__main__":
    main()
