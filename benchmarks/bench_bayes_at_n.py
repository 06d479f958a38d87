"""Time of Bayes@N and avg@N on 10,000 questions x 16 trials, beside scorio on the same arrays in the same run.

    pip install -r benchmarks/requirements.txt
    python benchmarks/bench_bayes_at_n.py

prints medians and ratios and writes benchmarks/results/bayes_at_n.json. Demand: no slower than scorio 0.2.3.
"""

import numpy as np
from peers import compare, report, scorio_eval

from harness_uq.stats.trials.bayes_at_n import avg_at_n, bayes_at_n

RUBRIC = np.array([0.0, 0.2, 0.75, 1.0])


def main() -> None:
    rng = np.random.default_rng(16)
    binary, graded = rng.integers(0, 2, (10_000, 16)), rng.integers(0, 4, (10_000, 16))
    prior = rng.integers(0, 2, (10_000, 4))
    peer = scorio_eval()
    cases = {
        "bayes_at_n, right or wrong": compare(lambda: bayes_at_n(binary), lambda: peer.bayes(binary)),
        "bayes_at_n, 4 prior trials": compare(
            lambda: bayes_at_n(binary, None, prior), lambda: peer.bayes(binary, R0=prior)
        ),
        "bayes_at_n, rubric of 4": compare(lambda: bayes_at_n(graded, RUBRIC), lambda: peer.bayes(graded, RUBRIC)),
        "avg_at_n, right or wrong": compare(lambda: avg_at_n(binary), lambda: peer.avg(binary)),
        "avg_at_n, rubric of 4": compare(lambda: avg_at_n(graded, RUBRIC), lambda: peer.avg(graded, RUBRIC)),
    }
    report("bayes_at_n", "10,000 questions x 16 trials", cases)


if __name__ == "__main__":
    main()
