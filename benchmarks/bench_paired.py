"""Time of the paired posteriors, beside the published sampler run on the same tables in the same process.

    OMP_NUM_THREADS=1 python benchmarks/bench_paired.py

prints medians and ratios and writes benchmarks/results/paired.json. Demand: one latent-normal posterior with its
interval in at most 60 ms. The sampler is appendix E.2 of Bowyer et al. (2025), written from its statement: 10,000 draws
from the prior, weighted by the likelihood; the bivariate normal probability is ours, since the approximation the paper
cites is not part of its statement.
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
from scipy import special

from benchmarks.reference.dirichlet_multinomial import dirichlet_multinomial_posterior
from benchmarks.reference.two_proportions import independent_posterior
from harness_uq.stats.pairs.bivariate_normal import quadrant_probabilities
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.units.contrasts import paired_difference_posterior

RESULTS = Path(__file__).parent / "results" / "paired.json"
TABLES = {
    "N = 20": [17, 2, 0, 1],
    "N = 100": [60, 12, 5, 23],
    "N = 1,000": [600, 120, 50, 230],
    "N = 1,000, rho .95": [760, 32, 28, 180],
    "N = 10,000": [6000, 1200, 500, 2300],
}
DRAWS = 10_000


def published_sampler(table: list[int], rng: np.random.Generator) -> tuple[float, float, float]:
    """Interval and effective sample size of importance sampling from the prior."""
    theta_a, theta_b, rho = rng.random(DRAWS), rng.random(DRAWS), 2 * rng.beta(4, 2, DRAWS) - 1
    cells = quadrant_probabilities(special.ndtri(theta_a), special.ndtri(theta_b), np.arctanh(rho))
    log_weight = sum(count * np.log(p) for count, p in zip(table, cells, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    posterior = (theta_a - theta_b)[rng.choice(DRAWS, DRAWS, p=weight)]
    low, high = np.percentile(posterior, [2.5, 97.5])
    return float(low), float(high), float(1 / np.sum(weight**2))


def median_ms(function: Callable[[], object], repeats: int) -> float:
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(1000 * (time.process_time() - start))
    return round(statistics.median(times), 3)


def one_pair(table: list[int]) -> dict[str, float]:
    rng = np.random.default_rng(0)
    low, high = paired_posterior(table, "latent_normal").interval()
    samples = [published_sampler(table, rng) for _ in range(21)]
    row = {
        "latent_normal_ms": median_ms(lambda: paired_posterior(table, "latent_normal").interval(), 15),
        "dirichlet_ms": median_ms(lambda: paired_posterior(table, "dirichlet").interval(), 31),
        "published_sampler_ms": median_ms(lambda: published_sampler(table, rng), 15),
        "published_effective_draws": round(statistics.median(ess for _, _, ess in samples), 1),
        "published_error_of_ends_over_width": round(
            statistics.median(max(abs(a - low), abs(b - high)) for a, b, _ in samples) / (high - low), 4
        ),
    }
    row["published_over_latent_normal"] = round(row["published_sampler_ms"] / row["latent_normal_ms"], 2)
    return row


def others() -> dict[str, float]:
    rng = np.random.default_rng(2)
    differences = rng.uniform(-0.4, 0.5, 1000)
    cells = rng.multinomial(20, [0.15, 0.1, 0.75], 25)
    signs = np.repeat(np.tile([1.0, -1.0, 0.0], 25), cells.ravel())
    clusters = np.repeat(np.arange(25), 20)
    return {
        "independent, 72 of 100 and 65 of 100": median_ms(
            lambda: independent_posterior(72, 100, 65, 100).interval(), 31
        ),
        "1,000 real differences": median_ms(lambda: paired_difference_posterior(differences, 0, 1).interval(), 11),
        "25 clusters, process": median_ms(
            lambda: paired_difference_posterior(signs, 0, 1, clusters=clusters).interval(), 31
        ),
        "25 clusters, multinomial": median_ms(lambda: dirichlet_multinomial_posterior(cells).interval(), 11),
    }


def main() -> None:
    cases = {name: one_pair(table) for name, table in TABLES.items()}
    rest = others()
    for name, row in {**cases, "others, ms": rest}.items():
        print(f"{name:>24}  " + "  ".join(f"{key} {value:,}" for key, value in row.items()))
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "load_average": round(os.getloadavg()[0], 1),
        "unit": "median CPU time, one process, interval included",
        "one_pair": cases,
        "others_ms": rest,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
