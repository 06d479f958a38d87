"""Dirichlet-process posteriors of a bounded mean: limits, exact distribution, symmetries and calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.stats import betabinom, binomtest

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.student import student_posterior
from harness_uq.stats.means.bounded import (
    bounded_posterior,
    cluster_totals,
    clustered_bounded_posterior,
    default_atom_mass,
    remaining_mean_posterior,
)
from harness_uq.stats.proportion.binomial import beta_posterior
from harness_uq.stats.units import process

LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]


@st.composite
def totals_and_sizes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.array(draw(st.lists(st.integers(1, 20), min_size=1, max_size=12)), float)
    shares = np.array(draw(st.lists(st.integers(0, 10), min_size=len(sizes), max_size=len(sizes)))) / 10
    return shares * sizes, sizes


def augmented(totals: np.ndarray, sizes: np.ndarray, mass: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters, pseudo-clusters at 0 and 1, and their masses."""
    size = sizes @ sizes / sizes.sum()
    return np.r_[totals, 0, size], np.r_[sizes, size, size], np.r_[np.ones(len(sizes)), mass, mass]


def exact_cdf(x: float, totals: np.ndarray, sizes: np.ndarray, mass: float) -> float:
    """P(sum g T / sum g N <= x) = P(sum g (T - x N) <= 0), by Gil-Pelaez inversion on a logarithmic grid."""
    t, n, a = augmented(totals, sizes, mass)
    slope = t - x * n
    slope /= np.sqrt(a @ slope**2)
    u = np.exp(np.arange(-24.0, 30.0, 3 / 64))[:, None] * slope
    return float(0.5 - (np.exp(-0.5 * np.log1p(u**2) @ a) * np.sin(np.arctan(u) @ a)).sum() * 3 / 64 / np.pi)


def exact_quantile(p: float, totals: np.ndarray, sizes: np.ndarray, mass: float) -> float:
    return float(optimize.brentq(lambda x: exact_cdf(x, totals, sizes, mass) - p, 1e-12, 1 - 1e-12, xtol=1e-10))


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60))
def test_binary_scores_give_the_beta_posterior(x: list[int]) -> None:
    posterior, expected = bounded_posterior(x, 0, 1), beta_posterior(sum(x), len(x))
    assert (posterior.a, posterior.b) == pytest.approx((expected.a, expected.b), rel=1e-9)


@given(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=30))
def test_clusters_of_one_question_give_the_bounded_posterior(x: list[float]) -> None:
    clustered = clustered_bounded_posterior(x, np.ones(len(x)), atom_mass=0.75)
    single = bounded_posterior(x, 0, 1, atom_mass=0.75)
    assert (clustered.a, clustered.b) == pytest.approx((single.a, single.b), rel=1e-12)


@given(st.lists(st.sampled_from(LEVELS), min_size=2, max_size=30))
def test_nearly_equal_sizes_give_nearly_the_closed_form(x: list[float]) -> None:
    """The quadrature over unequal sizes against the Dirichlet's moments at equal ones."""
    sizes = np.ones(len(x))
    sizes[0] += 1e-9
    clustered = clustered_bounded_posterior(sizes * x, sizes, atom_mass=0.75)
    single = bounded_posterior(x, 0, 1, atom_mass=0.75)
    assert (clustered.mean, clustered.sd) == pytest.approx((single.mean, single.sd), abs=1e-8)


@given(totals_and_sizes())
def test_copies_of_a_question_inside_its_cluster_add_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    totals, sizes = data
    one, eight = (clustered_bounded_posterior(k * totals, k * sizes) for k in (1, 8))
    assert eight.interval() == pytest.approx(one.interval(), abs=1e-9)


@given(totals_and_sizes())
def test_swapping_right_and_wrong_mirrors_the_posterior(data: tuple[np.ndarray, np.ndarray]) -> None:
    totals, sizes = data
    there, back = clustered_bounded_posterior(totals, sizes), clustered_bounded_posterior(sizes - totals, sizes)
    assert (back.a, back.b) == pytest.approx((there.b, there.a), rel=1e-7)


@given(totals_and_sizes(), st.integers(-5, 5), st.integers(1, 9))
def test_posterior_moves_and_stretches_with_the_bounds(
    data: tuple[np.ndarray, np.ndarray], shift: int, scale: int
) -> None:
    totals, sizes = data
    low, high = clustered_bounded_posterior(totals, sizes).interval()
    moved = clustered_bounded_posterior(shift * sizes + scale * totals, sizes, shift, shift + scale)
    assert moved.interval() == pytest.approx((shift + scale * low, shift + scale * high), abs=1e-7)


