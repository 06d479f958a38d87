"""Scores in clusters or repeated trials: the unit of independence is the cluster, or the question."""

from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.estimators._common import (
    Finding,
    build,
    confidence,
    credible,
    has_units,
    needs_scores,
    normal_quantile,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
    unit_counts,
    unit_name,
)
from harness_uq.hookspecs import Problem
from harness_uq.results import Estimate
from harness_uq.stats.bounded import clustered_bounded_posterior, size_score_relation
from harness_uq.stats.cluster_robust import cluster_robust, korn_graubard_wilson
from harness_uq.stats.clustered import DispersionPrior, Engine, clustered_posterior

FEW_CLUSTERS = 10
VERY_FEW_CLUSTERS = 6
INFORMATIVE_SIZE_P = 0.05


@dataclass(frozen=True, slots=True)
class Clustered:
    """Beta-binomial posterior over clusters (Bowyer et al. 2025, eq. 8), by quadrature.

    `clustered` has a uniform prior on the intra-cluster correlation, `clustered-gamma` the paper's Gamma(1, 1) on
    the dispersion and equal tails; `clustered-is` is the latter by importance sampling.
    """

    name: str = "clustered"
    prior: DispersionPrior = "icc"
    engine: Engine = "quadrature"

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and clusters of questions that were also tried several times."""
        if reason := needs_scores(problem, "binary"):
            return reason
        if problem.structure.n_clusters is not None and problem.structure.max_trials > 1:
            return "has one level above the trial; these scores have two, clusters and questions"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of theta, where theta stands for the mean over questions."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        self._refuse_informative_sizes(problem, successes, sizes)
        posterior = clustered_posterior(successes, sizes, self.prior, self.engine, problem.rng)
        default = "hdi" if self.prior == "icc" else "quantile"
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            default=default,
            icc=posterior.icc_mean,
            diagnostics=posterior.diagnostics,
            notes=self._notes(problem, posterior, len(sizes), successes, sizes),
            warnings=_few_informative(problem, successes, sizes),
        )
        self._refuse_value_outside(problem, found)
        return build(problem, self.name, found)
