"""Scores in clusters or repeated trials: the unit of independence is the cluster, or the question."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from harness_uq.estimating.finding import (
    Finding,
    answers,
    build,
    confidence,
    credible,
    has_units,
    needs_mean,
    normal_quantile,
    plain_score,
    question_means,
    scores_of,
    unit_codes,
    unit_counts,
)
from harness_uq.estimating.unseen import unseen_kind
from harness_uq.logs.data import FloatArray
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate, Posterior
from harness_uq.stats.clusters.cluster_robust import Correction, cluster_robust, korn_graubard_wilson
from harness_uq.stats.clusters.clustered import (
    ClusteredPosterior,
    Engine,
    SampledClusteredPosterior,
    clustered_posterior,
)
from harness_uq.stats.clusters.score import ClusteredScorePosterior, clustered_score_posterior
from harness_uq.stats.means.bounded import cluster_totals, clustered_bounded_posterior
from harness_uq.stats.trials.checks import effective_weights

DispersionPrior = Literal["icc", "gamma"]

FEW_CLUSTERS = 10
VERY_FEW_CLUSTERS = 8
STRONG_ICC = 0.45
FEW_INFORMATIVE_UP_TO = 30
INFORMATIVE_CLUSTERS = 5
FEW_EFFECTIVE = 15
UNEVEN = 0.7
APART_SD = 0.5
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class ClusteredScore:
    """Posterior of the plain score over clusters or repeated trials, whatever the distribution of their difficulties.

    Centred on the plain score; its width passes from the beta-binomial model's to what the clusters show.
    """

    name: str = "clustered"
    about: About = About(
        title="Posterior of the plain score over clusters",
        formula=(
            "Σ<sub>k</sub> p(ρ<sub>k</sub>) Beta(m<sub>k</sub>, v<sub>k</sub>), m = (n p + f) / (n + 2 f), 1 / n(ρ) = "
            "Σ<sub>c</sub> w<sub>c</sub>² (ρ + (1 − ρ) / N<sub>c</sub>), "
            "f = 1 + 2.5 (1 − n(ρ) / n(0)) Σ<sub>c</sub> w<sub>c</sub>²"
        ),
        text=(
            "Clusters, or questions with repeated trials, have success rates of their own. Centred on the plain score; "
            "how alike answers of a cluster are (ρ) comes from a beta-binomial model, and the width passes from the "
            "model's to that of the clusters' own spread as they grow in number."
        ),
        sources=("bowyer2025", "ferguson1973"),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and clusters of questions that were also tried several times."""
        return _not_two_levels(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean over questions, of new clusters or questions."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        weights = None if problem.structure.max_trials == 1 else np.ones(len(sizes))
        posterior = clustered_score_posterior(successes, sizes, weights)
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            icc=posterior.icc_mean,
            notes=(*_prior_note(problem, successes, sizes), *few_informative(problem, successes, sizes)),
            warnings=weak_clusters(problem, posterior, successes, sizes),
        )
        unseen = unseen_kind(problem, found, successes, sizes)
        return build(problem, self.name, replace(found, warnings=(*found.warnings, *unseen)))


