"""Time of the pass@k family on 10,000 questions x 16 trials, beside scorio on the same arrays in the same run.

    pip install -r benchmarks/requirements.txt
    python benchmarks/bench_pass_k.py

prints medians and ratios and writes benchmarks/results/pass_k.json. Demand: estimates no slower than scorio 0.2.3.
The hierarchical posteriors have no counterpart there.
"""

import numpy as np
from peers import compare, report, scorio_eval

from harness_uq.stats.trials.pass_k import (
    g_pass_at_k,
    maj_at_k,
    mg_pass_at_k,
    pass_at_k,
    pass_hat_k,
    pass_k_posterior,
)


def main() -> None:
    outcomes = np.random.default_rng(16).integers(0, 2, (10_000, 16))
    right, k = outcomes.sum(axis=1), 4
    peer = scorio_eval()
    cases = {
        "pass@4": compare(lambda: pass_at_k(outcomes, k), lambda: peer.pass_at_k(outcomes, k)),
        "pass^4": compare(lambda: pass_hat_k(outcomes, k), lambda: peer.pass_hat_k(outcomes, k)),
        "G-pass@4, tau .5": compare(
            lambda: g_pass_at_k(outcomes, k, 0.5), lambda: peer.g_pass_at_k_tau(outcomes, k, 0.5)
        ),
        "mG-pass@4": compare(lambda: mg_pass_at_k(outcomes, k), lambda: peer.mg_pass_at_k(outcomes, k)),
        "maj@4, right or wrong": compare(lambda: maj_at_k(outcomes, k), lambda: peer.maj_at_k(outcomes, k)),
        "posterior, population": compare(lambda: pass_k_posterior(right, 16, k), None),
        "posterior, benchmark": compare(lambda: pass_k_posterior(right, 16, k, scope="benchmark"), None),
    }
    report("pass_k", "10,000 questions x 16 trials", cases)


if __name__ == "__main__":
    main()
