"""Questions tried several times: clusters of such questions, exactly these questions, and k trials at once."""

from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.estimands import PassK
from harness_uq.estimating.estimators.clustered import (
    few_informative,
    weak_clusters,
)
from harness_uq.estimating.finding import (
    build,
    credible,
    needs_mean,
    needs_scores,
    plain_score,
    question_counts,
    scores_of,
    unit_counts,
)
from harness_uq.logs.data import FloatArray, Scores
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.clusters.score import nested_score_posterior
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.trials import pass_k
from harness_uq.stats.trials.bayes_at_n import avg_at_n, bayes_at_n_posterior
from harness_uq.stats.trials.benchmark import benchmark_posterior
from harness_uq.stats.trials.beta_shape import beta_shape_test
from harness_uq.stats.trials.pass_k_unbiased import unbiased_pass_k_posterior

BETA_SHAPE_P = 0.05


@dataclass(frozen=True, slots=True)
class Nested:
    """Posterior of the plain score over clusters of questions of trials, whatever the distribution of difficulties.

    How strongly answers of a cluster and trials of a question agree is learnt in three levels (Bowyer et al. 2025,
    eq. 8, with a level more).
    """

    name: str = "nested"
    about: About = About(
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
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and scores without clusters."""
        if reason := needs_mean(problem, "binary"):
            return reason
        return None if problem.structure.n_clusters is not None else "needs clusters of questions; there are none"

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean on new clusters."""
        scores = scores_of(problem)
        successes, trials = question_counts(scores)
        totals, sizes = unit_counts(scores)
        posterior = nested_score_posterior(successes, trials, np.asarray(scores.clusters))
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            icc=posterior.icc_mean,
            notes=(*few_informative(problem, totals, sizes), *_trial_note(posterior.icc_questions)),
            warnings=weak_clusters(problem, posterior, totals, sizes),
        )
        return build(problem, self.name, found)


