"""Binary confusion metrics: closed forms, limits, symmetries, degenerate counts, clusters and coverage."""

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes.confusion import (
    ConfusionMetric,
    clustered_confusion_posterior,
    confusion_posterior,
    confusion_score,
)
from harness_uq.stats.classes.dirichlet import draws_posterior
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior

METRICS: tuple[ConfusionMetric, ...] = get_args(ConfusionMetric)
EXACT = tuple(metric for metric in METRICS if metric != "mcc")
P = np.array([0.005, 0.025, 0.3, 0.5, 0.7, 0.975, 0.995])

counts = st.tuples(*[st.integers(0, 40)] * 4)


# references


def test_f1_quantiles_are_those_of_the_jaccard_beta() -> None:
    # TP / (TP + FP + FN) ~ Beta(N_TP + 1, N_FP + N_FN + 2), F1 = 2 J / (1 + J)
    j = BetaPosterior(9, 7).quantile(P)
    posterior = confusion_posterior(8, 2, 3, 7)
    assert posterior.quantile(P) == pytest.approx(2 * j / (1 + j), abs=1e-14)
    assert posterior.cdf(posterior.quantile(P)) == pytest.approx(P, abs=1e-12)
    assert posterior.cdf([-0.5, 1.5]).tolist() == [0.0, 1.0]


def test_f1_moments_of_the_prior_alone() -> None:
    # J ~ Beta(1, 2): E F1 = int 4 j (1-j) / (1+j) dj = 4 (-1/2 + 2 - 2 log 2)
    mean = 4 * (1.5 - 2 * np.log(2))
    # E F1^2 = int 8 j^2 (1-j) / (1+j)^2 dj = 8 (-1/2 + 3 - 5 log 2 + 1)
    square = 8 * (3.5 - 5 * np.log(2))
    posterior = confusion_posterior(0, 0, 0, 0)
    assert posterior.mean == pytest.approx(mean, abs=1e-12)
    assert posterior.sd == pytest.approx(np.sqrt(square - mean**2), abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "a", "b"), [("precision", 9, 3), ("recall", 9, 4), ("specificity", 8, 3), ("accuracy", 17, 7)]
)
def test_proportions_are_betas(metric: ConfusionMetric, a: float, b: float) -> None:
    posterior = confusion_posterior(8, 2, 3, 7, metric)
    assert posterior.quantile(P) == pytest.approx(BetaPosterior(a, b).quantile(P), abs=1e-14)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(counts)
def test_every_metric_agrees_with_draws_of_the_cells(cells: tuple[int, int, int, int]) -> None:
    masses = np.array(cells) + 1.0
    for metric in EXACT:
        exact = confusion_posterior(*cells, metric, beta=2.0)
        drawn = draws_posterior(
            lambda draw, metric=metric: confusion_score(*draw.T, metric, beta=2.0), [(masses, 1.0)], n_draws=20_000
        )
        assert abs(drawn.mean - exact.mean) < 5 * drawn.mc_error, metric
        assert np.abs(exact.cdf(drawn.quantile(P)) - P).max() < 0.015, metric  # 4 standard errors at p = .5


def mcc_cdf(masses: np.ndarray, x: float) -> float:
    """P(MCC <= x) by quadrature of its density over the slice {MCC = x}.

    With cells proportional to (e^m + x, e^-m + x, e^d - x, e^-d - x) for TP, TN, FN, FP and x >= 0, MCC is x; the
    density is int int (e^m+x)^(a-1) (e^-m+x)^(t-1) (e^d-x)^(n-1) (e^-d-x)^(p-1) (cosh m + cosh d)^(1-A) dm dd.
    Negative x are those of the matrix with predictions swapped.
    """
    grid = (np.arange(400) + 0.5) / 400

    def density(value: float, cells: np.ndarray) -> float:
        a, p, n, t = cells
        m, d = np.linspace(-9, 9, 301)[:, None], (2 * grid - 1) * -np.log(value)
        logs = (a - 1) * np.log(np.exp(m) + value) + (t - 1) * np.log(np.exp(-m) + value)
        logs = logs + (n - 1) * np.log(np.exp(d) - value) + (p - 1) * np.log(np.exp(-d) - value)
        return float(np.exp(logs + (1 - cells.sum()) * np.log(np.cosh(m) + np.cosh(d))).sum() * -np.log(value))

    swapped = masses[[2, 3, 0, 1]]
    values = np.concatenate([-grid[::-1], grid])
    heights = np.array([density(abs(v), masses if v > 0 else swapped) for v in values])
    cumulative = np.concatenate([[0.0], np.cumsum(heights)]) / heights.sum()
    return float(np.interp(x, np.linspace(-1, 1, len(cumulative)), cumulative))


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(8, 3, 2, 6), (12, 2, 5, 30), (3, 6, 7, 4)])
def test_mcc_draws_follow_the_density_of_its_slices(cells: tuple[int, int, int, int]) -> None:
    posterior = confusion_posterior(*cells, "mcc")
    for p in (0.025, 0.5, 0.975):
        assert mcc_cdf(np.array(cells) + 1.0, float(posterior.quantile(p))) == pytest.approx(p, abs=0.006)


