"""Test whether the mean scores of groups of questions differ by more than chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, check_finite, validated_codes
from harness_uq.stats.common.validate_scalars import check_rng

FEW_PER_GROUP = 10
N_PERMUTATIONS = 9_999
_BATCH = 2_000_000


@dataclass(frozen=True, slots=True)
class HeterogeneityTest:
    """Result of a test whether groups differ.

    `statistic` is about chi-squared with `df` degrees of freedom if the groups are equal; `is_permutation` says whether
    the p-value is that of random permutations of the groups.
    """

    statistic: float
    df: int
    p_value: float
    is_permutation: bool


def heterogeneity_test(
    scores: ArrayLike, groups: ArrayLike, clusters: ArrayLike | None = None, *, rng: np.random.Generator
) -> HeterogeneityTest:
    """Test the hypothesis that all groups have the same mean score.

    The score statistic is U' V^- U, where U_j is the sum of the deviations of group j from the common mean. If
    questions are independent, V is their covariance under permutations of the groups; for right-or-wrong scores the
    statistic is (n - 1)/n times that of Pearson's chi-squared test. If a group has fewer than ten questions, the
    p-value is that of 9,999 random permutations. With clusters, V is the covariance between clusters.

    A cluster may lie in several groups. The p-value is 1 if all scores are equal. Raises DataError if there are fewer
    than two groups, a score is not finite, or labels are missing or of another number. Source: Agresti (2013),
    Categorical Data Analysis, 3rd edition, section 3.2.1, for Pearson's test. Phipson and Smyth (2010), Stat. Appl.
    Genet. Mol. Biol. 9, 39, for the p-value of random permutations.

    >>> scores, groups = [1] * 30 + [0] * 30, [0] * 30 + [1] * 30
    >>> heterogeneity_test(scores, groups, rng=np.random.default_rng(0)).p_value < 1e-6
    True
    """
    rng = check_rng(rng)
    y = check_finite(scores, "scores", 1)
    group = validated_codes(groups, y.shape, "groups")
    n_groups = int(group.max(initial=-1)) + 1
    if n_groups < 2:
        raise DataError(f"a test of differences requires at least two groups; got {n_groups}")
    deviations = y - y.mean()
    sizes = np.bincount(group)
    sums = np.bincount(group, deviations)
    if np.ptp(y) == 0:
        return HeterogeneityTest(0.0, n_groups - 1, 1.0, is_permutation=False)
    if clusters is not None:
        cluster = validated_codes(clusters, y.shape)
        return _clustered(deviations, group, cluster, np.asarray(sums, float))
    statistic = float((sums**2 / sizes).sum() / y.var(ddof=1))
    if sizes.min() >= FEW_PER_GROUP:
        return HeterogeneityTest(statistic, n_groups - 1, float(chdtrc(n_groups - 1, statistic)), is_permutation=False)
    n_larger = _n_larger(deviations, sizes, float((sums**2 / sizes).sum()), rng)
    p_value = (n_larger + 1) / (N_PERMUTATIONS + 1)
    return HeterogeneityTest(statistic, n_groups - 1, p_value, is_permutation=True)


def _n_larger(deviations: FloatArray, sizes: IntArray, observed: float, rng: np.random.Generator) -> int:
    """Number of permutations whose variation between groups is at least the observed one."""
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    per_batch = max(1, _BATCH // len(deviations))
    n_larger = 0
    for begin in range(0, N_PERMUTATIONS, per_batch):
        n = min(per_batch, N_PERMUTATIONS - begin)
        permuted = rng.permuted(np.broadcast_to(deviations, (n, len(deviations))), axis=1)
        between = (np.add.reduceat(permuted, starts, axis=1) ** 2 / sizes).sum(axis=1)
        n_larger += int((between >= observed * (1 - 1e-12)).sum())
    return n_larger


def _clustered(deviations: FloatArray, group: IntArray, cluster: IntArray, sums: FloatArray) -> HeterogeneityTest:
    """Score test with the covariance between clusters, and an F distribution for few clusters (Hotelling)."""
    n_clusters, n_groups = int(cluster.max()) + 1, len(sums)
    totals = np.zeros((n_clusters, n_groups))
    np.add.at(totals, (cluster, group), deviations)
    # the common mean is estimated, so each cluster's total deviation is spread over the groups by their size
    shares = np.bincount(group) / len(group)
    contributions = totals - totals.sum(axis=1, keepdims=True) * shares
    covariance = contributions.T @ contributions
    statistic = float(sums @ np.linalg.pinv(covariance, rcond=1e-10, hermitian=True) @ sums)
    df = int(np.linalg.matrix_rank(covariance, tol=1e-10 * max(np.trace(covariance), 1e-300), hermitian=True))
    if df == 0:
        return HeterogeneityTest(0.0, n_groups - 1, 1.0, is_permutation=False)
    spare = n_clusters - df
    if spare <= 0:
        return HeterogeneityTest(statistic, df, 1.0, is_permutation=False)
    # under the null the sum of squares is not reduced by an estimated mean, so that statistic / n_clusters < 1
    ratio = min(statistic / n_clusters, 1 - 1e-12)
    f = ratio / (1 - ratio) * spare / df
    return HeterogeneityTest(statistic, df, float(fdtrc(df, spare, f)), is_permutation=False)
