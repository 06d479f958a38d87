"""Coverage and width of intervals if some questions are always wrong, or always right, and the sample may lack them.

Run as `python benchmarks/sim_unseen_subpopulations.py trials` (or `clusters`, `comparisons`; each takes about eight
minutes of one core for 2,000 data sets per cell). Writes benchmarks/results/unseen_subpopulations.json, with the
interval before and after `UnseenSubpopulations` on the same data sets.

In each cell a share of the questions (or clusters) is always wrong or always right. The others have success
probability `p`, or Beta-distributed success probabilities of mean `p` and mass `d`. In comparisons the share is that of
questions on which system A is always wrong (or right), while B answers them like all others. Cells of share 0 have no
such questions; there the widths are compared.
"""

import argparse
import json
from functools import cache
from pathlib import Path

import numpy as np

from harness_uq.stats import BetaMixturePosterior, paired_difference_posterior
from harness_uq.stats.clusters.clustered_proportion import (
    _beta_parameters,
    _clustered_sample,
    clustered_score_posterior,
)
from harness_uq.stats.units.contrasts import WidenedDifferencePosterior

OUTPUT = Path(__file__).parent / "results" / "unseen_subpopulations.json"
N_ANSWERS = 8
SHAPES = {"trials": 30, "clusters": 14, "comparisons": 30}
SHARES = (0.01, 0.02, 0.05, 0.1)
WRONG, RIGHT = 0.0, 1.0
ORDINARY = ((0.9, None), (0.9, 10), (0.8, 5), (0.7, None))  # p and d of cells of share 0
PROBLEMS = ((WRONG, 0.9, None), (WRONG, 0.97, None), (WRONG, 0.9, 10), (RIGHT, 0.3, None))
PAIRS = ((0.9, None), (0.9, 10), (0.7, 10))
PAIR_PROBLEMS = ((WRONG, 0.9, None), (WRONG, 0.9, 10), (RIGHT, 0.2, None))


def rates(p: float, d: float | None, n: int, rng: np.random.Generator) -> np.ndarray:
    """Success probabilities of ordinary units."""
    return np.full(n, p) if d is None else rng.beta(d * p, d * (1 - p), n)


@cache
def all_right(n_units: int) -> float:
    """Lower limit if all answers are right, which lower limits do not exceed."""
    return clustered_score_posterior([N_ANSWERS] * n_units, N_ANSWERS).interval(0.95, "hdi")[0]


@cache
def single_intervals(successes: tuple[int, ...]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Both intervals; the second one as in `ClusteredScorePosterior`, without its comparison to neighbouring data."""
    n_units = len(successes)
    sample = _clustered_sample(np.array(successes, float), np.full(n_units, float(N_ANSWERS)), np.ones(n_units))
    before = BetaMixturePosterior(*_beta_parameters(sample.clusters, sample.effective, sample.answers), sample.masses)
    low, high = sample.posterior.interval(0.95, "hdi")
    limit = all_right(n_units)
    return before.interval(0.95, "hdi"), (min(low, limit), max(high, 1 - limit))


def single(n_units: int, fixed: float, share: float, p: float, d: float | None, rng: np.random.Generator) -> tuple:
    """True score and both intervals of one data set."""
    chances = np.where(rng.random(n_units) < share, fixed, rates(p, d, n_units, rng))
    successes = np.sort(rng.binomial(N_ANSWERS, chances))
    return (1 - share) * p + share * fixed, *single_intervals(tuple(successes.tolist()))


def comparison(n_units: int, fixed: float, share: float, p: float, d: float | None, rng: np.random.Generator) -> tuple:
    """True difference and both intervals of one data set."""
    chances = np.where(rng.random(n_units) < share, fixed, rates(p, d, n_units, rng))
    a, b = (rng.binomial(N_ANSWERS, each) / N_ANSWERS for each in (chances, rates(p, d, n_units, rng)))
    before = paired_difference_posterior(a - b, 0.0, 1.0)
    after = WidenedDifferencePosterior(before, a - b, n_units * N_ANSWERS, 1.0)
    return share * (fixed - p), before.interval(0.95), after.interval(0.95)


def simulate(design: str, fixed: float, share: float, p: float, d: float | None, n: int) -> dict:
    """Coverage and mean width before and after, of `n` data sets."""
    rng = np.random.default_rng([SHAPES[design], int(fixed), int(1000 * share), int(100 * p), d or 0])
    draw = comparison if design == "comparisons" else single
    rows = []
    for _ in range(n):
        truth, *intervals = draw(SHAPES[design], fixed, share, p, d, rng)
        rows.append([(low <= truth <= high, high - low) for low, high in intervals])
    (covered_before, width_before), (covered_after, width_after) = np.mean(np.array(rows, float), axis=0)
    cell = {"design": design, "fixed": fixed, "share": share, "p": p, "d": d, "n": n}
    widths = {"width before": round(float(width_before), 4), "width ratio": round(float(width_after / width_before), 3)}
    return cell | {"before": round(float(covered_before), 4), "after": round(float(covered_after), 4)} | widths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("design", choices=list(SHAPES))
    parser.add_argument("--draws", type=int, default=2_000, help="data sets per cell (default 2000)")
    args = parser.parse_args()
    is_pair = args.design == "comparisons"
    cells = [(WRONG, 0.0, p, d) for p, d in (PAIRS if is_pair else ORDINARY)]
    problems = PAIR_PROBLEMS if is_pair else PROBLEMS
    cells += [(fixed, share, p, d) for fixed, p, d in problems for share in SHARES]
    results = []
    for cell in cells:
        results.append(simulate(args.design, *cell, args.draws))
        print(results[-1], flush=True)
    stored = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else []
    others = [row for row in stored if row["design"] != args.design]
    OUTPUT.write_text(json.dumps(others + results, indent=1) + "\n")


if __name__ == "__main__":
    main()
