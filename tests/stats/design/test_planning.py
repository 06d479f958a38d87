"""Expected widths, allocation of a budget and trials that separate two systems: closed forms, search, simulation."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.common.posterior import BetaPosterior, Posterior
from harness_uq.stats.design.planning import expected_width, predict_width

variances = st.floats(0.001, 0.25)
costs = st.floats(0.1, 50.0)


def width(posterior: Posterior) -> float:
    low, high = posterior.interval(kind="hdi")
    return high - low


# expected width


def test_expected_width_is_the_normal_interval_of_question_means() -> None:
    # 2 * 1.959964 * sqrt((.04 + .2 / 4) / 225) = 2 * 1.959964 * .02
    got = expected_width(225, variance=0.04 + 0.2 / 4)
    assert float(got) == pytest.approx(2 * 1.959963984540054 * 0.02, rel=1e-12)


def test_expected_width_is_found_in_simulated_runs() -> None:
    rng, questions, trials = np.random.default_rng(0), 200, 3
    p = rng.beta(2, 2, (400, questions))  # Var(x) = 1/20, E[x (1 - x)] = 1/5
    means = rng.binomial(trials, p).mean(axis=1) / trials
    expected = expected_width(questions, variance=1 / 20 + 1 / 5 / trials)
    assert 2 * 1.959964 * means.std() == pytest.approx(float(expected), rel=0.1)


def test_a_design_effect_of_two_halves_the_questions() -> None:
    got = expected_width(100, variance=0.05, design_effect=2.0)
    assert got == pytest.approx(expected_width(50, variance=0.05))


# prediction from a pilot


@cache
def counted(right: int, n: int) -> float:
    return width(BetaPosterior(1 + right, 1 + n - right))


@cache
def predicted(right: int, n: int) -> float:
    return predict_width(BetaPosterior(1 + right, 1 + n - right), 3)


def errors_of_pilots(theta: float, n: int) -> np.ndarray:
    """Relative errors of 200 pilots of n questions about the width of a run of 3 n."""
    rng = np.random.default_rng(n)
    pilots, runs = rng.binomial(n, theta, 200), rng.binomial(3 * n, theta, 200)
    pairs = zip(pilots, runs, strict=True)
    return np.array([predicted(int(a), n) / counted(int(b), 3 * n) - 1 for a, b in pairs])


@pytest.mark.parametrize(("theta", "n"), [(0.5, 30), (0.5, 300), (0.8, 100), (0.9, 300), (0.95, 600)])
def test_a_pilot_predicts_the_width_of_a_run_three_times_as_large(theta: float, n: int) -> None:
    errors = errors_of_pilots(theta, n)
    assert np.median(np.abs(errors)) < 0.1
    assert abs(np.median(errors)) < 0.05


@pytest.mark.parametrize("theta", [0.95, 0.99])
def test_a_pilot_with_hardly_a_failure_is_right_on_average(theta: float) -> None:
    # its own noise leaves single predictions off by a quarter; the middle one must not be
    assert abs(np.median(errors_of_pilots(theta, 100))) < 0.1


@pytest.mark.slow
def test_a_clustered_pilot_predicts_too() -> None:
    rng = np.random.default_rng(1)

    def run(n_clusters: int) -> Posterior:
        return clustered_posterior(rng.binomial(10, rng.beta(1.4, 0.6, n_clusters)), np.full(n_clusters, 10))

    errors = [predict_width(run(30), 3) / width(run(90)) - 1 for _ in range(100)]
    assert np.median(np.abs(errors)) < 0.1


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 50), st.integers(0, 50), st.floats(1.5, 20.0))
def test_right_and_wrong_mirror_and_larger_runs_are_narrower(right: int, wrong: int, ratio: float) -> None:
    right += 2
    pilot, mirrored = BetaPosterior(1 + right, 1 + wrong), BetaPosterior(1 + wrong, 1 + right)
    assert predict_width(pilot, ratio) == pytest.approx(predict_width(mirrored, ratio), rel=1e-6)
    assert predict_width(pilot, 2 * ratio) < predict_width(pilot, ratio)


def test_predicted_width_stretches_with_the_range() -> None:
    unit, wide = BetaPosterior(30, 12), BetaPosterior(30, 12, -1.0, 4.0)
    assert predict_width(wide, 3, low=-1.0, high=4.0) == pytest.approx(5 * predict_width(unit, 3))


def test_large_pilots_shrink_with_the_root_of_the_size() -> None:
    pilot = BetaPosterior(60_001, 40_001)
    assert predict_width(pilot, 4) == pytest.approx(width(pilot) / 2, rel=1e-3)


# allocation


# designs by brute force: every number of trials that the money (or the cheapest plan of one trial) would pay for


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: expected_width(0, variance=0.1), DataError, "n_questions must be positive"),
        (lambda: predict_width(BetaPosterior(5, 5), 0.0), DataError, "ratio must be a number above 0"),
        (lambda: predict_width(BetaPosterior(1, 1), 3), NotEstimableError, "too few"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
