"""Metrics of K classes: scikit-learn's values, exact cases, symmetries, missing predictions, clusters and coverage."""

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes.confusion import confusion_posterior
from harness_uq.stats.classes.dirichlet import draws_posterior
from harness_uq.stats.classes.multiclass import (
    MulticlassMetric,
    clustered_multiclass_posterior,
    confusion_matrix,
    multiclass_posterior,
    multiclass_score,
)
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior

METRICS: tuple[MulticlassMetric, ...] = get_args(MulticlassMetric)
P = np.array([0.025, 0.3, 0.5, 0.7, 0.975])


def simulate(rng: np.random.Generator, n: int, n_classes: int, accuracy: float) -> tuple[np.ndarray, np.ndarray]:
    target = rng.integers(0, n_classes, n)
    wrong = (target + rng.integers(1, n_classes, n)) % n_classes
    return target, np.where(rng.random(n) < accuracy, target, wrong)


# references


@pytest.mark.parametrize("missing", [False, True])
def test_plain_scores_are_those_of_scikit_learn(missing: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    target, prediction = simulate(np.random.default_rng(0), 300, 4, 0.7)
    if missing:
        prediction[::7] = -1
    labels = range(4)
    expected = {
        "macro_f1": metrics.f1_score(target, prediction, labels=labels, average="macro"),
        "micro_f1": metrics.f1_score(target, prediction, labels=labels, average="micro"),
        "weighted_f1": metrics.f1_score(target, prediction, labels=labels, average="weighted"),
        "accuracy": metrics.accuracy_score(target, prediction),
        "balanced_accuracy": metrics.recall_score(target, prediction, labels=labels, average="macro"),
        "mcc": metrics.matthews_corrcoef(target, prediction),
        "kappa": metrics.cohen_kappa_score(target, prediction),
    }
    matrix = confusion_matrix(target, prediction)
    assert matrix.shape == ((4, 5) if missing else (4, 4))
    scores = {metric: multiclass_score(matrix, metric) for metric in METRICS if metric != "ac1"}
    assert scores == pytest.approx(expected, abs=1e-12)


def test_ac1_and_kappa_are_those_of_irrcac() -> None:
    # irrCAC 0.4.4 for Python
    for matrix, ac1, kappa in (
        ([[118, 5], [2, 0]], 0.94078, -0.02339),
        ([[20, 5, 2], [3, 30, 4], [1, 6, 29]], 0.6873, 0.68061),
    ):
        assert multiclass_score(matrix, "ac1") == pytest.approx(ac1, abs=5e-6)
        assert multiclass_score(matrix, "kappa") == pytest.approx(kappa, abs=5e-6)
    assert multiclass_score([[7, 0, 0], [0, 5, 0], [0, 0, 3]], "ac1") == 1.0
    # independent raters with equal margins 1/K agree as often as by chance
    assert multiclass_score(np.ones((4, 4)), "ac1") == pytest.approx(0.0, abs=1e-12)


def test_confusion_matrix_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    target, prediction = simulate(np.random.default_rng(1), 200, 5, 0.5)
    assert np.array_equal(confusion_matrix(target, prediction), metrics.confusion_matrix(target, prediction))
    assert confusion_matrix([0, 1], [0, 1], n_classes=4).shape == (4, 4)


def test_balanced_accuracy_has_the_moments_of_independent_betas() -> None:
    matrix = np.array([[8.0, 1, 0], [2, 5, 1], [0, 0, 12]])
    posterior = multiclass_posterior(matrix, "balanced_accuracy", n_draws=100_000)
    recalls = [BetaPosterior(matrix[k, k] + 1 / 3, matrix[k].sum() - matrix[k, k] + 1 / 3) for k in range(3)]
    assert isinstance(posterior, DrawsPosterior)
    assert abs(posterior.mean - np.mean([r.mean for r in recalls])) < 5 * posterior.mc_error
    assert posterior.sd == pytest.approx(np.sqrt(sum(r.sd**2 for r in recalls)) / 3, rel=0.02)


# limits and symmetries


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_accuracy_is_the_uniform_prior_beta_for_every_number_of_classes(n_classes: int) -> None:
    target, prediction = simulate(np.random.default_rng(2), 80, n_classes, 0.6)
    right = (target == prediction).sum()
    for metric in ("accuracy", "micro_f1"):
        posterior = multiclass_posterior(confusion_matrix(target, prediction, n_classes=n_classes), metric)
        assert posterior.quantile(P) == pytest.approx(BetaPosterior(1 + right, 81 - right).quantile(P), abs=1e-14)


def test_micro_f1_counts_a_missing_prediction_by_half() -> None:
    # micro F1 = 2 right / (answered + all) with Dirichlet cells right, wrong, missing: checked by drawing them
    matrix = np.array([[6.0, 1, 2], [2, 9, 0]])
    masses = np.array([16.0, 3.5, 2.5])  # 15 + 1 right, 3 + 1/2 wrong, 2 + 1/2 missing: mass 1 over 4 cells
    drawn = draws_posterior(lambda g: 2 * g[:, 0] / (2 * g[:, 0] + 2 * g[:, 1] + g[:, 2]), [(masses, 1.0)])
    exact = multiclass_posterior(matrix, "micro_f1")
    assert abs(exact.mean - drawn.mean) < 5 * drawn.mc_error
    assert exact.cdf(drawn.quantile(P)) == pytest.approx(P, abs=0.015)


def test_two_classes_have_half_a_count_a_cell_where_the_binary_posterior_has_one() -> None:
    # precision of class 1 from the binary posterior with half a count less equals the K = 2 prior's
    matrix = np.array([[30.0, 5], [7, 40]])
    macro = multiclass_posterior(matrix, "balanced_accuracy", n_draws=100_000)
    binary = confusion_posterior(40 - 0.5, 5 - 0.5, 7 - 0.5, 30 - 0.5, "balanced_accuracy")
    assert isinstance(macro, DrawsPosterior)
    assert abs(macro.mean - binary.mean) < 5 * macro.mc_error
    assert binary.cdf(macro.quantile(P)) == pytest.approx(P, abs=0.01)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(0, 30), min_size=16, max_size=16), st.permutations(range(4)))
