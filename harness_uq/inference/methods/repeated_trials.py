"""Questions tried several times: clusters of such questions, exactly these questions, and k trials at once."""

from typing import TYPE_CHECKING

import numpy as np

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo, PassK
from harness_uq.data.task_log import FloatArray, Scores
from harness_uq.inference.method import (
    RequiresProblem,
    credible,
    needs_scores,
    needs_type,
    plain_score,
    question_counts,
    scores_of,
    unit_counts,
)
from harness_uq.inference.methods.clustered import few_informative, uneven_clusters
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.stats.trials import pass_k

BETA_SHAPE_P = 0.05


def _needs_clusters(method: str, problem: Problem) -> Message | None:
    if problem.structure.n_clusters is not None:
        return None
    return catalogue.CLUSTERS_REQUIRED(method=method, required="clusters of questions")


def _needs_benchmark_scope(method: str, problem: Problem) -> Message | None:
    if problem.estimand.scope == "benchmark":
        return None
    return catalogue.SCOPE_UNSUPPORTED(method=method, scopes=("benchmark",))


def _needs_pass_k(method: str, problem: Problem) -> Message | None:
    if problem.estimand.scope == "full":
        return catalogue.SCOPE_UNSUPPORTED(method=method, scopes=("population", "benchmark"))
    return needs_scores(method, problem, "binary")


class Nested(RequiresProblem):
    """Posterior of the plain score of clusters of questions with repeated trials, for any distribution of difficulty.

    A model with three levels (Bowyer et al. 2025, eq. 8, with one more level) estimates how strongly the answers of a
    cluster and the trials of a question agree.
    """

    name = "nested"
    info = MethodInfo(
        title="Posterior of the plain score: clusters, questions, trials",
        formula=(
            "θ<sub>c</sub> ~ Beta(d θ, d (1 − θ)), π<sub>q</sub> ~ Beta(e θ<sub>c</sub>, e (1 − "
            "θ<sub>c</sub>)), Y<sub>q</sub> ~ Bin(N<sub>q</sub>, π<sub>q</sub>)"
        ),
        text=(
            "Clusters of questions, each question tried several times. Centred on the plain score; the correlation at "
            "both levels comes from this model, uniform in θ and in both, integrated by quadrature."
        ),
        sources=("bowyer2025",),
        uses_clusters=True,
    )
    requirements = (needs_type("binary"), _needs_clusters)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean on new clusters."""
        scores = scores_of(problem)
        successes, trials = question_counts(scores)
        totals, sizes = unit_counts(scores)
        posterior = stats.nested_score_posterior(successes, trials, np.asarray(scores.clusters))
        trial_icc = posterior.icc_questions
        messages = (
            *few_informative(problem, totals, sizes),
            *(() if trial_icc is None else (catalogue.TRIAL_CORRELATION(icc=trial_icc),)),
            *uneven_clusters(problem, sizes),
        )
        result = credible(problem, posterior, plain_score(scores), icc=posterior.icc_mean, messages=messages)
        return result.estimate(problem, self.name)


class Benchmark(RequiresProblem):
    """Score on exactly these questions; the more there are, the less a hierarchy of success rates affects it."""

    name = "benchmark"
    info = MethodInfo(
        title="Hierarchical posterior of exactly these questions",
        formula=(
            "μ = M<sup>−1</sup> Σ<sub>q</sub> π<sub>q</sub>, π<sub>q</sub> ~ Beta(d θ, d (1 − θ)), "
            "Y<sub>q</sub> ~ Bin(N<sub>q</sub>, π<sub>q</sub>)"
        ),
        text=(
            "Only the trials' noise is uncertain. The spread of the questions is learnt from them, "
            "conditional moments of the mean are mixed over it. Its quantiles are averaged with those of a posterior "
            "that assumes no shape of the difficulties, which takes over as questions grow, and of the binomial, an "
            "upper bound, where hardly any answers are right or wrong; with one trial a question it stands alone."
        ),
        sources=("hariri2025",),
        scopes=("benchmark",),
    )
    requirements = (needs_type("binary"), _needs_benchmark_scope)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean success rate of these questions."""
        scores = scores_of(problem)
        posterior = stats.benchmark_posterior(*question_counts(scores))
        messages = _pooled_note(problem, posterior.pooled_share)
        return credible(problem, posterior, plain_score(scores), messages=messages).estimate(problem, self.name)


