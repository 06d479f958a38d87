"""Error rates of a grader, and the correction of a difference with labels of one system."""

import json

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats import grader_errors, one_sided_correction
from tests.conftest import ROOT

NAN = float("nan")


def test_errors_are_counted_by_label_and_grade():
    errors = grader_errors([1, 1, 0, 0, 1, 1], [1, 0, 0, 1, NAN, 1])
    counts = errors.true_positives, errors.false_negatives, errors.true_negatives, errors.false_positives
    assert counts == (2, 1, 1, 1)
    assert errors.sensitivity == pytest.approx(2.5 / 4)
    assert errors.specificity == pytest.approx(1.5 / 3)
    draws = errors.draws(200_000, np.random.default_rng(0))
    assert draws.mean() == pytest.approx(errors.j, abs=0.003)


def test_an_answer_about_which_people_disagree_counts_in_parts():
    errors = grader_errors([1, 1, 0, 0], [1, 0.5, 0.5, 0])
    counts = errors.true_positives, errors.false_negatives, errors.true_negatives, errors.false_positives
    assert counts == (1.5, 0.5, 1.5, 0.5)
    assert grader_errors([1, 1], [1, 1.5]) is None


def test_graded_scores_have_no_error_rates():
    assert grader_errors([0.5, 1], [1, 1]) is None
    assert grader_errors([0.5, 1], [NAN, 1]) is not None
    with pytest.raises(DataError, match="same questions"):
        grader_errors([1, 1], [1])


