"""Means of graded, bounded and unbounded scores of independent questions."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.task_log import Scores, SufficientStatistics
from harness_uq.inference.method import (
    MethodResult,
    RequiresProblem,
    confidence,
    credible,
    has_units,
    needs_independence,
    needs_type,
    normal_quantile,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.inference.unseen_subpopulations import rare_loss_messages
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate
from harness_uq.stats.means.bayesian_bootstrap import NamedStatistic
from harness_uq.stats.means.bounded import default_atom_mass, rare_loss_of_scores

if TYPE_CHECKING:
    from harness_uq.stats.means.hall import HallMean

FEW_UNITS = 30
ENOUGH_FOR_TAILS = 150  # 95 % of such samples contain a score that has a probability of 2 %
TAIL_SD = 2.0  # a larger skewness is a tail, in standard deviations of the skewness of normal scores, sqrt(6 / n)


class DirichletProcess(RequiresProblem):
    """Dirichlet-process posterior of the mean of bounded scores, with prior atoms on either side of the scores."""

    name = "dirichlet-process"
    info = MethodInfo(
        title="Dirichlet-process posterior of a bounded mean",
        formula=(
            "μ = Σ g<sub>j</sub> x<sub>j</sub> / Σ g<sub>j</sub>, g<sub>j</sub> ~ Gamma(1), x = "
            "(a, y<sub>1</sub>, …, y<sub>n</sub>, b)"
        ),
        text=(
            "Weights the scores and two prior atoms a and b at random. The atoms are at the bounds if all scores are, "
            "and otherwise on either side of the scores, so that the interval is about as wide as that of Student's t. "
            "The result is the Beta on [lo, hi] with the exact mean and variance. Its interval never has zero width if "
            "all scores agree."
        ),
        sources=("ferguson1973",),
    )
    requirements = (needs_type("binary", "graded", "bounded"), needs_independence)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean score."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        posterior = stats.bounded_posterior(scores.values[:, 0], low, high)
        result = credible(problem, posterior, plain_score(scores))
        return with_rare_losses(result, problem, scores).estimate(problem, self.name)


class Robust(RequiresProblem):
    """Dirichlet-process posterior with prior atoms that stay at the bounds, for scores with rare losses."""

    name = "robust"
    info = MethodInfo(
        title="Dirichlet-process posterior with prior atoms at the bounds",
        formula=(
            "μ = Σ g<sub>c</sub> T<sub>c</sub> / Σ g<sub>c</sub> N<sub>c</sub>, with pseudo-clusters at lo and hi, "
            "g<sub>c</sub> ~ Gamma(1), of a pseudo-cluster Gamma(m); m = 1 if all scores are at a bound, otherwise 3/4"
        ),
        text=(
            "Weights the scores (or clusters of scores) and one prior atom at each bound at random. The interval is "
            "several times as wide as Student's t for scores that differ little, because the atoms stand for rare "
            "scores at a bound that the sample does not contain."
        ),
        sources=("ferguson1973",),
        uses_clusters=True,
    )
    requirements = (needs_type("binary", "graded", "bounded"),)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean score."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        totals, sizes = stats.cluster_totals(question_means(scores), unit_codes(scores))
        mass = default_atom_mass(totals, sizes, low, high)
        posterior = stats.clustered_bounded_posterior(totals, sizes, low, high, atom_mass=mass)
        return credible(problem, posterior, plain_score(scores)).estimate(problem, self.name)


def with_rare_losses(result: MethodResult, problem: Problem, scores: Scores) -> MethodResult:
    """The result with a message that a sample of this size would probably not contain rare losses."""
    low, high = problem.structure.bounds or (0.0, 1.0)
    totals, sizes = stats.cluster_totals(question_means(scores), unit_codes(scores))
    about = rare_loss_messages(
        rare_loss_of_scores(totals, sizes, low, high),
        (result.interval.high - result.interval.low) / 2.0,
        quantity="score",
        is_clustered=problem.structure.n_clusters is not None,
    )
    return replace(result, messages=(*result.messages, *about))


class StudentMean(RequiresProblem):
    """Student t interval of the mean (Bowyer et al. 2025, A.1)."""

    name = "t"
    info = MethodInfo(
        title="Student's t",
        formula="ȳ ± t<sub>n−1</sub> s / √n",
        text=("Assumes that the mean of the scores is about normal; used where the range of the scores is unknown."),
        sources=("bowyer2025",),
    )
    requirements = (needs_type(), needs_independence)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± t se."""
        scores = scores_of(problem)
        fit = stats.student_posterior(scores.values[:, 0])
        low, high = fit.interval(problem.level)
        result = confidence(problem, low, high, plain_score(scores), fit.std_error, messages=_small_sample(problem))
        return result.estimate(problem, self.name)


