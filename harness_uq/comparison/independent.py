"""The difference of two independent estimates, for unmatched questions or if only trial noise is random."""

from harness_uq.comparison.differences import DifferenceResult
from harness_uq.estimation.single_system import posterior_of
from harness_uq.results.estimate import Estimate
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.pairs.independent import IndependentPosterior, difference_posterior

_PROPORTION_METHODS = ("beta", "totals")


def difference_of(a: Estimate, b: Estimate) -> DifferenceResult:
    """Compute the difference of two independent estimates.

    Two proportions with uniform priors also have an odds ratio (Bowyer et al. 2025, section 3.3). Other posteriors
    are convolved; two t distributions result in the Behrens-Fisher posterior.

    Raises
    ------
    NotEstimableError : if either estimate has no interval
    """
    posterior_a, posterior_b = posterior_of(a), posterior_of(b)
    if a.method in _PROPORTION_METHODS and b.method in _PROPORTION_METHODS:
        betas = [p for p in (posterior_a, posterior_b) if isinstance(p, BetaPosterior)]
        posterior = IndependentPosterior(*((beta.a, beta.b) for beta in betas))
        return DifferenceResult(posterior, "independent", odds_ratio=float(posterior.odds_ratio_quantile(0.5)))
    return DifferenceResult(difference_posterior(posterior_a, posterior_b), "independent")


def common_bounds(a: Estimate, b: Estimate) -> tuple[float, float] | None:
    """Range of both scores; None if it is unknown or differs between them."""
    range_a, range_b = _range(a), _range(b)
    return range_a if range_a == range_b else None


def _range(row: Estimate) -> tuple[float, float] | None:
    if row.method in _PROPORTION_METHODS:
        return 0.0, 1.0
    return row.structure.bounds if row.structure else None
