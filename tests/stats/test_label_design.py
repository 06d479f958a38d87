"""Plans of human labels: allocation to strata, and the width that they reach."""

import json
from pathlib import Path

import numpy as np
import pytest

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.label_design import design_labels

ROOT = Path(__file__).resolve().parents[2]
N = 800


def data(seed: int = 0, pilot: int = 60, n_systems: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades, truth, and which questions have labels; the grader is strict."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((N, n_systems)) < 0.7).astype(float)
    grades = np.where(truth == 1, rng.random(truth.shape) < 0.85, rng.random(truth.shape) < 0.05).astype(float)
    has_label = np.zeros(N, bool)
    has_label[rng.choice(N, pilot, replace=False)] = True
    return grades, truth, has_label


def planned(width: float, **options: int):
    grades, truth, has_label = data(**options)
    return design_labels(grades, np.where(has_label[:, None], truth, np.nan), width), grades, truth, has_label


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [1, 2])
def test_the_planned_labels_reach_the_width(n_systems):
    width = 0.1 if n_systems == 1 else 0.14
    ratios = []
    for seed in range(12):
        design, grades, truth, has_label = planned(width, seed=seed, n_systems=n_systems)
        has_label[design.draw(has_label, np.random.default_rng([9, seed]))] = True
        correct = judge_corrected_posterior if n_systems == 1 else judge_corrected_difference
        labels = np.where(has_label[:, None], truth, np.nan)
        low, high = correct(*grades.T, *labels.T, probabilities=design.probabilities).interval(0.95)
        ratios.append((high - low) / width)
        assert design.width <= width
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


def test_labels_go_to_the_grades_that_say_least():
    # grades of 0 are less certain, and are labeled with a higher probability
    design, _, _, _ = planned(0.12)
    assert design.grades.ravel().tolist() == [0.0, 1.0]
    rate = design.n_labels / design.n_questions
    assert rate[0] > 1.2 * rate[1]
    assert design.n_labels.sum() < design.n_uniform


def test_a_draw_has_the_planned_numbers_and_keeps_the_pilot():
    design, _, _, has_label = planned(0.08)
    new = design.draw(has_label, np.random.default_rng(3))
    assert not has_label[new].any()
    counts = np.bincount(design.strata[new], minlength=2) + design.n_pilot
    assert counts.tolist() == design.n_labels.tolist()
    assert np.array_equal(new, design.draw(has_label, np.random.default_rng(3)))
    assert design.probabilities.sum() == pytest.approx(design.n_labels.sum())


def test_a_wide_interval_needs_no_more_than_the_pilot():
    design, _, _, has_label = planned(0.9)
    assert design.n_labels.tolist() == design.n_pilot.tolist()
    assert not len(design.draw(has_label))


@pytest.mark.slow
def test_graded_scores_have_four_strata():
    rng = np.random.default_rng(1)
    grades = rng.random(N)
    truth = np.clip(grades + rng.normal(0, 0.2, N), 0, 1)
    labels = np.where(rng.random(N) < 0.1, truth, np.nan)
    design = design_labels(grades, labels, 0.05)
    assert design.n_questions.tolist() == [N / 4] * 4


def test_clusters_need_more_labels():
    rng = np.random.default_rng(2)
    passages = np.repeat(np.arange(80), 10)
    truth = (rng.random(80) < 0.7)[passages].astype(float)
    grades = np.where(rng.random(N) < 0.8, truth, 1 - truth)
    labels = np.where(rng.random(N) < 0.1, truth, np.nan)
    alone = design_labels(grades, labels, 0.17)
    clustered = design_labels(grades, labels, 0.17, clusters=passages)
    assert clustered.n_labels.sum() > alone.n_labels.sum()


def test_what_cannot_be_planned_is_refused():
    grades, truth, has_label = data()
    labels = np.where(has_label[:, None], truth, np.nan)
    with pytest.raises(NotEstimableError, match="labels of all 800 questions"):
        design_labels(grades, labels, 0.02)
    with pytest.raises(NotEstimableError, match="at least 10 labels"):
        design_labels(grades, np.where(np.arange(N)[:, None] < 9, truth, np.nan), 0.1)
    with pytest.raises(DataError, match="width"):
        design_labels(grades, labels, 0.0)
    with pytest.raises(DataError, match="missing grades"):
        design_labels(np.where(np.arange(N)[:, None] < 1, np.nan, grades), labels, 0.1)
    with pytest.raises(DataError, match="shape"):
        design_labels(grades[:5], labels, 0.1)


def test_the_simulated_widths_are_within_ten_percent_of_the_target():
    table = json.loads((ROOT / "benchmarks/results/label_plan.json").read_text())
    assert len(table["cells"]) == 12
    for cell in table["cells"]:
        assert 0.9 <= cell["width_ratio"] <= 1.1
        assert cell["labels"] < cell["uniform"]
        assert cell["planned"] > 0.9
        assert cell["coverage"] > 0.95 - 2 * (0.05 * 0.95 / table["replications"]) ** 0.5 - 0.02