class Hall(RequiresProblem):
    """Student's t interval, with Hall's (1992) limit on the side of a long tail; the other limit moves half as far."""

    name = "hall"
    info = MethodInfo(
        title="Mean of scores of unknown range",
        formula=(
            "T = (ȳ − μ) / SE, T + c (T²/3 + 1/6) + c² T³/27 = ± t<sub>n−1</sub>, c = skewness / √n; "
            "the nearer end half of the way from Student's"
        ),
        text=(
            "Student's t, cluster-robust where scores come in clusters or trials, moved to Hall's "
            "transformation on the side of a long tail and half of the way on the other. A rare score far off that was "
            "not drawn is in no such interval."
        ),
        sources=("hall1992", "liang1986"),
        uses_clusters=True,
    )
    requirements = (needs_type(),)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean; units of independence are clusters, or questions."""
        scores = scores_of(problem)
        fit = stats.hall_mean(question_means(scores), unit_codes(scores) if has_units(problem) else None)
        low, high = fit.interval(problem.level)
        tails = _long_tails(problem, fit)
        result = confidence(problem, low, high, plain_score(scores), fit.student.std_error, messages=tails)
        return result.estimate(problem, self.name)


class NormalMean(RequiresProblem):
    """Central-limit interval of the mean (Bowyer et al. 2025, eq. 2): what the harnesses' own error bars imply."""

    name = "clt"
    info = MethodInfo(
        title="Central limit theorem",
        formula="ȳ ± z s / √n",
        text=("The interval that the harnesses' own error bars imply. Too narrow in small samples and near 0 and 1."),
        sources=(
            "miller2024",
            "bowyer2025",
        ),
    )
    requirements = (needs_type(), needs_independence)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± z se."""
        scores = scores_of(problem)
        fit = stats.student_posterior(scores.values[:, 0])
        half = normal_quantile(problem.level) * fit.std_error
        value = plain_score(scores)
        return confidence(problem, value - half, value + half, value, fit.std_error).estimate(problem, self.name)


class BayesianBootstrap:
    """Bayesian bootstrap (Rubin 1981) of a mean, or of a statistic of per-question sums; clusters share a weight."""

    name = "bayesian-bootstrap"
    info = MethodInfo(
        title="Bayesian bootstrap",
        formula="T(n Σ w<sub>i</sub> r<sub>i</sub>), w ~ Dirichlet(1, …, 1)",
        text=(
            "Weights each question's record (or each cluster's) at random and recomputes the statistic; by "
            "seeded draws, with their Monte Carlo error."
        ),
        sources=("rubin1981",),
        uses_clusters=True,
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuses data without one row per question."""
        if isinstance(problem.data, SufficientStatistics) and problem.data.statistic not in get_args(NamedStatistic):
            return catalogue.STATISTIC_UNSUPPORTED(method=self.name, statistic=problem.data.statistic)
        if isinstance(problem.data, Scores | SufficientStatistics):
            return None
        return catalogue.SCORES_REQUIRED(method=self.name, metric=problem.data.metric)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior by draws, with its Monte Carlo error."""
        data = problem.data
        if isinstance(data, SufficientStatistics):
            statistics, statistic, clusters = data.statistics, named_statistic(data.statistic), data.clusters
        else:
            scores = scores_of(problem)
            statistics, statistic, clusters = question_means(scores)[:, None], "mean", unit_codes(scores)
        posterior = stats.bayesian_bootstrap(statistics, statistic, clusters=clusters, rng=problem.rng)
        result = credible(
            problem,
            posterior,
            stats.corpus_statistic(statistics, statistic),
            default="quantile",
            diagnostics={"mc_error": posterior.mc_error, "n_draws": float(len(posterior.draws))},
            messages=few_units(problem.structure.n_clusters, problem.structure.n_questions),
        )
        return result.estimate(problem, self.name)


def few_units(n_clusters: int | None, n_questions: int) -> tuple[Message, ...]:
    """A warning if a Bayesian bootstrap has so few independent units that its interval is too narrow."""
    n = n_questions if n_clusters is None else n_clusters
    if n >= FEW_UNITS:
        return ()
    return (catalogue.FEW_BOOTSTRAP_UNITS(n_units=n, unit="question" if n_clusters is None else "cluster"),)


def named_statistic(name: str) -> NamedStatistic:
    """The statistic of that name. Raises NotEstimableError if there is none."""
    for known in get_args(NamedStatistic):
        if name == known:
            return cast("NamedStatistic", known)
    raise NotEstimableError(catalogue.STATISTIC_UNSUPPORTED(method="bayesian-bootstrap", statistic=name))


def _long_tails(problem: Problem, fit: "HallMean") -> tuple[Message, ...]:
    """Warnings, based on simulations of skewed scores, that the sample may lack rare scores of an unknown range.

    There is a warning for scores without a tail, too, because a sample that lacks the rare scores looks like them.
    """
    if problem.structure.bounds is not None or fit.n_units >= ENOUGH_FOR_TAILS:
        return ()
    has_tail = abs(fit.skewness) >= TAIL_SD * (6 / fit.n_units) ** 0.5
    warning = catalogue.LONG_TAIL if has_tail else catalogue.POSSIBLE_LONG_TAIL
    return (warning(n_units=fit.n_units, unit="cluster" if problem.structure.n_clusters else "question"),)


def _small_sample(problem: Problem) -> tuple[Message, ...]:
    if problem.structure.n_questions >= 30:
        return ()
    return (catalogue.NORMALITY_ASSUMED(n_questions=problem.structure.n_questions),)


ESTIMATORS = (DirichletProcess(), Robust(), Hall(), StudentMean(), NormalMean(), BayesianBootstrap())
