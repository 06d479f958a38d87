"""The score on all questions of a benchmark of which the run used a part."""

from dataclasses import dataclass

import numpy as np

from harness_uq.estimating.finding import (
    Finding,
    build,
    confidence,
    credible,
    has_units,
    needs_mean,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.means.bounded import rest_posterior
from harness_uq.stats.means.skewed import skewed_mean
from harness_uq.stats.proportion.binomial import finite_population_posterior


@dataclass(frozen=True, slots=True)
class FullBenchmark:
    """Posterior of the score on all N questions: the part that was asked is known, the rest is predicted.

    Single 0/1 answers: beta-binomial, exact. Other scores of a known range: Dirichlet process on questions or clusters.
    Scores of unknown range: Hall's interval with the finite-population correction (Cochran 1977, section 2.6).
    """

    name: str = "full-benchmark"
    about: About = About(
        title="Score on the whole benchmark",
        formula=(
            "(n ȳ + (N − n) ȳ<sub>rest</sub>) / N; single 0/1 answers: (S + K) / N, "
            "K | data ~ BetaBinomial(N − n, 1 + S, 1 + F)"
        ),
        text=(
            "n of the benchmark's N questions were asked, taken as a random draw; their score is known, that of the "
            "others is predicted: by a Dirichlet process on questions or clusters where scores have a range, by Hall's "
            "interval with the finite-population correction where they have none."
        ),
        sources=("bowyer2025", "ghosh1997", "hall1992"),
        scopes=("full",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses other scopes, and runs that do not say how many questions the benchmark has."""
        if problem.estimand.scope != "full":
            return "is about the whole benchmark of a run with --limit; ask for --scope full"
        if reason := needs_mean(problem):
            return reason
        n_all = problem.log.facts.n_all
        if n_all is None:
            return "needs the number of questions in the whole benchmark; the log does not say"
        if n_all <= problem.structure.n_questions:
            return f"has nothing to predict: all {n_all} questions of the benchmark were asked"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the full benchmark's score."""
        n_all = problem.log.facts.n_all or problem.structure.n_questions
        return build(problem, self.name, _found(problem, n_all))


def _found(problem: Problem, n_all: int) -> Finding:
    scores, warnings = scores_of(problem), _subset_warning(problem)
    value, means = plain_score(scores), question_means(scores)
    n, clusters = len(means), scores.clusters
    if problem.structure.bounds is None:
        fit = skewed_mean(means, unit_codes(scores) if has_units(problem) else None)
        known = float(np.sqrt(1 - n / n_all))
        low, high = (value + known * (end - value) for end in fit.interval(problem.level))
        return confidence(problem, low, high, value, known * fit.student.std_error, warnings=warnings)
    if problem.structure.score_type == "binary" and not has_units(problem):
        exact = finite_population_posterior(int(means.sum()), n, n_all)
        return credible(problem, exact, value, warnings=warnings)
    low, high = problem.structure.bounds
    rest = rest_posterior(means, n_all - n, low, high, clusters=clusters)
    fixed, share = float(means.sum()) / n_all, 1 - n / n_all
    posterior = BetaPosterior(rest.a, rest.b, fixed + share * low, fixed + share * high)
    return credible(problem, posterior, value, warnings=warnings)


def _subset_warning(problem: Problem) -> tuple[str, ...]:
    if problem.log.facts.is_random_subset:
        return ()
    return ("the run used the first questions, not a random draw: the rest of the benchmark may differ in kind",)


ESTIMATORS = (FullBenchmark(),)