def _trial_note(icc: float | None) -> tuple[str, ...]:
    return () if icc is None else (f"trials of one question correlate by {icc:.2f} within its cluster",)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Score expected on exactly these questions: a hierarchy of their success rates that fades as questions grow."""

    name: str = "benchmark"
    about: About = About(
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

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and other scopes."""
        return needs_mean(problem, "binary") or _not_benchmark_scope(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean success rate of these questions."""
        scores = scores_of(problem)
        posterior = benchmark_posterior(*question_counts(scores))
        notes = _pooled_note(problem, posterior.pooled_share)
        return build(problem, self.name, credible(problem, posterior, plain_score(scores), notes=notes))


def _not_benchmark_scope(problem: Problem) -> str | None:
    if problem.estimand.scope == "benchmark":
        return None
    return "is about exactly these questions; ask for --scope benchmark"


def _pooled_note(problem: Problem, share: float) -> tuple[str, ...]:
    """What the binomial interval, or a part of it, does in this scope."""
    reason = "with so few right or wrong answers the spread between questions is hardly seen"
    if problem.structure.max_trials == 1:
        reason = "one trial a question does not show the trials' own noise"
    if share == 1:
        return (f"the interval is the binomial one, an upper bound in this scope: {reason}",)
    return (
        (f"{share:.0%} of the interval is the binomial one, an upper bound in this scope: {reason}",) if share else ()
    )


@dataclass(frozen=True, slots=True)
class BayesAtN:
    """Bayes@N as published (Hariri et al. 2025, algorithm 1): a uniform Dirichlet prior a question.

    The interval is the Beta with its mean and standard deviation, on the range of the scores.
    """

    name: str = "bayes-at-n"
    about: About = About(
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

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without known levels, and the population scope."""
        return needs_mean(problem, "binary", "graded") or _not_benchmark_scope(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean of these questions' expected scores."""
        scores = scores_of(problem)
        levels = _levels(problem)
        outcomes = _categories(scores, levels)
        posterior = bayes_at_n_posterior(outcomes, levels)
        note = "each question's uniform prior pulls towards the middle: easy or hard benchmarks are missed"
        found = credible(problem, posterior, plain_score(scores), default="quantile", notes=(note,))
        return build(problem, self.name, found)


def _levels(problem: Problem) -> FloatArray:
    """Scores that occur or are declared possible, with the bounds, sorted."""
    return np.unique((*(scores_of(problem).levels or ()), *(problem.structure.bounds or (0.0, 1.0))))


def _categories(scores: Scores, levels: FloatArray) -> FloatArray:
    """Index of each score among the levels; NaN where missing."""
    found = np.searchsorted(levels, scores.values)
    known = np.isin(scores.values, levels)
    if not (known | np.isnan(scores.values)).all():
        raise NotEstimableError(f"Bayes@N needs scores at known levels; these are {levels.tolist()}")
    return np.where(known, found, np.nan)


@dataclass(frozen=True, slots=True)
class AverageAtN:
    """avg@N: the plain mean with Bayes@N's standard deviation rescaled to it (Hariri et al. 2025, eqs. 18 and 20)."""

    name: str = "avg-at-n"
    about: About = About(
        title="avg@N",
        formula="ȳ with Bayes@N's standard deviation rescaled to it",
        text="The plain mean over trials of exactly these questions.",
        sources=("hariri2025",),
        scopes=("benchmark",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses what Bayes@N refuses."""
        return BayesAtN().unsuitable(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Beta with these moments; none exists where all scores are the lowest or the highest."""
        scores = scores_of(problem)
        levels = _levels(problem)
        mean, sd = avg_at_n(_categories(scores, levels), levels)
        low, high = levels.min(), levels.max()
        if not low < mean < high:
            raise NotEstimableError("avg@N gives no interval where all scores are the lowest or the highest")
        posterior = BetaPosterior.from_moments(float(mean), float(sd) ** 2, float(low), float(high))
        return build(problem, self.name, credible(problem, posterior, plain_score(scores), default="quantile"))


@dataclass(frozen=True, slots=True)
class PassAtK:
    """pass@k and its relatives: unbiased estimate, and the posterior of a hierarchy over questions."""

    name: str = "pass-k"
    about: About = About(
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
        sources=(
            "chen2021",
            "bowyer2025",
            "hariri2025",
        ),
        scopes=(
            "population",
            "benchmark",
        ),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, clusters of new questions, and other estimands."""
        if reason := _not_pass_k(problem):
            return reason
        if problem.estimand.scope == "population" and problem.structure.n_clusters is not None:
            return "takes questions as independent; these come in clusters, which pass-k-unbiased allows for"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the event's probability."""
        scores, estimand, scope = _pass_k_problem(problem)
        successes, trials = question_counts(scores)
        value = _point_estimate(scores, estimand)
        _refuse_other_shapes(successes, trials)
        posterior = pass_k.pass_k_posterior(
            successes, trials, estimand.k, scope=scope, kind=estimand.kind, tau=estimand.tau
        )
        warnings = _all_trials_warning(estimand) if posterior.reach == "all_trials" else ()
        return build(problem, self.name, credible(problem, posterior, value, warnings=warnings))


@dataclass(frozen=True, slots=True)
class UnbiasedPassAtK:
    """pass@k and its relatives from the questions' unbiased estimates: no shape of their success rates is assumed."""

    name: str = "pass-k-unbiased"
    about: About = About(
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
        sources=(
            "chen2021",
            "ferguson1973",
        ),
        scopes=(
            "population",
            "benchmark",
        ),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and other estimands."""
        return _not_pass_k(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the event's probability."""
        scores, estimand, scope = _pass_k_problem(problem)
        successes, trials = question_counts(scores)
        value = _point_estimate(scores, estimand)
        posterior = unbiased_pass_k_posterior(
            successes,
            trials,
            estimand.k,
            scope=scope,
            kind=estimand.kind,
            tau=estimand.tau,
            clusters=scores.clusters,
        )
        notes: tuple[str, ...] = ()
        if scope == "benchmark" and trials.min() < 2 * estimand.k:
            notes = (
                f"the interval is the one for new questions, an upper bound in this scope: fewer than {2 * estimand.k} "
                "trials a question do not show the trials' own noise",
            )
        return build(problem, self.name, credible(problem, posterior, value, notes=notes))


def _not_pass_k(problem: Problem) -> str | None:
    if not isinstance(problem.estimand, PassK):
        return "estimates pass@k and its relatives; ask with --estimand pass@K"
    if problem.estimand.scope == "full":
        return "has no full-benchmark form"
    return needs_scores(problem, "binary")


def _pass_k_problem(problem: Problem) -> tuple[Scores, PassK, pass_k.PassScope]:
    estimand = problem.estimand
    if not isinstance(estimand, PassK) or estimand.scope == "full":
        raise NotEstimableError("no event in k trials is asked for")
    return scores_of(problem), estimand, estimand.scope


def _refuse_other_shapes(successes: FloatArray, trials: FloatArray) -> None:
    """Raise NotEstimableError where success rates are not Beta-distributed, on which moments past the second rest."""
    shape = beta_shape_test(successes, trials)
    if shape.p_value < BETA_SHAPE_P:
        raise NotEstimableError(
            f"the questions' success rates are not Beta-distributed (p = {shape.p_value:.2g}), as the hierarchy takes "
            "them to be; pass-k-unbiased assumes no shape"
        )


def _all_trials_warning(estimand: PassK) -> tuple[str, ...]:
    return (
        f"{estimand.label} from {estimand.k} trials a question rests on the Beta shape of the questions' success "
        "rates; its interval can be too narrow (coverage .85 to .9 in simulations of two kinds of question)",
    )


def _point_estimate(scores: Scores, estimand: PassK) -> float:
    values, k = scores.values, estimand.k
    match estimand.kind:
        case "at":
            return float(pass_k.pass_at_k(values, k))
        case "hat":
            return float(pass_k.pass_hat_k(values, k))
        case "g":
            return float(pass_k.g_pass_at_k(values, k, estimand.tau or 0.0))
        case "mg":
            return float(pass_k.mg_pass_at_k(values, k))
        case "maj":
            return float(pass_k.maj_at_k(values, k))


ESTIMATORS = (Nested(), Benchmark(), BayesAtN(), AverageAtN(), PassAtK(), UnbiasedPassAtK())