@dataclass(frozen=True, slots=True)
class BetaClustered:
    """Beta-binomial posterior over clusters (Bowyer et al. 2025, eq. 8), by quadrature: of theta, a Beta's mean.

    `clustered-beta` has a uniform prior on the intra-cluster correlation, `clustered-gamma` the paper's Gamma(1, 1) on
    the dispersion and equal tails; `clustered-is` is the latter by importance sampling.
    """

    name: str = "clustered-beta"
    prior: DispersionPrior = "icc"
    engine: Engine = "quadrature"
    about: About = About(
        title="Beta-binomial posterior over clusters",
        formula=(
            "Y<sub>c</sub> | θ, d ~ BetaBinomial(N<sub>c</sub>, d θ, d (1 − θ)), θ ~ U(0, 1), ICC = 1 / (1 + "
            "d) ~ U(0, 1)"
        ),
        text=(
            "Clusters, or questions with repeated trials, have success rates of their own around θ. Both "
            "parameters are integrated by deterministic quadrature; the interval of θ is the narrowest one."
        ),
        sources=("bowyer2025",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1, and clusters of questions that were also tried several times."""
        return _not_two_levels(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of theta, which is about the plain score where difficulties are Beta and sizes say nothing."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        posterior = self._posterior(successes, sizes, problem)
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            default="hdi" if self.prior == "icc" else "quantile",
            icc=posterior.icc_mean,
            diagnostics=_diagnostics(posterior),
            notes=few_informative(problem, successes, sizes),
            warnings=_narrow(problem, posterior, posterior.icc_mean, successes, sizes, held=".83 to .90"),
        )
        beside = _beside_the_plain_score(found, posterior.icc_mean, successes, sizes)
        return build(problem, self.name, replace(found, warnings=(*found.warnings, *beside)))

    def _posterior(
        self, successes: FloatArray, sizes: FloatArray, problem: Problem
    ) -> ClusteredPosterior | SampledClusteredPosterior:
        if self.engine == "is":
            return clustered_posterior(successes, sizes, self.prior, engine="is", rng=problem.rng)
        return clustered_posterior(successes, sizes, self.prior)


def _not_two_levels(problem: Problem) -> str | None:
    if reason := needs_mean(problem, "binary"):
        return reason
    if problem.structure.n_clusters is not None and problem.structure.max_trials > 1:
        return "has one level above the trial; these scores have two, clusters and questions"
    return None


def _prior_note(problem: Problem, successes: FloatArray, sizes: FloatArray) -> tuple[str, ...]:
    """With few clusters the prior of their spread decides: show the published model's interval with its own."""
    if len(sizes) >= FEW_CLUSTERS:
        return ()
    low, high = clustered_posterior(successes, sizes, "gamma").interval(problem.level)
    return (
        f"with {_clusters(problem, len(sizes))} little is known of how clusters spread, so the interval rests on "
        f"its prior; with the gamma prior it is [{low:.3f}, {high:.3f}]",
    )


@dataclass(frozen=True, slots=True)
class ClusteredRatio:
    """Dirichlet-process posterior of the mean over questions, whole clusters drawn: a ratio of cluster totals.

    Makes no assumption on how scores spread within and between clusters, nor that a cluster's size says nothing
    about its score; takes any bounded score.
    """

    name: str = "clustered-dp"
    about: About = About(
        title="Dirichlet-process ratio over clusters",
        formula=(
            "R = Σ g<sub>c</sub> T<sub>c</sub> / Σ g<sub>c</sub> N<sub>c</sub>, g<sub>c</sub> ~ Gamma(1), "
            "pseudo-clusters of size Σ N² / Σ N at both bounds, of mass ¼ (1 where every cluster lies at a "
            "bound)"
        ),
        text=(
            "Weights whole clusters at random, so that nothing is assumed of the scores within a cluster, "
            "nor that a cluster's size says nothing about its score; the Beta with the exact mean and "
            "variance."
        ),
        sources=("ferguson1973",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without bounds and scores without clusters or trials."""
        return needs_mean(problem, "binary", "graded", "bounded") or _needs_units(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean over questions."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        totals, sizes = cluster_totals(question_means(scores), unit_codes(scores))
        posterior = clustered_bounded_posterior(totals, sizes, low, high)
        warnings = (*_few_clusters_warning(problem, len(sizes)), *uneven_clusters(problem, sizes))
        found = credible(problem, posterior, plain_score(scores), warnings=warnings)
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class ClusteredWilson:
    """Wilson interval with Korn and Graubard's effective sample size and t with C - 1 degrees of freedom."""

    name: str = "clustered-wilson"
    about: About = About(
        title="Wilson interval with an effective sample size",
        formula=(
            "Wilson's interval at n<sub>eff</sub> = min(n, p (1 − p) / SE<sub>c</sub>²) with t<sub>C−1</sub> for z"
        ),
        text="SE<sub>c</sub> is the cluster-robust standard error.",
        sources=(
            "korn1998",
            "wilson1927",
        ),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores that are not 0/1 and scores without clusters or trials."""
        return needs_mean(problem, "binary") or _needs_units(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean over questions; its standard error is the half-width in normal units."""
        scores = scores_of(problem)
        values, units, weights = answers(scores)
        low, high = korn_graubard_wilson(values, units, level=problem.level, weights=weights)
        half_width = (high - low) / 2
        found = confidence(problem, low, high, plain_score(scores), half_width / normal_quantile(problem.level))
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """Cluster-robust interval of the mean (Miller 2024, eq. 4, times C / (C - 1)).

    `clustered-t` takes t with C - 1 degrees of freedom, `clustered-clt` the normal quantile, `clustered-cr2` the
    bias-reduced variance with Satterthwaite's degrees of freedom.
    """

    name: str
    about: About

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without clusters or trials."""
        return needs_mean(problem) or _needs_units(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± quantile × se."""
        scores = scores_of(problem)
        correction: Correction = "CR2" if self.name == "clustered-cr2" else "CR1"
        fit = cluster_robust(question_means(scores), unit_codes(scores), correction=correction)
        low, high = fit.interval(problem.level)
        if self.name == "clustered-clt":
            half = normal_quantile(problem.level) * fit.std_error
            low, high = fit.mean - half, fit.mean + half
        return build(problem, self.name, confidence(problem, low, high, plain_score(scores), fit.std_error))


def few_informative(problem: Problem, successes: FloatArray, sizes: FloatArray) -> tuple[str, ...]:
    """A note where nearly all clusters agree: their spread is hardly seen, and the interval wide for it."""
    if len(sizes) > FEW_INFORMATIVE_UP_TO:
        return ()
    informative = int(min(np.sum(successes > 0), np.sum(successes < sizes)))
    if informative >= INFORMATIVE_CLUSTERS:
        return ()
    rare = "any success" if np.sum(successes > 0) < np.sum(successes < sizes) else "any failure"
    share = f"only {informative} of the" if informative else "none of the"
    return (
        f"{share} {_clusters(problem, len(sizes))} hold{'s' if informative < 2 else ''} {rare}: how strongly answers "
        "within one agree is hardly seen",
    )


def _clusters(problem: Problem, n: int) -> str:
    plural = "s" if n != 1 else ""
    key = problem.structure.cluster_key
    return f"{n} cluster{plural} ({key})" if key else f"{n} question{plural} with repeated trials"


def _needs_units(problem: Problem) -> str | None:
    return None if has_units(problem) else "is made for clusters or repeated trials; these scores have neither"


def weak_clusters(
    problem: Problem, posterior: ClusteredScorePosterior, successes: FloatArray, sizes: FloatArray
) -> tuple[str, ...]:
    """Warnings of the default posteriors of clustered 0/1 scores."""
    narrow = _narrow(problem, posterior, posterior.icc_mean, successes, sizes, held=".92 to .95")
    return (*narrow, *(uneven_clusters(problem, sizes) if problem.structure.n_clusters is not None else ()))


def uneven_clusters(problem: Problem, sizes: FloatArray) -> tuple[str, ...]:
    """A warning where a few of the clusters hold most of the weight: how others as large score is hardly known."""
    effective = effective_weights(sizes)
    if effective >= min(FEW_EFFECTIVE, UNEVEN * len(sizes)):
        return ()
    return (
        f"{_clusters(problem, len(sizes))} differ so much in size that they count as {effective:.1f} alike: the large "
        "ones decide, and the data can hardly tell how others as large would score (such intervals held the truth .80 "
        "to .98 of the time in simulations at .95, least where large clusters score otherwise than small ones)",
    )


def _beside_the_plain_score(found: Finding, icc: float, successes: FloatArray, sizes: FloatArray) -> tuple[str, ...]:
    """A warning where theta is not about the plain score: difficulties are no Beta, or sizes matter.

    theta's data are the clusters' means with weights N / (1 + (N - 1) icc).
    """
    weights = sizes / (1 + (sizes - 1) * icc)
    centre = float(weights @ (successes / sizes) / weights.sum())
    is_inside = found.interval.low - ROUNDING <= found.value <= found.interval.high + ROUNDING
    if is_inside and abs(centre - found.value) <= APART_SD * found.std_error:
        return ()
    return (
        f"the interval [{found.interval.low:.4f}, {found.interval.high:.4f}] is about theta, the mean of a Beta fitted "
        f"to the clusters, and the plain score {found.value:.4f} is not: clustered, the default, is about that",
    )


def _few_clusters_warning(problem: Problem, n_clusters: int) -> tuple[str, ...]:
    if n_clusters >= FEW_CLUSTERS:
        return ()
    return (f"with {_clusters(problem, n_clusters)} little is known of how clusters spread: the interval is rough",)


def _narrow(
    problem: Problem, posterior: Posterior, icc: float, successes: FloatArray, sizes: FloatArray, *, held: str
) -> tuple[str, ...]:
    """A warning where highest-density intervals cover least, `held` in simulations: few clusters that hold together.

    Where all answers are alike they cover .95 and more, and where the correlation is weak .93 and more.
    """
    is_mixed = 0 < successes.sum() < sizes.sum()
    if len(sizes) >= VERY_FEW_CLUSTERS or icc < STRONG_ICC or not is_mixed or problem.interval == "quantile":
        return ()
    low, high = posterior.interval(problem.level, "quantile")
    return (
        f"{_clusters(problem, len(sizes))} in which answers mostly agree: such intervals held the truth {held} of "
        f"the time in simulations at .95; the equal-tailed one is [{low:.3f}, {high:.3f}]",
    )


def _diagnostics(posterior: ClusteredPosterior | SampledClusteredPosterior) -> dict[str, float]:
    if not isinstance(posterior, SampledClusteredPosterior):
        return {}
    return {name: float(getattr(posterior, name)) for name in ("importance_ess", "pareto_k", "mc_error")}


_GAMMA = About(
    title="Beta-binomial posterior over clusters, Gamma prior",
    formula="Y<sub>c</sub> | θ, d ~ BetaBinomial(N<sub>c</sub>, d θ, d (1 − θ)), θ ~ U(0, 1), d ~ Gamma(1, 1)",
    text=("The published prior with equal tails. It covers too rarely where clusters are weak and accuracy is high."),
    sources=("bowyer2025",),
)

_IS = About(
    title="Beta-binomial posterior over clusters, importance sampling",
    formula=(
        "w<sub>k</sub> ∝ Π<sub>c</sub> BetaBinomial(Y<sub>c</sub>; N<sub>c</sub>, d<sub>k</sub> "
        "θ<sub>k</sub>, d<sub>k</sub> (1 − θ<sub>k</sub>)), (θ<sub>k</sub>, d<sub>k</sub>) from the prior"
    ),
    text="The published sampler, with its effective sample size and Pareto k; it degenerates with many clusters.",
    sources=("bowyer2025",),
)

_T = About(
    title="Cluster-robust t",
    formula=(
        "ȳ ± t<sub>C−1</sub> SE<sub>c</sub>, SE<sub>c</sub>² = C / (C − 1) · n<sup>−2</sup> Σ<sub>c</sub> "
        "(Σ<sub>i∈c</sub> (y<sub>i</sub> − ȳ))²"
    ),
    text="C clusters, or questions with repeated trials, are the units of independence.",
    sources=(
        "liang1986",
        "miller2024",
    ),
)

_CR2 = About(
    title="Bias-reduced cluster-robust t (CR2)",
    formula=(
        "ȳ ± t<sub>ν</sub> SE, SE² = n<sup>−2</sup> Σ<sub>c</sub> (Σ<sub>i∈c</sub> (y<sub>i</sub> − ȳ))² / "
        "(1 − n<sub>c</sub> / n)"
    ),
    text="ν are Satterthwaite's degrees of freedom.",
    sources=(
        "bell2002",
        "pustejovsky2018",
    ),
)

_CLT = About(
    title="Cluster-robust normal interval",
    formula=(
        "ȳ ± z SE<sub>c</sub>, SE<sub>c</sub>² = C / (C − 1) · n<sup>−2</sup> Σ<sub>c</sub> (Σ<sub>i∈c</sub> "
        "(y<sub>i</sub> − ȳ))²"
    ),
    text="As cluster-robust t, with the normal quantile: too narrow with few clusters.",
    sources=(
        "liang1986",
        "miller2024",
    ),
)

ESTIMATORS = (
    ClusteredScore(),
    BetaClustered(),
    BetaClustered("clustered-gamma", "gamma", about=_GAMMA),
    BetaClustered("clustered-is", "gamma", "is", _IS),
    ClusteredRatio(),
    ClusteredWilson(),
    ClusteredMean("clustered-t", _T),
    ClusteredMean("clustered-cr2", _CR2),
    ClusteredMean("clustered-clt", _CLT),
)
