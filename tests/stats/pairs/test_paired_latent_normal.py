"""The latent normal model: references, an independent computation, numerical refinement, calibration."""

import numpy as np
import pytest
from scipy import special
from scipy.stats import binomtest, kstest

from harness_uq.stats.pairs import paired_latent_normal
from harness_uq.stats.pairs.bivariate_normal import quadrant_probabilities
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.pairs.paired_latent_normal import LatentNormalPosterior
from tests.reference_values import reference_values

P = np.array([0.025, 0.5, 0.975])


def test_gives_the_reference_quantiles() -> None:
    # posteriors.json: six tables; their own tolerance is 2e-4
    cases = reference_values("posteriors.json")["cases"]
    cases = [case for case in cases if case["kind"] == "paired_latent_normal"]
    assert len(cases) == 6
    for case in cases:
        posterior = paired_posterior(case["table"])
        found = [*posterior.quantile(case["q"]), posterior.mean, posterior.prob_positive]
        expected = [*case["quantiles"], case["mean"], case["prob_a_better"]]
        np.testing.assert_allclose(found, expected, atol=case["tol"], rtol=0, err_msg=str(case["table"]))


@pytest.mark.parametrize(
    "table",
    [[17, 2, 0, 1], *(pytest.param(t, marks=pytest.mark.slow) for t in ([3, 1, 2, 1], [0, 3, 4, 0], [8, 0, 9, 3]))],
)
def test_agrees_with_importance_sampling_where_that_works(table: list[int]) -> None:
    # appendix E.2 of Bowyer et al. (2025) with 1,000,000 draws from the prior: at N <= 20 tens of thousands count
    rng = np.random.default_rng(11)
    theta_a, theta_b, rho = rng.random(1_000_000), rng.random(1_000_000), 2 * rng.beta(4, 2, 1_000_000) - 1
    cells = quadrant_probabilities(special.ndtri(theta_a), special.ndtri(theta_b), np.arctanh(rho))
    log_weight = sum(c * np.log(p) for c, p in zip(table, cells, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    difference = theta_a - theta_b
    posterior = LatentNormalPosterior(np.array(table, float))
    error = 5 * np.sqrt(0.25 * np.sum(weight**2))
    assert error < 0.02
    for x in posterior.quantile(P):
        assert weight @ (difference <= x) == pytest.approx(float(posterior.cdf(x)), abs=error)
    assert weight @ difference == pytest.approx(posterior.mean, abs=2 * error * posterior.sd)
    assert weight @ rho == pytest.approx(posterior.correlation, abs=2 * error)


@pytest.mark.parametrize(
    "table",
    [[20, 0, 0, 0], [17, 2, 0, 1], [0, 20, 0, 0], [457, 15, 12, 16], [9400, 30, 20, 550], [10**9, 3, 5, 10**9]],
    ids=str,
)
def test_twice_the_nodes_move_nothing_beyond_a_ten_thousandth_of_the_sd(
    table: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    coarse = LatentNormalPosterior(np.array(table, float))
    n_nodes, n_inner = paired_latent_normal._FINE
    monkeypatch.setattr(paired_latent_normal, "_FINE", (2 * n_nodes - 1, 2 * n_inner - 1))
    fine = LatentNormalPosterior(np.array(table, float))
    np.testing.assert_allclose(coarse.quantile(P), fine.quantile(P), atol=1e-4 * fine.sd)
    assert coarse.prob_positive == pytest.approx(fine.prob_positive, abs=1e-5)
    assert coarse.sd == pytest.approx(fine.sd, rel=1e-4)


def test_ten_thousand_questions_at_correlation_095_give_the_large_sample_answer() -> None:
    # the prior is flat over a posterior this narrow: mean and sd of the difference of two cells,
    # (c10 - c01) / n = .01 and sqrt((.05 - .01^2) / n) = .002235, and P(A > B) = Phi(4.47)
    posterior = LatentNormalPosterior(np.array([9000.0, 300.0, 200.0, 500.0]))
    assert posterior.mean == pytest.approx(0.01, abs=1e-4)
    assert posterior.sd == pytest.approx(0.002235, rel=0.01)
    assert posterior.prob_positive == pytest.approx(special.ndtr(0.01 / 0.002235), abs=1e-5)
    assert posterior.correlation == pytest.approx(0.90, abs=0.01)


@pytest.mark.slow
def test_calibrated_where_parameters_come_from_the_prior() -> None:
    rng = np.random.default_rng(20260103)
    n, ranks = 300, np.empty(300)
    tables, truth = np.empty((n, 4)), np.empty(n)
    for run in range(n):
        theta_a, theta_b, rho = rng.random(), rng.random(), 2 * rng.beta(4, 2) - 1
        cells = quadrant_probabilities(special.ndtri(theta_a), special.ndtri(theta_b), np.arctanh(rho))
        tables[run], truth[run] = rng.multinomial(25, np.array(cells) / sum(cells)), theta_a - theta_b
    for run in range(n):
        ranks[run] = float(LatentNormalPosterior(tables[run]).cdf(truth[run]))
    assert kstest(ranks, "uniform").pvalue > 1e-3
    assert binomtest(int(np.sum(np.abs(ranks - 0.5) < 0.475)), n, 0.95).pvalue > 1e-3
