import numpy as np
import pytest
from scipy.stats import binomtest, linregress

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.trials.size_association import size_association_test

SIZES = np.array([1, 2, 2, 3, 5, 8, 13])


def test_clusters_of_identical_scores_count_equally_as_in_linear_regression() -> None:
    """An ICC of 1 gives every cluster the weight 1: the p-value is that of scipy's regression of the means."""
    means = np.array([0.9, 0.4, 0.8, 0.7, 0.3, 0.5, 0.2])
    expected = linregress(np.log(SIZES), means).pvalue
    p_value = size_association_test(np.repeat(means, SIZES), np.repeat(np.arange(7), SIZES))
    assert p_value == pytest.approx(expected, rel=1e-9)


def test_the_order_of_the_scores_does_not_matter_and_mirroring_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(7), SIZES)
    scores = rng.random(len(clusters))
    order = rng.permutation(len(clusters))
    p_value = size_association_test(scores, clusters)
    assert size_association_test(scores[order], clusters[order]) == pytest.approx(p_value, rel=1e-9)
    assert size_association_test(1 - scores, clusters) == pytest.approx(p_value, rel=1e-9)


def test_equal_means_have_p_value_one() -> None:
    assert size_association_test(np.ones(SIZES.sum()), np.repeat(np.arange(7), SIZES)) == 1.0


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [5, 2]])
def test_equal_sizes_and_two_clusters_are_refused(sizes: list[int]) -> None:
    with pytest.raises(NotEstimableError, match="three clusters"):
        size_association_test(np.ones(sum(sizes)), np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("dispersion", [2.0, 20.0])
def test_p_values_are_at_their_level_if_size_and_score_are_unrelated(dispersion: float) -> None:
    """Beta-binomial clusters with lognormal sizes."""
    rng = np.random.default_rng(2)
    n_rejected = 0
    for _ in range(600):
        sizes = np.maximum(np.rint(6 * np.exp(0.9 * rng.normal(size=20))), 1).astype(int)
        clusters = np.repeat(np.arange(20), sizes)
        rates = rng.beta(0.7 * dispersion, 0.3 * dispersion, 20)
        n_rejected += size_association_test(rng.random(len(clusters)) < rates[clusters], clusters) < 0.15
    assert binomtest(n_rejected, 600, 0.15).pvalue > 1e-3
