"""Levels of intervals that hold together over several looks."""

import numpy as np
import pytest
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.active.repeated_looks import simultaneous_level


@pytest.mark.parametrize(
    ("level", "quantiles"),
    [
        (0.95, {1: 1.960, 2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555}),  # Pocock (1977), table 1
        (0.99, {1: 2.576, 2: 2.772, 3: 2.873, 4: 2.939, 5: 2.986, 10: 3.117}),  # likewise
    ],
)
def test_quantiles_are_those_of_pocock(level: float, quantiles: dict[int, float]) -> None:
    for n_looks, quantile in quantiles.items():
        found = simultaneous_level(tuple(range(1, n_looks + 1)), level)
        assert special.ndtri(0.5 + found / 2) == pytest.approx(quantile, abs=6e-4)


def test_unequal_looks_hold_together_in_simulated_random_walks() -> None:
    information = (1.0, 1.5, 6.0, 20.0)
    level = simultaneous_level(information, 0.9)
    steps = np.sqrt(np.diff(information, prepend=0.0))
    walks = np.cumsum(steps * np.random.default_rng(0).normal(size=(200_000, 4)), axis=1)
    inside = (np.abs(walks) <= special.ndtri(0.5 + level / 2) * np.sqrt(information)).all(axis=1)
    assert inside.mean() == pytest.approx(0.9, abs=0.0025)  # 3.7 standard errors


def test_the_unit_of_information_does_not_matter_and_more_looks_need_wider_intervals() -> None:
    assert simultaneous_level((10, 20, 40), 0.95) == pytest.approx(simultaneous_level((1, 2, 4), 0.95), abs=1e-9)
    assert 0.95 < simultaneous_level((1, 2), 0.95) < simultaneous_level((1, 1.5, 2), 0.95)


@pytest.mark.parametrize(("information", "level"), [((), 0.95), ((1, 1), 0.95), ((0, 1), 0.95), ((1, 2), 1.0)])
def test_invalid_looks_are_refused(information: tuple[float, ...], level: float) -> None:
    with pytest.raises(DataError):
        simultaneous_level(information, level)
