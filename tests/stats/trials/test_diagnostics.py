"""Checks on scores against textbook statistics, exact expectations and missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, kstest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.trials.diagnostics import (
    cochran_q,
    effective_weights,
    identical_trials,
    missing_bounds,
    variance_components,
)

NAN = float("nan")


@st.composite
def trial_tables(draw: st.DrawFn) -> np.ndarray:
    rows, columns = draw(st.integers(2, 12)), draw(st.integers(2, 5))
    cells = draw(st.lists(st.integers(0, 1), min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, float).reshape(rows, columns)


@settings(deadline=None)  # the first example imports statsmodels
@given(trial_tables())
def test_q_of_complete_binary_trials_is_that_of_statsmodels(values: np.ndarray) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if (np.ptp(values, axis=1) == 0).all():
        with pytest.raises(NotEstimableError):
            cochran_q(values)
        return
    expected = tables.cochrans_q(values)
    result = cochran_q(values)
    assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-8)
    assert result.df == expected.df


def test_q_leaves_out_what_a_missing_trial_leaves_out() -> None:
    """A question with one trial left, or none, says nothing of columns; one that never varies neither."""
    values = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]], float)
    silent = np.array([[1, NAN, NAN], [NAN, NAN, NAN], [1, 1, 1]])
    padded = np.vstack([values, silent])
    assert cochran_q(padded).statistic == pytest.approx(cochran_q(values).statistic, rel=1e-12)


def test_q_of_two_columns_is_mcnemars_chi_square() -> None:
    """(b - c)^2 / (b + c) with b = 7, c = 2."""
    values = np.repeat([[1, 0], [0, 1], [1, 1]], [7, 2, 5], axis=0)
    assert cochran_q(values).statistic == pytest.approx(25 / 9)


def test_q_of_graded_incomplete_trials_is_chi_squared_without_a_batch_effect() -> None:
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(600):
        values = rng.integers(0, 3, (60, 4)) / 2 * (rng.random((60, 1)) < 0.8)
        values[rng.random(values.shape) < 0.2] = NAN
        p_values.append(cochran_q(values).p_value)
    assert kstest(p_values, "uniform").pvalue > 1e-3


def test_q_finds_a_bad_batch() -> None:
    rng = np.random.default_rng(2)
    values = (rng.random((100, 4)) < [0.8, 0.8, 0.8, 0.4]).astype(float)
    assert cochran_q(values).p_value < 1e-6


def test_intra_batch_correlation_follows_from_published_mean_squares() -> None:
    """Shrout and Fleiss (1979), tables 2 and 3: mean squares 11.24 (targets), 32.49 (judges) and 1.02 (residual)."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    judges, targets = (32.49 - 1.02) / 6, (11.24 - 1.02) / 4
    assert cochran_q(ratings).intra_batch_correlation == pytest.approx(judges / (judges + targets + 1.02), abs=1e-3)


def test_intra_batch_correlation_is_zero_for_equal_columns_and_one_if_only_columns_differ() -> None:
    assert cochran_q([[1, 0], [0, 1]]).intra_batch_correlation == 0.0
    assert cochran_q([[1, 0], [1, 0], [1, 0]]).intra_batch_correlation == pytest.approx(1.0)
    assert cochran_q([[1, 0, 1]]).intra_batch_correlation == 0.0


def test_intra_batch_correlation_is_recovered_with_missing_trials() -> None:
    """Variances 1 (questions), 0.25 (columns) and 1 (residual) give 1/9; 200 columns keep the error small."""
    rng = np.random.default_rng(6)
    values = rng.normal(size=(300, 1)) + 0.5 * rng.normal(size=(1, 200)) + rng.normal(size=(300, 200))
    values[rng.random(values.shape) < 0.4] = NAN
    assert cochran_q(values).intra_batch_correlation == pytest.approx(1 / 9, abs=0.02)


def test_identical_trials_count_as_one_even_with_gaps() -> None:
    assert identical_trials([[0.3, 0.3, NAN], [NAN, 0.1, 0.1], [NAN, NAN, NAN], [1.0, NAN, NAN]])
    assert not identical_trials([[0.3, 0.3, NAN], [0.2, 0.1, 0.1]])
    assert not identical_trials([[0.3, NAN], [NAN, 0.1]])


