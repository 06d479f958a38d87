"""How often the system that is stated to be better is better, if the systems are nearly equal.

The true differences of 200,000 pairs of systems are drawn from a normal distribution with mean 0 in each cell, and 30 %
of the questions are discordant. `right` is the share of pairs whose better system is the one with P > 1/2, among those
in a range of the larger of P(A > B) and P(B > A). The seed of a cell is its number.

    python -m benchmarks.sim_prob_better
"""

import numpy as np
from scipy import special

from benchmarks.run_cells import run_cells

SHARE = 0.3
RANGES = ((0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.975), (0.975, 1.0))
CELLS = tuple((n, spread) for n in (100, 500, 2000) for spread in (0.01, 0.02, 0.05, 0.1))


def run_cell(n: int, spread: float, reps: int, seed: int) -> dict[str, object]:
    """Share of right statements, by the stated probability."""
    rng = np.random.default_rng([42, 7, seed])
    difference = np.clip(rng.normal(0.0, spread, reps), -SHARE, SHARE)
    discordant = rng.binomial(n, SHARE, reps)
    wins = rng.binomial(discordant, (1 + difference / SHARE) / 2)
    stated = special.betainc(discordant - wins + 0.5, wins + 0.5, 0.5)  # P(A > B) of the default
    larger, is_right = np.maximum(stated, 1 - stated), (stated > 0.5) == (difference > 0)
    rows = []
    for low, high in RANGES:
        among = (larger >= low) & (larger < high)
        rows.append(
            {
                "stated": [low, high],
                "mean": round(float(larger[among].mean()), 4),
                "right": round(float(is_right[among].mean()), 4),
                "share": round(float(among.mean()), 4),
            }
        )
    return {"n": n, "spread": spread, "ranges": rows, "reps": reps}


if __name__ == "__main__":
    run_cells(__doc__ or "", run_cell, CELLS, 200_000, "prob_better")
