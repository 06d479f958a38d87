"""Time and memory of crossed effects on 10^6 scores, beside statsmodels' mixed model as far as it gets.

    python benchmarks/bench_crossed.py

2,000 questions x 50 systems x 10 seeds, right or wrong, about new questions and seeds. Demand: 10 s and 2 GB.
statsmodels takes the same three factors and no interaction, on tables of up to 3,000 scores: 10,000 take minutes.
Prints, and writes benchmarks/results/crossed.json.
"""

import json
import resource
import time
from pathlib import Path

import numpy as np
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

from harness_uq.stats import crossed_posterior

NEW = ("question", "seed")
SIZES = ((20, 5, 3), (50, 5, 3), (100, 10, 3))


def table(n_questions: int, n_systems: int, n_seeds: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    question, rest = np.divmod(np.arange(n_questions * n_systems * n_seeds), n_systems * n_seeds)
    system, seed = np.divmod(rest, n_seeds)
    logit = rng.normal(size=n_questions)[question] + rng.normal(size=n_systems)[system]
    logit += 0.3 * rng.normal(size=n_seeds)[seed]
    right = rng.random(len(logit)) < 1 / (1 + np.exp(-logit))
    return right.astype(float), {"question": question, "system": system, "seed": seed}


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def mixed_model(scores: np.ndarray, factors: dict[str, np.ndarray]) -> None:
    n = len(scores)
    indicator = {name: [np.eye(codes.max() + 1)[codes]] for name, codes in factors.items()}
    names = list(indicator)
    columns = [[[f"{name}{i}" for i in range(indicator[name][0].shape[1])]] for name in names]
    spec = VCSpec(names, columns, [indicator[name] for name in names])
    MixedLM(scores, np.ones((n, 1)), groups=np.zeros(n), exog_vc=spec).fit(reml=True)


def main() -> None:
    scores, factors = table(2000, 50, 10)
    start, processor = time.perf_counter(), time.process_time()
    posterior = crossed_posterior(scores, factors, new=NEW)
    ours = {
        "scores": len(scores),
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
        "peak_gb": round(peak_gb(), 2),
    }
    print("harness_uq", ours, [round(end, 4) for end in posterior.interval()])
    theirs = []
    for size in SIZES:
        scores, factors = table(*size)
        start = time.perf_counter()
        mixed_model(scores, factors)
        seconds = time.perf_counter() - start
        theirs.append({"scores": len(scores), "seconds": round(seconds, 2), "peak_gb": round(peak_gb(), 2)})
        print("statsmodels", theirs[-1])
    content = {"harness_uq": ours, "statsmodels": theirs}
    Path(__file__).with_name("results").joinpath("crossed.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