def _pooled_note(problem: Problem, share: float) -> tuple[Message, ...]:
    """A note about the binomial interval that is used in this scope, alone or in part."""
    reason = "the trials contain too few right or wrong answers to estimate the variation between questions"
    if problem.structure.max_trials == 1:
        reason = "one trial per question does not show trial-to-trial noise"
    return (catalogue.BINOMIAL_UPPER_BOUND(share=share, reason=reason),) if share else ()


class BayesAtN(RequiresProblem):
    """Bayes@N as published (Hariri et al. 2025, algorithm 1), with a uniform Dirichlet prior for each question.

    The interval is the Beta with its mean and standard deviation, on the range of the scores.
    """

    name = "bayes-at-n"
    info = MethodInfo(
        title="Bayes@N",
        formula=(
            "π<sub>q</sub> | data ~ Dirichlet(1 + counts<sub>q</sub>), μ = M<sup>−1</sup> Σ<sub>q</sub> w·π<sub>q</sub>"
        ),
        text=(
            "The published posterior of exactly these questions with a uniform prior a question, which pulls "
            "easy and hard benchmarks towards the middle; interval from the Beta with its mean and standard "
            "deviation."
        ),
        sources=("hariri2025",),
        scopes=("benchmark",),
    )
    requirements = (needs_type("binary", "graded"), _needs_benchmark_scope)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean of these questions' expected scores."""
        scores = scores_of(problem)
        outcomes, levels = _categories(problem, scores)
        posterior = stats.bayes_at_n_posterior(outcomes, levels)
        messages = (catalogue.UNIFORM_PRIOR_PER_QUESTION(),)
        result = credible(problem, posterior, plain_score(scores), default="quantile", messages=messages)
        return result.estimate(problem, self.name)


