"""Groups of tasks: limits, weights, effective counts, items shared between tasks, coverage."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.effects.task_groups import (
    _wilson_limits,
    group_posterior,
    shared_items_posterior,
)
from harness_uq.stats.proportion.binomial import binomial_interval

P = np.array([0.005, 0.025, 0.5, 0.975, 0.995])

task_counts = st.lists(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=10
)


@pytest.mark.slow
@given(task_counts)
def test_swapping_right_and_wrong_mirrors(pairs: list[tuple[int, int]]) -> None:
    s, n = np.array(pairs, float).T
    for weights in (None, n):
        found, mirrored = group_posterior(s, n, weights), group_posterior(n - s, n, weights)
        assert found.mean == pytest.approx(1 - mirrored.mean, abs=1e-7)
        assert found.sd == pytest.approx(mirrored.sd, rel=1e-4)


@pytest.mark.slow
@given(task_counts, st.integers(1, 5))
def test_the_scale_of_the_weights_does_not_matter(pairs: list[tuple[int, int]], scale: int) -> None:
    s, n = np.array(pairs, float).T
    weights = np.arange(len(n)) + 1.0
    found, scaled = group_posterior(s, n, weights), group_posterior(s, n, scale * weights)
    np.testing.assert_allclose(found.quantile(P), scaled.quantile(P), rtol=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_one_task_is_nearly_the_binomial_posterior(right: int, wrong: int) -> None:
    if right + wrong > 0:
        found, expected = group_posterior([right], [right + wrong]), BetaPosterior(1 + right, 1 + wrong)
        assert abs(found.mean - expected.mean) < 0.2 * expected.sd
        assert found.sd == pytest.approx(expected.sd, rel=0.15)


def test_few_failures_are_worth_about_one_binomial() -> None:
    # equal weights: a third of 9/10, 1 and 38/40 from 9 / (1/10 + 1/20 + 1/40) = 51 questions
    posterior, pooled = group_posterior([9, 20, 38], [10, 20, 40]), BetaPosterior(1 + 51 * 0.95, 1 + 51 * 0.05)
    assert abs(posterior.mean - pooled.mean) < 0.2 * pooled.sd
    assert posterior.sd == pytest.approx(pooled.sd, rel=0.25)


def test_a_weight_on_one_task_gives_its_plain_score() -> None:
    alone = group_posterior([50, 90, 88, 91], [100] * 4, [1, 0, 0, 0])
    assert alone.mean == pytest.approx(0.5)
    assert alone.sd == pytest.approx(np.sqrt(0.25 / 100), rel=0.05)


def test_small_tasks_that_score_low_leave_the_centre_on_the_plain_score() -> None:
    # ten tasks of 10 questions at .2 and thirteen of 250 at .9: shrinking them together covers .75
    s, n = np.array([2.0] * 10 + [225.0] * 13), np.array([10.0] * 10 + [250.0] * 13)
    low, high = group_posterior(s, n).interval(0.95, "hdi")
    assert (low + high) / 2 == pytest.approx(np.mean(s / n), abs=0.1 * (high - low))


@pytest.mark.parametrize("right", [0, 6, 9, 10])
def test_a_task_that_determines_the_variance_has_its_wilson_interval(right: int) -> None:
    # the other task has a million questions: half of Wilson's limits of `right` of 10, by another function
    low, high = group_posterior([990_000, right], [1_000_000, 10]).interval(0.95, "hdi")
    expected = np.array(binomial_interval(right, 10, 0.95, "wilson")) / 2 + 0.495
    assert [low, high] == pytest.approx(expected.tolist(), abs=1e-3)


def test_a_small_task_does_not_borrow_the_variance_of_large_tasks() -> None:
    # 9 x 300 at 0.95 and 6 of 10: MOVER (Zou and Donner 2008) has the width 0.0546; the hierarchy alone has 0.0393
    posterior = group_posterior([285] * 9 + [6], [300] * 9 + [10])
    low, high = posterior.interval(0.95, "hdi")
    assert high - low == pytest.approx(0.0546, rel=0.05)
    assert np.subtract(*posterior.hierarchy.interval(0.95, "hdi")[::-1]) < 0.045


def test_skewness_decreases_with_the_number_of_tasks() -> None:
    # third cumulants add: with weights 1/K and K equal tasks the shift relative to the half-width falls as K^(-1/2)
    ratios = []
    for k in (1, 4, 16):
        (low,), (high,) = _wilson_limits(np.array([2.0]), np.full(k, 0.9), np.full(k, 1e4), np.full(k, 1 / k))
        ratios.append((0.9 - (low + high) / 2) / (high - low))
    assert np.array(ratios[1:]) / ratios[0] == pytest.approx([1 / 2, 1 / 4], rel=1e-2)


def test_tasks_of_equal_size_and_weight_have_the_posterior_of_the_hierarchy() -> None:
    posterior = group_posterior([40, 35, 49], [50] * 3)
    assert posterior.hierarchy_weight == 1
    assert (posterior.quantile(P) == posterior.hierarchy.quantile(P)).all()
    assert posterior.mean == pytest.approx(posterior.hierarchy.mean, abs=1e-6)
    assert posterior.sd == pytest.approx(posterior.hierarchy.sd, rel=1e-5)


@given(task_counts)
def test_quantiles_and_probabilities_of_a_group_are_consistent(pairs: list[tuple[int, int]]) -> None:
    s, n = np.array(pairs, float).T
    posterior = group_posterior(s, n)
    x = posterior.quantile(np.linspace(0.001, 0.999, 99))
    assert (np.diff(x) >= 0).all()
    assert posterior.cdf(posterior.quantile(P)) == pytest.approx(P, abs=1e-4)
    low, high = posterior.interval(0.95, "hdi")
    assert low - 1e-12 <= np.mean(s / n) <= high + 1e-12


@pytest.mark.slow
def test_a_small_task_is_covered() -> None:
    """4 x 200 at 0.99 and 12 at 0.8: 0.97 in benchmarks/sim_groups.py, 0.88 from the hierarchy alone."""
    rng, covered = np.random.default_rng(24), 0
    rates, n = np.array([0.99] * 4 + [0.8]), np.array([200] * 4 + [12])
    for s in rng.binomial(n, rates, (150, 5)):
        low, high = group_posterior(s, n).interval(0.95, "hdi")
        covered += low <= rates.mean() <= high
    assert stats.binomtest(covered, 150, 0.95, alternative="less").pvalue > 1e-3


def test_large_tasks_give_the_plain_weighted_mean_and_its_standard_error() -> None:
    s, n, w = np.array([50_000.0, 90_000, 19_000]), np.array([100_000.0, 100_000, 20_000]), np.array([0.5, 0.3, 0.2])
    posterior, p = group_posterior(s, n, w), s / n
    assert posterior.mean == pytest.approx(w @ p, abs=1e-5)
    assert posterior.sd == pytest.approx(np.sqrt(np.sum(w**2 * p * (1 - p) / n)), rel=1e-3)


def test_fractional_counts_lie_between_their_whole_neighbours() -> None:
    s, n = np.array([7.0, 16, 31, 5]), np.array([10.0, 20, 40, 10])
    low, middle, high = (group_posterior(s + step, n) for step in (0.0, 0.5, 1.0))
    assert low.mean < middle.mean < high.mean
    # the rounding of counts for (theta, d) shifts the shrinkage a little
    assert middle.mean == pytest.approx((low.mean + high.mean) / 2, abs=0.05 * middle.sd)
    assert middle.sd == pytest.approx((low.sd + high.sd) / 2, rel=0.03)


def test_one_task_whose_items_do_not_recur_is_the_binomial_posterior() -> None:
    posterior = shared_items_posterior([1, 0, 1, 1, 0], ["a"] * 5, [1, 2, 3, 4, 5])
    np.testing.assert_allclose((posterior.a, posterior.b), (1 + 3, 1 + 2))
    single = shared_items_posterior([1], ["a"], [1])
    np.testing.assert_allclose((single.a, single.b), (2, 1))


def test_exact_copies_of_a_task_add_no_information() -> None:
    rng = np.random.default_rng(1)
    scores, items = rng.random(40), np.arange(40)
    once = shared_items_posterior(scores, np.zeros(40), items)
    thrice = shared_items_posterior(np.tile(scores, 3), np.repeat([0, 1, 2], 40), np.tile(items, 3))
    np.testing.assert_allclose(thrice.quantile(P), once.quantile(P), rtol=1e-12)
    apart = shared_items_posterior(np.tile(scores, 3), np.repeat([0, 1, 2], 40), np.arange(120))
    assert apart.sd == pytest.approx(once.sd / np.sqrt(3), rel=0.02)


def test_many_items_give_the_cluster_robust_standard_error() -> None:
    # Miller (2024), eq. 4, of the weighted mean of two tasks' scores, by hand
    rng = np.random.default_rng(2)
    difficulty = rng.beta(2, 1, 3000)
    scores = np.concatenate([rng.random(3000) < difficulty, rng.random(3000) < difficulty**2]).astype(float)
    tasks, items = np.repeat(["de", "en"], 3000), np.tile(np.arange(3000), 2)
    posterior = shared_items_posterior(scores, tasks, items, [3, 1])
    means = scores.reshape(2, 3000).mean(axis=1)
    residuals = np.array([0.75, 0.25]) @ (scores.reshape(2, 3000) - means[:, None]) / 3000
    assert posterior.sd == pytest.approx(np.sqrt(np.sum(residuals**2)), rel=2e-3)
    assert posterior.mean == pytest.approx(0.75 * means[0] + 0.25 * means[1], abs=2e-4)


@given(st.permutations(range(6)))
def test_the_order_of_tasks_does_not_matter_to_fractional_counts(order: list[int]) -> None:
    s, n = np.array([16.4, 3.3, 7.6, 0.4, 2.7, 11.4]), np.array([22.9, 3.9, 8.5, 0.9, 3.1, 14.2])
    expected, found = group_posterior(s, n), group_posterior(s[order], n[order])
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), rtol=1e-9)


def test_items_of_their_own_are_centred_at_their_tasks() -> None:
    # two strata by hand: sum_k w_k^2 s_k^2 / C_k with s_k^2 over C_k - 1; 4 questions a passage add the rest
    rng = np.random.default_rng(3)
    scores = rng.random((2, 2000))
    posterior = shared_items_posterior(scores.ravel(), np.repeat([0, 1], 2000), np.arange(4000))
    assert posterior.sd == pytest.approx(np.sqrt(np.sum(scores.var(axis=1, ddof=1) / 2000) / 4), rel=2e-3)
    pairs = shared_items_posterior(scores.ravel(), np.repeat(np.arange(2000), 2), np.arange(4000))
    within = scores.reshape(2000, 2).var(axis=1, ddof=1)
    assert pairs.sd == pytest.approx(np.sqrt(np.sum(within / 2)) / 2000, rel=2e-3)


def test_effective_units_are_few_where_a_small_task_weighs_much() -> None:
    tasks = np.repeat([0, 1], [5, 200])
    scores = np.tile([0.25, 0.5, 0.75, 1.0, 0.5], 41)
    assert shared_items_posterior(scores, tasks, np.arange(205), [5, 200]).effective_units == pytest.approx(205)
    # (1/20 + 1/800)^2 / (5 / 10^4 + 200 / 400^4)
    expected = (1 / 20 + 1 / 800) ** 2 / (5 / 10**4 + 200 / 400**4)
    assert shared_items_posterior(scores, tasks, np.arange(205)).effective_units == pytest.approx(expected)


@given(st.permutations(range(12)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    scores = np.array([1, 0, 1, 1, 0.5, 1, 0, 1, 0, 0, 1, 1.0])
    tasks, items = np.repeat(["x", "y", "z"], 4), np.array([1, 2, 3, 4, 1, 2, 3, 4, 1, 1, 5, 6])
    expected = shared_items_posterior(scores, tasks, items)
    found = shared_items_posterior(scores[order], tasks[order], items[order])
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), rtol=1e-9)


def test_swapping_the_ends_of_the_scale_mirrors_shared_items() -> None:
    scores, tasks, items = np.array([1, 0, 3, 2, 2, 3.0]), [0, 0, 0, 1, 1, 1], [1, 2, 3, 1, 2, 4]
    found = shared_items_posterior(scores, tasks, items, low=0.0, high=3.0)
    mirrored = shared_items_posterior(3 - scores, tasks, items, low=0.0, high=3.0)
    np.testing.assert_allclose(found.quantile(P), 3 - mirrored.quantile(P[::-1]), atol=1e-9)


@pytest.mark.parametrize(
    ("successes", "trials"), [([0, 0], 5), ([5, 5], 5), ([1], 1), ([0], 1), ([10**9, 10**8], 10**9), ([0, 9], 9)]
)
def test_degenerate_groups_give_a_proper_posterior(successes: list[int], trials: int) -> None:
    for weights in (None, [1.0] * len(successes)):
        posterior = group_posterior(successes, trials, weights)
        for kind in ("quantile", "hdi"):
            low, high = posterior.interval(0.95, kind)
            assert 0 <= low < high <= 1


@pytest.mark.parametrize("scores", [[1.0] * 4, [0.0] * 4, [0.5] * 4, [1.0, 0.0, 0.0, 1.0]])
@pytest.mark.parametrize("items", [[1, 2, 3, 4], [1, 2, 1, 2], [1, 1, 1, 1]])
def test_degenerate_items_give_a_proper_posterior(scores: list[float], items: list[int]) -> None:
    posterior = shared_items_posterior(scores, [0, 0, 1, 1], items)
    low, high = posterior.interval(0.95)
    assert 0 <= low < high <= 1
    assert posterior.sd > 0


def test_unusable_groups_are_named() -> None:
    with pytest.raises(DataError, match="trials must be positive"):
        group_posterior([1, 0], [2, 0])
    with pytest.raises(DataError, match="trials must be positive"):
        group_posterior([], [])
    with pytest.raises(DataError, match="exceed"):
        group_posterior([3], [2])
    with pytest.raises(DataError, match="weights must be 2 numbers"):
        group_posterior([1, 0], [2, 2], [1, -1])
    with pytest.raises(DataError, match="weights must be 2 numbers"):
        group_posterior([1, 0], [2, 2], [1, 1, 1])
    with pytest.raises(DataError, match="weights must be 2 numbers"):
        group_posterior([1, 0], [2, 2], [0, 0])
    with pytest.raises(DataError, match="one label per question"):
        shared_items_posterior([1, 0], [0, 0], [0])
    with pytest.raises(DataError, match="scores, all in"):
        shared_items_posterior([1, 2], [0, 0], [0, 1])
    with pytest.raises(DataError, match="scores must be finite"):
        shared_items_posterior([1, np.nan], [0, 0], [0, 1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_tasks", "size", "score"), [(57, 100, 0.9), (14, 9, 0.9), (20, 50, 0.95), (14, 9, 0.99), (5, 30, 0.97)]
)
def test_the_default_interval_covers_groups_of_good_tasks(n_tasks: int, size: int, score: float) -> None:
    # independent Beta(1, 1) posteriors added up cover .52, .09, .30, 0 and .52 of these
    rng = np.random.default_rng(n_tasks)
    # tasks of one size and weight may change places: many data sets repeat
    data = Counter(tuple(sorted(rng.binomial(size, score, n_tasks))) for _ in range(400))
    covered = 0
    for right, times in data.items():
        low, high = group_posterior(right, size).interval(0.95, "hdi")
        covered += times * (low <= score <= high)
    assert stats.binomtest(covered, 400, 0.92, alternative="less").pvalue > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("by_size", [True, False])
def test_the_default_interval_covers_the_level_where_tasks_come_from_the_prior(by_size: bool) -> None:
    rng = np.random.default_rng(9)
    sizes = np.array([200, 20, 50, 35, 100, 20, 400, 60])
    weights = sizes / sizes.sum() if by_size else np.full(8, 1 / 8)
    covered = 0
    for _ in range(400):
        theta, icc = rng.random(2)
        scores = rng.beta((1 / icc - 1) * theta, (1 / icc - 1) * (1 - theta), 8)
        posterior = group_posterior(rng.binomial(sizes, scores), sizes, weights)
        low, high = posterior.interval(0.95, "hdi")
        covered += bool(low - 1e-6 <= weights @ scores <= high + 1e-6)
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("n_passages", [1, 2, 3])
def test_coverage_of_many_tasks_with_few_passages_each(n_passages: int) -> None:
    # centred at the tasks alone, without a count of the centres: .49, .86, .92
    rng = np.random.default_rng(n_passages)
    tasks, items = np.repeat(np.arange(57), n_passages * 20), np.repeat(np.arange(57 * n_passages), 20)
    covered = 0
    for _ in range(300):
        right = rng.random(len(tasks)) < np.repeat(rng.beta(2, 2, 57 * n_passages), 20)
        low, high = shared_items_posterior(right, tasks, items).interval(0.95)
        covered += low <= 0.5 <= high
    assert stats.binomtest(covered, 300, 0.94, alternative="less").pvalue > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(("score", "d", "n_items"), [(0.9, 0.5, 50), (0.5, 1.0, 50), (0.97, 1.0, 250), (0.8, 2.0, 20)])
def test_coverage_of_ten_translations_of_each_item(score: float, d: float, n_items: int) -> None:
    # adding up ten independent tasks instead covers about half of these
    rng = np.random.default_rng(n_items)
    tasks, items = np.repeat(np.arange(10), n_items), np.tile(np.arange(n_items), 10)
    covered = 0
    for _ in range(400):
        right = rng.random((10, n_items)) < rng.beta(d * score, d * (1 - score), n_items)
        low, high = shared_items_posterior(right.ravel(), tasks, items).interval(0.95)
        covered += low <= score <= high
    assert stats.binomtest(covered, 400, 0.92, alternative="less").pvalue > 1e-2
