"""The e-value of differences: the discordant-count e-value as its special case, and its level under the null."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.sequential.paired_betting_e_value import log_e_value_of_differences

counts = st.integers(0, 60)


@given(counts, counts, counts)
def test_with_single_trials_it_is_the_e_value_of_discordant_questions(a: int, b: int, ties: int) -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [a, b, ties])
    # the marginal likelihood of Beta(1/2, 1/2) against that of 1/2
    expected = special.betaln(a + 0.5, b + 0.5) - special.betaln(0.5, 0.5) + (a + b) * np.log(2)
    assert log_e_value_of_differences(differences) == pytest.approx(float(expected), abs=1e-9)


@given(st.lists(st.floats(-1, 1), max_size=12), st.floats(0.1, 10))
def test_it_neither_knows_which_system_is_first_nor_the_scale(differences: list[float], bound: float) -> None:
    d = np.array(differences)
    log_e = log_e_value_of_differences(d)
    assert log_e_value_of_differences(-d) == pytest.approx(log_e, abs=1e-9)
    assert log_e_value_of_differences(d * bound, bound=bound) == pytest.approx(log_e, abs=1e-9)


def test_quadrature_agrees_with_adaptive_integration() -> None:
    d = np.random.default_rng(3).uniform(-0.6, 1.0, 25)
    value, _ = integrate.quad(lambda phi: np.prod(1 + np.cos(phi) * d) / np.pi, 0, np.pi, epsabs=1e-13)
    assert log_e_value_of_differences(d) == pytest.approx(np.log(value), abs=1e-10)


def test_more_nodes_than_the_cap_would_change_nothing() -> None:
    d = np.random.default_rng(4).uniform(-0.5, 0.6, 6000)
    peak = integrate.quad(lambda phi: np.exp(np.log1p(np.cos(phi) * d).sum()) / np.pi, 0, np.pi, points=[np.pi / 2])[0]
    assert log_e_value_of_differences(d) == pytest.approx(np.log(peak), abs=1e-8)


def test_a_difference_beyond_the_bound_is_refused() -> None:
    with pytest.raises(DataError, match="within ±1"):
        log_e_value_of_differences([0.2, 1.5])


@pytest.mark.slow
def test_false_alarms_stay_under_five_percent_when_trials_are_added_and_looked_at_four_times() -> None:
    # skewed differences of mean zero: question rates differ between the systems, their means do not
    rng = np.random.default_rng(11)
    n, looks, alarms = 60, 4, 0
    for _ in range(2000):
        rate_a, rate_b = rng.beta(4, 1, n), rng.choice([0.75, 0.85], n)
        right_a, right_b = (np.cumsum(rng.random((looks, n)) < rate, axis=0) for rate in (rate_a, rate_b))
        trials = np.arange(1, looks + 1)[:, None]
        log_e = [log_e_value_of_differences(d) for d in (right_a - right_b) / trials]
        alarms += max(log_e) >= np.log(looks / 0.05)
    assert stats.binomtest(alarms, 2000, 0.05, alternative="greater").pvalue > 1e-3