def _categories(problem: Problem, scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Index of each score among the levels, NaN where missing; and the levels.

    The levels are the scores that occur or are declared possible, with the bounds, sorted.
    """
    levels = np.unique((*(scores.levels or ()), *(problem.structure.bounds or (0.0, 1.0))))
    categories = np.searchsorted(levels, scores.values)
    known = np.isin(scores.values, levels)
    if not (known | np.isnan(scores.values)).all():
        raise NotEstimableError(catalogue.UNKNOWN_SCORE_LEVEL(levels=levels.tolist()))
    return np.where(known, categories, np.nan), levels


class AverageAtN(RequiresProblem):
    """avg@N: the plain mean with Bayes@N's standard deviation rescaled to it (Hariri et al. 2025, eqs. 18 and 20)."""

    name = "avg-at-n"
    info = MethodInfo(
        title="avg@N",
        formula="ȳ with Bayes@N's standard deviation rescaled to it",
        text="The plain mean over trials of exactly these questions.",
        sources=("hariri2025",),
        scopes=("benchmark",),
    )
    requirements = (needs_type("binary", "graded"), _needs_benchmark_scope)

    def estimate(self, problem: Problem) -> Estimate:
        """Beta with these moments; none exists if all scores are the lowest or the highest."""
        scores = scores_of(problem)
        outcomes, levels = _categories(problem, scores)
        mean, sd = stats.avg_at_n(outcomes, levels)
        low, high = levels.min(), levels.max()
        if not low < mean < high:
            raise NotEstimableError(catalogue.AVERAGE_AT_N_CONSTANT())
        posterior = stats.BetaPosterior.from_moments(float(mean), float(sd) ** 2, float(low), float(high))
        return credible(problem, posterior, plain_score(scores), default="quantile").estimate(problem, self.name)


class PassAtK:
    """pass@k and related estimands: unbiased estimate, and the posterior of a hierarchical model of the questions."""

    name = "pass-k"
    info = MethodInfo(
        title="pass@k and its relatives, hierarchy",
        formula=(
            "pass@k = M<sup>−1</sup> Σ<sub>q</sub> (1 − C(N<sub>q</sub> − S<sub>q</sub>, k) / "
            "C(N<sub>q</sub>, k)); interval: posterior of E[1 − (1 − π)<sup>k</sup>], π ~ Beta(d θ, d (1 − "
            "θ))"
        ),
        text=(
            "The value is the unbiased estimate; the interval is that of a hierarchy over questions. The "
            "other events in k trials are treated alike. Used for exactly these questions where a test finds "
            "their success rates Beta-distributed."
        ),
        sources=("chen2021", "bowyer2025", "hariri2025"),
        scopes=("population", "benchmark"),
        estimands=("pass@k",),
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuses scores that are not 0/1, identical trials, clusters of new questions, and other estimands."""
        if reason := _needs_pass_k(self.name, problem):
            return reason
        if stats.identical_trials(scores_of(problem).values):
            return catalogue.TRIALS_ALL_AGREE(method=self.name)
        if problem.estimand.scope == "population" and problem.structure.n_clusters is not None:
            return catalogue.CLUSTERED_PASS_K(method=self.name)
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the event's probability."""
        scores, estimand, scope = _pass_k_problem(problem)
        successes, trials = question_counts(scores)
        value = _point_estimate(scores, estimand)
        _refuse_other_shapes(successes, trials)
        posterior = stats.pass_k_posterior(
            successes, trials, estimand.k, scope=scope, kind=estimand.kind, tau=estimand.tau
        )
        messages: tuple[Message, ...] = ()
        if posterior.reach == "all_trials":
            messages = (catalogue.BETA_SHAPE_EXTRAPOLATION(estimand=estimand.label, k=estimand.k),)
        return credible(problem, posterior, value, messages=messages).estimate(problem, self.name)


class UnbiasedPassAtK(RequiresProblem):
    """pass@k and related estimands from unbiased estimates for each question, for any distribution of success rates."""

    name = "pass-k-unbiased"
    info = MethodInfo(
        title="pass@k and its relatives, no shape assumed",
        formula=(
            "e<sub>q</sub> = 1 − C(N<sub>q</sub> − S<sub>q</sub>, k) / C(N<sub>q</sub>, k); new questions: "
            "Dirichlet process on e<sub>q</sub>; these questions: variance Σ<sub>q</sub> "
            "(e<sub>q</sub><sup>2</sup> − ê<sub>q</sub><sup>2</sup>), ê<sub>q</sub><sup>2</sup> unbiased "
            "from 2k trials"
        ),
        text=(
            "Nothing is assumed of how success rates vary over questions. The other events in k trials are "
            "treated alike."
        ),
        sources=("chen2021", "ferguson1973"),
        scopes=("population", "benchmark"),
        estimands=("pass@k",),
        uses_clusters=True,
    )
    requirements = (_needs_pass_k,)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the event's probability."""
        scores, estimand, scope = _pass_k_problem(problem)
        successes, trials = question_counts(scores)
        value = _point_estimate(scores, estimand)
        is_identical = stats.identical_trials(scores.values)
        posterior = stats.unbiased_pass_k_posterior(
            successes,
            trials,
            estimand.k,
            scope="population" if is_identical else scope,  # copies do not show the noise of trials
            kind=estimand.kind,
            tau=estimand.tau,
            clusters=scores.clusters if scope == "population" else None,
        )
        messages: tuple[Message, ...] = ()
        if is_identical:
            relation = {"at": "a lower bound of", "hat": "an upper bound of"}.get(estimand.kind, "not the same as")
            messages = (
                catalogue.PASS_K_OF_IDENTICAL_TRIALS(
                    n_trials=int(trials.max()), estimand=estimand.label, relation=relation
                ),
            )
        elif scope == "benchmark" and trials.min() < 2 * estimand.k:
            messages = (catalogue.POPULATION_INTERVAL_SHOWN(n_needed=2 * estimand.k),)
        return credible(problem, posterior, value, messages=messages).estimate(problem, self.name)


def _pass_k_problem(problem: Problem) -> tuple[Scores, PassK, "pass_k.PassScope"]:
    estimand = problem.estimand
    if not isinstance(estimand, PassK) or estimand.scope == "full":
        raise NotEstimableError(catalogue.PASS_K_REQUIRED(method="pass-k"))
    return scores_of(problem), estimand, estimand.scope


def _refuse_other_shapes(successes: FloatArray, trials: FloatArray) -> None:
    """Raise NotEstimableError if success rates are not Beta-distributed, because higher moments depend on it."""
    shape = stats.beta_shape_test(successes, trials)
    if shape.p_value < BETA_SHAPE_P:
        raise NotEstimableError(catalogue.NOT_BETA_DISTRIBUTED(method="pass-k", p_value=shape.p_value))


def _point_estimate(scores: Scores, estimand: PassK) -> float:
    values, k = scores.values, estimand.k
    match estimand.kind:
        case "at":
            return float(stats.pass_at_k(values, k))
        case "hat":
            return float(stats.pass_hat_k(values, k))
        case "g":
            return float(stats.g_pass_at_k(values, k, estimand.tau or 0.0))
        case "mg":
            return float(stats.mg_pass_at_k(values, k))
        case "maj":
            return float(stats.maj_at_k(values, k))


ESTIMATORS = (Nested(), Benchmark(), BayesAtN(), AverageAtN(), PassAtK(), UnbiasedPassAtK())
