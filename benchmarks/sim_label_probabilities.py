"""Scores and differences corrected with labels that are drawn with unequal probability.

The grader has a confidence c between 0.5 and 1 in each grade, with which the grade equals the truth. It is more
confident of right answers: c is 0.5 + Beta(4, 1) / 2 for right answers and 0.5 + Beta(1.5, 1.5) / 2 for wrong ones.
Each answer is labeled independently with a probability in proportion to 1.05 - c (`proportional`) or to its square root
(`root`), so that unsure grades have more labels. The latent abilities to answer of two systems have a correlation of
0.5. For `together`, both answers to a question are labeled with the mean of their probabilities; for `separate`, each
answer with its own. Each of the 36 cells has 2,000 data sets.

Methods: `weighted` uses the probabilities, and `unweighted` does not.

    python benchmarks/sim_label_probabilities.py [--reps 2000] [--output benchmarks/results/label_probabilities.json]
"""

from itertools import product

import numpy as np
from run_cells import run_cells
from scipy import stats

from harness_uq.stats import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.labels.effective_labels import corrected_correlation
from harness_uq.stats.labels.judge import CorrectedDifference, correlated_difference

QUANTITIES = ("score", "together", "separate")
DESIGNS = {"root": 0.5, "proportional": 1.0}
ACCURACIES = (0.6, 0.9)
SIZES = ((300, 50), (1000, 100), (1000, 200))
CELLS = list(product(QUANTITIES, DESIGNS, ACCURACIES, SIZES))
DIFFERENCE, CORRELATION, LEVEL, N_DRAWS = 0.1, 0.5, 0.95, 1000


def graded(accuracies: tuple[float, ...], n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Truth, grades and confidence of the grader, (n_systems, n) each."""
    shape = (len(accuracies), n)
    latent = np.sqrt(CORRELATION) * rng.normal(size=n) + np.sqrt(1 - CORRELATION) * rng.normal(size=shape)
    truth = latent < stats.norm.ppf(accuracies)[:, None]
    confidence = 0.5 + np.where(truth, rng.beta(4, 1, shape), rng.beta(1.5, 1.5, shape)) / 2
    return truth, truth == (rng.random(shape) < confidence), confidence


def label_probabilities(confidence: np.ndarray, power: float, n_labels: int) -> np.ndarray:
    """Probabilities of a label with the sum `n_labels` for each system, at most 1."""
    p = (1.05 - confidence) ** power
    return np.minimum(p * n_labels / p.sum(axis=-1, keepdims=True), 1.0)


def corrected(
    quantity: str, grades: np.ndarray, human: np.ndarray, p: np.ndarray | None
) -> BetaPosterior | CorrectedDifference:
    """Posterior of the score or of the difference."""
    f, chances = grades.astype(float), [None] * len(human) if p is None else list(p)
    if quantity == "together":
        return judge_corrected_difference(*f, *human, probabilities=chances[0], n_draws=N_DRAWS)
    each = [
        judge_corrected_posterior(one, h, probabilities=chance, n_draws=N_DRAWS)
        for one, h, chance in zip(f, human, chances, strict=True)
    ]
    if quantity == "score":
        return each[0]
    correlation = corrected_correlation(f, list(human), probabilities=chances)[0, 1]
    return correlated_difference(*each, float(correlation), 1.0)


def run_cell(
    quantity: str, design: str, accuracy: float, size: tuple[int, int], reps: int, seed: int
) -> dict[str, object]:
    """Coverage, bias and mean width with and without the probabilities in one cell."""
    n, n_labels = size
    rng = np.random.default_rng([29, seed])
    accuracies = (accuracy,) if quantity == "score" else (accuracy, accuracy - DIFFERENCE)
    theta = accuracy if quantity == "score" else DIFFERENCE
    found: dict[str, list[tuple[float, float, float]]] = {"weighted": [], "unweighted": []}
    for _ in range(reps):
        truth, grades, confidence = graded(accuracies, n, rng)
        p = label_probabilities(confidence, DESIGNS[design], n_labels)
        u = rng.random(p.shape)
        if quantity == "together":
            p, u = np.broadcast_to(p.mean(axis=0), p.shape), np.broadcast_to(u[0], p.shape)
        human = np.where(u < p, truth, np.nan)
        for name, probabilities in (("weighted", p), ("unweighted", None)):
            posterior = corrected(quantity, grades, human, probabilities)
            found[name].append((posterior.mean, *posterior.interval(LEVEL)))
    row: dict[str, object] = {
        "quantity": quantity,
        "design": design,
        "accuracy": accuracy,
        "n": n,
        "labels": n_labels,
        "reps": reps,
    }
    for name, rows in found.items():
        mean, low, high = np.array(rows).T
        row[name] = {
            "coverage": float(np.mean((low <= theta) & (theta <= high))),
            "bias": float(np.mean(mean) - theta),
            "width": float(np.mean(high - low)),
        }
    return row


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=2000, name="label_probabilities")
