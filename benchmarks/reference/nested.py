"""Posterior of the population mean of clusters of questions with repeated trials."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from harness_uq.stats.clusters.beta_binomial_posterior import clustered_posterior
from harness_uq.stats.clusters.nested_trials_posterior import NestedIntegral, nested_integral
from harness_uq.stats.common.posterior import DensityPosterior, Posterior
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_outcomes import check_question_counts


class NestedPosterior(Posterior):
    """Posterior of theta in the model of clusters, questions and trials.

    Attributes
    ----------
    icc_clusters : float
        Posterior mean of 1 / (1 + d), the share of the variance of a single trial between clusters. With one question
        per cluster it is the share of both levels together.
    icc_questions : float or None
        Posterior mean of 1 / (1 + e), the corresponding share between questions of a cluster. It is None if it is not
        identifiable, because no question was tried twice or each cluster has one question.
    """

    def __init__(self, inner: Posterior, icc_clusters: float, icc_questions: float | None) -> None:
        self._inner, self.icc_clusters, self.icc_questions = inner, icc_clusters, icc_questions

    @property
    def mean(self) -> float:
        return self._inner.mean

    @property
    def sd(self) -> float:
        return self._inner.sd

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self._inner.quantile(p)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._inner.cdf(x)


def nested_posterior(successes: ArrayLike, trials: ArrayLike, clusters: ArrayLike) -> NestedPosterior:
    """Posterior of the population mean; arguments, errors and model are those of `nested_integral`.

    With one trial per question, quantiles differ from those of `clustered_posterior` by at most 1e-3 of the width of
    the 95 % interval (15 designs), mostly by less than 1e-4. With one question per cluster both levels coincide, and
    the result is `clustered_posterior`.

    Examples
    --------
    >>> posterior = nested_posterior([4, 3, 4, 0, 1, 0], 4, [0, 0, 0, 1, 1, 1])
    >>> low, high = posterior.interval(0.95)
    >>> low < posterior.mean < high, posterior.icc_clusters > posterior.icc_questions
    (True, True)
    """
    integral = nested_integral(successes, trials, clusters)
    if integral is None:
        two_levels = clustered_posterior(*check_question_counts(successes, trials))
        return NestedPosterior(two_levels, two_levels.icc_mean, None)
    correlations = integral.correlations
    return NestedPosterior(_theta(integral), correlations.icc_clusters, correlations.icc_questions)


def _theta(integral: NestedIntegral) -> DensityPosterior:
    """Density of theta on eight times as many nodes; the log mass is smooth in the index of the nodes."""
    mass, axis = integral.mass.sum(axis=(1, 2)), integral.axes[0]
    size = 8 * (len(mass) - 1) + 1
    log_mass = make_interp_spline(np.linspace(0, 1, len(mass)), np.log(np.maximum(mass, 1e-300)), k=7)
    density = np.exp(log_mass(np.linspace(0, 1, size))) / axis.jacobian(size)
    return DensityPosterior(axis.nodes(size), density, "logit")
