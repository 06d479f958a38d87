"""Assignment of graders to answers, and the predicted standard error of the mean score."""

import json

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.labels.grader_design import (
    GraderVariance,
    assign_graders,
    grader_variance,
    pairs_in_clusters,
)
from tests.conftest import ROOT

PANELS = [(k, per_answer) for k in range(2, 9) for per_answer in range(1, k + 1)]


@pytest.mark.parametrize(("k", "per_answer"), PANELS)
def test_graders_score_equally_many_answers_and_meet_equally_often(k, per_answer):
    for n in (17, 120, 301):
        assigned = assign_graders(n, k, per_answer, np.random.default_rng(n))
        assert assigned.shape == (n, per_answer)
        assert all(len(set(row)) == per_answer for row in assigned.tolist())
        assert np.ptp(np.bincount(assigned.ravel(), minlength=k)) <= 1
        is_grader = (assigned[:, :, None] == np.arange(k)).any(axis=1).astype(int)
        met = (is_grader.T @ is_grader)[np.triu_indices(k, 1)]
        assert np.ptp(met) <= 4


def test_one_grader_per_answer_is_a_round_robin():
    assigned = assign_graders(25, 5, 1, np.random.default_rng(1)).reshape(5, 5)
    assert all(sorted(cycle) == [0, 1, 2, 3, 4] for cycle in assigned.tolist())


@pytest.mark.parametrize(("n", "per_answer"), [(30, 1), (20, 1), (25, 2), (12, 4), (40, 3)])
def test_the_predicted_standard_error_is_that_of_simulated_means(n, per_answer):
    rng = np.random.default_rng(29)
    k, size = 5, 4000
    # graders that are strict or lenient, two of which make similar errors
    shared = rng.normal(size=(size, 1)) * [0.5, 0.5, 0, 0, 0]
    population = rng.normal(size=(size, 1)) + [-0.4, 0.1, 0.5, 0, 0.2] + shared + 0.7 * rng.normal(size=(size, k))
    variance = grader_variance(population)
    errors = []
    for seed in range(100):
        design = assign_graders(n, k, per_answer, np.random.default_rng(seed))
        questions = rng.integers(size, size=(60, n))
        errors.append(population[questions[..., None], design].mean(axis=(1, 2)) - population.mean())
    assert variance.rotated_error(n, per_answer) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.04)
    single = population[rng.integers(size, size=(6000, n)), np.arange(6000)[:, None] % k].mean(axis=1)
    expected = np.sqrt(((single - population.mean()) ** 2).mean())
    assert variance.single_error(n) == pytest.approx(expected, rel=0.04)


def test_variances_are_unbiased():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(2000):
        scores = rng.normal(size=(15, 1)) + [-0.3, 0, 0.3] + 0.8 * rng.normal(size=(15, 3))
        one = grader_variance(scores)
        found.append((one.questions, one.residual))
    questions, residual = np.mean(found, axis=0)
    # the mean of three residuals with variance 0.64 belongs to the panel's mean score of a question
    assert questions == pytest.approx(1 + 0.64 / 3, rel=0.03)
    assert residual == pytest.approx(0.64 * 2 / 3, rel=0.03)


def test_variances_between_clusters_are_unbiased():
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(8), [1, 2, 2, 3, 4, 4, 6, 8])
    found = []
    for _ in range(2000):
        scores = rng.normal(size=(30, 1)) + [-0.3, 0, 0.3] + 0.8 * rng.normal(size=(30, 3))
        scores += (2 * rng.normal(size=(8, 1)) + 1.5 * rng.normal(size=(8, 3)))[codes]
        one = grader_variance(scores, codes)
        found.append((one.questions, one.clusters, one.residual, one.residual_clusters))
    between, by_grader = 4 + 2.25 / 3, 2.25 * 2 / 3
    expected = (1 + 0.64 / 3 + between, between, 0.64 * 2 / 3 + by_grader, by_grader)
    assert np.mean(found, axis=0) == pytest.approx(expected, rel=0.06)


def test_clusters_increase_the_standard_error():
    variance = GraderVariance(4, 0.2, 0.01, 0.1, clusters=0.1, residual_clusters=0.05)
    codes = np.repeat(np.arange(10), 10)
    share = pairs_in_clusters(codes)
    assert share == pytest.approx(9 / 99)
    # the mean of 10 cluster means, each with the variance 0.1 and that of 10 questions within the cluster
    assert variance.rotated_error(100, 4, share) ** 2 == pytest.approx(0.1 / 10 + 0.1 / 100)
    assert variance.single_error(100, share) ** 2 == pytest.approx(0.01 + 0.15 / 10 + 0.15 / 100)
    assert variance.rotated_error(100, 4) ** 2 == pytest.approx(0.2 / 100)
    assert pairs_in_clusters([3]) == 0


def test_the_simulated_errors_of_clusters_are_those_of_the_plan():
    cells = json.loads((ROOT / "benchmarks/results/grader_plan_clusters.json").read_text())["cells"]
    assert len(cells) == 10
    assert all(cell["reps"] >= 500 for cell in cells)
    for cell in cells:
        # without a variance between clusters, negative estimates of it are replaced by 0
        most = 1.1 if cell["clusters"] or cell["structure"] == "independent" else 1.15
        assert 0.9 <= cell["with clusters"] <= most
    assert min(cell["ignoring clusters"] for cell in cells) < 0.6


def test_graders_without_differences_have_no_variance():
    scores = np.repeat(np.random.default_rng(0).random((20, 1)), 3, axis=1)
    found = grader_variance(scores)
    assert (found.graders, found.residual) == pytest.approx((0, 0))
    assert found.rotated_error(9) == pytest.approx(found.single_error(9)) == pytest.approx(found.rotated_error(9, 3))


def test_a_rotation_is_never_worse_than_one_grader():
    variance = GraderVariance(4, 0.2, 0.01, 0.1)
    assert variance.rotated_error(1) == pytest.approx(variance.single_error(1))
    assert all(variance.rotated_error(n) < variance.single_error(n) for n in range(2, 50))
    assert variance.rotated_error(7) > variance.rotated_error(8)


def test_insufficient_pilots_are_refused():
    with pytest.raises(NotEstimableError, match="at least 10 answers"):
        grader_variance(np.zeros((9, 2)))
    with pytest.raises(NotEstimableError, match="at least two clusters"):
        grader_variance(np.random.default_rng(0).random((12, 2)), np.zeros(12))
    with pytest.raises(DataError, match="at least two graders"):
        grader_variance(np.zeros((20, 1)))
    with pytest.raises(DataError, match="n_per_answer"):
        assign_graders(10, 3, 4)
