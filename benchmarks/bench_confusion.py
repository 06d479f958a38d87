"""Time of the posteriors of confusion metrics, beside lm-eval's bootstrap of F1 on the same 10,000 pairs in one run.

    python benchmarks/bench_confusion.py

prints medians and ratios and writes benchmarks/results/confusion.json. Demand: F1 with its interval from 10,000
(target, prediction) pairs in at most 5 ms. The bootstrap is timed over 30 draws and scaled to lm-eval's default of
100,000; it gives a standard error and no interval.
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

from harness_uq.stats.classes.confusion import clustered_confusion_posterior, confusion_posterior
from harness_uq.stats.classes.multiclass import clustered_multiclass_posterior, confusion_matrix, multiclass_posterior
from harness_uq.stats.common.posterior import Posterior

RESULTS = Path(__file__).parent / "results" / "confusion.json"
N_PAIRS = 10_000
BOOTSTRAP_DRAWS, BOOTSTRAP_DEFAULT = 30, 100_000


def pairs(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets and predictions of accuracy about .85."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, n_classes, N_PAIRS)
    return target, np.where(rng.random(N_PAIRS) < 0.85, target, rng.integers(0, n_classes, N_PAIRS))


def binary(metric: str) -> Posterior:
    tn, fp, fn, tp = confusion_matrix(*pairs_of_two).ravel()
    return confusion_posterior(tp, fp, fn, tn, metric, beta=2.0)


def bootstrap_seconds() -> tuple[float, float]:
    """Seconds of lm-eval's bootstrap at its default number of draws, and the standard error it found."""
    os.environ["DISABLE_MULTIPROC"] = "1"
    from lm_eval.api.metrics import bootstrap_stderr, f1_score

    data = list(zip(*(side.tolist() for side in pairs_of_two), strict=True))
    f1_score(data)
    start = time.process_time()
    error = bootstrap_stderr(f1_score, data, iters=BOOTSTRAP_DRAWS)
    return (time.process_time() - start) / BOOTSTRAP_DRAWS * BOOTSTRAP_DEFAULT, float(error)


def median_ms(function: Callable[[], object], repeats: int) -> float:
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(1000 * (time.process_time() - start))
    return round(statistics.median(times), 3)


def cases() -> dict[str, float]:
    clusters = np.arange(N_PAIRS) // 17  # 589 clusters
    rows = {
        "f1, quantile interval": median_ms(lambda: binary("f1").interval(), 50),
        "f1, hdi": median_ms(lambda: binary("f1").interval(kind="hdi"), 50),
    }
    for metric in ("f_beta", "g", "balanced_accuracy", "mcc"):
        rows[f"{metric}, hdi"] = median_ms(lambda metric=metric: binary(metric).interval(kind="hdi"), 15)
    rows["f1 in 589 clusters, quantile interval"] = median_ms(
        lambda: clustered_confusion_posterior(*pairs_of_two, clusters).interval(), 7
    )
    for n_classes in (3, 10, 30):
        target, prediction = pairs(n_classes)
        rows[f"macro_f1 of {n_classes} classes"] = median_ms(
            lambda t=target, p=prediction: multiclass_posterior(confusion_matrix(t, p)).interval(), 3
        )
    rows["macro_f1 of 10 classes in 589 clusters"] = median_ms(
        lambda: clustered_multiclass_posterior(*pairs(10), clusters).interval(), 3
    )
    return rows


def main() -> None:
    rows = cases()
    seconds, error = bootstrap_seconds()
    for name, value in rows.items():
        print(f"{name:>40}  {value:10.2f} ms")
    print(f"{'bootstrap of f1 in lm-eval, scaled':>40}  {1000 * seconds:10.0f} ms")
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "load_average": round(os.getloadavg()[0], 1),
        "unit": f"median CPU milliseconds, one process, {N_PAIRS} pairs, counting included",
        "cases": rows,
        "bootstrap": {
            "seconds_at_default_draws": round(seconds, 1),
            "timed_draws": BOOTSTRAP_DRAWS,
            "default_draws": BOOTSTRAP_DEFAULT,
            "std_error": round(error, 5),
            "posterior_sd": round(binary("f1").sd, 5),
            "bootstrap_over_posterior_with_hdi": round(1000 * seconds / rows["f1, hdi"]),
        },
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")


pairs_of_two = pairs(2)

if __name__ == "__main__":
    main()
