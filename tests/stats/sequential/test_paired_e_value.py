"""The e-value: closed form, martingale, running form, type I error by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from harness_uq.errors import DataError
from harness_uq.stats.sequential.paired_e_value import log_e_value, running_log_e_value, stopping_time

counts = st.integers(0, 200)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (3, 7), (20, 4)])
def test_is_the_marginal_likelihood_ratio(a: int, b: int) -> None:
    # the integral of r^a (1 - r)^b against Beta(1/2, 1/2), with r = sin(phi)^2, over 2^-(a + b)
    value, _ = integrate.quad(lambda phi: np.sin(phi) ** (2 * a) * np.cos(phi) ** (2 * b), 0, np.pi / 2)
    assert float(log_e_value(a, b)) == pytest.approx(np.log(value / (np.pi / 2)) + (a + b) * np.log(2), abs=1e-9)


@given(counts, counts)
def test_next_question_leaves_its_mean_unchanged(a: int, b: int) -> None:
    now, next_a, next_b = log_e_value([a, a + 1, a], [b, b, b + 1])
    assert np.logaddexp(next_a, next_b) - np.log(2) == pytest.approx(now, abs=1e-9)


@given(counts, counts)
def test_does_not_care_which_system_is_first(a: int, b: int) -> None:
    assert float(log_e_value(a, b)) == float(log_e_value(b, a))


def test_a_billion_questions_stay_finite() -> None:
    assert np.isfinite(log_e_value([10**9, 0, 5 * 10**8], [0, 0, 5 * 10**8])).all()


def test_running_value_counts_the_questions_so_far() -> None:
    a = np.array([[1, 1, 0, 1, np.nan, 0], [0, 0, 0, 0, 0, 0]])
    b = np.array([[0, 1, 0, 0, 1, 1], [1, 1, 0, 0, 1, 1]])
    expected = [log_e_value([1, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 1]), log_e_value(0, [1, 2, 2, 2, 3, 4])]
    np.testing.assert_allclose(running_log_e_value(a, b), expected)


def test_says_when_it_first_decides() -> None:
    log_e = np.log([[1.0, 30.0, 2.0], [1.0, 2.0, 3.0]])
    assert stopping_time(log_e).tolist() == [2, -1]
    assert stopping_time(log_e, threshold=2.5).tolist() == [2, 3]


def test_seven_in_a_row_decide_and_six_do_not() -> None:
    # E after n for one system is the product of (2 k - 1) / k over k <= n: 14.4 at n = 6, 26.8 at n = 7
    e = np.exp(log_e_value(np.arange(1, 11), 0))
    k = np.arange(1, 11)
    np.testing.assert_allclose(e, np.cumprod((2 * k - 1) / k), rtol=1e-12)
    assert stopping_time(np.log(e)) == 7


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [([1, 0.5], [0, 1], "correct_a"), ([1, 0], [0, 2], "correct_b"), ([1], [0, 1], "same questions")],
)
def test_says_what_it_cannot_use(a: list[float], b: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        running_log_e_value(a, b)


def test_needs_counts_and_a_threshold_above_one() -> None:
    with pytest.raises(DataError, match="non-negative"):
        log_e_value(-1, 2)
    with pytest.raises(DataError, match=r"exceed 1; got 0\.05"):
        stopping_time([0.0], threshold=0.05)


@pytest.mark.slow
def test_looking_after_every_question_raises_at_most_five_percent_false_alarms() -> None:
    # 4,000 pairs of equal systems, 1,000 questions, 30 % discordant; watching P(A > B) instead alarms in about half
    rng = np.random.default_rng(20260105)
    u = rng.random((4000, 1000))
    a, b = ((u < 0.15) | (u > 0.7)).astype(float), ((u > 0.15) & (u < 0.3) | (u > 0.7)).astype(float)
    alarms = int(np.sum(stopping_time(running_log_e_value(a, b)) > 0))
    assert stats.binomtest(alarms, 4000, 0.05, alternative="greater").pvalue > 0.01
    assert alarms > 0


def test_finds_a_real_difference() -> None:
    # 21 % against 9 % discordant, 300 questions: about 36 more for A, 3.8 sd; the fixed test would find 97 %
    rng = np.random.default_rng(20260106)
    u = rng.random((2000, 300))
    a, b = (u < 0.21).astype(float), ((u > 0.21) & (u < 0.30)).astype(float)
    assert np.mean(stopping_time(running_log_e_value(a, b)) > 0) > 0.8
