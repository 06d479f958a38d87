"""Difference of systems that share a part of their questions: least squares, limits, coverage and bad input."""

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.pairs.paired_frequentist import paired_t
from harness_uq.stats.pairs.partial_overlap import partial_overlap


def scores(n: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    common = np.sqrt(correlation) * rng.standard_normal(n)
    return common + np.sqrt(1 - correlation) * rng.standard_normal((2, n))


def test_the_estimate_is_that_of_whitened_least_squares() -> None:
    """numpy.linalg.lstsq of the means, whitened with the Cholesky factor of their covariance."""
    a, b = scores(40, 0.6, np.random.default_rng(1))
    found = partial_overlap(a[:20], b[:20], a[20:30], b[30:])
    v = [np.var(np.r_[a[:20], a[20:30]], ddof=1), np.var(np.r_[b[:20], b[30:]], ddof=1)]
    s = np.diag([v[0] / 20, v[1] / 20, v[0] / 10, v[1] / 10])
    s[0, 1] = s[1, 0] = np.corrcoef(a[:20], b[:20])[0, 1] * np.sqrt(v[0] * v[1]) / 20
    factor = np.linalg.inv(np.linalg.cholesky(s))
    x = np.array([a[:20].mean(), b[:20].mean(), a[20:30].mean(), b[30:].mean()])
    design = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    beta, *_ = np.linalg.lstsq(factor @ design, factor @ x, rcond=None)
    assert (found.mean_a, found.mean_b) == pytest.approx(beta)
    assert found.difference.mean == pytest.approx(beta[0] - beta[1])
    assert found.difference.df == 19


def test_a_single_own_question_hardly_changes_the_paired_difference() -> None:
    a, b = scores(400, 0.9, np.random.default_rng(2))
    found, paired = partial_overlap(a[:-1], b[:-1], a[-1:], []).difference, paired_t(a[:-1] - b[:-1])
    assert found.mean == pytest.approx(paired.mean, abs=0.01)
    assert found.std_error == pytest.approx(paired.std_error, rel=0.02)


def test_uncorrelated_scores_give_the_difference_of_the_means_of_all_questions() -> None:
    x = np.array([0.0, 0.0, 1.0, 1.0] * 10)
    y = np.array([0.0, 1.0, 0.0, 1.0] * 10)
    found = partial_overlap(x, y, [1.0] * 20, [0.0, 1.0] * 5)
    assert (found.mean_a, found.mean_b) == pytest.approx((40 / 60, 25 / 50))


@pytest.mark.parametrize(
    ("n_shared", "n_a", "n_b", "correlation"),
    [(50, 50, 50, 0.8), (100, 20, 200, 0.5), (30, 30, 0, 0.9), (60, 60, 60, 0.3)],
)
def test_coverage_is_nominal(n_shared: int, n_a: int, n_b: int, correlation: float) -> None:
    rng, hits, widths = np.random.default_rng(3), 0, []
    for _ in range(400):
        a, b = scores(n_shared + n_a + n_b, correlation, rng)
        own_a, own_b = a[n_shared : n_shared + n_a], b[n_shared + n_a :]
        low, high = partial_overlap(a[:n_shared], b[:n_shared], own_a, own_b).difference.interval()
        hits += low <= 0 <= high
        paired = paired_t(a[:n_shared] - b[:n_shared]).interval()
        widths.append((high - low) / (paired[1] - paired[0]))
    assert hits / 400 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)
    assert np.mean(widths) < 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([1, 2], [1, 2], [3], []), NotEstimableError),
        (([1, 2, 3], [1, 2, 4], [], []), NotEstimableError),
        (([1, 1, 1], [1, 2, 4], [1], []), NotEstimableError),
        (([1, np.nan, 1], [1, 2, 4], [1], []), DataError),
    ],
)
def test_bad_input_is_refused(arguments: tuple[list[float], ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        partial_overlap(*arguments)
