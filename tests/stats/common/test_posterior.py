import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, DifferencePosterior, DrawsPosterior


def tabulated_beta(a, b, n=4001, reach=30.0):
    u = np.linspace(-reach, reach, n)
    log_density = a * special.log_expit(u) + b * special.log_expit(-u)
    return DensityPosterior(u, np.exp(log_density - log_density.max()), "logit")


@pytest.mark.parametrize(("a", "b"), [(3, 5), (21, 2), (200, 40)])
def test_a_tabulated_density_agrees_with_the_closed_form(a, b):
    exact, table = BetaPosterior(a, b), tabulated_beta(a, b)
    p = np.array([0.001, 0.025, 0.5, 0.975, 0.999])
    assert np.abs(table.quantile(p) - exact.quantile(p)).max() < 2e-6
    assert table.mean == pytest.approx(exact.mean, abs=1e-6)
    assert table.sd == pytest.approx(exact.sd, rel=1e-4)
    assert table.interval(kind="hdi") == pytest.approx(exact.interval(kind="hdi"), abs=1e-5)


def test_the_ends_of_a_logit_scale_are_zero_and_one():
    assert tabulated_beta(21, 1).quantile([0, 1]).tolist() == [0.0, 1.0]
    assert tabulated_beta(21, 1).interval(kind="hdi")[1] == 1.0


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.01, 0.99))
def test_cdf_undoes_quantile(a, b, p):
    for posterior in (BetaPosterior(a, b), tabulated_beta(a, b, reach=60.0, n=8001)):
        assert float(posterior.cdf(posterior.quantile(p))) == pytest.approx(p, abs=1e-6)


def test_the_hdi_is_no_wider_than_any_interval_of_its_level():
    posterior = BetaPosterior(9, 2)
    low, high = posterior.interval(0.9, "hdi")
    tails = np.linspace(0, 0.1, 101)
    widths = posterior.quantile(tails + 0.9) - posterior.quantile(tails)
    assert high - low <= widths.min() + 1e-9
    density = stats.beta(9, 2).pdf
    assert density(low) == pytest.approx(density(high), rel=1e-4)


def test_moments_choose_the_beta_that_has_them():
    posterior = BetaPosterior.from_moments(2.0, 0.5, 1, 5)
    assert (posterior.mean, posterior.sd) == pytest.approx((2.0, np.sqrt(0.5)))


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.1), (1.0, 0.1), (0.5, 0.25), (0.5, 0.0)])
def test_moments_that_no_beta_has_are_refused(mean, variance):
    with pytest.raises(DataError, match="no Beta"):
        BetaPosterior.from_moments(mean, variance)


def test_weighted_draws_state_their_effective_size_and_error():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=4000)
    plain, weighted = DrawsPosterior(draws), DrawsPosterior(draws, np.exp(draws))
    assert plain.importance_ess == pytest.approx(4000)
    assert plain.mc_error == pytest.approx(plain.sd / np.sqrt(4000))
    # exponential tilting of N(0, 1) by exp(x) is N(1, 1), with E[w]^2 / E[w^2] = exp(-1)
    assert weighted.mean == pytest.approx(1.0, abs=0.1)
    assert weighted.importance_ess / 4000 == pytest.approx(np.exp(-1), rel=0.2)
    assert weighted.mc_error > plain.mc_error


def test_ties_at_zero_count_one_half_in_a_difference():
    class Ties(DrawsPosterior, DifferencePosterior):
        pass

    assert Ties(np.array([-1.0, 0.0, 0.0, 1.0])).prob_positive == 0.5


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_the_unit_interval_is_refused(level):
    with pytest.raises(DataError, match="level"):
        BetaPosterior(1, 1).interval(level)


def test_an_unknown_kind_of_interval_is_refused():
    with pytest.raises(DataError, match="hdi"):
        BetaPosterior(1, 1).interval(0.9, "widest")


def test_a_tabulated_density_knows_that_nothing_lies_outside_its_scale():
    assert tabulated_beta(3, 5).cdf([-0.5, 0.0, 1.0, 1.5]) == pytest.approx([0, 0, 1, 1])


@pytest.mark.parametrize(("a", "b"), [(1e9, 1e3), (1e3, 1e9), (1e8, 1e3), (3e9, 5e4), (1e9, 1e9), (2, 1e9), (1e9, 2)])
def test_quantiles_of_beta_hold_at_counts_of_a_billion(a, b):
    # scipy 1.17's betaincinv misses Beta(1e9, 1e3) at 1/2 by half of the mass
    p = np.array([0.025, 0.5, 0.975])
    posterior = BetaPosterior(a, b)
    assert np.abs(posterior.cdf(posterior.quantile(p)) - p).max() < 1e-7
