"""Whether plans of graders predict the standard error of the mean score if questions form clusters.

Three graders score 200 answers to questions in clusters, in turn or one grader alone. A latent score is the sum of the
leniency of the grader (-0.4, 0.1, 0.3), an effect of the cluster, an effect of the cluster for each grader, an effect
of the question, and noise of each grade. The score is the latent score (`normal`), or whether it is positive
(`binary`). In each data set, a pilot of 60 random questions has scores of all graders. The plan predicts the standard
error of the mean score of `answers` answers with one or two graders each. The grades are then drawn, and the mean score
is compared with the panel's expected score of new questions. The table has the root mean square of the predicted
standard errors, divided by the root mean square error of the mean scores, for plans with clusters and for plans that
ignore them.

The 10 cells and their seeds are fixed below, with 2,000 data sets each.

    python benchmarks/sim_grader_plan_clusters.py [--reps 2000]
"""

import numpy as np
from run_cells import run_cells
from scipy import special

from harness_uq.stats.labels.grader_design import assign_graders, grader_variance, pairs_in_clusters

N, PILOT = 200, 60
LENIENCY = np.array([-0.4, 0.1, 0.3])
STRUCTURES = {
    "independent": np.arange(N),
    "40 of 5": np.repeat(np.arange(40), 5),
    "10 of 20": np.repeat(np.arange(10), 20),
    "unequal": np.repeat(np.arange(20), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 8, 8, 12, 12, 15, 15, 20, 20, 30, 30]),
}
# structure, variance of clusters, of clusters by graders, kind of score, answers, graders of an answer (0: one alone)
CELLS = [
    ("independent", 0.0, 0.0, "binary", 200, 1),
    ("40 of 5", 0.5, 0.0, "binary", 200, 1),
    ("40 of 5", 0.5, 0.2, "binary", 100, 2),
    ("40 of 5", 0.5, 0.2, "normal", 200, 0),
    ("40 of 5", 0.0, 0.0, "binary", 200, 1),
    ("10 of 20", 0.5, 0.0, "binary", 200, 1),
    ("10 of 20", 0.5, 0.2, "normal", 100, 2),
    ("unequal", 0.5, 0.0, "binary", 200, 1),
    ("unequal", 0.5, 0.2, "binary", 100, 2),
    ("unequal", 0.2, 0.2, "normal", 200, 0),
]


def expected_score(kind: str, variance: float) -> float:
    """The panel's expected score of new questions."""
    return float(np.mean(LENIENCY if kind == "normal" else special.ndtr(LENIENCY / np.sqrt(variance))))


def run_cell(
    structure: str, clusters: float, by_grader: float, kind: str, answers: int, per_answer: int, reps: int, seed: int
) -> dict[str, object]:
    """Ratio of predicted and simulated errors in one cell."""
    rng = np.random.default_rng([71, seed])
    codes, k = STRUCTURES[structure], len(LENIENCY)
    truth = expected_score(kind, clusters + by_grader + 0.5 + 0.5)
    predicted: dict[str, list[float]] = {"with clusters": [], "ignoring clusters": []}
    errors = []
    for _ in range(reps):
        latent = LENIENCY + rng.normal(size=(N, 1)) * np.sqrt(0.5) + rng.normal(size=(N, k)) * np.sqrt(0.5)
        latent += (rng.normal(size=(N, 1)) * np.sqrt(clusters) + rng.normal(size=(N, k)) * np.sqrt(by_grader))[codes]
        scores = latent if kind == "normal" else (latent > 0).astype(float)
        pilot = rng.choice(N, PILOT, replace=False)
        for name, units, share in (
            ("with clusters", codes[pilot], pairs_in_clusters(codes)),
            ("ignoring clusters", None, 0.0),
        ):
            variance = grader_variance(scores[pilot], units)
            predicted[name].append(
                variance.rotated_error(answers, per_answer, share)
                if per_answer
                else variance.single_error(answers, share)
            )
        rows = rng.permutation(N)[:answers]
        if per_answer:
            mean = scores[rows[:, None], assign_graders(answers, k, per_answer, rng)].mean()
        else:
            mean = scores[rows, rng.integers(k)].mean()
        errors.append(mean - truth)
    rms = np.sqrt(np.mean(np.square(errors)))
    return {
        "structure": structure,
        "clusters": clusters,
        "clusters_by_grader": by_grader,
        "kind": kind,
        "answers": answers,
        "graders_per_answer": per_answer,
        "reps": reps,
        "error": float(rms),
        **{name: float(np.sqrt(np.mean(np.square(values))) / rms) for name, values in predicted.items()},
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="grader_plan_clusters")
