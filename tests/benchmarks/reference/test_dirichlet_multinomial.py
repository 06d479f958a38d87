"""Dirichlet-multinomial cells of clustered pairs: limits, mirror images, hard data, refinement, calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, kstest

from benchmarks.reference import dirichlet_multinomial
from benchmarks.reference.dirichlet_multinomial import AllTiedPosterior, dirichlet_multinomial_posterior
from harness_uq.stats.pairs.paired import paired_posterior

P = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
cluster = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)


@pytest.mark.parametrize("table", [[17, 2, 0, 1], [3, 1, 2, 1], [60, 12, 5, 23], [20, 0, 0, 0], [0, 3, 4, 0]], ids=str)
def test_multinomial_quadrature_of_single_questions_gives_the_exact_unclustered_posterior(table: list[int]) -> None:
    # a cluster of one says nothing of the correlation: the integral over it must drop out
    cells = np.array([[1, 0, 0]] * table[1] + [[0, 1, 0]] * table[2] + [[0, 0, 1]] * (table[0] + table[3]), float)
    found, expected = dirichlet_multinomial_posterior(cells), paired_posterior(table, "dirichlet")
    np.testing.assert_allclose(found.quantile(P), expected.quantile(P), atol=5e-4 * expected.sd)
    assert found.prob_positive == pytest.approx(expected.prob_positive, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_twice_the_multinomial_nodes_move_nothing_beyond_a_thousandth_of_the_sd(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1, 4], size=[4, 10, 25, 60][seed])
    cells = np.array([rng.multinomial(rng.integers(2, 20), q) for q in p], float)
    coarse = dirichlet_multinomial_posterior(cells)
    monkeypatch.setattr(dirichlet_multinomial, "_NODES", 2 * dirichlet_multinomial._NODES - 1)
    monkeypatch.setattr(dirichlet_multinomial, "_INNER", 2 * dirichlet_multinomial._INNER - 1)
    fine = dirichlet_multinomial_posterior(cells)
    np.testing.assert_allclose(coarse.quantile(P), fine.quantile(P), atol=1e-3 * fine.sd)


def test_all_tied_singletons_follow_the_arcsine_law() -> None:
    found, expected = AllTiedPosterior(np.ones(20)), paired_posterior([20, 0, 0, 0], "dirichlet")
    x = np.array([-0.3, -0.05, -1e-3, 0.0, 1e-3, 0.02, 0.5])
    assert found.cdf(x) == pytest.approx(expected.cdf(x), abs=1e-8)
    assert found.sd == pytest.approx(expected.sd, abs=1e-8)


@pytest.mark.slow
def test_multinomial_is_calibrated_where_parameters_come_from_its_prior() -> None:
    rng = np.random.default_rng(20260107)
    n, ranks = 300, np.empty(300)
    for run in range(n):
        p, icc = rng.dirichlet([0.5, 0.5, 1.0]), rng.random()
        shares = rng.dirichlet(np.maximum((1 / icc - 1) * p, 1e-12), 8)
        cells = np.array([rng.multinomial(6, share) for share in shares / shares.sum(axis=1, keepdims=True)], float)
        ranks[run] = float(dirichlet_multinomial_posterior(cells).cdf(p[0] - p[1]))
    assert kstest(ranks, "uniform").pvalue > 1e-3
    assert binomtest(int(np.sum(np.abs(ranks - 0.5) < 0.475)), n, 0.95).pvalue > 1e-3


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(cells=st.lists(cluster, min_size=1, max_size=6))
def test_swapping_the_systems_mirrors_the_difference(cells: list[list[int]]) -> None:
    first = dirichlet_multinomial_posterior(cells)
    second = dirichlet_multinomial_posterior(np.array(cells)[:, [1, 0, 2]])
    np.testing.assert_allclose(first.quantile(P), -second.quantile(P)[::-1], atol=1e-8)


@pytest.mark.parametrize(
    "cells",
    [
        [[0, 0, 10]],
        [[2, 1, 7]],
        [[10, 0, 0]] * 5,
        [[0, 0, 10]] * 30,
        [[500, 300, 99_200], [20_000, 10_000, 70_000]],
        [[0, 0, 1], [5, 1, 103]],
        [[10, 0, 10], [0, 10, 10]],
    ],
    ids=["one tied", "one", "always A", "all tied", "a hundred thousand", "sizes 1 and 109", "opposite"],
)
def test_hard_clusters_give_a_proper_posterior(cells: list[list[int]]) -> None:
    posterior = dirichlet_multinomial_posterior(cells)
    low, middle, high = posterior.quantile([0.025, 0.5, 0.975])
    assert -1 <= low < middle < high <= 1
    assert 0 < posterior.sd < 1
    assert low < posterior.mean < high
    assert 0 <= posterior.prob_positive <= 1
