"""Means of graded, bounded and unbounded scores of independent questions."""

from dataclasses import dataclass
from typing import cast, get_args

from harness_uq.errors import NotEstimableError
from harness_uq.estimating.finding import (
    build,
    confidence,
    credible,
    has_units,
    needs_independence,
    needs_mean,
    normal_quantile,
    not_a_mean,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
)
from harness_uq.logs.data import Records, Scores
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.common.student import student_mean
from harness_uq.stats.means.bounded import bounded_posterior
from harness_uq.stats.means.skewed import SkewedMean, skewed_mean
from harness_uq.stats.means.weighted import NamedStatistic, bayesian_bootstrap, corpus_statistic

FEW_UNITS = 30
ENOUGH_FOR_TAILS = 150  # from here on .95 of samples hold a score that comes once in fifty
TAIL_SD = 2.0  # standard deviations of the skewness of normal scores, 6 / n, beyond which a tail is seen


@dataclass(frozen=True, slots=True)
class DirichletProcess:
    """Dirichlet-process posterior of the mean of bounded scores, with prior atoms at the bounds."""

    name: str = "dirichlet-process"
    about: About = About(
        title="Dirichlet-process posterior of a bounded mean",
        formula=(
            "μ = Σ g<sub>j</sub> x<sub>j</sub> / Σ g<sub>j</sub>, g<sub>j</sub> ~ Gamma(m<sub>j</sub>), x = "
            "(lo, y<sub>1</sub>, …, y<sub>n</sub>, hi), m = 1; tight scores count K more scores like them"
        ),
        text=(
            "Weights the scores and one prior atom at each bound at random, the atoms the less the tighter the scores "
            "lie away from the bounds; the Beta on [lo, hi] with the exact mean and variance. Its interval never "
            "collapses where all scores agree."
        ),
        sources=("ferguson1973",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without bounds, clusters and trials."""
        return needs_mean(problem, "binary", "graded", "bounded") or needs_independence(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean score."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        posterior = bounded_posterior(scores.values[:, 0], low, high)
        return build(problem, self.name, credible(problem, posterior, plain_score(scores)))


@dataclass(frozen=True, slots=True)
class StudentMean:
    """Student t interval of the mean (Bowyer et al. 2025, A.1)."""

    name: str = "t"
    about: About = About(
        title="Student's t",
        formula="ȳ ± t<sub>n−1</sub> s / √n",
        text=("Assumes that the mean of the scores is about normal; used where the range of the scores is unknown."),
        sources=("bowyer2025",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses clusters and trials, for which `clustered-t` is made."""
        return needs_mean(problem) or needs_independence(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± t se."""
        scores = scores_of(problem)
        fit = student_mean(scores.values[:, 0])
        low, high = fit.interval(problem.level)
        found = confidence(problem, low, high, plain_score(scores), fit.std_error, notes=_small_sample(problem))
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class Hall:
    """Student's t interval moved to Hall's (1992) on the side of a long tail, half of the way on the other."""

    name: str = "hall"
    about: About = About(
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
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses what has no score a question."""
        return needs_mean(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean; units of independence are clusters, or questions."""
        scores = scores_of(problem)
        fit = skewed_mean(question_means(scores), unit_codes(scores) if has_units(problem) else None)
        low, high = fit.interval(problem.level)
        tails = _long_tails(problem, fit)
        found = confidence(problem, low, high, plain_score(scores), fit.student.std_error, warnings=tails)
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class NormalMean:
    """Central-limit interval of the mean (Bowyer et al. 2025, eq. 2): what the harnesses' own error bars imply."""

    name: str = "clt"
    about: About = About(
        title="Central limit theorem",
        formula="ȳ ± z s / √n",
        text=("The interval that the harnesses' own error bars imply. Too narrow in small samples and near 0 and 1."),
        sources=(
            "miller2024",
            "bowyer2025",
        ),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses clusters and trials, for which `clustered-clt` is made."""
        return needs_mean(problem) or needs_independence(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± z se."""
        scores = scores_of(problem)
        fit = student_mean(scores.values[:, 0])
        half = normal_quantile(problem.level) * fit.std_error
        value = plain_score(scores)
        return build(problem, self.name, confidence(problem, value - half, value + half, value, fit.std_error))


@dataclass(frozen=True, slots=True)
class BayesianBootstrap:
    """Bayesian bootstrap (Rubin 1981) of a mean, or of a statistic of per-question sums; clusters share a weight."""

    name: str = "bayesian-bootstrap"
    about: About = About(
        title="Bayesian bootstrap",
        formula="T(n Σ w<sub>i</sub> r<sub>i</sub>), w ~ Dirichlet(1, …, 1)",
        text=(
            "Weights each question's record (or each cluster's) at random and recomputes the statistic; by "
            "seeded draws, with their Monte Carlo error."
        ),
        sources=("rubin1981",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses data without one row a question."""
        if isinstance(problem.data, Records) and problem.data.statistic not in get_args(NamedStatistic):
            return f"does not know how to compute {problem.data.statistic!r}"
        if isinstance(problem.data, Scores | Records):
            return not_a_mean(problem)
        return f"needs scores or records a question; {problem.data.metric!r} has neither"

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior by draws, with its Monte Carlo error."""
        data = problem.data
        if isinstance(data, Records):
            statistics, statistic, clusters = data.statistics, named_statistic(data.statistic), data.clusters
        else:
            scores = scores_of(problem)
            statistics, statistic, clusters = question_means(scores)[:, None], "mean", unit_codes(scores)
        posterior = bayesian_bootstrap(statistics, statistic, clusters=clusters, rng=problem.rng)
        found = credible(
            problem,
            posterior,
            corpus_statistic(statistics, statistic),
            default="quantile",
            diagnostics={"mc_error": posterior.mc_error, "n_draws": float(len(posterior.draws))},
            warnings=few_units(problem.structure.n_clusters, problem.structure.n_questions),
        )
        return build(problem, self.name, found)


def few_units(n_clusters: int | None, n_questions: int) -> tuple[str, ...]:
    """A warning where a Bayesian bootstrap has so few independent units that its interval is too narrow."""
    n = n_questions if n_clusters is None else n_clusters
    if n >= FEW_UNITS:
        return ()
    what = f"{n} {'question' if n_clusters is None else 'cluster'}{'s' if n != 1 else ''}"
    return (
        f"{what}: a Bayesian bootstrap of few is too narrow (in simulations its .95 intervals held the truth .6 of the "
        "time with 3, .75 with 5, .85 with 10, .9 with 20)",
    )


def named_statistic(name: str) -> NamedStatistic:
    """The statistic of that name. Raises NotEstimableError where there is none."""
    for known in get_args(NamedStatistic):
        if name == known:
            return cast(NamedStatistic, known)
    raise NotEstimableError(f"no statistic is called {name!r}")


def _long_tails(problem: Problem, fit: SkewedMean) -> tuple[str, ...]:
    """What simulations of skewed scores say where the range is unknown and the rare scores may not have been drawn.

    Scores without a tail are warned of too: samples that happen to lack the rare scores look just like them.
    """
    if problem.structure.bounds is not None or fit.n_units >= ENOUGH_FOR_TAILS:
        return ()
    what = f"{fit.n_units} {'clusters' if problem.structure.n_clusters else 'questions'}"
    rare = "where one score in 50 lies far off .36 (10), .44 (30) and .87 (100)"
    if abs(fit.skewness) < TAIL_SD * (6 / fit.n_units) ** 0.5:
        return (
            f"the range of the scores is unknown: these {what} show no long tail, and of such scores intervals hold "
            f"the truth as often as they say, but {rare} of the time in simulations; --range would help",
        )
    return (
        f"the range of the scores is unknown and these {what} have a long tail, of which they may hold too little: of "
        f"log-normal scores such intervals held the truth .85 (10), .90 (30) and .93 (100) of the time in simulations, "
        f"{rare}; --range would help",
    )


def _small_sample(problem: Problem) -> tuple[str, ...]:
    if problem.structure.n_questions >= 30:
        return ()
    return ("Student's t assumes that the mean is about normal: with fewer than 30 questions that is a guess",)


ESTIMATORS = (DirichletProcess(), Hall(), StudentMean(), NormalMean(), BayesianBootstrap())
