"""Time of 10,000 Bayesian-bootstrap draws, beside one evaluation by lm-evaluation-harness in the same run.

    python benchmarks/bench_weighted.py

prints medians and ratios and writes benchmarks/results/weighted.json. The harness bootstraps 100,000 times (BLEU: 100);
its total is one evaluation, on resampled items as in its own loop, times that number.
"""

import json
import platform
import random
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from harness_uq.stats.means.bayesian_bootstrap import NamedStatistic, bayesian_bootstrap

RESULTS = Path(__file__).parent / "results" / "weighted.json"
SIZES = (1_000, 10_000)
HARNESS_DRAWS = {"perplexity": 100_000, "median": 100_000, "bleu": 100}
WORDS = [f"w{i}" for i in range(200)]


def sentences(n: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """References of 5 to 30 words, and outputs that keep each word with probability .7."""
    pairs = []
    for length in rng.integers(5, 31, n):
        reference = rng.choice(WORDS, length)
        output = np.where(rng.random(length) < 0.7, reference, rng.choice(WORDS, length))
        pairs.append((" ".join(reference), " ".join(output)))
    return pairs


def bleu_columns(pairs: list[tuple[str, str]]) -> np.ndarray:
    import sacrebleu

    scores = [sacrebleu.corpus_bleu([output], [[reference]]) for reference, output in pairs]
    return np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in scores], float)


def data(name: str, n: int) -> tuple[np.ndarray, list[object], str]:
    """Columns for us, items for the harness, and the harness's name of the statistic."""
    rng = np.random.default_rng(n)
    if name == "bleu":
        pairs = sentences(n, rng)
        return bleu_columns(pairs), list(pairs), "bleu"
    words = rng.integers(50, 400, n)
    log_likelihood = -words * rng.gamma(9.0, 0.4, n)
    if name == "perplexity":
        return (
            np.column_stack([log_likelihood, words]),
            list(zip(log_likelihood, words, strict=True)),
            "weighted_perplexity",
        )
    return log_likelihood, list(log_likelihood), "median"


def median_seconds(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(name: NamedStatistic, n: int) -> dict[str, float]:
    from lm_eval.api import metrics

    columns, items, theirs = data(name, n)
    evaluate = getattr(metrics, theirs)
    ours = median_seconds(lambda: bayesian_bootstrap(columns, name), 3)
    one = median_seconds(lambda: evaluate(random.choices(items, k=n)), 3)
    clusters = np.arange(n) // 10
    return {
        "draws_10000_s": round(ours, 4),
        "draws_10000_in_clusters_of_10_s": round(
            median_seconds(lambda: bayesian_bootstrap(columns, name, clusters=clusters), 3), 4
        ),
        "harness_one_evaluation_s": round(one, 6),
        "harness_total_s": round(one * HARNESS_DRAWS[name], 2),
        "ratio_of_totals": round(one * HARNESS_DRAWS[name] / ours, 1),
        "ratio_at_equal_draws": round(one * 10_000 / ours, 1),
    }


def main() -> None:
    names: tuple[NamedStatistic, ...] = ("perplexity", "median", "bleu")
    rows = {f"{name} {n:,}": measure(name, n) for name in names for n in SIZES}
    binary = np.repeat([1.0, 0.0], [700_000, 300_000])
    rows["mean of 0/1 1,000,000"] = {
        "draws_10000_s": round(median_seconds(lambda: bayesian_bootstrap(binary, "mean"), 3), 4)
    }
    for name, row in rows.items():
        print(f"{name:>22}  " + "  ".join(f"{key} {value:,}" for key, value in row.items()))
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "cases": rows,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
