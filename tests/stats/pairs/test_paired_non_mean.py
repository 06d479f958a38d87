"""Paired differences of metrics that are no averages: margins, limits, sharing of weights."""

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.classes.confusion import confusion_posterior
from harness_uq.stats.means.bayesian_bootstrap import bayesian_bootstrap
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.pairs.paired_non_mean import paired_bootstrap, paired_confusion_posterior


def test_accuracy_is_the_dirichlet_of_the_paired_table() -> None:
    """Accuracy pools the eight cells into both, only A, only B, neither: Dirichlet(1, 1, 1, 1) instead of 1/2 each, so
    the mean is that of counts with one pseudo-question a cell.
    """
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 200)
    a, b = targets ^ (rng.random(200) < 0.2), targets ^ (rng.random(200) < 0.3)
    posterior = paired_confusion_posterior(targets, a, b, "accuracy", n_draws=40_000)
    only_a, only_b = np.sum((a == targets) & (b != targets)), np.sum((a != targets) & (b == targets))
    expected = (only_a - only_b) / 204
    assert posterior.mean == pytest.approx(expected, abs=5 * posterior.mc_error)
    table = [np.sum((a == targets) & (b == targets)), only_a, only_b, np.sum((a != targets) & (b != targets))]
    assert posterior.sd == pytest.approx(paired_posterior(table, "dirichlet").sd, rel=0.03)


def test_a_constant_opponent_leaves_the_margin_of_the_other() -> None:
    """Var(A - B) >= 0 and E[A - B] = E[A] - E[B] with both margins Dirichlet(1, 1, 1, 1)."""
    targets = np.array([1, 0] * 30)
    a, b = targets.copy(), np.ones(60, int)
    a[:10] ^= 1
    f1 = [confusion_posterior(*_cells(targets, x), "f1").mean for x in (a, b)]
    posterior = paired_confusion_posterior(targets, a, b, "f1", n_draws=40_000)
    assert posterior.mean == pytest.approx(f1[0] - f1[1], abs=6 * posterior.mc_error)


def _cells(targets: np.ndarray, found: np.ndarray) -> tuple[int, int, int, int]:
    return tuple(int(np.sum((targets == t) & (found == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0)))


def test_exchanging_the_systems_changes_signs_only() -> None:
    rng = np.random.default_rng(1)
    targets, a, b = rng.integers(0, 2, (3, 80))
    for clusters in (None, np.arange(80) // 4):
        here, there = (paired_confusion_posterior(targets, *pair, clusters=clusters) for pair in ((a, b), (b, a)))
        assert here.draws == pytest.approx(-there.draws[::-1])
        same = paired_confusion_posterior(targets, a, a, clusters=clusters)
        assert same.draws == pytest.approx(-same.draws[::-1])


def test_clusters_of_one_change_nothing_but_the_draws() -> None:
    rng = np.random.default_rng(2)
    targets, a, b = rng.integers(0, 2, (3, 60))
    alone = paired_confusion_posterior(targets, a, b, clusters=np.arange(60), n_draws=20_000)
    plain = paired_confusion_posterior(targets, a, b, n_draws=20_000)
    assert alone.mean == pytest.approx(plain.mean, abs=6 * plain.mc_error)
    assert alone.sd == pytest.approx(plain.sd, rel=0.05)


def test_shared_weights_narrow_the_difference_of_correlated_systems() -> None:
    rng = np.random.default_rng(3)
    loglik, words = -rng.gamma(4, 10, 100), np.full(100, 20.0)
    a = np.column_stack([loglik, words])
    b = np.column_stack([loglik - rng.gamma(1, 1, 100), words])
    paired = paired_bootstrap(a, b, "perplexity")
    apart = np.hypot(*(bayesian_bootstrap(x, "perplexity").sd for x in (a, b)))
    assert paired.sd < 0.3 * apart
    assert paired.interval()[1] < 0


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [([[1.0, 2.0]] * 3, [[1.0, 2.0]] * 2, "records of the same questions"), ([[1.0]], [[1.0, 2.0]], "same questions")],
)
def test_records_that_do_not_fit_are_refused(a: object, b: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        paired_bootstrap(a, b, "ratio")


def test_labels_other_than_0_and_1_are_refused() -> None:
    with pytest.raises(DataError, match="must be 0 or 1"):
        paired_confusion_posterior([0, 1, 2], [0, 1, 1], [0, 1, 1])


def test_equal_records_have_no_spread() -> None:
    with pytest.raises(NotEstimableError, match="are equal"):
        paired_bootstrap([[1.0, 2.0], [3.0, 2.0]], [[1.0, 2.0], [3.0, 2.0]], "ratio")