@pytest.mark.slow
@given(trial_tables(), st.randoms(use_true_random=False))
def test_bounds_hold_whatever_was_missing(values: np.ndarray, random: object) -> None:
    holes = np.array([random.random() < 0.3 for _ in range(values.size)]).reshape(values.shape)  # type: ignore[attr-defined]
    bounds = missing_bounds(np.where(holes, NAN, values), 0, 1)
    assert bounds.low - 1e-12 <= values.mean() <= bounds.high + 1e-12
    assert bounds.high - bounds.low == pytest.approx(holes.mean())
    assert (bounds.n_missing, bounds.n_trials) == (holes.sum(), values.size)


def test_equal_weights_are_worth_their_number() -> None:
    assert effective_weights(np.full(7, 0.3)) == pytest.approx(7.0)


@pytest.mark.parametrize("with_gaps", [False, True])
def test_components_are_unbiased(with_gaps: bool) -> None:
    """Miller (2024), chapter 6: x uniform, binary trials: Var(x) = 1/12, E[sigma^2] = 1/6, icc = 1/3."""
    rng = np.random.default_rng(3)
    x = rng.random((40_000, 1))
    values = (rng.random((40_000, 5)) < x).astype(float)
    if with_gaps:
        values[rng.random(values.shape) < 0.6 * (1 - x)] = NAN  # hard questions have fewer trials
    result = variance_components(values)
    kept = x[(~np.isnan(values)).any(axis=1)]
    assert result.variance_between == pytest.approx(kept.var(), abs=0.003)
    assert result.variance_within == pytest.approx(1 / 6, abs=0.006 if with_gaps else 0.003)
    if not with_gaps:
        assert result.icc == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("n_trials", [2, 4])
def test_components_predict_the_variance_of_the_score(n_trials: int) -> None:
    """Var(x) + E[sigma^2] / K is the variance of question means, exactly so in the sample when complete."""
    rng = np.random.default_rng(4)
    values = (rng.random((200, n_trials)) < rng.random((200, 1))).astype(float)
    result = variance_components(values)
    assert result.variance_between + result.variance_within / n_trials == pytest.approx(values.mean(axis=1).var(ddof=1))


def test_trials_that_never_vary_have_no_within_variance() -> None:
    assert variance_components([[1, 1], [0, 0], [1, 1]]).icc == pytest.approx(1.0)
    assert variance_components([[1, 1], [1, 1]]).icc is None
    assert variance_components([[0, 1], [1, 0]]).variance_between == 0.0


def test_false_alarms_of_q_are_at_the_level() -> None:
    rng = np.random.default_rng(5)
    theta = rng.beta(2, 1, (2000, 80, 1))
    alarms = sum(cochran_q(table).p_value < 0.05 for table in rng.random((2000, 80, 4)) < theta)
    assert binomtest(alarms, 2000, 0.05).pvalue > 1e-3


def test_what_cannot_be_estimated_says_so() -> None:
    with pytest.raises(NotEstimableError, match="no question has trials that differ"):
        cochran_q([[1.0], [0.0]])
    with pytest.raises(NotEstimableError, match=r"got 2 question\(s\) with at most 1 trial"):
        variance_components([[1.0], [0.0]])
    with pytest.raises(NotEstimableError, match=r"got 1 question\(s\) with at most 2"):
        variance_components([[1.0, 0.0]])
    with pytest.raises(NotEstimableError, match="no weights"):
        effective_weights([])
    with pytest.raises(NotEstimableError, match="no trials"):
        identical_trials(np.zeros((0, 3)))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DataError, match=r"shape \(n_questions, n_trials\); got \(2,\)"):
        cochran_q([1.0, 0.0])
    with pytest.raises(DataError, match="question 1, trial 0 is inf"):
        variance_components([[1.0, 0.0], [float("inf"), 0.0]])
    with pytest.raises(DataError, match="from 0 to 2"):
        missing_bounds([[0.0, 2.0]], 0, 1)
    with pytest.raises(DataError, match=r"position 0 is -1\.0"):
        effective_weights([-1.0, 2.0])
