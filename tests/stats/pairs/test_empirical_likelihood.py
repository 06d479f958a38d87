"""Likelihood roots: the definition maximised by other means, normal limit, scale, what is symmetric by itself."""

import numpy as np
import pytest
from scipy import optimize

from harness_uq.stats.pairs.empirical_likelihood import PSEUDO_UNITS, likelihood_roots


def directly(differences: np.ndarray, widest: float) -> float:
    """Owen's primal: the largest product of weights w_c / its own, sum w = 1 and sum w D = 0, by a general solver."""
    points = np.r_[differences, widest, -widest]
    masses = np.r_[np.ones(len(differences)), PSEUDO_UNITS, PSEUDO_UNITS]
    shares = masses / masses.sum()
    found = optimize.minimize(
        lambda z: -(masses @ z),
        np.log(shares) - 0.1,
        jac=lambda _: -masses,
        constraints=[
            {"type": "eq", "fun": lambda z: np.exp(z).sum() - 1, "jac": lambda z: np.exp(z)},
            {"type": "eq", "fun": lambda z: np.exp(z) @ points, "jac": lambda z: np.exp(z) * points},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    return float(np.sqrt(2 * (found.fun + masses @ np.log(shares))))


@pytest.mark.parametrize("seed", range(4))
def test_is_the_ratio_of_likelihoods_by_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.uniform(-0.4, 0.6, 8)
    differences *= np.sign(differences.sum())
    assert likelihood_roots(differences[None], np.ones(1))[0] == pytest.approx(directly(differences, 1.0), rel=1e-4)


def test_many_small_effects_give_the_z_score() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(size=(1, 40_000))
    differences += 0.01 - differences.mean()
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert likelihood_roots(differences, np.full(1, 6.0))[0] == pytest.approx(z, rel=5e-3)


def test_the_unit_of_the_scores_does_not_matter() -> None:
    differences = np.array([[0.1, 0.2, -0.05, 0.3]])
    small, large = likelihood_roots(differences, np.ones(1)), likelihood_roots(1e6 * differences, np.full(1, 1e6))
    assert small[0] == pytest.approx(large[0], rel=1e-9)


def test_clusters_larger_than_the_average_one_are_taken() -> None:
    found = likelihood_roots(np.array([[9.0, -2.0, 0.5, 3.0]]), np.ones(1))
    assert 0 < found[0] < 2


def test_a_failure_that_may_be_unseen_keeps_small_differences_in_doubt() -> None:
    small, large = likelihood_roots(np.array([[0.02] * 100, [0.5] * 100]), np.ones(2))
    assert small < 2 < 5 < large


def test_differences_of_the_full_width_hide_nothing() -> None:
    assert np.isinf(likelihood_roots(np.array([[1.0, 0, 0, -1, 1]]), np.ones(1)))[0]
