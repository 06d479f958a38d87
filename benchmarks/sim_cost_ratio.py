"""Coverage of the cost per solved question, and of ratios of two systems.

Run as `python benchmarks/sim_cost_ratio.py single` (or `paired`, `clusters`); prints one line per cell. The cells were
declared before the first run. Log costs are normal with standard deviation sigma; a question is solved if a latent
variable, whose correlation with the log cost is rho, is below the quantile of the success rate p.
"""

import sys
from functools import lru_cache

import numpy as np
from scipy import stats

from harness_uq import estimate_scores
from harness_uq.stats.means.ratio import (
    PositiveLimits,
    correlation_of_means,
    is_heavy_tailed,
    positive_mean,
    ratio_of_limits,
)

SEED = 27
TAILS = (0.025, 0.975)


@lru_cache(None)
def success_limits(k, n):
    """Limits of Beta(1 + k, 1 + n - k), the default for independent questions."""
    return PositiveLimits(k / n, *map(float, stats.beta.ppf(TAILS, k + 1, n - k + 1)))


def draw(rng, n, p, sigma, rho, shared=None):
    """Costs with mean 1 and scores; half of the variance is `shared` with another system or within clusters."""
    z, u = rng.standard_normal((2, n))
    if shared is not None:
        z, u = (np.sqrt(0.5) * common + np.sqrt(0.5) * own for common, own in zip(shared, (z, u), strict=True))
    latent = rho * z + np.sqrt(1 - rho**2) * u
    return np.exp(sigma * z - sigma**2 / 2), (latent < stats.norm.ppf(p)).astype(float)


def cost_per_solved(costs, scores, codes=None, success=None):
    """Limits of the ratio, and of the mean cost and score."""
    cost = positive_mean(costs, codes)
    success = success or success_limits(int(scores.sum()), len(scores))
    r = correlation_of_means(costs, scores, codes, bounds=(0.0, 1.0))
    return ratio_of_limits(cost, success, r), cost, success


def single(rng, n_sets):
    """Independent questions of one system."""
    for n in (30, 100, 300):
        for sigma in (0.5, 1.0, 1.5):
            for p in (0.05, 0.3, 0.9):
                for rho in (-0.5, 0.0, 0.5):
                    data = [draw(rng, n, p, sigma, rho) for _ in range(n_sets)]
                    limits = [cost_per_solved(*one)[0] for one in data]
                    covered = np.mean([one.low <= 1 / p <= one.high for one in limits])
                    unbounded = np.mean([np.isinf(one.high) for one in limits])
                    warned = np.mean([n < 100 and is_heavy_tailed(costs) for costs, _ in data])
                    shares = f"{covered:.3f}, {unbounded:.3f} unbounded, {warned:.2f} warned"
                    print(f"n {n} sigma {sigma} p {p} rho {rho}: {shares}")


def paired(rng, n_sets):
    """Ratio of two systems with success rates p and 0.6, if both solved a question."""
    for n in (30, 100, 300):
        for sigma in (0.5, 1.0, 1.5):
            for p in (0.1, 0.3, 0.9):
                hits = []
                for _ in range(n_sets):
                    shared = rng.standard_normal((2, n))
                    systems = [draw(rng, n, rate, sigma, 0.3, shared) for rate in (p, 0.6)]
                    if min(scores.sum() for _, scores in systems) > 0:
                        (first, *means_a), (second, *means_b) = (cost_per_solved(*one) for one in systems)
                        influence = [
                            costs / cost.value - scores / success.value
                            for (costs, scores), (cost, success) in zip(systems, (means_a, means_b), strict=True)
                        ]
                        limits = ratio_of_limits(first, second, correlation_of_means(*influence))
                        hits.append(limits.low <= 0.6 / p <= limits.high)
                print(f"n {n} sigma {sigma} p {p}: {np.mean(hits):.3f} of {len(hits)}")


def clusters(_, n_sets):
    """Clusters of questions, and trials of questions, of one system; each cell has its own seed."""
    designs = (("clusters", 20, 5), ("clusters", 40, 5), ("trials", 50, 4), ("trials", 30, 4), ("clusters", 100, 3))
    for cell, (kind, n_units, size) in enumerate(designs):
        for sigma in (0.5, 1.0, 1.5):
            for p in (0.3, 0.9):
                rng, hits = np.random.default_rng([SEED, cell, int(10 * sigma), int(10 * p)]), 0
                for _ in range(n_sets):
                    shared = np.repeat(rng.standard_normal((2, n_units)), size, axis=1)
                    costs, scores = draw(rng, n_units * size, p, sigma, 0.3, shared)
                    codes = np.repeat(np.arange(n_units), size)
                    if kind == "trials":
                        costs, scores, codes = costs.reshape(n_units, size), scores.reshape(n_units, size), None
                    row = estimate_scores(scores, clusters=codes, range=(0, 1))
                    success = PositiveLimits(row.value, *map(float, row.posterior.quantile(TAILS)))
                    if kind == "trials":
                        costs, scores = costs.mean(axis=1), scores.mean(axis=1)
                    limits, *_ = cost_per_solved(costs, scores, codes, success)
                    hits += limits.low <= 1 / p <= limits.high
                print(f"{n_units} {kind} of {size}, sigma {sigma}, p {p}: {hits / n_sets:.3f}", flush=True)


if __name__ == "__main__":
    study = {"single": single, "paired": paired, "clusters": clusters}[sys.argv[1]]
    study(np.random.default_rng(SEED), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
