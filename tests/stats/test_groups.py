"""Partial pooling of groups, and the test whether groups differ."""

import numpy as np
import pytest
from scipy import integrate, stats

from harness_uq.messages.errors import DataError
from harness_uq.stats.groups.heterogeneity import heterogeneity_test
from harness_uq.stats.groups.partial_pooling import pool_groups

SCHOOLS = ([28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18])


def test_pooled_effects_of_eight_schools_are_those_of_the_book() -> None:
    # Gelman et al. (2013), table 5.3: medians and 95 % limits from 200 draws, so that they are rough
    found = pool_groups(*SCHOOLS)
    np.testing.assert_allclose(found.means, [11, 8, 7, 8, 5, 6, 10, 8], atol=1.3)
    np.testing.assert_allclose(found.low, [-2, -5, -11, -7, -9, -7, -1, -6], atol=2.2)
    np.testing.assert_allclose(found.high, [31, 23, 19, 21, 18, 28, 26, 33], atol=10)


def test_the_grid_agrees_with_adaptive_integration() -> None:
    y, s = map(np.array, SCHOOLS)

    def density(tau: float) -> float:
        total = tau**2 + s**2
        mu = (y / total).sum() / (1 / total).sum()
        return np.exp(-0.5 * (np.log(total).sum() + np.log((1 / total).sum()) + ((y - mu) ** 2 / total).sum()) + 20)

    def mean_of_first(tau: float) -> float:
        total = tau**2 + s**2
        mu = (y / total).sum() / (1 / total).sum()
        return density(tau) * (s[0] ** 2 * mu + tau**2 * y[0]) / total[0]

    end = 10 * np.hypot(y.std(ddof=1), s.mean())
    norm = integrate.quad(density, 0, end, limit=200)[0]
    found = pool_groups(*SCHOOLS)
    assert found.means[0] == pytest.approx(integrate.quad(mean_of_first, 0, end, limit=200)[0] / norm, abs=0.01)
    assert integrate.quad(density, 0, found.spread, limit=200)[0] / norm == pytest.approx(0.5, abs=0.002)


def test_equal_groups_share_the_mean_and_distant_ones_keep_their_own() -> None:
    equal = pool_groups([0.5] * 20, [0.05] * 20)
    np.testing.assert_allclose(equal.means, 0.5, atol=1e-9)
    assert (equal.sds < 0.025).all()
    far = pool_groups([0.0, 10.0, 20.0], [0.01] * 3)
    np.testing.assert_allclose(far.means, [0, 10, 20], atol=1e-3)
    np.testing.assert_allclose(far.high - far.low, 2 * 1.96 * 0.01, rtol=0.01)


def test_pooling_does_not_depend_on_unit_or_origin() -> None:
    y, s = map(np.array, SCHOOLS)
    one, other = pool_groups(y, s), pool_groups(5 + y / 100, s / 100)
    np.testing.assert_allclose(other.low, 5 + one.low / 100, rtol=1e-9)


@pytest.mark.parametrize(("means", "errors"), [([1, 2], [1, 1]), ([1, 2, 3], [1, 1, 0]), ([1, 2, 3], [1, 1])])
def test_pooling_needs_three_means_with_positive_errors(means: list[float], errors: list[float]) -> None:
    with pytest.raises(DataError):
        pool_groups(means, errors)


def test_for_right_or_wrong_answers_the_test_is_pearson_s() -> None:
    rng = np.random.default_rng(1)
    y, group = (rng.random(200) < 0.7).astype(float), np.arange(200) % 5
    table = [[((group == j) & (y == v)).sum() for v in (0, 1)] for j in range(5)]
    pearson = stats.chi2_contingency(table, correction=False).statistic
    assert heterogeneity_test(y, group, rng=rng).statistic == pytest.approx(pearson * 199 / 200, rel=1e-12)


def test_for_ranks_the_test_is_that_of_kruskal_and_wallis() -> None:
    rng = np.random.default_rng(2)
    x, group = rng.normal(size=60), np.arange(60) % 4
    expected = stats.kruskal(*[x[group == j] for j in range(4)])
    found = heterogeneity_test(stats.rankdata(x), group, rng=rng)
    assert (found.statistic, found.p_value) == pytest.approx(tuple(expected), rel=1e-9)


def test_small_groups_are_permuted() -> None:
    rng = np.random.default_rng(3)
    y, group = [1.0] * 5 + [0.0] * 5, [0] * 5 + [1] * 5
    found = heterogeneity_test(y, group, rng=rng)
    assert found.is_permutation
    assert found.p_value == pytest.approx(2 / 252, abs=0.004)  # Fisher's exact test


def test_clusters_of_one_question_hardly_change_the_test() -> None:
    rng = np.random.default_rng(4)
    y, group = rng.random(400), np.arange(400) % 4
    plain = heterogeneity_test(y, group, rng=rng)
    clustered = heterogeneity_test(y, group, np.arange(400), rng=rng)
    assert clustered.p_value == pytest.approx(plain.p_value, abs=0.03)


# seeds and cells: groups, clusters per group (or in all), questions per cluster, whether clusters lie in one group
@pytest.mark.parametrize(("n_groups", "n_clusters", "size", "is_nested"), [(4, 20, 5, True), (5, 40, 10, False)])
def test_with_clusters_equal_groups_differ_in_5_percent(
    n_groups: int, n_clusters: int, size: int, is_nested: bool
) -> None:
    rng = np.random.default_rng(n_groups)
    n_rejected = 0
    for _ in range(1_000):
        rates = rng.beta(2.8, 1.2, n_groups * n_clusters if is_nested else n_clusters)
        cluster = np.repeat(np.arange(len(rates)), size)
        y = (rng.random(len(cluster)) < rates[cluster]).astype(float)
        group = np.repeat(np.arange(n_groups), n_clusters * size) if is_nested else np.arange(len(cluster)) % n_groups
        n_rejected += heterogeneity_test(y, group, cluster, rng=rng).p_value <= 0.05
    assert n_rejected / 1_000 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1_000)


def test_equal_scores_do_not_differ_and_one_group_is_an_error() -> None:
    rng = np.random.default_rng(5)
    assert heterogeneity_test([1.0] * 30, np.arange(30) % 3, rng=rng).p_value == 1.0
    with pytest.raises(DataError):
        heterogeneity_test([1.0, 0.0], [0, 0], rng=rng)
