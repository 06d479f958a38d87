"""All pairs of systems, and joint draws that agree with the pairs."""

import numpy as np
import pytest

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray
from harness_uq.stats.units.all_pairs import pair_moments, prob_better
from harness_uq.stats.units.contrasts import PairedDifferences, contrast_posteriors
from harness_uq.stats.units.draws import calibrated_draws, joint_draws

RNG = np.random.default_rng(5)
CLUSTERS = RNG.integers(0, 9, 40)
RIGHT = (RNG.random((5, 40)) < np.linspace(0.3, 0.7, 5)[:, None]).astype(float)
GRADED = np.round((RIGHT + RNG.integers(0, 2, RIGHT.shape) + RNG.integers(0, 2, RIGHT.shape)) / 3, 6)


@pytest.mark.parametrize("clusters", [None, CLUSTERS, np.arange(40) // 4], ids=["none", "unequal", "equal"])
@pytest.mark.parametrize(("scores", "high"), [(RIGHT, 1.0), (GRADED, 1.0), (7 * RNG.random((5, 40)), 7.0)])
def test_pairs_have_the_posteriors_of_their_contrasts(
    scores: FloatArray, high: float, clusters: IntArray | None
) -> None:
    mean, sd = pair_moments(scores, 0, high, clusters=clusters)
    better = prob_better(scores, 0, high, clusters=clusters)
    first, second = np.triu_indices(len(scores), 1)
    contrasts = contrast_posteriors(
        [PairedDifferences(scores[i] - scores[j], 0, high, clusters) for i, j in zip(first, second, strict=True)]
    )
    for i, j, contrast in zip(first, second, contrasts, strict=True):
        assert mean[i, j] == pytest.approx(contrast.mean, abs=1e-12) == -mean[j, i]
        assert sd[i, j] == pytest.approx(contrast.sd, rel=1e-11) == sd[j, i]
        assert better[i, j] == pytest.approx(contrast.prob_positive, abs=1e-11)
        assert better[j, i] == 1 - better[i, j]


def test_moments_of_widened_pairs_are_those_of_their_contrasts() -> None:
    mean, sd = pair_moments(RIGHT, 0, 1, clusters=CLUSTERS, n_answers=40)
    (contrast,) = contrast_posteriors([PairedDifferences(RIGHT[0] - RIGHT[4], 0, 1, CLUSTERS, None, 40)])
    assert (mean[0, 4], sd[0, 4]) == pytest.approx((contrast.mean, contrast.sd), rel=1e-10)


def test_calibrated_draws_have_the_moments_of_every_pair() -> None:
    mean, sd = pair_moments(RIGHT, 0, 1, clusters=CLUSTERS)
    wider = 1.3 * sd
    draws = calibrated_draws(joint_draws(RIGHT, 0, 1, clusters=CLUSTERS, n_draws=3000), mean, wider)
    gaps = draws[:, None] - draws
    np.testing.assert_allclose(gaps.std(axis=2, ddof=1), wider, atol=1e-12)
    np.testing.assert_allclose(gaps.mean(axis=2), mean, atol=0.01)  # which are not those of a joint distribution


def test_calibration_keeps_consistent_draws_and_the_order_of_systems() -> None:
    draws = joint_draws(GRADED, 0, 1, n_draws=500)
    gaps = draws[:, None] - draws
    means, sds = gaps.mean(axis=2), gaps.std(axis=2, ddof=1)
    same = calibrated_draws(draws, means, sds)
    np.testing.assert_allclose(same - same.mean(axis=0), draws - draws.mean(axis=0), atol=1e-10)
    order = np.array([3, 0, 4, 1, 2])
    square = np.ix_(order, order)
    permuted = calibrated_draws(draws[order], means[square], 1.2 * sds[square])
    np.testing.assert_allclose(permuted, calibrated_draws(draws, means, 1.2 * sds)[order], atol=1e-10)


def test_systems_with_equal_scores_stay_equal() -> None:
    draws = np.vstack([RNG.standard_normal((1, 200))] * 2 + [RNG.standard_normal((1, 200))])
    sds = np.array([[0.0, 0, 2], [0, 0, 2], [2, 2, 0]])
    calibrated = calibrated_draws(draws, np.zeros((3, 3)), sds)
    np.testing.assert_allclose(calibrated[0], calibrated[1], atol=1e-12)


def test_moments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="one row and column per system"):
        calibrated_draws(np.zeros((3, 10)), np.zeros((2, 2)), np.zeros((2, 2)))
