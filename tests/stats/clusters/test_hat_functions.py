"""Weights of hat functions: linear functions, an integral by other means, the mirror image, both roads alike."""

import numpy as np
import pytest
from scipy import integrate, stats

from harness_uq.stats.clusters.beta_expectations import HatNodes

A, B = np.array([0.01, 0.3, 2.0, 40.0, 300.0, 3e8]), np.array([0.3, 0.2, 5.0, 3.0, 100.0, 1e8])


def test_linear_functions_are_exact_however_narrow_the_beta() -> None:
    nodes = HatNodes.spaced(64.0, 0.1)
    weights = nodes.weights(A, B)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(weights @ nodes.x, A / (A + B), rtol=1e-7)


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (40.0, 3.0), (900.0, 400.0), (30_000.0, 10_000.0)])
def test_each_weight_is_the_integral_of_its_hat(a: float, b: float) -> None:
    nodes = HatNodes.spaced(20.0, 0.4)
    weights = nodes.weights(np.array([a]), np.array([b]))[0]
    for k in (int(weights.argmax()), int(weights.argmax()) - 1, 3):
        hat = np.eye(len(nodes.x))[k]
        sides = zip(nodes.x[k - 1 : k + 1], nodes.x[k : k + 2], strict=True)
        expected = sum(
            integrate.quad(lambda x, of=hat: np.interp(x, nodes.x, of) * stats.beta.pdf(x, a, b), low, high)[0]
            for low, high in sides
        )
        assert weights[k] == pytest.approx(expected, abs=1e-9)


def test_swapping_the_parameters_mirrors_the_weights() -> None:
    nodes = HatNodes.spaced(200.0, 0.1)
    np.testing.assert_allclose(nodes.weights(A, B), nodes.weights(B, A)[:, ::-1], atol=1e-8)


def test_wide_and_narrow_betas_meet_where_the_roads_part() -> None:
    nodes = HatNodes.spaced(30.0, 0.1)
    total = np.exp(np.linspace(np.log(1000), np.log(8000), 400))  # both sides of 1 / (widest cell squared) = 3,000
    weights = nodes.weights(0.3 * total, 0.7 * total)
    smooth = np.exp(-50 * (nodes.x - 0.35) ** 2)
    expected = np.log(weights @ smooth)
    bends = np.abs(np.diff(expected, 4))
    assert bends.max() < 1e-8
