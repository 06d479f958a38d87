"""Mixtures of Betas: a single part is the Beta itself, moments are exact, the mirror image mirrors."""

import numpy as np
import pytest
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats import BetaMixturePosterior, BetaPosterior

P = np.array([0.001, 0.025, 0.5, 0.975, 0.999])


@pytest.mark.parametrize(("a", "b"), [(1, 1), (8, 4), (1e4, 3), (0.3, 0.3), (101, 1), (5e5, 5e5)])
def test_one_part_is_that_beta(a, b):
    mixture, beta = BetaMixturePosterior([a], [b], [2.0]), BetaPosterior(a, b)
    width = np.diff(beta.interval(0.95))[0]
    np.testing.assert_allclose(mixture.quantile(P), beta.quantile(P), atol=1e-5 * width)
    assert (mixture.mean, mixture.sd) == pytest.approx((beta.mean, beta.sd), rel=1e-12)


@pytest.mark.parametrize("shapes", [([3, 30, 300], [2, 20, 200]), ([11, 1601], [1, 1]), ([0.5, 900], [4, 100])])
def test_distribution_function_is_the_sum_of_the_parts(shapes):
    a, b = np.array(shapes, float)
    w = np.arange(1.0, len(a) + 1)
    mixture, x = BetaMixturePosterior(a, b, w), np.linspace(0.01, 0.999, 50)
    exact = w @ special.betainc(a[:, None], b[:, None], x) / w.sum()
    np.testing.assert_allclose(mixture.cdf(x), exact, atol=1e-5)
    np.testing.assert_allclose(mixture.cdf(mixture.quantile(P)), P, atol=1e-7)


def test_swapped_shapes_mirror():
    mixture, mirrored = BetaMixturePosterior([9, 40], [2, 5], [1, 3]), BetaMixturePosterior([2, 5], [9, 40], [1, 3])
    low, high = mixture.interval(0.95, "hdi")
    assert mirrored.interval(0.95, "hdi") == pytest.approx((1 - high, 1 - low), abs=1e-6)


@pytest.mark.parametrize("parts", [([0], [1], [1]), ([1], [1], [-1]), ([1, 2], [1, 2], [0, 0])])
def test_impossible_mixtures_are_refused(parts):
    with pytest.raises(DataError, match="a mixture needs"):
        BetaMixturePosterior(*parts)
