"""The score on all questions of a benchmark from a run on part of them."""

import numpy as np

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.inference.method import (
    MethodResult,
    confidence,
    credible,
    has_units,
    needs_type,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.results.estimate import Estimate


class FullBenchmark:
    """Posterior of the score on all N questions: the part that was asked is known, the rest is predicted.

    Single 0/1 answers: beta-binomial, exact. Other scores of a known range: Dirichlet process on questions or clusters.
    Scores of unknown range: Hall's interval with the finite-population correction (Cochran 1977, section 2.6).
    """

    name = "full-benchmark"
    info = MethodInfo(
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
        uses_clusters=True,
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuses other scopes, and runs whose log does not contain the size of the benchmark."""
        if problem.estimand.scope != "full":
            return catalogue.SCOPE_UNSUPPORTED(method=self.name, scopes=("full",))
        if reason := needs_type()(self.name, problem):
            return reason
        n_all = problem.log.facts.n_all
        if n_all is None:
            return catalogue.UNKNOWN_BENCHMARK_SIZE(method=self.name)
        if n_all <= problem.structure.n_questions:
            return catalogue.WHOLE_BENCHMARK_RUN(n_all=n_all)
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the full benchmark's score."""
        n_all = problem.log.facts.n_all or problem.structure.n_questions
        return _result(problem, n_all).estimate(problem, self.name)


def _result(problem: Problem, n_all: int) -> MethodResult:
    scores, messages = scores_of(problem), _subset_warning(problem, n_all)
    value, means = plain_score(scores), question_means(scores)
    n, clusters = len(means), scores.clusters
    if problem.structure.bounds is None:
        fit = stats.hall_mean(means, unit_codes(scores) if has_units(problem) else None)
        known = float(np.sqrt(1 - n / n_all))
        low, high = (value + known * (end - value) for end in fit.interval(problem.level))
        return confidence(problem, low, high, value, known * fit.student.std_error, messages=messages)
    if problem.structure.score_type == "binary" and not has_units(problem):
        exact = stats.finite_population_posterior(int(means.sum()), n, n_all)
        return credible(problem, exact, value, messages=messages)
    low, high = problem.structure.bounds
    rest = stats.remaining_mean_posterior(means, n_all - n, low, high, clusters=clusters)
    fixed, share = float(means.sum()) / n_all, 1 - n / n_all
    posterior = stats.BetaPosterior(rest.a, rest.b, fixed + share * low, fixed + share * high)
    return credible(problem, posterior, value, messages=messages)


def _subset_warning(problem: Problem, n_all: int) -> tuple[Message, ...]:
    if problem.log.facts.is_random_subset:
        return ()
    return (catalogue.NON_RANDOM_SUBSET(n_questions=problem.structure.n_questions, n_all=n_all),)


ESTIMATORS = (FullBenchmark(),)