def test_mcc_states_its_monte_carlo_error_and_repeats() -> None:
    posterior = confusion_posterior(8, 2, 3, 7, "mcc")
    assert isinstance(posterior, DrawsPosterior)
    assert 0 < posterior.mc_error < 0.005 * posterior.sd
    other = confusion_posterior(8, 2, 3, 7, "mcc", rng=np.random.default_rng(5))
    assert confusion_posterior(8, 2, 3, 7, "mcc").mean == posterior.mean != other.mean
    assert abs(other.mean - posterior.mean) < 5 * np.hypot(other.mc_error, posterior.mc_error)


def test_plain_scores_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    target, prediction = rng.integers(0, 2, (2, 200))
    tn, fp, fn, tp = metrics.confusion_matrix(target, prediction).ravel()
    expected = {
        "f1": metrics.f1_score(target, prediction),
        "f_beta": metrics.fbeta_score(target, prediction, beta=2.0),
        "precision": metrics.precision_score(target, prediction),
        "recall": metrics.recall_score(target, prediction),
        "specificity": metrics.recall_score(target, prediction, pos_label=0),
        "accuracy": metrics.accuracy_score(target, prediction),
        "balanced_accuracy": metrics.balanced_accuracy_score(target, prediction),
        "informedness": metrics.balanced_accuracy_score(target, prediction, adjusted=True),
        "g": np.sqrt(metrics.precision_score(target, prediction) * metrics.recall_score(target, prediction)),
        "mcc": metrics.matthews_corrcoef(target, prediction),
    }
    got = {metric: float(confusion_score(tp, fp, fn, tn, metric, beta=2.0)) for metric in METRICS}
    assert got == pytest.approx(expected, abs=1e-12)


# limits and symmetries


@settings(deadline=None, max_examples=25)
@given(counts)
def test_f_beta_at_one_is_f1(cells: tuple[int, int, int, int]) -> None:
    f1 = confusion_posterior(*cells)
    f_beta = confusion_posterior(*cells, "f_beta", beta=1.0)
    assert f1.cdf(f_beta.quantile(P)) == pytest.approx(P, abs=5e-8)
    assert f_beta.mean == pytest.approx(f1.mean, abs=1e-8)
    assert f_beta.sd == pytest.approx(f1.sd, rel=1e-6)


@pytest.mark.parametrize(("beta", "metric"), [(1e-3, "precision"), (1e3, "recall")])
def test_f_beta_tends_to_precision_and_to_recall(beta: float, metric: ConfusionMetric) -> None:
    f_beta = confusion_posterior(18, 4, 9, 30, "f_beta", beta=beta)
    assert f_beta.quantile(P) == pytest.approx(confusion_posterior(18, 4, 9, 30, metric).quantile(P), abs=1e-5)


@settings(deadline=None, max_examples=15)
@given(counts, st.floats(0.3, 3.0))
def test_transposition_swaps_precision_and_recall(cells: tuple[int, int, int, int], beta: float) -> None:
    tp, fp, fn, tn = cells
    for metric, other in [("precision", "recall"), ("f1", "f1"), ("g", "g"), ("accuracy", "accuracy")]:
        a, b = confusion_posterior(tp, fp, fn, tn, metric), confusion_posterior(tp, fn, fp, tn, other)
        assert a.quantile(P) == pytest.approx(b.quantile(P), abs=1e-10)
    a = confusion_posterior(tp, fp, fn, tn, "f_beta", beta=beta)
    b = confusion_posterior(tp, fn, fp, tn, "f_beta", beta=1 / beta)
    assert a.cdf(b.quantile(P)) == pytest.approx(P, abs=5e-8)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(counts)
def test_swapping_right_and_wrong_mirrors_the_signed_metrics(cells: tuple[int, int, int, int]) -> None:
    tp, fp, fn, tn = cells
    for metric, centre in [("informedness", 0.0), ("balanced_accuracy", 0.5)]:
        a, b = confusion_posterior(tp, fp, fn, tn, metric), confusion_posterior(fn, tn, tp, fp, metric)
        assert a.quantile(P) == pytest.approx(2 * centre - b.quantile(1 - P), abs=1e-7)
    a, b = confusion_posterior(tp, fp, fn, tn, "mcc"), confusion_posterior(fn, tn, tp, fp, "mcc")
    assert abs(a.mean + b.mean) < 5 * np.hypot(a.sd, b.sd) / np.sqrt(200_000)


