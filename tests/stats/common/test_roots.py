import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from harness_uq.stats.common.roots import invert_increasing


@given(st.floats(1e-9, 1 - 1e-9), st.floats(-50, 50), st.floats(1e-6, 1e3))
def test_inverts_a_normal_distribution_from_any_guess(p: float, guess: float, scale: float) -> None:
    x = invert_increasing(special.ndtr, p, low=-60, high=60, guess=guess, scale=scale, tolerance=1e-12 / scale)
    assert float(x) == pytest.approx(float(special.ndtri(p)), abs=1e-5)
    assert float(special.ndtr(x)) == pytest.approx(p, abs=1e-11)


def test_a_target_out_of_reach_gives_the_nearer_end() -> None:
    x = invert_increasing(np.tanh, [-2.0, 0.0, 2.0], low=-3, high=3, guess=0, scale=0.1)
    assert x == pytest.approx([-3, 0, 3], abs=1e-12)


def test_steps_are_found_to_the_tolerance() -> None:
    x = invert_increasing(lambda v: (v > 0.3).astype(float), 0.5, low=0, high=1, guess=0.9, scale=0.1)
    assert float(x) == pytest.approx(0.3, abs=1e-11)
