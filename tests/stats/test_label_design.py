"""Plans of human labels: allocation to strata, and the width that they reach."""

import json

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.label_design import _label_probabilities, _order, _pilot_weights, design_labels
from tests.conftest import ROOT

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


def unequal(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades, labels of a pilot, and its probabilities: questions on which the grader errs are drawn more often."""
    grades, truth, _ = data(seed)
    p = np.where((grades != truth).ravel(), 0.2, 0.05)
    has_label = np.random.default_rng([7, seed]).random(N) < p
    return grades, np.where(has_label[:, None], truth, np.nan), p


def test_equal_probabilities_of_the_pilot_change_nothing():
    grades, truth, has_label = data()
    labels = np.where(has_label[:, None], truth, np.nan)
    plain, weighted = (design_labels(grades, labels, 0.12, probabilities=p) for p in (None, np.full(N, 0.3)))
    assert plain.n_labels.tolist() == weighted.n_labels.tolist()
    assert (plain.width, plain.n_uniform) == (weighted.width, weighted.n_uniform)
    # the share of the pilot is that of a random sample if its weights are nearly equal
    weights = np.where(has_label, (plain.n_questions / plain.n_pilot)[plain.strata], 0.0)
    found = _label_probabilities(plain.strata, plain.n_labels, weights)
    assert found == pytest.approx(plain.probabilities)


def test_labels_of_an_unequal_pilot_are_weighted():
    grades, labels, p = unequal()
    design, ignored = (design_labels(grades, labels, 0.12, probabilities=chances) for chances in (p, None))
    # the pilot has many errors of the grader, so that a plan without the weights requests too many labels
    assert design.n_labels.sum() < 0.8 * ignored.n_labels.sum()
    scaled = design_labels(grades, labels, 0.12, probabilities=p / 2)
    assert scaled.n_labels.tolist() == design.n_labels.tolist()
    assert scaled.probabilities == pytest.approx(design.probabilities)
    # in each stratum, the inverse probabilities of the labeled questions add up to the number of questions
    chosen = np.isfinite(labels).ravel()
    chosen[design.draw(chosen)] = True
    totals = np.bincount(design.strata[chosen], 1 / design.probabilities[chosen])
    assert totals == pytest.approx(design.n_questions)


def test_the_weights_of_pilot_and_further_labels_give_an_unbiased_mean():
    estimates, plain = [], []
    for seed in range(400):
        grades, truth, _ = data()
        strata = grades.ravel().astype(int)
        p = np.where((grades != truth).ravel(), 0.4, 0.1)
        rng = np.random.default_rng([3, seed])
        has_label = rng.random(N) < p
        weights = _pilot_weights(p, strata, has_label)
        n_labels = np.bincount(strata[has_label]) + 40
        new = _order(strata, has_label, rng) < n_labels[strata]
        chances = _label_probabilities(strata, n_labels, weights)
        estimates.append(np.average(truth[new].ravel(), weights=1 / chances[new]))
        plain.append(np.average(truth[new].ravel(), weights=(np.bincount(strata) / n_labels)[strata][new]))
    assert np.mean(estimates) == pytest.approx(truth.mean(), abs=0.008)
    assert abs(np.mean(plain) - truth.mean()) > 0.04


def test_a_stratum_of_which_all_questions_are_labeled_has_equal_weights():
    weights = np.array([3.0, 1.0, 0.0, 0.0])
    assert _label_probabilities(np.zeros(4, int), np.array([4]), weights).tolist() == [1, 1, 1, 1]
    assert _label_probabilities(np.zeros(4, int), np.array([2]), weights)[:2] == pytest.approx([1 / 3, 1])


def test_the_simulated_widths_of_unequal_pilots_are_those_of_the_plan():
    cells = json.loads((ROOT / "benchmarks/results/label_plan_probabilities.json").read_text())["cells"]
    assert [(cell["systems"], cell["draw"]) for cell in cells] == [
        (1, "errors"),
        (1, "moderate"),
        (1, "uniform"),
        (2, "errors"),
        (1, "fixed"),
    ]
    for cell in cells:
        assert cell["reps"] >= 500
        assert 0.9 <= cell["width_ratio"] <= 1.1
        assert cell["coverage"] > 0.92
        assert abs(cell["bias"]) < 0.015


def test_what_cannot_be_planned_is_refused():
    grades, truth, has_label = data()
    labels = np.where(has_label[:, None], truth, np.nan)
    with pytest.raises(NotEstimableError, match="labels of all 800 questions"):
        design_labels(grades, labels, 0.02)
    with pytest.raises(NotEstimableError, match="at least 10 labels"):
        design_labels(grades, np.where(np.arange(N)[:, None] < 9, truth, np.nan), 0.1)
    with pytest.raises(DataError, match="width"):
        design_labels(grades, labels, 0.0)
    with pytest.raises(DataError, match="probabilities"):
        design_labels(grades, labels, 0.1, probabilities=np.zeros(N))
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