def test_renaming_classes_changes_nothing(cells: list[int], order: list[int]) -> None:
    matrix = np.array(cells, float).reshape(4, 4)
    renamed = matrix[np.ix_(order, order)]
    for metric in METRICS:
        a, b = multiclass_posterior(matrix, metric), multiclass_posterior(renamed, metric)
        assert abs(a.mean - b.mean) < 5 * np.hypot(a.sd, b.sd) / np.sqrt(20_000) + 1e-12


@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(0, 30), min_size=9, max_size=9))
def test_transposition_leaves_the_symmetric_metrics(cells: list[int]) -> None:
    matrix = np.array(cells, float).reshape(3, 3)
    for metric in ("macro_f1", "mcc", "kappa", "micro_f1", "accuracy"):
        a, b = multiclass_posterior(matrix, metric), multiclass_posterior(matrix.T, metric)
        assert abs(a.mean - b.mean) < 5 * np.hypot(a.sd, b.sd) / np.sqrt(20_000) + 1e-12


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 3)), np.eye(3) * 1e9, 1 - np.eye(3), np.eye(2, 3), np.diag([5.0, 0, 0])]
)
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_counts_give_an_interval_inside_the_range(matrix: np.ndarray, metric: MulticlassMetric) -> None:
    posterior = multiclass_posterior(matrix, metric)
    lowest = -1.0 if metric in ("mcc", "kappa", "ac1") else 0.0
    for kind in ("quantile", "hdi"):
        low, high = posterior.interval(kind=kind)  # type: ignore[arg-type]
        assert lowest <= low < high <= 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multiclass_posterior(np.ones((3, 5))), r"shape \(K, K\) or \(K, K\+1\)"),
        (lambda: multiclass_posterior([[1, -1], [0, 2]]), "finite counts >= 0"),
        (lambda: multiclass_posterior(np.eye(2), "f1"), "accuracy, balanced_accuracy, kappa"),  # type: ignore[arg-type]
        (lambda: confusion_matrix([0, 1, 2], [0, 1]), "one length > 0; got 3 and 2"),
        (lambda: confusion_matrix([0, -1], [0, 1]), "position 1 is -1"),
        (lambda: confusion_matrix([0, 5], [0, 1], n_classes=3), "largest class 5; got 3"),
        (lambda: confusion_matrix([0.0, 1.5], [0, 1]), "whole numbers"),
        (lambda: clustered_multiclass_posterior([0, 1], [0, 1], [1]), "clusters must have one label"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


# clusters


@pytest.mark.parametrize("missing", [False, True])
def test_clusters_of_one_give_independent_questions(missing: bool) -> None:
    target, prediction = simulate(np.random.default_rng(3), 60, 3, 0.6)
    if missing:
        prediction[::6] = -1
    for metric in METRICS:
        clustered = clustered_multiclass_posterior(target, prediction, np.arange(60), metric)
        alone = multiclass_posterior(confusion_matrix(target, prediction), metric)
        if metric in ("accuracy", "micro_f1"):
            assert alone.cdf(clustered.quantile(P)) == pytest.approx(P, abs=1e-6)
        else:
            assert abs(clustered.mean - alone.mean) < 5 * np.hypot(clustered.sd, alone.sd) / np.sqrt(20_000)


def test_repeating_every_question_in_its_cluster_adds_nothing() -> None:
    target, prediction = simulate(np.random.default_rng(4), 200, 3, 0.7)
    once = clustered_multiclass_posterior(target, prediction, np.arange(200))
    twice = clustered_multiclass_posterior(np.tile(target, 4), np.tile(prediction, 4), np.tile(np.arange(200), 4))
    assert twice.sd == pytest.approx(once.sd, rel=0.05)


# calibration


def test_accuracy_of_the_prior_is_uniform() -> None:
    posterior = multiclass_posterior(np.zeros((5, 5)), "accuracy")
    assert posterior.quantile(P) == pytest.approx(P)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 5, 10])
