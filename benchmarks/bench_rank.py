"""Ranking 134 systems on 500 questions, and 100 on 5,000: from task logs to the ranking, and to its text.

    OMP_NUM_THREADS=1 python benchmarks/bench_rank.py

Writes benchmarks/results/rank.json: medians of three runs, in seconds of one core. Leaderboards are to take 5 at most.
With clusters and trials also the time with the plain form of the three-level posterior's weights, an incomplete Beta
function a node, and the ratio of both.
"""

import json
import statistics
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy import special

from harness_uq import Questions, ResultList, Scores, Source, TaskLog
from harness_uq.analyses.rank import rank
from harness_uq.data.task_log import MetadataField
from harness_uq.stats.clusters.beta_expectations import HatNodes
from harness_uq.stats.common.validate_arrays import FloatArray

RUNS = 3
LIMITS = {(134, 500): 5.0, (100, 5000): 10.0}


def logs(kind: str, n_systems: int, n_questions: int) -> list[TaskLog]:
    """Systems between .4 and .8 on questions of varying difficulty."""
    rng = np.random.default_rng(0)
    difficulty = rng.normal(0, 1, n_questions)
    passages = MetadataField(np.repeat(np.arange(n_questions // 10), 10))
    found = []
    for k in range(n_systems):
        rate = 1 / (1 + np.exp(-(difficulty + np.linspace(-0.4, 1.4, n_systems)[k])))
        trials = 4 if "trials" in kind else 1
        values = (rng.random((n_questions, trials)) < rate[:, None]).astype(float)
        questions = Questions(
            tuple(map(str, range(n_questions))), fields={"passage": passages} if "clusters" in kind else {}
        )
        found.append(
            TaskLog(f"system-{k}", "bench", Source("bench", "bench"), questions, (Scores("acc", "none", values),))
        )
    return found


def seconds(kind: str, n_systems: int, n_questions: int) -> float:
    given = logs(kind, n_systems, n_questions)
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        ResultList(rank(given)).render()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def plain_weights(nodes: HatNodes, a: FloatArray, b: FloatArray) -> FloatArray:
    """`HatNodes.weights` with an incomplete Beta function at every node."""
    a, b = a[:, None], b[:, None]
    with np.errstate(divide="ignore"):
        log_edge = a * np.log(nodes.x) + b * np.log(nodes.complement) - np.log(a) - special.betaln(a, b)
    below = special.betainc(a, b, nodes.x)
    mass, moment = np.diff(below, axis=1), np.diff((below - np.exp(log_edge)) * (a / (a + b)), axis=1)
    right = (moment - nodes.x[:-1] * mass) / np.diff(nodes.x)
    weights = np.zeros((len(a), len(nodes.x)))
    weights[:, :-1] = mass - right
    weights[:, 1:] += right
    return np.maximum(weights, 0.0)


def main() -> None:
    result = {
        f"{kind}, {s} systems x {q} questions": round(seconds(kind, s, q), 2)
        for kind in ("single", "clusters", "trials", "clusters and trials")
        for s, q in ((20, 500), *LIMITS)
    }
    kind = "clusters and trials, 134 systems x 500 questions"
    with patch.object(HatNodes, "weights", plain_weights):
        result[f"{kind}, plain weights"] = round(seconds("clusters and trials", 134, 500), 2)
    result[f"{kind}, plain weights / now"] = round(result[f"{kind}, plain weights"] / result[kind], 2)
    result |= {f"limit, {s} systems x {q} questions": limit for (s, q), limit in LIMITS.items()}
    path = Path(__file__).parent / "results" / "rank.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
