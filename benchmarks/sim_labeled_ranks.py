"""Ranks of graded systems that human labels correct.

Three or five systems answer the same questions. The grader has another J = sensitivity + specificity - 1 for each of
them, and people label random questions for all systems. Each of the cells below with equal scores has 2,000 data sets,
and each of the others 600.

    python benchmarks/sim_labeled_ranks.py [--reps 2000] [--output benchmarks/results/labeled_ranks.json]
"""

from itertools import combinations, product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq import rank
from harness_uq.data.task_log import TaskLog, log_of_array
from harness_uq.io.human_labels import Label

SYSTEMS = ("first", "second", "third", "fourth", "fifth")
SCORES = ((0.7, 0.7, 0.7), (0.75, 0.7, 0.65), (0.8, 0.7, 0.6))
J = {3: (0.5, 0.7, 0.9), 5: (0.5, 0.6, 0.7, 0.8, 0.9)}  # the grader is strict with the better systems
SIZES = ((300, 50), (1000, 200))
CELLS = [*product(SCORES, SIZES), ((0.7,) * 5, (300, 50))]
CORRELATION, LEVEL = 0.5, 0.95


def data_set(
    scores: tuple[float, ...], n: int, n_labels: int, rng: np.random.Generator
) -> tuple[list[TaskLog], list[Label]]:
    """Logs with the grader's scores, and labels."""
    latent = np.sqrt(CORRELATION) * rng.normal(size=n) + np.sqrt(1 - CORRELATION) * rng.normal(size=(len(scores), n))
    truth = latent < stats.norm.ppf(scores)[:, None]
    graded = truth == (rng.random(truth.shape) < (1 + np.array(J[len(scores)]))[:, None] / 2)
    logs = [
        log_of_array(row.astype(float), system, clusters=None, metric="score")
        for system, row in zip(SYSTEMS, graded, strict=False)
    ]
    chosen = rng.choice(n, n_labels, replace=False)
    labels = [
        Label(log.questions.ids[i], float(truth[k, i]), system=log.system) for k, log in enumerate(logs) for i in chosen
    ]
    return logs, labels


def run_cell(scores: tuple[float, ...], size: tuple[int, int], reps: int, seed: int) -> dict[str, object]:
    """How often all rank sets contain the true ranks, intervals the scores, and pairs are separated wrongly."""
    reps = reps if len(set(scores)) == 1 else round(0.3 * reps)
    pairs = list(combinations(range(len(scores)), 2))
    rng = np.random.default_rng([29, seed])
    ranks_right, covered, separated, wrong = 0, 0, 0, 0
    for _ in range(reps):
        logs, labels = data_set(scores, *size, rng)
        (ranking,) = rank(logs, labels=labels, n_draws=1000)
        place = {row.system: k for k, row in enumerate(ranking.systems)}
        # a system with equal competitors has each of the ranks that it shares with them
        low = [1 + sum(other > own for other in scores) for own in scores]
        high = [sum(other >= own for other in scores) for own in scores]
        rows = [ranking.systems[place[system]] for system in SYSTEMS[: len(scores)]]
        ranks_right += all(
            row.rank_set[0] <= a and b <= row.rank_set[1] for row, a, b in zip(rows, low, high, strict=True)
        )
        covered += sum(row.interval.low <= score <= row.interval.high for row, score in zip(rows, scores, strict=True))
        for a, b in pairs:
            p = ranking.prob_better[place[SYSTEMS[a]]][place[SYSTEMS[b]]]
            separated += not 0.025 <= p <= 0.975
            wrong += p < 0.025 or (scores[a] == scores[b] and p > 0.975)
    return {
        "scores": scores,
        "n": size[0],
        "n_labels": size[1],
        "reps": reps,
        "rank_sets": ranks_right / reps,
        "coverage": covered / (len(scores) * reps),
        "separated": separated / (len(pairs) * reps),
        "wrongly_separated": wrong / (len(pairs) * reps),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="labeled_ranks")
