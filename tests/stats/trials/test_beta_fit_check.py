"""Test of the Beta shape of success rates."""

import numpy as np
import pytest
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.trials.beta_fit_check import _beta_binomial, beta_shape_test


def p_values(draw_rates, n_questions, n_trials, rng, n=300):
    return np.array(
        [beta_shape_test(rng.binomial(n_trials, draw_rates(n_questions, rng)), n_trials).p_value for _ in range(n)]
    )


@pytest.mark.parametrize(("n", "theta", "rho"), [(1, 0.4, 0.3), (7, 0.3, 0.2), (60, 0.95, 0.6), (12, 0.5, 1e-4)])
def test_probabilities_are_those_of_scipys_betabinom(n, theta, rho):
    d = 1 / rho - 1
    log_p, _ = _beta_binomial(n, theta, rho)
    np.testing.assert_allclose(
        np.exp(log_p), stats.betabinom.pmf(range(n + 1), n, theta * d, (1 - theta) * d), rtol=1e-7
    )


@pytest.mark.parametrize("step", [(1e-6, 0.0), (0.0, 1e-6)])
def test_scores_are_the_slopes_of_the_log_probabilities(step):
    above, below = (_beta_binomial(9, 0.3 + sign * step[0], 0.2 + sign * step[1])[0] for sign in (1, -1))
    expected = _beta_binomial(9, 0.3, 0.2)[1][0 if step[0] else 1]
    np.testing.assert_allclose((above - below) / 2e-6, expected, rtol=1e-6)


def test_at_no_overdispersion_the_scores_are_the_binomials():
    log_p, (in_theta, _) = _beta_binomial(6, 0.25, 0.0)
    np.testing.assert_allclose(np.exp(log_p), stats.binom.pmf(range(7), 6, 0.25), rtol=1e-12)
    np.testing.assert_allclose(in_theta, np.arange(7) / 0.25 - (6 - np.arange(7)) / 0.75, rtol=1e-12)


def test_with_fewer_than_three_trials_every_mixture_fits():
    shape = beta_shape_test([0, 1, 2, 2, 2], 2)
    assert (shape.df, shape.p_value) == (0, 1.0)
    assert beta_shape_test([0, 1, 3, 2, 2], 3).df == 1


def test_the_order_of_questions_and_untried_ones_change_nothing():
    s, n = [3, 0, 8, 5, 2, 8, 8], [4, 4, 8, 8, 4, 8, 9]
    assert beta_shape_test(s, n) == beta_shape_test(s[::-1], n[::-1]) == beta_shape_test([*s, 0], [*n, 0])


def test_counts_above_their_trials_are_refused():
    with pytest.raises(DataError):
        beta_shape_test([5], [4])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (1, 1), (0.4, 0.6)])
def test_beta_distributed_rates_are_rejected_as_often_as_the_level_says(shape):
    p = p_values(lambda m, rng: rng.beta(*shape, m), 200, 8, np.random.default_rng(7))
    assert stats.binomtest(int((p < 0.05).sum()), len(p), 0.05).pvalue > 1e-3
    assert stats.binomtest(int((p < 0.5).sum()), len(p), 0.5).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [(0.1, 0.9), (0.02, 0.98), (0.0, 0.95)])
def test_two_kinds_of_question_are_found(kinds):
    p = p_values(lambda m, rng: rng.choice(kinds, m), 50, 16, np.random.default_rng(8), n=40)
    assert (p < 0.05).mean() > 0.8
