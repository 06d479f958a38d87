"""Intervals of parameters that are known up to a range (Imbens and Manski 2004)."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from harness_uq.stats.trials.partial_identification import IdentifiedPosterior, imbens_manski_level


class Normal:
    def __init__(self, mean: float, sd: float) -> None:
        self.mean, self.sd, self._distribution = mean, sd, stats.norm(mean, sd)

    def cdf(self, x):
        return self._distribution.cdf(x)

    def interval(self, level: float = 0.95, kind: str = "quantile") -> tuple[float, float]:
        return tuple(self._distribution.ppf([(1 - level) / 2, (1 + level) / 2]))


def test_limits() -> None:
    """A known parameter has the two-sided level; far apart bounds have the one-sided one."""
    assert imbens_manski_level(0.0, 1.0, 0.95) == pytest.approx(0.95, abs=1e-10)
    assert imbens_manski_level(100.0, 1.0, 0.95) == pytest.approx(0.90, abs=1e-10)
    assert imbens_manski_level(0.1, 0.0, 0.9) == pytest.approx(0.8)
    assert imbens_manski_level(0.0, 0.0, 0.9) == pytest.approx(0.9)
    assert imbens_manski_level(50.0, 1.0, 0.4) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("width", [0.01, 0.3, 1.0, 2.5])
def test_coverage_is_exact_at_the_ends_and_larger_between(level: float, width: float) -> None:
    """With normal errors of both bounds that are equal, as with a known share of missing scores."""
    critical = stats.norm.ppf((1 + imbens_manski_level(width, 1.0, level)) / 2)
    places = np.linspace(0, width, 11)
    # the interval [L + e - c, U + e + c] contains t if L - t - c <= -e <= U - t + c
    coverage = stats.norm.cdf(width - places + critical) - stats.norm.cdf(-places - critical)
    assert coverage[[0, -1]] == pytest.approx([level, level], abs=1e-9)
    assert coverage.min() >= level - 1e-9


def test_the_level_decreases_with_the_width() -> None:
    levels = [imbens_manski_level(width, 0.02) for width in np.linspace(0, 0.2, 50)]
    assert all(a >= b for a, b in pairwise(levels))


def test_posterior_of_equal_bounds_is_that_of_the_bounds() -> None:
    normal = Normal(0.2, 0.1)
    both = IdentifiedPosterior(normal, normal)
    assert both.interval(0.9) == pytest.approx(normal.interval(0.9), abs=1e-9)
    x = np.linspace(-0.1, 0.5, 7)
    assert both.cdf(x) == pytest.approx(normal.cdf(x), abs=1e-9)


def test_distribution_agrees_with_its_intervals() -> None:
    both = IdentifiedPosterior(Normal(0.1, 0.05), Normal(0.2, 0.04))
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high = both.interval(level)
        assert both.quantile([(1 - level) / 2, (1 + level) / 2]) == pytest.approx([low, high])
    low, _ = both.interval(0.95)
    assert float(both.cdf(low)) == pytest.approx(0.025, abs=1e-9)
    assert float(both.cdf(0.15)) == 0.5
    assert both.quantile(0.5) == pytest.approx(0.15)
    grid = both.cdf(np.linspace(-0.2, 0.5, 200))
    assert (np.diff(grid) >= 0).all()