@settings(max_examples=30)
@given(totals_and_sizes(), st.sampled_from([0.25, 1.0]))
def test_interval_has_width_and_stays_inside_the_bounds(data: tuple[np.ndarray, np.ndarray], mass: float) -> None:
    posterior = clustered_bounded_posterior(*data, atom_mass=mass)
    for kind in ("quantile", "hdi"):
        low, high = posterior.interval(0.95, kind)
        assert 0 <= low < high <= 1


@pytest.mark.parametrize("score", [0.0, 0.7, 1.0])
def test_equal_scores_leave_uncertainty(score: float) -> None:
    low, high = bounded_posterior([score] * 1000, 0, 1).interval(0.95, "hdi")
    assert low < high
    assert low - 1e-3 <= score <= high + 1e-3


@pytest.mark.parametrize("n_clusters", [1, 3, 12, 150])
def test_moments_of_the_ratio_are_those_of_its_draws(n_clusters: int) -> None:
    rng = np.random.default_rng(n_clusters)
    sizes = rng.integers(1, 30, n_clusters).astype(float)
    totals = sizes * rng.random(n_clusters) ** (1 / sizes)
    posterior = clustered_bounded_posterior(totals, sizes, atom_mass=0.75)
    t, n, a = augmented(totals, sizes, 0.75)
    g = rng.gamma(a, size=(100_000, len(a)))
    draws = (g @ t) / (g @ n)
    error = draws.std() / np.sqrt(len(draws))
    assert posterior.mean == pytest.approx(draws.mean(), abs=4 * error)
    assert posterior.sd == pytest.approx(draws.std(), rel=0.015)


