"""Calibration of P(best) among systems that are nearly alike: log score, reliability, frequency of strong statements.

Five systems answer the same 200 questions once. Their true scores are normal with mean 0.6 and a standard deviation
(spread) of 0.01, 0.02 or 0.05, and the difficulty of a question is shared by all systems (probit, standard deviation
0.7). 2,000 data sets per spread, seed 20261123. `flat` draws the scores under a flat prior, `shrunk` under the
hierarchical prior that `rank` uses. Reporting 1/5 for each system has a log score of -1.609.

    python benchmarks/sim_best_system.py [--n 2000]
"""

import argparse

import numpy as np
from scipy import stats

from harness_uq.stats.pairs.shrunk_scores import shrunk_draws
from harness_uq.stats.units.draws import joint_draws

SPREADS = (0.01, 0.02, 0.05)
N_SYSTEMS, N_QUESTIONS, N_DRAWS, DIFFICULTY_SD = 5, 200, 2000, 0.7


def data_set(spread: float, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Answers (systems, questions) and the index of the best system."""
    scores = np.clip(0.6 + spread * rng.standard_normal(N_SYSTEMS), 0.01, 0.99)
    thresholds = stats.norm.ppf(scores) * np.sqrt(1 + DIFFICULTY_SD**2)
    noise = DIFFICULTY_SD * rng.standard_normal(N_QUESTIONS) + rng.standard_normal((N_SYSTEMS, N_QUESTIONS))
    return (thresholds[:, None] + noise > 0).astype(float), int(scores.argmax())


def main() -> None:
    """Print the results by spread, then the reliability over all spreads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000)
    n, rng = parser.parse_args().n, np.random.default_rng(20261123)
    stated: list[tuple[float, bool]] = []
    for spread in SPREADS:
        logs, strong = np.empty((2, n)), np.empty((2, n), bool)
        for i in range(n):
            answers, best = data_set(spread, rng)
            flat = joint_draws(answers, 0, 1, n_draws=N_DRAWS, rng=rng)
            for j, draws in enumerate((flat, shrunk_draws(flat, rng=rng))):
                prob = np.bincount(draws.argmax(axis=0), minlength=N_SYSTEMS) / N_DRAWS
                logs[j, i], strong[j, i] = np.log(max(prob[best], 1 / N_DRAWS)), prob.max() > 0.6
                if j:
                    stated += [(float(p), k == best) for k, p in enumerate(prob)]
        error = logs.std(axis=1) / np.sqrt(n)
        print(
            f"spread {spread}: log score flat {logs[0].mean():.3f}, shrunk {logs[1].mean():.3f} (SE {error[1]:.3f});",
            end=" ",
        )
        print(f"P(best) > 0.6 in {strong[0].mean():.3f} and {strong[1].mean():.3f} of data sets")
    table = np.array(stated, float)
    for low in np.arange(0.0, 1.0, 0.1):
        rows = table[(table[:, 0] >= low) & (table[:, 0] < low + 0.1)]
        if len(rows):
            print(
                f"P(best) {low:.1f} to {low + 0.1:.1f}: {len(rows)} statements, mean {rows[:, 0].mean():.3f}, ", end=""
            )
            print(f"right {rows[:, 1].mean():.3f}")


if __name__ == "__main__":
    main()
