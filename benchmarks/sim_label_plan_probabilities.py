"""Whether a plan of labels reaches its width if the labels of the pilot were drawn with unequal probabilities.

Systems with accuracies 0.7 and 0.6 answer 300 questions, and the grader has a confidence in each grade, as in
`sim_label_probabilities.py`. Each question is in the pilot independently, with a probability that adds up to 40 labels:

- `uniform`: all questions have the same probability.
- `moderate`: the probabilities are in proportion to a uniform number between 0.5 and 1.5, which is unrelated to the
  answers.
- `errors`: the probabilities are in proportion to 1.05 minus the confidence of the grader (its mean over the systems),
  so that questions on which the grader errs are more likely to be in the pilot.

The planned questions are then labeled, and the corrected score (one system) or difference (two systems) is estimated as
by `harness-uq estimate --labels` and `compare --labels`. The table has the mean width of the interval divided by the
expected width of the plan, the coverage, the bias of the middle of the interval, and the mean number of labels.

The 4 cells and their seeds are fixed below, with 500 data sets each. The number of labels that a plan with uniform
drawing would need is not calculated, which halves the time. In a fifth cell with 4,000 data sets, `fixed`, there is no
plan: 80 labels are drawn at random. It shows the coverage if the number of labels does not depend on a pilot.

    python benchmarks/sim_label_plan_probabilities.py [--reps 500]
"""

import numpy as np
from run_cells import run_cells
from sim_label_probabilities import graded

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.labels import label_design
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior

N, PILOT, FIXED, ACCURACIES = 300, 40, 80, (0.7, 0.6)
WIDTHS = {1: 0.16, 2: 0.2}
CELLS = [(1, "errors"), (1, "moderate"), (1, "uniform"), (2, "errors"), (1, "fixed")]


class PlannerWithoutUniform(label_design._Planner):
    """A planner that does not calculate how many labels uniform drawing needs."""

    def smallest_total(self, width: float, *, uniform: bool) -> int:
        """The smallest total number of labels with at most this expected width."""
        return int(self.sizes.sum()) if uniform else super().smallest_total(width, uniform=False)


def pilot_probabilities(draw: str, confidence: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Probability of each question to be in the pilot."""
    size = {
        "uniform": np.ones(N),
        "moderate": rng.uniform(0.5, 1.5, N),
        "errors": 1.05 - confidence.mean(axis=0),
    }[draw]
    return np.minimum(PILOT * size / size.sum(), 1.0)


def one(n_systems: int, draw: str, rng: np.random.Generator) -> tuple[float, float, float, int] | None:
    """Limits of the interval, expected width and number of labels; None if there is no plan."""
    truth, grades, confidence = graded(ACCURACIES[:n_systems], N, rng)
    f, h = grades.T.astype(float), truth.T.astype(float)
    p = pilot_probabilities(draw, confidence, rng)
    has_label = rng.random(N) < p
    human = np.where(has_label[:, None], h, np.nan)
    try:
        design = label_design.design_labels(f, human, WIDTHS[n_systems], probabilities=p, rng=rng)
    except NotEstimableError:
        return None
    has_label[design.draw(has_label, rng)] = True
    labels = np.where(has_label[:, None], h, np.nan)
    correct = judge_corrected_posterior if n_systems == 1 else judge_corrected_difference
    posterior = correct(*f.T, *labels.T, probabilities=design.probabilities, n_draws=2000)
    low, high = posterior.interval(0.95)
    return low, high, design.width, int(design.n_labels.sum())


def without_plan(rng: np.random.Generator) -> tuple[float, float, float, int]:
    """Limits, width and number of labels of one system if the number of labels is fixed."""
    truth, grades, _ = graded(ACCURACIES[:1], N, rng)
    labels = np.full(N, np.nan)
    chosen = rng.choice(N, FIXED, replace=False)
    labels[chosen] = truth[0, chosen]
    low, high = judge_corrected_posterior(grades[0].astype(float), labels, n_draws=2000).interval(0.95)
    return low, high, high - low, FIXED


def run_cell(n_systems: int, draw: str, reps: int, seed: int) -> dict[str, object]:
    """Reached and expected width, coverage and bias in one cell."""
    label_design._Planner = PlannerWithoutUniform
    rng = np.random.default_rng([67, seed])
    if draw == "fixed":
        reps *= 8
        found = [without_plan(rng) for _ in range(reps)]
    else:
        found = [plan for _ in range(reps) if (plan := one(n_systems, draw, rng)) is not None]
    low, high, expected, labels = np.array(found).T
    theta = ACCURACIES[0] - (ACCURACIES[1] if n_systems == 2 else 0.0)
    return {
        "systems": n_systems,
        "draw": draw,
        "reps": reps,
        "planned": len(found) / reps,
        "width_ratio": float(np.mean(high - low) / np.mean(expected)),
        "coverage": float(np.mean((low <= theta) & (theta <= high))),
        "bias": float(np.mean(low + high) / 2 - theta),
        "labels": float(labels.mean()),
    }


if __name__ == "__main__":
    run_cells(__doc__, run_cell, CELLS, reps=500, name="label_plan_probabilities")
