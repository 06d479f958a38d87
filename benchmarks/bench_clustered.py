"""Time of the clustered posteriors, beside the paper's importance sampling on the same data in the same run.

    python benchmarks/bench_clustered.py

prints medians and ratios and writes benchmarks/results/clustered.json. Demands: at most 10 ms a call for 2,000
clusters and for 588 x 16, at most 100 ms for 1,000,000; at least 100 times faster than 10,000 draws; the default,
centred on the plain score, at most 1.5 times the Beta model's own posterior.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy
from scipy.stats import betabinom

from harness_uq.stats.clusters.beta_binomial_posterior import clustered_importance_posterior, clustered_posterior
from harness_uq.stats.clusters.clustered_proportion import clustered_score_posterior

RESULTS = Path(__file__).parent / "results" / "clustered.json"
SHAPES = {  # clusters, questions in each, dispersion
    "30 x 10": (30, 10, 2.0),
    "588 x 16": (588, 16, 2.0),
    "2,000 x 5": (2_000, 5, 20.0),
    "2,000 x 1..30": (2_000, 0, 2.0),
    "1,000,000 x 1..12": (1_000_000, 0, 2.0),
    "200 x 100,000": (200, 100_000, 20.0),
}
PAPER_UP_TO = 600  # clusters: its arrays hold 10,000 numbers a cluster


def simulate(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of accuracy .8: fixed size, or between 1 and the last number in the name."""
    n_clusters, size, d = SHAPES[name]
    rng = np.random.default_rng(588)
    sizes = np.full(n_clusters, size) if size else rng.integers(1, int(name.split("..")[1]) + 1, n_clusters)
    return rng.binomial(sizes, rng.beta(d * 0.8, d * 0.2, n_clusters)), sizes


def papers_interval(successes: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Algorithm of Bowyer et al. (2025), appendix E.1: prior draws weighted by the likelihood, then resampled."""
    n_draws = 10_000
    theta = rng.beta(1, 1, size=(n_draws, 1))
    d = rng.gamma(1, 1, size=(n_draws, 1))
    log_weights = betabinom(sizes, d * theta, d * (1 - theta)).logpmf(successes).sum(axis=-1)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return np.percentile(theta[rng.choice(n_draws, size=n_draws, replace=True, p=weights)], [2.5, 97.5])


def median_ms(function: Callable[[], object], repeats: int) -> float:
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(name: str) -> dict[str, float]:
    successes, sizes = simulate(name)
    rng = np.random.default_rng(1)
    row = {
        "posterior_ms": median_ms(lambda: clustered_posterior(successes, sizes), 25),
        "posterior_and_quantile_interval_ms": median_ms(
            lambda: clustered_posterior(successes, sizes).interval(0.95), 25
        ),
        "posterior_and_hdi_ms": median_ms(lambda: clustered_posterior(successes, sizes).interval(0.95, "hdi"), 25),
        "default_and_hdi_ms": median_ms(lambda: clustered_score_posterior(successes, sizes).interval(0.95, "hdi"), 25),
        "adapted_importance_sampling_ms": median_ms(
            lambda: clustered_importance_posterior(successes, sizes, rng=rng), 5
        ),
    }
    row["default_over_posterior"] = row["default_and_hdi_ms"] / row["posterior_and_hdi_ms"]
    if len(sizes) <= PAPER_UP_TO:
        row["papers_importance_sampling_ms"] = median_ms(lambda: papers_interval(successes, sizes, rng), 3)
        row["paper_over_posterior"] = row["papers_importance_sampling_ms"] / row["posterior_ms"]
    return {key: round(value, 3) for key, value in row.items()}


def main() -> None:
    rows = {name: measure(name) for name in SHAPES}
    for name, row in rows.items():
        print(f"{name:>18}  " + "  ".join(f"{key} {value:,.1f}" for key, value in row.items()))
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "load_average": round(os.getloadavg()[0], 1),
        "unit": "median milliseconds, one process",
        "cases": rows,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