def test_macro_f1_covers_as_stated_at_a_hundred_questions_a_class(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    covered, n_runs = 0, 300
    for run in range(n_runs):
        accuracy = (0.6, 0.8, 0.95)[run % 3]
        target, prediction = simulate(rng, 100 * n_classes, n_classes, accuracy)
        matrix = confusion_matrix(target, prediction, n_classes=n_classes)
        low, high = multiclass_posterior(matrix, n_draws=2000, rng=rng).interval()
        covered += low <= accuracy <= high  # classes and errors alike: every F1 is the accuracy
    assert binomtest(covered, n_runs, 0.95).pvalue > 1e-3


@pytest.mark.slow
def test_ranks_of_macro_f1_are_uniform_under_the_prior() -> None:
    rng = np.random.default_rng(12)
    prior = np.where(np.eye(3) == 1, 1 / 3, 1 / 6)
    ranks = []
    for _ in range(500):
        theta = rng.dirichlet(prior.ravel())
        matrix = rng.multinomial(30, theta).reshape(3, 3)
        posterior = multiclass_posterior(matrix, n_draws=4000, rng=rng)
        ranks.append(float(posterior.cdf(multiclass_score(theta.reshape(3, 3)))))
    for count in np.histogram(ranks, bins=10, range=(0, 1))[0]:
        assert binomtest(int(count), 500, 0.1).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("concentration", [1.0, 1e6])
def test_clustered_macro_f1_covers_at_least_nine_times_in_ten(concentration: float) -> None:
    rng, covered = np.random.default_rng(8), 0
    theta = np.where(np.eye(3) == 1, 0.8 / 3, 0.2 / 6).ravel()
    for _ in range(100):
        shares = rng.dirichlet(theta * concentration, 30)
        cells = np.concatenate([np.repeat(np.arange(9), rng.multinomial(10, share)) for share in shares])
        data = cells // 3, cells % 3, np.repeat(np.arange(30), 10)
        low, high = clustered_multiclass_posterior(*data, n_draws=2000, rng=rng).interval()
        covered += low <= 0.8 <= high
    assert binomtest(covered, 100, 0.9, alternative="less").pvalue > 1e-2


def test_rare_classes_are_covered_as_the_docs_state() -> None:
    """Decision 009: ten classes of shares 1 to 10, recall .8, 100 questions: .91, and .83 were the draws not moved."""
    share = np.arange(1.0, 11)[:, None] / 55
    cells = share * np.where(np.eye(10) > 0, 0.8, 0.2 / 9)
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        matrix = rng.multinomial(100, cells.ravel() / cells.sum()).reshape(10, 10)
        low, high = multiclass_posterior(matrix, n_draws=1000).interval(0.95, "hdi")
        covered += low <= multiclass_score(cells) <= high
    assert binomtest(covered, 200, 0.91).pvalue > 1e-3


@pytest.mark.parametrize("metric", METRICS)
def test_a_perfect_matrix_stays_within_the_range_of_the_metric(metric: MulticlassMetric) -> None:
    low, high = multiclass_posterior(np.diag([5.0, 3.0, 2.0]), metric).interval(0.95, "hdi")
    assert 0 < low < high <= 1


def test_draws_are_moved_less_as_questions_grow() -> None:
    matrix = np.array([[6.0, 2.0, 1.0], [2.0, 5.0, 2.0], [1.0, 1.0, 8.0]])
    away = [abs(multiclass_posterior(k * matrix).mean - multiclass_score(matrix)) for k in (1, 10, 1000)]
    assert away[2] < 0.001
    assert away[2] < away[1] < away[0]
