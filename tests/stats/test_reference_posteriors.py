"""Every posterior that was computed independently on dense grids, through the public names.

The file states its tolerances: 1e-6, or what a case gives as `tol` (latent normal 2e-4; the benchmark posterior, which
is a Beta matched to Monte Carlo, 2 % of the width).
"""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from benchmarks.reference.two_proportions import independent_posterior
from harness_uq import stats
from harness_uq.stats import Posterior
from tests.reference_values import reference_values

Case = Mapping[str, object]

POSTERIORS: dict[str, Callable[[Case], Posterior]] = {
    "clustered": lambda case: stats.clustered_posterior(case["successes"], case["sizes"], prior=case["prior"]),
    "paired_latent_normal": lambda case: stats.paired_posterior(case["table"], model="latent_normal"),
    "paired_dirichlet": lambda case: stats.paired_posterior(case["table"], model="dirichlet"),
    "independent": lambda case: independent_posterior(*case["counts"]),
    "benchmark_hierarchical": lambda case: stats.benchmark_posterior(
        case["successes"], case["trials"], model="hierarchical"
    ),
}
N_CASES = {
    "clustered": 18,
    "paired_latent_normal": 6,
    "paired_dirichlet": 6,
    "independent": 3,
    "benchmark_hierarchical": 2,
}
MOMENTS = {"mean": "mean", "sd": "sd", "icc_mean": "icc_mean", "prob_a_better": "prob_positive"}
CHECKED = {"q", "tol", "kind", "quantiles", "odds_ratio_quantiles", *MOMENTS}
DATA = {"successes", "sizes", "prior", "table", "counts", "trials"}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return reference_values("posteriors.json")["cases"]


def test_no_case_and_no_number_is_left_out(cases: list[Case]) -> None:
    assert Counter(case["kind"] for case in cases) == N_CASES
    assert {name for case in cases for name in case} <= CHECKED | DATA


@pytest.mark.parametrize("kind", POSTERIORS)
def test_quantiles_moments_and_probabilities_are_the_reference_ones(cases: list[Case], kind: str) -> None:
    for case in (case for case in cases if case["kind"] == kind):
        posterior, tolerance = POSTERIORS[kind](case), case.get("tol", 1e-6)
        named = {name: getattr(posterior, ours) for name, ours in MOMENTS.items() if name in case}
        found = [*posterior.quantile(case["q"]), *named.values()]
        expected = [*case["quantiles"], *(case[name] for name in named)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=str(case))
        if "odds_ratio_quantiles" in case:  # up to 413: relative
            found = posterior.odds_ratio_quantile(case["q"])
            np.testing.assert_allclose(found, case["odds_ratio_quantiles"], rtol=1e-6)


@pytest.mark.parametrize("kind", POSTERIORS)
def test_cdf_and_interval_agree_with_the_reference_quantiles(cases: list[Case], kind: str) -> None:
    for case in (case for case in cases if case["kind"] == kind):
        posterior, tolerance = POSTERIORS[kind](case), case.get("tol", 1e-6)
        ends = np.array(case["quantiles"])[[case["q"].index(0.025), case["q"].index(0.975)]]
        np.testing.assert_allclose(posterior.interval(0.95, "quantile"), ends, rtol=0, atol=tolerance)
        slack = tolerance / (ends[1] - ends[0]) * 10
        np.testing.assert_allclose(posterior.cdf(ends), [0.025, 0.975], rtol=0, atol=max(slack, 1e-6))
