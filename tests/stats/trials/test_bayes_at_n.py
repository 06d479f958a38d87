"""Bayes@N and avg@N: published values, algorithm 1 written out, limits, ragged trials, the exact posterior."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.trials.bayes_at_n import avg_at_n, bayes_at_n, bayes_at_n_posterior
from tests.reference_values import reference_values

RUBRIC = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
RUBRIC_WEIGHTS = (0.0, 0.5, 1.0)
BINARY = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]

outcome_matrices = npst.arrays(
    np.int64, npst.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 3)
)
weight_vectors = st.lists(st.floats(-5, 5), min_size=4, max_size=4).filter(lambda w: max(w) - min(w) > 0.01)


def algorithm_1(outcomes: np.ndarray, w: np.ndarray, prior: np.ndarray) -> tuple[float, float]:
    """Hariri et al. (2025), algorithm 1, line by line."""
    (m, n), c, d = outcomes.shape, len(w) - 1, prior.shape[1]
    total = 1 + c + d + n
    nu = np.array(
        [[1 + np.sum(prior[q] == k) + np.sum(outcomes[q] == k) for k in range(c + 1)] for q in range(m)], float
    )
    v = w - w[0]
    mu = w[0] + np.sum(nu * v) / (m * total)
    bracket = [np.sum(nu[q] / total * v**2) - np.sum(nu[q] / total * v) ** 2 for q in range(m)]
    return mu, float(np.sqrt(np.sum(bracket) / (m**2 * (total + 1))))


@pytest.mark.parametrize(
    ("found", "mean", "sd"),
    [
        # scorio 0.2.3's documented examples of Hariri et al. (2025), to the digits given
        (bayes_at_n(RUBRIC, RUBRIC_WEIGHTS, [[0, 2], [1, 2]]), 0.575, 0.084275),
        (bayes_at_n(RUBRIC, RUBRIC_WEIGHTS), 0.5625, 0.091998),
        (avg_at_n(RUBRIC, RUBRIC_WEIGHTS), 0.6, 0.147196),
        (bayes_at_n(BINARY), 0.642857, 0.118451),
        (avg_at_n(BINARY), 0.7, 0.165831),
    ],
)
def test_published_examples(found: tuple[float, float], mean: float, sd: float) -> None:
    np.testing.assert_allclose(found, (mean, sd), atol=5e-7)


def test_published_normal_intervals() -> None:
    # the same source prints mean ± 1.96 sd
    mean, sd = bayes_at_n(BINARY)
    np.testing.assert_allclose(mean + np.array([-1.959964, 1.959964]) * sd, [0.4107, 0.8750], atol=5e-5)
    mean, sd = avg_at_n(RUBRIC, RUBRIC_WEIGHTS)
    np.testing.assert_allclose(mean + np.array([-1.959964, 1.959964]) * sd, [0.3115, 0.8885], atol=5e-5)


def test_published_notebook_example() -> None:
    # scorio's first notebook: 4 questions x 5 trials, mean .5714, sd .0778; 5, 4, 2, 1 are the only counts that give it
    outcomes = [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]]
    np.testing.assert_allclose(bayes_at_n(outcomes), (0.5714285714285714, 0.07783748113465488), atol=1e-14)


def test_all_systems_of_a_published_benchmark_at_once(shared: Path) -> None:
    # AIME 2025 II, 19 systems x 15 questions x 4 trials; reference computed independently
    reference = reference_values("reference_intervals.json")["aime2_bayes_at_4"]
    with (shared / "data/csv/no_clt_paper/matharena_aime_II.csv").open() as file:
        names, *rows = csv.reader(file)
    outcomes = np.array(rows, float)[:, 1:].T.reshape(19, 15, 4)
    mean, sd = bayes_at_n(outcomes)
    assert mean.shape == sd.shape == (19,)
    for system, found_mean, found_sd in zip(names[1:], mean, sd, strict=True):
        expected = reference[system]
        np.testing.assert_allclose((found_mean, found_sd), (expected["mu"], expected["sigma"]), rtol=1e-12)


@given(outcome_matrices, weight_vectors, st.data())
def test_moments_are_those_of_algorithm_1(outcomes: np.ndarray, weights: list[float], data: st.DataObject) -> None:
    prior = data.draw(npst.arrays(np.int64, (len(outcomes), data.draw(st.integers(0, 3))), elements=st.integers(0, 3)))
    expected = algorithm_1(outcomes, np.array(weights), prior)
    np.testing.assert_allclose(bayes_at_n(outcomes, weights, prior), expected, rtol=1e-9, atol=1e-12)
    # eq. 20, and the mean of eq. 18
    mean, sd = avg_at_n(outcomes, weights)
    _, bayes_sd = bayes_at_n(outcomes, weights)
    n = outcomes.shape[1]
    np.testing.assert_allclose(sd, (4 + n) / n * bayes_sd, rtol=1e-12)
    np.testing.assert_allclose(mean, np.array(weights)[outcomes].mean(), rtol=1e-9, atol=1e-12)


@given(outcome_matrices, weight_vectors)
def test_prior_trials_count_like_trials(outcomes: np.ndarray, weights: list[float]) -> None:
    prior = outcomes[:, ::-1]
    together = bayes_at_n(np.hstack([outcomes, prior]), weights)
    np.testing.assert_allclose(bayes_at_n(outcomes, weights, prior), together, rtol=1e-9, atol=1e-12)


@given(npst.arrays(np.int64, npst.array_shapes(min_dims=2, max_dims=3, max_side=6), elements=st.integers(0, 1)))
def test_swapping_right_and_wrong_mirrors(outcomes: np.ndarray) -> None:
    mean, sd = bayes_at_n(outcomes)
    mirrored_mean, mirrored_sd = bayes_at_n(1 - outcomes)
    np.testing.assert_allclose(mirrored_mean, 1 - mean, atol=1e-12)
    np.testing.assert_allclose(mirrored_sd, sd, rtol=1e-9)


@given(outcome_matrices, weight_vectors)
def test_categories_of_equal_weight_merge_into_one_with_a_prior_trial(
    outcomes: np.ndarray, weights: list[float]
) -> None:
    # Dirichlet aggregation: two units of prior mass in the merged category are one unit and one prior trial
    weights[2] = weights[3]
    merged = np.minimum(outcomes, 2)
    one_each = np.full((len(outcomes), 1), 2)
    if np.ptp(weights[:3]) > 0:
        expected = bayes_at_n(merged, weights[:3], one_each)
        np.testing.assert_allclose(bayes_at_n(outcomes, weights), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(avg_at_n(outcomes, weights)[0], avg_at_n(merged, weights[:3])[0], atol=1e-12)


@given(outcome_matrices, weight_vectors, st.permutations(range(4)))
def test_the_order_of_categories_does_not_matter(outcomes: np.ndarray, weights: list[float], order: list[int]) -> None:
    renamed = np.argsort(order)[outcomes]
    found = bayes_at_n(renamed, np.array(weights)[order])
    np.testing.assert_allclose(found, bayes_at_n(outcomes, weights), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("right", "trials"), [(0, 1), (3, 3), (2, 7), (0, 50)])
def test_one_question_right_or_wrong_is_its_beta_posterior(right: int, trials: int) -> None:
    posterior = bayes_at_n_posterior([[1] * right + [0] * (trials - right)])
    p = np.array([0.01, 0.5, 0.99])
    np.testing.assert_allclose(posterior.quantile(p), stats.beta(1 + right, 1 + trials - right).ppf(p), rtol=1e-9)


def test_missing_trials_leave_both_counts() -> None:
    full = np.array([[1, 0, 1, 1], [0, 0, 1, 0]], float)
    padded = np.hstack([full, np.full((2, 3), np.nan)])
    np.testing.assert_array_equal(bayes_at_n(padded), bayes_at_n(full))
    np.testing.assert_array_equal(avg_at_n(padded), avg_at_n(full))


def test_questions_with_different_numbers_of_trials_keep_their_own_posterior() -> None:
    ragged = [[1, 0, 2, np.nan], [2, np.nan, np.nan, np.nan]]
    first, second = bayes_at_n([[1, 0, 2]], RUBRIC_WEIGHTS), bayes_at_n([[2]], RUBRIC_WEIGHTS)
    mean, sd = bayes_at_n(ragged, RUBRIC_WEIGHTS)
    assert mean == pytest.approx((first[0] + second[0]) / 2)
    assert sd == pytest.approx(np.hypot(first[1], second[1]) / 2)
    # question means, not pooled trials: (1/2 + 0 + 1)/3 and 1
    assert avg_at_n(ragged, RUBRIC_WEIGHTS)[0] == pytest.approx((0.5 + 1) / 2)


def exact_interval(right: list[int], n_trials: int) -> np.ndarray:
    """Ends of the 95 % interval of the mean of independent Betas, by convolving their cell masses."""
    cells, m = 2**12, len(right)
    edges, size = np.linspace(0, 1, cells + 1), cells * m
    transform = np.ones(size // 2 + 1, complex)
    for s in right:
        transform *= np.fft.rfft(np.diff(stats.beta.cdf(edges, 1 + s, 1 + n_trials - s)), size)
    middles = (np.arange(size) + m / 2) / size  # each question's cell stands for its middle
    return np.interp([0.025, 0.975], np.cumsum(np.fft.irfft(transform, size)), middles)


@pytest.mark.parametrize(
    ("right", "tolerance"),
    [
        ([11], 0.002),
        ([1, 16], 0.055),  # the worst of all pairs and triples of 0, 1, 4, 8, 12, 15, 16 right of 16
        ([0, 16, 16], 0.05),
        ([3, 8, 9, 12, 14], 0.01),
        ([16] * 15 + list(range(1, 16)), 0.012),
    ],
)
def test_the_matched_beta_is_near_the_exact_posterior(right: list[int], tolerance: float) -> None:
    exact = exact_interval(right, 16)
    found = bayes_at_n_posterior(np.arange(16) < np.array(right)[:, None]).quantile([0.025, 0.975])
    assert np.abs(found - exact).max() < tolerance * (exact[1] - exact[0])


@pytest.mark.parametrize("right", [[11], [16], [15, 16], [3, 8, 9, 12, 14], [16] * 15 + list(range(1, 16))])
def test_the_matched_beta_is_nearer_than_the_published_normal_interval(right: list[int]) -> None:
    exact, posterior = exact_interval(right, 16), bayes_at_n_posterior(np.arange(16) < np.array(right)[:, None])
    normal = posterior.mean + np.array([-1.959964, 1.959964]) * posterior.sd
    assert np.abs(posterior.quantile([0.025, 0.975]) - exact).max() < np.abs(normal - exact).max()


def test_the_posterior_stays_within_the_weights_and_is_never_a_point() -> None:
    for outcomes in ([[1]], [[0]], [[1] * 16] * 500, [[0] * 16] * 500):
        low, high = bayes_at_n_posterior(outcomes).interval(0.95)
        assert 0 <= low < high <= 1
    low, high = bayes_at_n_posterior([[2, 2], [2, 2]], (-1.0, 0.0, 3.0)).interval(0.99, "hdi")
    assert -1 <= low < high <= 3


@pytest.mark.parametrize(
    ("outcomes", "weights", "prior", "message"),
    [
        ([1, 0, 1], None, None, r"shape \(..., n_questions, n_trials\)"),
        (np.zeros((0, 4)), None, None, "n_questions >= 1"),
        ([[0, 2]], None, None, r"categories 0 to 1 .*entry \[0, 1\] is 2"),
        ([[0, -1]], (0, 1, 2), None, r"entry \[0, 1\] is -1"),
        ([[0.5, 1.0]], None, None, r"entry \[0, 0\] is 0.5"),
        ([[1.0, np.inf]], None, None, "is inf"),
        ([[1, 0], [np.nan, np.nan]], None, None, "question 1 has no trial"),
        ([[], []], None, None, "question 0 has no trial"),
        ([[1, 0]], (1.0, 1.0), None, "at least two different scores"),
        ([[1, 0]], (0.0, np.nan), None, "weights must be finite"),
        ([[1, 0]], None, [[1], [0]], "prior_outcomes has 2 questions"),
        ([[1, 0]], None, [[3]], "prior_outcomes must be"),
    ],
)
def test_unusable_input_is_named(
    outcomes: list[list[float]], weights: tuple[float, ...] | None, prior: list[list[int]] | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        bayes_at_n(outcomes, weights, prior)


def test_one_posterior_takes_one_system() -> None:
    with pytest.raises(DataError, match="one system"):
        bayes_at_n_posterior(np.zeros((2, 3, 4)))


def test_twice_the_trials_narrow_the_posterior() -> None:
    widths = [np.ptp(bayes_at_n_posterior([[1, 0] * n] * 10).interval(0.95)) for n in (1, 2, 4, 8, 16)]
    assert all(wide > narrow for wide, narrow in pairwise(widths))


@pytest.mark.slow
@pytest.mark.parametrize(("n_questions", "n_trials"), [(1, 4), (10, 2), (30, 8)])
def test_coverage_is_the_level_where_questions_come_from_the_prior(n_questions: int, n_trials: int) -> None:
    rng = np.random.default_rng(2025)
    covered = 0
    for _ in range(2000):
        pi = rng.random(n_questions)
        low, high = bayes_at_n_posterior(rng.random((n_questions, n_trials)) < pi[:, None]).interval(0.95)
        covered += low <= pi.mean() <= high
    assert stats.binomtest(covered, 2000, 0.95).pvalue > 1e-3