def test_half_the_quadrature_step_moves_the_moments_by_less_than_1e_13(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    cases = [
        (np.array([1.0, 2000.0]), 0.25),
        (rng.geometric(0.1, 40).astype(float), 1.0),
        (rng.random(500) + 0.01, 3.0),
    ]

    def moments() -> list[float]:
        fits = [clustered_bounded_posterior(n * np.arange(len(n)) / len(n), n, atom_mass=m) for n, m in cases]
        return [value for fit in fits for value in (fit.mean, fit.sd)]

    coarse = moments()

    def finer(total_mass: float) -> tuple[np.ndarray, np.ndarray]:
        x = np.arange(-4.5, 60.0, 0.0625)
        s = np.exp(x - np.exp(-x)) / total_mass
        return s, 0.0625 * s * (1 + np.exp(-x))

    monkeypatch.setattr(process, "_half_line", finer)
    monkeypatch.setattr(process, "_MAX_CELLS", 1000)
    assert moments() == pytest.approx(coarse, rel=1e-12)


# docs/decisions/003: ends of the 95 % interval against the exact Dirichlet process, in shares of its width
@pytest.mark.parametrize(
    ("sample", "n_questions", "tolerance"),
    [
        ("halves", 30, 0.01),
        ("uniform", 100, 0.01),
        ("mostly_one", 30, 0.02),
        ("skewed", 100, 0.06),
        ("tight", 30, 0.22),
    ],
)
def test_matched_beta_is_near_the_exact_process(sample: str, n_questions: int, tolerance: float) -> None:
    rng = np.random.default_rng(8)
    scores = {
        "halves": rng.choice([0.0, 0.5, 1.0], n_questions),
        "uniform": rng.random(n_questions),
        "mostly_one": np.where(rng.random(n_questions) < 0.7, 1.0, rng.beta(2, 2, n_questions)),
        "skewed": rng.beta(9, 1, n_questions),
        "tight": rng.beta(200, 50, n_questions),
    }[sample]
    low, high = bounded_posterior(scores, 0, 1, atom_mass=0.75).interval()
    exact = [exact_quantile(p, scores, np.ones(n_questions), 0.75) for p in (0.025, 0.975)]
    assert max(abs(low - exact[0]), abs(high - exact[1])) <= tolerance * (exact[1] - exact[0])


def test_exact_process_on_binary_scores_is_the_beta() -> None:
    """Checks the oracle of the test above."""
    scores = np.repeat([1.0, 0.0], [18, 2])
    for p in (0.025, 0.5, 0.975):
        assert exact_quantile(p, scores, np.ones(20), 1.0) == pytest.approx(
            float(beta_posterior(18, 20).quantile(p)), abs=1e-8
        )


def test_informative_sizes_keep_the_plain_score_inside() -> None:
    """Ten passages at 18/20 and thirty at 1/3: plain score 210/290 = .724, mean of passages .475."""
    totals, sizes = np.repeat([18.0, 1.0], [10, 30]), np.repeat([20.0, 3.0], [10, 30])
    low, high = clustered_bounded_posterior(totals, sizes).interval(0.95, "hdi")
    assert 0.475 < low < 210 / 290 < high


def test_coverage_of_informative_sizes_is_the_level_and_what_the_prior_clusters_add() -> None:
    """A quarter of passages hold 20 questions at accuracy .9, the others 3 at 1/3: the mean over questions is .7241.

    By hand: a question's cluster has N = 106.75 / 7.25 = 14.7 on average, so that 40 of them have squared residuals of
    40 (.25 (3.52^2 + 1.80) + .75 (1.17^2 + .67)) / N^2 = .94, the prior's two .75 (.724^2 + .276^2) = .45. This makes
    the sd sqrt(1.39 / .94 * 40 * 41 / (41.5 * 42.5)) = 1.17 times that of the clusters alone, of which 1.96 cover .978.
    """
    rng = np.random.default_rng(9)
    covered = 0
    for _ in range(1500):
        big = rng.random(40) < 0.25
        sizes = np.where(big, 20, 3)
        totals = rng.binomial(sizes, np.where(big, 0.9, 1 / 3))
        low, high = clustered_bounded_posterior(totals, sizes).interval()
        covered += low <= 5.25 / 7.25 <= high
    assert binomtest(covered, 1500, 0.95, alternative="less").pvalue > 1e-3
    assert binomtest(covered, 1500, 0.978, alternative="greater").pvalue > 1e-3


def test_coverage_of_binary_scores_drawn_from_the_prior_is_the_level() -> None:
    rng = np.random.default_rng(10)
    theta = rng.random(1500)
    ends = [bounded_posterior(rng.random(12) < p, 0, 1).interval() for p in theta]
    low, high = np.transpose(ends)
    assert binomtest(int(((low <= theta) & (theta <= high)).sum()), 1500, 0.95).pvalue > 1e-3


def test_one_half_point_among_right_answers_changes_little() -> None:
    """With the mass of the atoms switched from 1 to 3/4 the lower end moved from .863 to .869 at 20 scores."""
    right = bounded_posterior([1.0] * 20, 0, 1).interval(0.95, "hdi")
    nearly = bounded_posterior([1.0] * 19 + [1 - 1e-6], 0, 1).interval(0.95, "hdi")
    assert nearly == pytest.approx(right, abs=1e-5)


@pytest.mark.parametrize(("sd", "n", "most"), [(0.02, 20, 1.2), (0.1, 20, 1.2), (0.02, 50, 1.17), (0.1, 100, 1.15)])
def test_tight_scores_are_at_most_a_fifth_wider_than_student_t(sd: float, n: int, most: float) -> None:
    """With atoms that stay at the bounds the first is 4.3 times as wide."""
    rng = np.random.default_rng([16, n])
    ratio, covered = [], 0
    for _ in range(400):
        x = np.clip(rng.normal(0.6, sd, n), 0, 1)
        low, high = bounded_posterior(x, 0, 1).interval(0.95, "hdi")
        ratio.append((high - low) / np.ptp(student_posterior(x).interval()))
        covered += low <= 0.6 <= high
    assert np.mean(ratio) <= most
    assert binomtest(covered, 400, 0.95, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize(("a", "b"), [(0.9, 0.1), (0.2, 4.0)])
@pytest.mark.parametrize("n", [5, 10, 15, 19])
def test_scores_with_a_long_tail_are_covered_by_few(a: float, b: float, n: int) -> None:
    """Student's t covers 0.70 to 0.86 here."""
    rng = np.random.default_rng([17, n])
    ends = [bounded_posterior(rng.beta(a, b, n), 0, 1).interval(0.95, "hdi") for _ in range(500)]
    covered = sum(low <= a / (a + b) <= high for low, high in ends)
    assert binomtest(covered, 500, 0.9, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize("value", [1 - 1e-4, 1 - 1e-3])
@pytest.mark.parametrize("right", [5, 20, 30])
def test_a_score_just_below_one_moves_no_limit_by_a_hundredth_of_the_width(value: float, right: int) -> None:
    scores = np.array([1.0] * right + [0.0] * (30 - right))
    whole = bounded_posterior(scores, 0, 1).interval(0.95, "hdi")
    scores[0] = value
    near = bounded_posterior(scores, 0, 1).interval(0.95, "hdi")
    assert near == pytest.approx(whole, abs=0.01 * (whole[1] - whole[0]))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n"), [(0.01, 10), (0.01, 100), (0.02, 100), (0.05, 30), (0.1, 10)])
def test_rare_zeros_among_tight_scores_stay_covered_with_atoms_at_the_bounds(share: float, n: int) -> None:
    rng = np.random.default_rng([17, n])
    covered = 0
    for _ in range(500):
        x = np.where(rng.random(n) < share, 0.0, rng.beta(400, 100, n))
        low, high = bounded_posterior(x, 0, 1, atom_mass=1.0).interval(0.95, "hdi")
        covered += low <= (1 - share) * 0.8 <= high
    assert binomtest(covered, 500, 0.95, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize(("right", "n", "rest"), [(3, 4, 6), (0, 5, 45), (18, 20, 1), (70, 90, 10)])
def test_the_rest_of_single_answers_has_the_moments_of_the_beta_binomial(right: int, n: int, rest: int) -> None:
    expected = betabinom(rest, 1 + right, 1 + n - right)
    posterior = remaining_mean_posterior([1.0] * right + [0.0] * (n - right), rest, 0, 1)
    assert posterior.mean == pytest.approx(expected.mean() / rest)
    most = np.sqrt(posterior.mean * (1 - posterior.mean) / 1.2)
    assert posterior.sd == pytest.approx(min(expected.std() / rest, most))


def test_a_long_rest_is_as_uncertain_as_new_questions_and_a_short_one_more() -> None:
    x = np.random.default_rng(18).beta(3, 2, 40)
    now = bounded_posterior(x, 0, 1)
    assert remaining_mean_posterior(x, 10**7, 0, 1).sd == pytest.approx(now.sd, rel=1e-4)
    assert remaining_mean_posterior(x, 40, 0, 1).sd == pytest.approx(np.sqrt(2) * now.sd, rel=0.05)
    assert remaining_mean_posterior(x, 40, 0, 1, clusters=np.repeat(np.arange(8), 5)).mean == pytest.approx(
        x.mean(), abs=0.05
    )


def test_no_rest_is_refused() -> None:
    with pytest.raises(DataError, match="n_rest must be at least 1"):
        remaining_mean_posterior([0.5, 1.0], 0, 0, 1)


def test_atoms_are_heavy_only_where_everything_is_at_a_bound() -> None:
    assert default_atom_mass([-3.0, 5.0], [3.0, 5.0], -1, 1) == 1.0
    assert default_atom_mass(np.array([0.1 * 3, 0.7]), np.array([3.0, 1.0]), 0.1, 0.7) == 1.0
    assert default_atom_mass([2.0, 5.0], [3.0, 5.0], 0, 1) == 0.75


def test_totals_of_clusters_are_sums_in_the_order_of_the_labels() -> None:
    totals, sizes = cluster_totals([1.0, 0.5, 0.25], [7, 3, 7])
    assert (totals.tolist(), sizes.tolist()) == ([0.5, 1.25], [1.0, 2.0])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DataError, match=r"must lie in \[0, 1\].*entry 1 totals 1.5 over size 1"):
        bounded_posterior([0.5, 1.5], 0, 1)
    with pytest.raises(DataError, match="low < high"):
        bounded_posterior([0.5], 1, 1)
    with pytest.raises(DataError, match="atom_mass must be a number above 0"):
        bounded_posterior([0.5], 0, 1, atom_mass=0.0)
    with pytest.raises(DataError, match=r"shape \(n_clusters,\)"):
        clustered_bounded_posterior([[1.0]], [[1.0]])
    with pytest.raises(NotEstimableError, match="there are no scores"):
        bounded_posterior([], 0, 1)
    with pytest.raises(DataError, match="positive"):
        clustered_bounded_posterior([0.0, 1.0], [0.0, 1.0])
