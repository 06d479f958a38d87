import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, make_interp_spline

from harness_uq.stats.common.splines import cubic_spline, refine


@given(
    st.lists(st.floats(0.01, 10.0), min_size=3, max_size=40),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_cubic_splines_are_those_of_scipy(steps: list[float], n_functions: int, seed: int, is_flat: bool) -> None:
    nodes = np.cumsum([0.0, *steps])
    values = np.random.default_rng(seed).normal(size=(len(nodes), n_functions))
    values = values[:, 0] if is_flat else values
    reach = nodes[-1] - nodes[0]
    x = np.linspace(nodes[0] - 0.01 * reach, nodes[-1] + 0.01 * reach, 60).reshape(3, 20)
    ours, theirs = cubic_spline(nodes, values), CubicSpline(nodes, values)
    assert ours.integral == pytest.approx(theirs.integrate(nodes[0], nodes[-1]), rel=1e-8, abs=1e-8)
    pairs = (ours, theirs), (ours.derivative(), theirs.derivative()), (ours.antiderivative(), theirs.antiderivative())
    for mine, scipys in pairs:
        expected = scipys(x)
        assert mine(x) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("n", range(4, 20))
def test_a_cubic_is_its_own_spline(n: int) -> None:
    nodes = np.linspace(-1.0, 2.0, n) ** 3
    x = np.linspace(-2.0, 9.0, 50)
    assert cubic_spline(nodes, nodes**3 - 2 * nodes)(x) == pytest.approx(x**3 - 2 * x, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [8, 9, 16, 61, 300])
@pytest.mark.parametrize("factor", [1, 4, 8])
def test_a_grid_is_refined_as_by_scipy(n: int, factor: int) -> None:
    index = np.arange(float(n))
    values = np.stack([np.sin(index / 3), np.log1p(index), index**2], axis=1)
    fine = np.linspace(0.0, n - 1.0, factor * (n - 1) + 1)
    expected = make_interp_spline(index, values, k=7)
    found, slopes = refine(values, factor)
    assert found == pytest.approx(expected(fine), rel=1e-10, abs=1e-11)
    assert slopes == pytest.approx(expected.derivative()(fine), rel=1e-9, abs=1e-10)
    one, slope = refine(values[:, 0], factor)
    assert one == pytest.approx(found[:, 0], abs=1e-12)
    assert slope == pytest.approx(slopes[:, 0], abs=1e-12)
