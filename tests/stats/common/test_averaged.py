"""Averages of posteriors, quantile by quantile."""

import numpy as np
import pytest

from harness_uq.errors import DataError
from harness_uq.stats.common.averaged import AveragedPosterior
from harness_uq.stats.common.posterior import BetaPosterior, DrawsPosterior

PARTS = (BetaPosterior(3, 5), BetaPosterior(30, 20))


def test_quantiles_mean_and_sd_are_those_of_averaged_sorted_draws() -> None:
    rng = np.random.default_rng(0)
    draws = 0.3 * np.sort(rng.beta(3, 5, 400_000)) + 0.7 * np.sort(rng.beta(30, 20, 400_000))
    expected, found = DrawsPosterior(draws), AveragedPosterior([(PARTS[0], 3.0), (PARTS[1], 7.0)])
    assert found.quantile([0.025, 0.5, 0.975]) == pytest.approx(expected.quantile([0.025, 0.5, 0.975]), abs=1e-3)
    assert (found.mean, found.sd) == pytest.approx((expected.mean, expected.sd), rel=2e-3)


def test_the_distribution_function_inverts_the_quantiles() -> None:
    posterior = AveragedPosterior([(PARTS[0], 0.5), (PARTS[1], 0.5)])
    p = np.linspace(0.001, 0.999, 25)
    assert posterior.cdf(posterior.quantile(p)) == pytest.approx(p, abs=1e-8)


def test_a_single_part_is_itself_and_parts_without_weight_are_left_out() -> None:
    posterior = AveragedPosterior([(PARTS[0], 2.0), (PARTS[1], 0.0)])
    assert posterior.parts == ((PARTS[0], 1.0),)
    assert (posterior.sd, posterior.cdf(0.4)) == (PARTS[0].sd, PARTS[0].cdf(0.4))


@pytest.mark.parametrize("weights", [(0.0, 0.0), (2.0, -1.0)])
def test_weights_that_are_none_are_refused(weights: tuple[float, float]) -> None:
    with pytest.raises(DataError, match="weights must be at least 0 and not all 0"):
        AveragedPosterior(list(zip(PARTS, weights, strict=True)))