def test_informedness_is_twice_balanced_accuracy_minus_one() -> None:
    mean, informedness = (confusion_posterior(8, 2, 3, 7, m) for m in ("balanced_accuracy", "informedness"))
    assert informedness.mean == pytest.approx(2 * mean.mean - 1)
    assert informedness.sd == pytest.approx(2 * mean.sd)
    assert informedness.interval(kind="hdi") == pytest.approx([2 * x - 1 for x in mean.interval(kind="hdi")])
    assert informedness.cdf([-2.0, 2.0]).tolist() == [0.0, 1.0]


@settings(deadline=None, max_examples=15)
@given(counts)
def test_highest_density_interval_is_narrowest_on_the_scale_of_f1(cells: tuple[int, int, int, int]) -> None:
    posterior = confusion_posterior(*cells)
    low, high = posterior.interval(kind="hdi")
    assert float(posterior.cdf(high) - posterior.cdf(low)) == pytest.approx(0.95, abs=1e-9)
    j = BetaPosterior(cells[0] + 1, cells[1] + cells[2] + 2).interval(kind="hdi")
    mapped = [2 * x / (1 + x) for x in j]
    assert high - low <= min(mapped[1] - mapped[0], np.subtract(*posterior.interval()[::-1])) + 1e-12


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (0, 0, 0, 10**9), (0, 5, 7, 0), (10**9, 0, 0, 10**9), (10**9,) * 4])
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_counts_give_an_interval_inside_the_range(
    cells: tuple[int, int, int, int], metric: ConfusionMetric
) -> None:
    posterior = confusion_posterior(*cells, metric, beta=2.0)
    lowest = -1.0 if metric in ("informedness", "mcc") else 0.0
    for kind in ("quantile", "hdi"):
        low, high = posterior.interval(kind=kind)  # type: ignore[arg-type]
        assert lowest <= low < high <= 1.0
    assert lowest < posterior.mean < 1.0
    assert 0 < posterior.sd < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: confusion_posterior(-1, 0, 0, 0), "non-negative"),
        (lambda: confusion_posterior(1, np.nan, 0, 0), "finite"),
        (lambda: confusion_posterior(1, 1, 1, 1, "f2"), "accuracy, balanced_accuracy"),  # type: ignore[arg-type]
        (lambda: confusion_posterior(1, 1, 1, 1, "f_beta", beta=0.0), "beta must be a number above 0"),
        (lambda: confusion_posterior(np.ones(2), 1, 1, 1), "one confusion matrix"),  # type: ignore[arg-type]
        (lambda: clustered_confusion_posterior([0, 1], [0, 2], [1, 1]), "0 and 1; got 2"),
        (lambda: clustered_confusion_posterior([0, 1], [0], [1, 1]), "differ in length"),
        (lambda: clustered_confusion_posterior([0, 1], [0, 1], [1]), "clusters must have one label"),
        (lambda: clustered_confusion_posterior([], [], []), "at least one question"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


# clusters


def simulate_clusters(
    rng: np.random.Generator, theta: tuple[float, ...], n_clusters: int, size: int, concentration: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, predictions and clusters of Dirichlet-multinomial cells; ICC = 1 / (1 + concentration)."""
    shares = rng.dirichlet(np.asarray(theta) * concentration, n_clusters)
    cells = (rng.random((n_clusters, size, 1)) > shares.cumsum(axis=1)[:, None, :3]).sum(axis=2).ravel()
    return (cells % 2 == 0).astype(int), (cells < 2).astype(int), np.repeat(np.arange(n_clusters), size)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
def test_clusters_of_one_give_independent_questions(pairs: list[tuple[int, int]]) -> None:
    target, prediction = np.array(pairs).T
    tp, fp, fn, tn = (((target == t) & (prediction == p)).sum() for t, p in [(1, 1), (0, 1), (1, 0), (0, 0)])
    for metric in ("f1", "f_beta", "precision", "recall", "specificity", "accuracy"):
        clustered = clustered_confusion_posterior(target, prediction, np.arange(len(pairs)), metric, beta=0.5)
        alone = confusion_posterior(tp, fp, fn, tn, metric, beta=0.5)
        assert clustered.cdf(alone.quantile(P)) == pytest.approx(P, abs=1e-6)
    for metric in ("g", "mcc", "balanced_accuracy", "informedness"):
        clustered = clustered_confusion_posterior(target, prediction, np.arange(len(pairs)), metric)
        alone = confusion_posterior(tp, fp, fn, tn, metric)
        assert abs(clustered.mean - alone.mean) < 5 * clustered.sd / np.sqrt(20_000)


def test_labels_and_order_of_clusters_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    target, prediction, clusters = simulate_clusters(rng, (0.4, 0.1, 0.1, 0.4), 12, 6, 2.0)
    order = rng.permutation(len(target))
    names = np.array([f"passage {i}" for i in rng.permutation(12)])
    a = clustered_confusion_posterior(target, prediction, clusters)
    b = clustered_confusion_posterior(target[order], prediction[order], names[clusters[order]])
    assert a.quantile(P) == pytest.approx(b.quantile(P), abs=1e-9)


def test_ratios_of_clustered_cells_agree_with_draws() -> None:
    target, prediction, clusters = simulate_clusters(np.random.default_rng(4), (0.4, 0.1, 0.2, 0.3), 15, 8, 1.0)
    drawn = clustered_confusion_posterior(target, prediction, clusters, "g", n_draws=200_000)
    precision, recall = (
        clustered_confusion_posterior(target, prediction, clusters, m) for m in ("precision", "recall")
    )
    product = float(precision.quantile(0.5)) * float(recall.quantile(0.5))
    assert float(drawn.quantile(0.5)) == pytest.approx(np.sqrt(product), abs=0.01)


def test_one_cluster_says_little() -> None:
    low, high = clustered_confusion_posterior([1] * 20, [1] * 20, [0] * 20).interval()
    assert high - low > 0.5


@pytest.mark.slow
def test_correlation_within_clusters_widens_the_interval() -> None:
    # design effect 1 + (m - 1) ICC = 1 + 9 / 2 at concentration 1: widths differ by its square root
    rng, ratios = np.random.default_rng(5), []
    for _ in range(30):
        target, prediction, clusters = simulate_clusters(rng, (0.4, 0.1, 0.1, 0.4), 100, 10, 1.0)
        clustered = clustered_confusion_posterior(target, prediction, clusters).interval()
        alone = clustered_confusion_posterior(target, prediction, np.arange(len(target))).interval()
        ratios.append((clustered[1] - clustered[0]) / (alone[1] - alone[0]))
    assert np.mean(ratios) == pytest.approx(np.sqrt(5.5), rel=0.1)


# calibration


@pytest.mark.parametrize("n", [3, 10, 30, 100])
def test_f1_covers_as_stated_when_cells_come_from_the_prior(n: int) -> None:
    # Bowyer et al. (2025), section 3.5: theta ~ Dirichlet(1, 1, 1, 1)
    rng = np.random.default_rng(n)
    theta = rng.dirichlet(np.ones(4), 1000)
    covered = 0
    for row in theta:
        low, high = confusion_posterior(*rng.multinomial(n, row)).interval(0.9)
        covered += low <= float(confusion_score(*row)) <= high
    assert binomtest(covered, 1000, 0.9).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["f_beta", "g", "balanced_accuracy", "informedness", "mcc"])
def test_ranks_of_the_truth_are_uniform(metric: ConfusionMetric) -> None:
    # simulation-based calibration: the posterior probability below the truth is uniform, in ten bins
    rng = np.random.default_rng(11)
    ranks = []
    for _ in range(400):
        theta = rng.dirichlet(np.ones(4))
        posterior = confusion_posterior(*rng.multinomial(20, theta), metric, beta=2.0, n_draws=5000)
        ranks.append(float(posterior.cdf(confusion_score(*theta, metric, beta=2.0))))
    bins = np.histogram(ranks, bins=10, range=(0, 1))[0]
    for count in bins:
        assert binomtest(int(count), 400, 0.1).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theta", "n_clusters", "size", "concentration"),
    [
        (theta, *((10, 10), (60, 20))[(i + j) % 2], concentration)  # every pair of two of the three occurs
        for i, theta in enumerate([(0.45, 0.05, 0.05, 0.45), (0.05, 0.01, 0.02, 0.92), (0.85, 0.05, 0.05, 0.05)])
        for j, concentration in enumerate([0.5, 3.0, 1e6])
    ],
)
def test_clustered_f1_covers_at_least_nine_times_in_ten(
    theta: tuple[float, ...], n_clusters: int, size: int, concentration: float
) -> None:
    # nominal 95 %; 100 data sets reject a true coverage of .90 or less only when it is plainly so
    rng = np.random.default_rng(7)
    truth, covered = float(confusion_score(*theta)), 0
    for _ in range(100):
        data = simulate_clusters(rng, theta, n_clusters, size, concentration)
        low, high = clustered_confusion_posterior(*data).interval()
        covered += low <= truth <= high
    assert binomtest(covered, 100, 0.9, alternative="less").pvalue > 1e-2
