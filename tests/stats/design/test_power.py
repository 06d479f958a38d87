"""Power and sample size: Miller's published numbers, statsmodels, simulation, limits and monotony."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from harness_uq.messages.errors import DataError
from harness_uq.stats.design.power import (
    Alternative,
    detection_power,
    minimum_detectable_effect,
    paired_variance,
    required_questions,
)

effects = st.floats(0.005, 0.5)
variances = st.floats(0.001, 1.0)


# published


def test_miller_needs_969_questions_for_three_points() -> None:
    # Miller (2024): uniform scores of correlation 1/2, omega^2 = 1/9, no variance over trials; 968.997 before rounding
    assert required_questions(0.03, paired_variance(1 / 9)) == 969


@pytest.mark.parametrize(("trials", "effect"), [(1, 0.13273), (10, 0.07567), (np.inf, 0.06637)])
def test_miller_detects_these_effects_with_198_questions(trials: float, effect: float) -> None:
    # Miller (2024): omega^2 = 1/9, sigma_A^2 = sigma_B^2 = 1/6
    variance = paired_variance(1 / 9, 1 / 6, 1 / 6, trials_a=trials, trials_b=trials)
    assert float(minimum_detectable_effect(198, variance)) == pytest.approx(effect, abs=5e-6)


# other software


@settings(deadline=None)  # the first example imports the other library
@given(effects, variances, st.integers(5, 5000), st.sampled_from(["two-sided", "one-sided"]))
def test_power_is_that_of_statsmodels(effect: float, variance: float, n: int, alternative: Alternative) -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    expected = power.normal_power(
        effect / np.sqrt(variance), n, 0.05, alternative={"two-sided": "two-sided", "one-sided": "larger"}[alternative]
    )
    assert float(detection_power(effect, n, variance, alternative=alternative)) == pytest.approx(expected, abs=1e-12)


def test_number_of_questions_is_that_of_statsmodels() -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    one = power.normal_sample_size_one_tail(0.03, 0.8, 0.025, std_null=1 / 3)
    assert required_questions(0.03, 1 / 9) == int(np.ceil(one)) == 969


# limits and properties


@given(effects, variances, st.floats(0.5, 0.99), st.floats(0.55, 0.99), st.sampled_from(["two-sided", "one-sided"]))
def test_the_required_questions_reach_the_power_and_one_fewer_does_not(
    effect: float, variance: float, level: float, power: float, alternative: Alternative
) -> None:
    n = int(required_questions(effect, variance, level=level, power=power, alternative=alternative))
    one_sided = level if alternative == "one-sided" else (1 + level) / 2  # a difference of the right sign
    reached = [
        float(detection_power(effect, m, variance, level=one_sided, alternative="one-sided"))
        for m in (n, max(n - 1, 1))
    ]
    assert reached[0] >= power - 1e-9
    assert n == 1 or reached[1] < power + 1e-9


@given(effects, variances, st.integers(1, 10**6))
def test_detectable_effect_and_required_questions_are_inverse(effect: float, variance: float, n: int) -> None:
    detectable = minimum_detectable_effect(n, variance)
    assert abs(int(required_questions(detectable, variance)) - n) <= 1e-9 * n
    assert minimum_detectable_effect(required_questions(effect, variance), variance) <= effect * (1 + 1e-9)


@given(variances, variances, variances, st.integers(1, 50))
def test_systems_can_be_swapped(omega2: float, a: float, b: float, trials: int) -> None:
    one = paired_variance(omega2, a, b, trials_a=trials, trials_b=1)
    assert one == pytest.approx(paired_variance(omega2, b, a, trials_a=1, trials_b=trials))


def test_a_design_effect_multiplies_the_questions() -> None:
    alone, clustered = (required_questions(0.03, paired_variance(0.1, design_effect=d)) for d in (1.0, 4.0))
    assert clustered == pytest.approx(4 * int(alone), abs=4)


def test_arrays_broadcast() -> None:
    n = required_questions([[0.02], [0.05]], paired_variance(0.1, 0.1, 0.1, trials_a=[1, 2, 8], trials_b=[1, 2, 8]))
    assert n.shape == (2, 3)
    assert (np.diff(n, axis=1) < 0).all()


def test_one_sided_needs_fewer_questions() -> None:
    # ((1.644854 + .841621) / (1.959964 + .841621))^2 = .7877
    one, two = (required_questions(0.001, 0.1, alternative=a) for a in ("one-sided", "two-sided"))
    assert one / two == pytest.approx(0.78769, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: required_questions(0.0, 0.1), "effect must be finite and not 0"),
        (lambda: required_questions(0.1, -0.1), "variance must be finite"),
        (lambda: required_questions(0.1, 0.1, power=1.0), "power must be a number above 0 and below 1"),
        (lambda: required_questions(0.1, 0.1, power=0.01), "type I error"),
        (lambda: required_questions(0.1, 0.1, level=95), "level must lie"),
        (lambda: required_questions(0.1, 0.1, alternative="less"), "'one-sided' or 'two-sided'"),  # type: ignore[arg-type]
        (lambda: minimum_detectable_effect(0, 0.1), "n_questions must be positive"),
        (lambda: detection_power(0.1, 10, 0.0), "variance must be positive"),
        (lambda: paired_variance(0.1, trials_a=0), "trials_a must be at least 1"),
        (lambda: paired_variance(0.1, design_effect=0.0), "design_effect must be positive"),
        (lambda: paired_variance(np.nan), "omega2 must be finite"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


# calibration


def _detected(differences: np.ndarray) -> int:
    """Runs (rows) whose 95 % normal interval of the mean difference excludes 0."""
    mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    return int((np.abs(mean) > 1.959963984540054 * error).sum())


def test_power_is_reached_in_simulated_benchmarks_with_two_trials() -> None:
    # x_A, x_B ~ Beta with common difficulty; right or wrong in each of K = 2 trials
    rng, n_runs, trials = np.random.default_rng(0), 2000, 2
    x_a, x_b = rng.beta(4, 2, 10**6), rng.beta(3, 2, 10**6)
    variance = paired_variance(
        x_a.var() + x_b.var(), (x_a * (1 - x_a)).mean(), (x_b * (1 - x_b)).mean(), trials_a=trials, trials_b=trials
    )
    n = int(required_questions(4 / 6 - 3 / 5, variance))
    p_a, p_b = rng.beta(4, 2, (n_runs, n)), rng.beta(3, 2, (n_runs, n))
    differences = (rng.binomial(trials, p_a) - rng.binomial(trials, p_b)) / trials
    assert binomtest(_detected(differences), n_runs, 0.8).pvalue > 1e-3


def test_power_is_reached_with_clusters_through_the_design_effect() -> None:
    # clusters of 5 with differences of ICC .4: design effect 1 + 4 * .4 = 2.6; judged on cluster means
    rng, n_runs, size, icc = np.random.default_rng(1), 2000, 5, 0.4
    n = int(required_questions(0.05, paired_variance(0.2, design_effect=1 + (size - 1) * icc)))
    n_clusters = n // size
    shared = rng.normal(0, np.sqrt(0.2 * icc), (n_runs, n_clusters))
    own = rng.normal(0, np.sqrt(0.2 * (1 - icc) / size), (n_runs, n_clusters))
    assert binomtest(_detected(0.05 + shared + own), n_runs, 0.8).pvalue > 1e-3
