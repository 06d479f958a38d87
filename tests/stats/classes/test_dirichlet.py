"""Slices of the simplex against other integrals of the same posterior, their limits and their numerical error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.classes import dirichlet
from harness_uq.stats.classes.dirichlet import (
    cluster_parts,
    draws_posterior,
    geometric_posterior,
    harmonic_posterior,
    mean_of_betas_posterior,
    ratio_posterior,
)
from harness_uq.stats.common.posterior import BetaPosterior, Posterior
from harness_uq.stats.units.process import DirichletRatioPosterior

P = np.array([0.001, 0.025, 0.25, 0.5, 0.75, 0.975, 0.999])
small = st.integers(0, 30).map(lambda count: count + 1.0)


def jacobi(a: float, b: float, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Jacobi nodes and weights of the expectation under Beta(a, b)."""
    nodes, weights = special.roots_jacobi(n, b - 1, a - 1)
    return (nodes + 1) / 2, weights / weights.sum()


@settings(deadline=None, max_examples=25)
@given(small, small, small, st.floats(0.2, 5.0))
def test_harmonic_mean_agrees_with_the_contour_integral(t: float, p: float, n: float, beta: float) -> None:
    b2 = beta**2
    posterior = harmonic_posterior(t, (p, n), (1 / (1 + b2), b2 / (1 + b2)))
    contour = DirichletRatioPosterior([1 + b2, 0, 0], [t, p, n], [1 + b2, 1, b2])
    assert contour.cdf(posterior.quantile(P)) == pytest.approx(P, abs=5e-8)


@settings(deadline=None, max_examples=25)
@given(small, small, small)
def test_geometric_mean_agrees_with_gauss_jacobi(t: float, p: float, n: float) -> None:
    # given s = P / (P + N) ~ Beta(p, n), x falls with (P + N) / T, whose share of the total is a Beta
    posterior = geometric_posterior(t, (p, n))
    x = posterior.quantile(P)[:, None]
    s, weights = jacobi(p, n)
    spread, excess = s * (1 - s), 1 / x**2 - 1
    r = (np.sqrt(1 + 4 * spread * excess) - 1) / (2 * spread)
    assert special.betainc(t, p + n, 1 / (1 + r)) @ weights == pytest.approx(P, abs=5e-8)


@settings(deadline=None, max_examples=25)
@given(small, small, small, small)
def test_mean_of_betas_has_their_moments_and_distribution(a: float, b: float, c: float, d: float) -> None:
    posterior = mean_of_betas_posterior((a, b), (c, d))
    r, s = BetaPosterior(a, b), BetaPosterior(c, d)
    assert posterior.mean == pytest.approx((r.mean + s.mean) / 2, abs=1e-8)
    assert posterior.sd == pytest.approx(np.hypot(r.sd, s.sd) / 2, rel=1e-7)
    # P(R + S <= y) = P(R <= y - 1) + int f_R(r) P(S <= y - r) dr, a polynomial: Gauss-Legendre is exact
    y = 2 * posterior.quantile(P)[:, None]
    nodes, weights = special.roots_legendre(100)
    low, high = np.maximum(y - 1, 0), np.minimum(y, 1)
    r_nodes = low + (high - low) * (nodes + 1) / 2
    density = np.exp(special.xlog1py(b - 1, -r_nodes) + special.xlogy(a - 1, r_nodes) - special.betaln(a, b))
    inside = (density * s.cdf(y - r_nodes)) @ weights * (high - low)[:, 0] / 2
    assert r.cdf(low[:, 0]) + inside == pytest.approx(P, abs=5e-8)


def test_mean_of_two_uniform_numbers_is_triangular() -> None:
    x = np.linspace(0.01, 0.99, 25)
    exact = np.where(x < 0.5, 2 * x**2, 1 - 2 * (1 - x) ** 2)
    assert mean_of_betas_posterior((1, 1), (1, 1)).cdf(x) == pytest.approx(exact, abs=2e-8)


def test_equal_weights_give_the_transformed_beta() -> None:
    posterior = harmonic_posterior(5, (2, 4), (0.5, 0.5))
    j = BetaPosterior(5, 6).quantile(P)
    assert posterior.cdf(2 * j / (1 + j)) == pytest.approx(P, abs=2e-8)


