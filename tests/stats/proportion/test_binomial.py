"""Binomial intervals against independent values, exact coverage and their own symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.proportion import binomial
from harness_uq.stats.proportion.binomial import (
    BinomialMethod,
    TablePosterior,
    beta_posterior,
    binomial_interval,
    finite_population_posterior,
)
from tests.reference_values import reference_values

METHODS: tuple[BinomialMethod, ...] = (
    "beta",
    "hdi",
    "jeffreys",
    "wilson",
    "clopper_pearson",
    "agresti_coull",
    "clt",
    "t",
)
counts = st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def log_choose(n: float, k: ArrayLike) -> np.ndarray:
    return special.gammaln(n + 1) - special.gammaln(np.asarray(k) + 1) - special.gammaln(n - np.asarray(k) + 1)


def averaged(n: int, method: BinomialMethod, a: float = 1.0, b: float = 1.0) -> tuple[float, float]:
    """Exact coverage and mean width at 95 % with theta ~ Beta(a, b): a sum over the n + 1 outcomes."""
    k = np.arange(n + 1)
    low, high = binomial_interval(k, n, 0.95, method)
    weight = np.exp(log_choose(n, k) + special.betaln(k + a, n - k + b) - special.betaln(a, b))
    inside = special.betainc(k + a, n - k + b, np.clip([low, high], 0, 1))
    return float(weight @ (inside[1] - inside[0])), float(weight @ (high - low))


def at_theta(n: int, method: BinomialMethod, theta: float) -> float:
    k = np.arange(n + 1)
    low, high = binomial_interval(k, n, 0.95, method)
    mass = np.exp(log_choose(n, k) + k * np.log(theta) + (n - k) * np.log1p(-theta))
    return float(mass @ ((low <= theta) & (theta <= high)))


@pytest.mark.parametrize("section", ["langchain_n20", "aime2_first_attempt_n15", "aime2_all60_naive"])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("bayes_beta11", "beta"),
        ("jeffreys", "jeffreys"),
        ("wilson", "wilson"),
        ("clopper_pearson", "clopper_pearson"),
        ("agresti_coull", "agresti_coull"),
        ("clt", "clt"),
    ],
)
def test_intervals_match_independently_computed_ones(section: str, name: str, method: BinomialMethod) -> None:
    cases = list(reference_values("reference_intervals.json")[section].values())
    assert len(cases) >= 9
    low, high = binomial_interval([c["k"] for c in cases], [c["n"] for c in cases], 0.95, method)
    np.testing.assert_allclose(np.transpose([low, high]), [c[name] for c in cases], rtol=0, atol=1e-8)


# Exact prior-averaged coverage at 95 %, theta uniform: sum_k P(Beta(k+1, n-k+1) in CI_k) / (n+1)
@pytest.mark.parametrize(
    ("n", "clt", "t", "wilson", "clopper_pearson", "jeffreys"),
    [
        (3, 0.49574, 0.50000, 0.95596, 0.99458, 0.96259),
        (10, 0.76926, 0.79399, 0.95408, 0.98375, 0.95315),
        (30, 0.87491, 0.88605, 0.95240, 0.97339, 0.95051),
        (100, 0.92225, 0.92596, 0.95114, 0.96457, 0.94994),
        (300, 0.93910, 0.94038, 0.95052, 0.95909, 0.94991),
        (1000, 0.94618, 0.94657, 0.95020, 0.95527, 0.94995),
    ],
)
def test_prior_averaged_coverage_is_the_exact_one(
    n: int, clt: float, t: float, wilson: float, clopper_pearson: float, jeffreys: float
) -> None:
    expected = {"clt": clt, "t": t, "wilson": wilson, "clopper_pearson": clopper_pearson, "jeffreys": jeffreys}
    expected |= {"beta": 0.95, "hdi": 0.95}
    measured = {method: averaged(n, method)[0] for method in METHODS if method in expected}
    assert measured == pytest.approx(expected, abs=5.1e-6)


# Bowyer et al. (2025), section 3.1 and its figures: mean widths at 95 %
@pytest.mark.parametrize(
    ("method", "widths"),
    [
        ("clt", (0.5334, 0.4278, 0.2702, 0.1522)),
        ("wilson", (0.6462, 0.4354, 0.2708, 0.1523)),
        ("beta", (0.6672, 0.4403, 0.2714, 0.1523)),
        ("clopper_pearson", (0.8024, 0.5085, 0.2990, 0.1614)),
    ],
)
def test_mean_widths_are_the_published_ones(method: BinomialMethod, widths: tuple[float, ...]) -> None:
    assert [averaged(n, method)[1] for n in (3, 10, 30, 100)] == pytest.approx(widths, abs=5.1e-5)


# Bowyer et al. (2025), appendix I: theta not drawn from the interval's prior
@pytest.mark.parametrize(
    ("prior", "method", "coverage"),
    [
        ((100, 20), "clt", (0.4072, 0.8149, 0.9098, 0.9378)),
        ((100, 20), "beta", (0.9460, 0.9618, 0.9529, 0.9508)),
        ((10, 10), "clt", (0.7143, 0.8987, 0.9336, 0.9452)),
    ],
)
def test_coverage_under_mismatched_priors(
    prior: tuple[float, float], method: BinomialMethod, coverage: tuple[float, ...]
) -> None:
    assert [averaged(n, method, *prior)[0] for n in (3, 10, 30, 100)] == pytest.approx(coverage, abs=5.1e-5)


@pytest.mark.parametrize(
    ("method", "coverage"),
    [
        ("clt", (0.1354, 0.4002, 0.7821, 0.8775)),
        ("wilson", (0.8574, 0.9139, 0.9392, 0.9659)),
        ("beta", (0.8574, 0.9139, 0.9392, 0.9659)),
        ("clopper_pearson", (0.9928, 0.9885, 0.9844, 0.9826)),
    ],
)
def test_coverage_at_an_accuracy_of_95_percent(method: BinomialMethod, coverage: tuple[float, ...]) -> None:
    assert [at_theta(n, method, 0.95) for n in (3, 10, 30, 100)] == pytest.approx(coverage, abs=5.1e-5)


@pytest.mark.parametrize(("n", "worst"), [(20, 0.901), (30, 0.914), (100, 0.921)])
def test_lowest_coverage_of_the_highest_density_interval(n: int, worst: float) -> None:
    """docs/decisions/001: coverage is lowest just outside an end of some interval."""
    ends = np.unique(binomial_interval(np.arange(n + 1), n, 0.95, "hdi"))
    near = np.concatenate([ends - 1e-9, ends + 1e-9])
    near = near[(near > 0) & (near < 1)]
    assert min(at_theta(n, "hdi", theta) for theta in near) == pytest.approx(worst, abs=1e-3)


def test_quantile_interval_never_covers_a_near_perfect_system_at_n_20() -> None:
    assert at_theta(20, "beta", 0.9989) == 0.0
    assert at_theta(20, "hdi", 0.9989) == pytest.approx(0.9989**20, abs=1e-12)


def test_all_right_gives_a_one_sided_highest_density_interval() -> None:
    """Beta(21, 1): P(theta < x) = x^21."""
    low, high = binomial_interval([20, 0], 20, method="hdi")
    assert low.tolist() == pytest.approx([0.05 ** (1 / 21), 0.0], abs=1e-14)
    assert high.tolist() == pytest.approx([1.0, 1 - 0.05 ** (1 / 21)], abs=1e-14)


@settings(deadline=None)  # the first example imports statsmodels
@given(counts, st.floats(0.5, 0.999))
def test_intervals_are_those_of_statsmodels(sn: tuple[int, int], level: float) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    names: dict[BinomialMethod, str] = {"wilson": "wilson", "clopper_pearson": "beta", "jeffreys": "jeffreys"}
    for method, theirs in names.items():
        expected = proportion.proportion_confint(*sn, alpha=1 - level, method=theirs)
        measured = [float(end) for end in binomial_interval(*sn, level, method)]
        assert measured == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("accuracy", "n", "percent"), [(0.655, 5000, 0.672), (0.63, 5000, 0.683), (0.836, 164, 2.891), (0.867, 164, 2.652)]
)
def test_published_standard_errors(accuracy: float, n: int, percent: float) -> None:
    """MATH and HumanEval in Miller (2024): half the CLT interval over z."""
    low, high = binomial_interval(accuracy * n, n, method="clt")
    assert 100 * float(high - low) / (2 * special.ndtri(0.975)) == pytest.approx(percent, abs=6e-4)


@given(counts, st.floats(0.5, 0.999))
def test_highest_density_ends_have_equal_density_and_hold_the_level(sn: tuple[int, int], level: float) -> None:
    s, n = sn
    posterior = beta_posterior(s, n)
    low, high = (float(end) for end in binomial_interval(s, n, level, "hdi"))
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(level, abs=1e-9)
    if 0 < s < n:
        logs = s * np.log([low, high]) + (n - s) * np.log1p([-low, -high])
        assert logs[0] == pytest.approx(logs[1], abs=1e-6)
    assert (low, high) == pytest.approx(posterior.interval(level, "hdi"), abs=2e-7)


@given(counts, st.floats(0.5, 0.999), st.sampled_from(METHODS))
def test_swapping_right_and_wrong_mirrors_every_interval(
    sn: tuple[int, int], level: float, method: BinomialMethod
) -> None:
    s, n = sn
    low, high = binomial_interval([s, n - s], n, level, method)
    assert 1 - high[::-1] == pytest.approx(low, abs=1e-9)


@given(counts, st.sampled_from([method for method in METHODS if method != "agresti_coull"]))
def test_a_higher_level_contains_the_lower(sn: tuple[int, int], method: BinomialMethod) -> None:
    """Agresti-Coull moves its centre with the level: at 0/2 its 80 % interval starts below its 99 % interval."""
    inner, outer = (binomial_interval(*sn, level, method) for level in (0.8, 0.99))
    assert outer[0] <= inner[0] <= inner[1] <= outer[1]


@pytest.mark.parametrize("method", METHODS)
def test_a_billion_trials_agree_with_the_normal_limit(method: BinomialMethod) -> None:
    n = 10**9
    low, high = binomial_interval([n // 2, 9 * n // 10], n, 0.95, method)
    p = np.array([0.5, 0.9])
    half = special.ndtri(0.975) * np.sqrt(p * (1 - p) / n)
    np.testing.assert_allclose([(p - low) / half, (high - p) / half], 1.0, atol=1e-4)


def test_counts_broadcast_over_systems_and_tasks() -> None:
    low, high = binomial_interval(np.array([[3], [7]]), np.array([10, 20, 30]), method="hdi")
    assert low.shape == high.shape == (2, 3)
    assert (low[1, 2], high[1, 2]) == pytest.approx([float(x) for x in binomial_interval(7, 30, method="hdi")])


@pytest.mark.parametrize("method", METHODS)
def test_no_trials_is_not_estimable(method: BinomialMethod) -> None:
    with pytest.raises(NotEstimableError, match="entry 1 has 0"):
        binomial_interval([1, 0], [3, 0], method=method)


def test_one_trial_has_no_t_interval_and_no_prior_speaks_alone() -> None:
    with pytest.raises(NotEstimableError, match="at least 2"):
        binomial_interval(1, 1, method="t")
    with pytest.raises(NotEstimableError):
        beta_posterior(0, 0)


def test_impossible_counts_are_named() -> None:
    with pytest.raises(DataError, match=r"successes must not exceed trials; entry 1 has successes 5\.0 of trials 4\.0"):
        binomial_interval([1, 5], 4)
    with pytest.raises(DataError, match="unknown binomial method 'exact'"):
        binomial_interval(1, 4, method="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize(("s", "n", "population"), [(3, 5, 12), (0, 4, 60), (7, 7, 30)])
def test_finite_population_posterior_is_the_enumerated_one(s: int, n: int, population: int) -> None:
    """Uniform prior on theta means every total 0..N is equally likely, so P(total | data) ~ hypergeometric."""
    totals = np.arange(population + 1)
    possible = (totals >= s) & (population - totals >= n - s)
    logs = np.full(population + 1, -np.inf)
    logs[possible] = log_choose(s, s) + [log_choose(t, s) + log_choose(population - t, n - s) for t in totals[possible]]
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    posterior = finite_population_posterior(s, n, population)
    assert posterior.cdf(totals / population) == pytest.approx(np.cumsum(mass), abs=1e-12)
    assert posterior.mean == pytest.approx(mass @ totals / population, abs=1e-12)
    for kind in ("quantile", "hdi"):
        low, high = posterior.interval(0.9, kind)
        assert mass[(totals / population >= low) & (totals / population <= high)].sum() >= 0.9


def test_finite_population_moments_are_the_closed_form() -> None:
    """Beta-binomial moments: mean r a/(a+b), variance r a b (a+b+r) / ((a+b)^2 (a+b+1))."""
    s, n, size = 30, 100, 5000
    a, b, r = 31, 71, 4900
    posterior = finite_population_posterior(s, n, size)
    assert posterior.mean == pytest.approx((s + r * a / 102) / size, abs=1e-12)
    assert posterior.sd == pytest.approx(np.sqrt(r * a * b * (102 + r) / (102**2 * 103)) / size, rel=1e-10)


def test_an_endless_benchmark_gives_the_population_posterior() -> None:
    posterior, limit = finite_population_posterior(18, 20, 10**9), beta_posterior(18, 20)
    p = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    assert posterior.quantile(p) == pytest.approx(limit.quantile(p), abs=1e-7)


@pytest.mark.parametrize(("s", "n"), [(0, 10), (30, 100), (10**6, 2 * 10**6)])
def test_splined_large_population_agrees_with_the_table(monkeypatch: pytest.MonkeyPatch, s: int, n: int) -> None:
    population = n + 2**20
    table = finite_population_posterior(s, n, population)
    monkeypatch.setattr(binomial, "_TABLE_SIZE", 0)
    spline = finite_population_posterior(s, n, population)
    assert [isinstance(posterior, TablePosterior) for posterior in (table, spline)] == [True, False]
    p = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    assert spline.quantile(p) == pytest.approx(table.quantile(p), abs=1.01 / population)
    assert spline.interval(0.95, "hdi") == pytest.approx(table.interval(0.95, "hdi"), abs=2 / population)


def test_table_hdi_is_the_shortest_run_that_holds_the_level() -> None:
    posterior = TablePosterior(np.array([0.0, 1.0, 2.0, 5.0]), np.array([0.1, 0.5, 0.3, 0.1]))
    assert posterior.interval(0.8, "hdi") == (1.0, 2.0)
    assert posterior.interval(0.85, "hdi") == (0.0, 2.0)


def test_a_benchmark_asked_in_full_is_not_an_estimate() -> None:
    with pytest.raises(NotEstimableError, match=r"0\.75 exactly"):
        finite_population_posterior(3, 4, 4)
    with pytest.raises(DataError, match="must be at least the 4"):
        finite_population_posterior(3, 4, 3)
    with pytest.raises(DataError, match="successes must be a whole number"):
        finite_population_posterior(2.5, 4, 9)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["beta", "hdi", "jeffreys", "clopper_pearson", "wilson"])
def test_a_billion_trials_with_a_thousand_failures_leave_about_two_standard_errors(method):
    # p (1 - p) / n = 1e-6 / 1e9: standard error 3.16e-8; scipy's betaincinv and betainccinv miss these by up to 1e-6
    low, high = binomial_interval(10**9 - 1000, 10**9, method=method)
    assert (low, high) == pytest.approx((1 - 1.0625e-6, 1 - 0.9385e-6), abs=4e-9)