def graded(n: int = 40_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades of both systems and labels of A; 0.7 and 0.5 right, sensitivity 0.9, specificity 0.8."""
    rng = np.random.default_rng(5)
    truth = rng.random((2, n)) < np.array([[0.7], [0.5]])
    grades = np.where(truth, rng.random((2, n)) < 0.9, rng.random((2, n)) < 0.2).astype(float)
    human = np.where(np.arange(n) < n // 2, truth[0], NAN)
    return grades[0], grades[1], human


def test_many_labels_give_the_estimate_of_rogan_and_gladen():
    a, b, human = graded()
    found = one_sided_correction(a, b, human, max_shift=0.0, n_draws=2000)
    assert found.j == pytest.approx(0.7, abs=0.01)
    # the errors of A are those of B, so that (p_A - p_B) / J estimates the difference
    assert found.equal.mean == pytest.approx((a.mean() - b.mean()) / found.j, abs=0.003)
    assert found.equal.interval() == pytest.approx(found.outer.interval())
    assert found.equal.mean == pytest.approx(0.2, abs=0.02)


def test_the_ends_of_the_range_are_those_of_the_extreme_errors():
    a, b, human = graded()
    found = one_sided_correction(a, b, human, max_shift=0.1, n_draws=2000)
    theta_a, p_b = (a.mean() - 0.2) / 0.7, b.mean()
    shifts = [(s, c) for s in (-0.1, 0, 0.1) for c in (-0.1, 0, 0.1) if abs(s + c) <= 0.1 + 1e-9]
    ends = [theta_a - (p_b - 1 + 0.8 + c) / (0.7 + s + c) for s, c in shifts]
    assert found.outer.low.mean == pytest.approx(min(ends), abs=0.02)
    assert found.outer.high.mean == pytest.approx(max(ends), abs=0.02)
    assert found.outer.interval(0.9) == (found.outer.low.interval(0.9)[0], found.outer.high.interval(0.9)[1])


def test_shares_of_people_are_corrected_like_the_labels_of_one_of_them():
    # two people err independently in 10 % of their labels: each accepts 0.1 + 0.8 x 0.7 of the answers of A
    a, b, truth = graded()
    rng = np.random.default_rng(6)
    wrong = rng.random((2, len(truth))) < 0.1
    ratings = np.where(wrong, 1 - truth, truth)
    mean, single = (
        one_sided_correction(a, b, human, max_shift=0.0, n_draws=20_000).equal
        for human in (ratings.mean(axis=0), ratings[0])
    )
    is_labeled = ~np.isnan(truth)
    h, f = ratings.mean(axis=0)[is_labeled], a[is_labeled]
    j = (h @ f) / h.sum() + ((1 - h) @ (1 - f)) / (1 - h).sum() - 1
    assert mean.mean == pytest.approx((a.mean() - b.mean()) / j, abs=0.003)
    assert mean.mean == pytest.approx(single.mean, abs=0.02)
    assert mean.sd < single.sd


def test_quantiles_of_the_outer_posterior_are_the_limits_of_its_intervals():
    a, b, human = graded(400)
    outer = one_sided_correction(a, b, human, n_draws=2000).outer
    low, high = outer.interval(0.95)
    assert outer.quantile([0.025, 0.975]) == pytest.approx([low, high])
    assert outer.cdf([low, outer.mean, high]) == pytest.approx([0.025, 0.5, 0.975])


def test_dependent_questions_widen_the_interval():
    a, b, human = graded(2000)
    labeled = np.repeat(human[:400], 5)
    repeated = [np.repeat(grades[:400], 5) for grades in (a, b)]
    alone = one_sided_correction(*repeated, labeled, n_draws=2000).equal
    together = one_sided_correction(*repeated, labeled, clusters=np.repeat(np.arange(400), 5), n_draws=2000).equal
    assert together.sd / alone.sd == pytest.approx(np.sqrt(5), rel=0.1)


def test_invalid_arguments_are_refused():
    with pytest.raises(DataError, match="one system"):
        one_sided_correction([1, 0], [1, 0])
    with pytest.raises(DataError, match="one system"):
        one_sided_correction([1, 0], [1, 0], [1, 0], [1, 0])
    with pytest.raises(DataError, match="the values 0 and 1"):
        one_sided_correction([0.5, 0], [1, 0], [1, 0])
    with pytest.raises(DataError, match=r"in \[0, 1\]"):
        one_sided_correction([1, 0], [1, 0], [1, 2])
    with pytest.raises(DataError, match="same questions"):
        one_sided_correction([1, 0], [1, 0, 1], [1, 0])
    with pytest.raises(DataError, match="max_shift"):
        one_sided_correction([1, 0], [1, 0], [1, 0], max_shift=2)
    with pytest.raises(NotEstimableError, match="at least 3"):
        one_sided_correction([1, 0, 1], [1, 0, 1], [1, 0, NAN])


@pytest.mark.parametrize(("name", "method"), [("judge_differences", "corrected"), ("one_system_labels", "outer")])
def test_the_declared_cells_keep_their_limits(name, method):
    cells = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())["cells"]
    assert len(cells) == 24
    assert all(cell["reps"] >= 2000 for cell in cells)
    assert min(cell[method]["coverage"] for cell in cells) >= 0.93
    assert max(cell[method]["wrong_direction"] for cell in cells) <= 0.025 + 2 * 0.0025
    if method == "corrected":
        assert max(cell[method]["width"] / cell["labels"]["width"] for cell in cells) <= 1.05


def test_false_alarms_about_a_grader_are_as_rare_as_stated():
    cells = json.loads((ROOT / "benchmarks/results/grader_shift.json").read_text())["cells"]
    false = [cell["warned"] for cell in cells if cell["lenience"] == 0]
    assert len(false) == 6
    assert max(false) <= 0.05 + 2 * 0.005
    assert min(cell["warned"] for cell in cells if cell["lenience"] == 0.2 and cell["labels"] == 200) > 0.9


def test_weighted_counts_add_up_to_the_effective_number_of_labels():
    grades, labels = [1, 1, 0, 0, 1], [1, 0, 0, 1, float("nan")]
    chance = np.array([0.5, 0.25, 0.5, 0.25, float("nan")])
    found = grader_errors(grades, labels, chance)
    weights = 1 / chance[:4]
    scale = weights.sum() / (weights @ weights)
    assert (found.true_positives, found.false_positives) == pytest.approx((2 * scale, 4 * scale))
    assert (found.true_negatives, found.false_negatives) == pytest.approx((2 * scale, 4 * scale))
    assert grader_errors(grades, labels, np.full(5, 0.3)) == grader_errors(grades, labels)
    with pytest.raises(DataError, match="in \\(0, 1\\]"):
        grader_errors(grades, labels, np.zeros(5))