def test_one_large_cell_and_two_empty_ones_keep_their_sharp_edge() -> None:
    # F1 at TP = 0 and FP = FN = 1000, from the closed form: an exponential with a cliff at 0
    j = BetaPosterior(1, 2002).quantile(P)
    posterior = harmonic_posterior(1, (1001, 1001), (0.5, 0.5))
    assert posterior.cdf(2 * j / (1 + j)) == pytest.approx(P, abs=2e-8)


CASES = {
    "harmonic": lambda: harmonic_posterior(1.0, (8.0, 31.0), (0.2, 0.8)),
    "geometric": lambda: geometric_posterior(401.0, (1.0, 58.0)),
    "mean of betas": lambda: mean_of_betas_posterior((1.0, 1001.0), (1e6, 1001.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_twice_the_nodes_move_nothing_beyond_a_millionth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = CASES[name]()
    monkeypatch.setattr(dirichlet, "_SLICE_NODES", 2 * dirichlet._SLICE_NODES)
    monkeypatch.setattr(dirichlet, "_TOLERANCE", dirichlet._TOLERANCE / 16)
    assert CASES[name]().cdf(coarse.quantile(P)) == pytest.approx(P, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from([0.0, 1.0, 3.0, 1e3, 1e6, 1e9]), min_size=4, max_size=4), st.integers(0, 2))
def test_any_counts_give_a_proper_posterior(counts: list[float], which: int) -> None:
    a, b, c, d = (x + 1 for x in counts)
    posterior: Posterior = [
        lambda: harmonic_posterior(a, (b, c), (0.2, 0.8)),
        lambda: geometric_posterior(a, (b, c)),
        lambda: mean_of_betas_posterior((a, b), (c, d)),
    ][which]()
    x = posterior.quantile(P)
    assert (np.diff(x) >= 0).all()
    assert 0 <= x[0] < x[-1] <= 1
    assert 0 < posterior.sd < 1
    assert posterior.cdf(x[1:-1]) == pytest.approx(P[1:-1], abs=1e-6)


def test_draws_are_dirichlet_in_chunks_and_repeat_without_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    masses = np.array([3.0, 2.0, 5.0])
    first = lambda cells: cells[:, 0] / cells.sum(axis=1)  # noqa: E731
    whole = draws_posterior(first, [(masses, 1.0)])
    assert np.array_equal(whole.draws, draws_posterior(first, [(masses, 1.0)]).draws)
    exact = BetaPosterior(3, 7)
    assert abs(whole.mean - exact.mean) < 5 * whole.mc_error
    monkeypatch.setattr(dirichlet, "_MAX_CELLS", 1000)
    assert len(draws_posterior(first, [(masses, 1.0)], n_draws=777).draws) == 777


def test_one_draw_is_refused() -> None:
    with pytest.raises(DataError, match="n_draws"):
        draws_posterior(lambda cells: cells[:, 0], [(np.ones(2), 1.0)], n_draws=1)


def test_clusters_of_one_add_up_to_the_dirichlet_of_independent_questions() -> None:
    counts = np.repeat(np.eye(3), [4, 1, 7], axis=0)
    prior = np.array([1.0, 1.0, 2.0])
    total = np.zeros(3)
    for masses, atoms in cluster_parts(counts, prior):
        total += masses * atoms if isinstance(atoms, float) else masses @ atoms
    assert total == pytest.approx([5, 2, 9])


def test_equal_clusters_weigh_as_often_as_they_occur() -> None:
    counts = np.array([[2.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
    (masses, rows), (pseudo, size), _ = cluster_parts(counts, np.ones(2))
    assert (masses.tolist(), rows.tolist()) == ([1.0, 2.0], [[0.0, 3.0], [2.0, 1.0]])
    assert (pseudo.tolist(), size) == ([0.5, 0.5], 3.0)


def test_ratio_of_cells_and_its_draws_are_one_distribution() -> None:
    counts = np.array([[5.0, 1.0], [2.0, 2.0], [0.0, 4.0], [3.0, 0.0]])
    parts = cluster_parts(counts, np.ones(2))
    exact = ratio_posterior(np.array([1.0, 0.0]), np.ones(2), parts)
    drawn = draws_posterior(lambda cells: cells[:, 0] / cells.sum(axis=1), parts, n_draws=100_000)
    assert abs(drawn.mean - exact.mean) < 5 * drawn.mc_error
    assert exact.cdf(drawn.quantile(P)) == pytest.approx(P, abs=0.006)
