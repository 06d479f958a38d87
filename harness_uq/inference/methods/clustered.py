"""Scores in clusters or repeated trials: the unit of independence is the cluster, or the question."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.task_log import FloatArray
from harness_uq.inference.method import (
    MethodResult,
    RequiresProblem,
    confidence,
    credible,
    has_units,
    needs_type,
    normal_quantile,
    plain_score,
    question_means,
    scored_answers,
    scores_of,
    unit_codes,
    unit_counts,
)
from harness_uq.inference.methods.means import with_rare_losses
from harness_uq.inference.unseen_subpopulations import rule_of_three_warning
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.stats.clusters.beta_binomial_posterior import ClusteredPosterior, SampledClusteredPosterior
    from harness_uq.stats.clusters.cluster_robust import Correction

DispersionPrior = Literal["icc", "gamma"]

FEW_CLUSTERS = 10
VERY_FEW_CLUSTERS = 8
STRONG_ICC = 0.45
FEW_INFORMATIVE_UP_TO = 30
INFORMATIVE_CLUSTERS = 5
FEW_EFFECTIVE = 15
UNEVEN = 0.7
TOO_FEW_TO_COMPARE_SIZES = 3
SIZE_ASSOCIATION_P = 0.15
APART_SD = 0.5
ROUNDING = 1e-6


def _needs_one_level(method: str, problem: Problem) -> Message | None:
    """Clusters of questions with repeated trials are two levels."""
    if problem.structure.n_clusters is not None and problem.structure.max_trials > 1:
        return catalogue.TWO_LEVELS(method=method)
    return None


def _needs_units(method: str, problem: Problem) -> Message | None:
    if has_units(problem):
        return None
    return catalogue.CLUSTERS_REQUIRED(method=method, required="clusters or repeated trials")


class ClusteredScore(RequiresProblem):
    """Posterior of the plain score over clusters or repeated trials, for any distribution of difficulty.

    Its mean is close to the plain score. With few clusters its width is that of a beta-binomial model; with more
    clusters, it approaches the width that follows from the observed spread of the clusters.
    """

    name = "clustered"
    info = MethodInfo(
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
        uses_clusters=True,
    )
    requirements = (needs_type("binary"), _needs_one_level)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean over questions, of new clusters or questions."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        weights = None if problem.structure.max_trials == 1 else np.ones(len(sizes))
        posterior = stats.clustered_score_posterior(successes, sizes, weights)
        result = credible(
            problem,
            posterior,
            plain_score(scores),
            icc=posterior.icc_mean,
            messages=(
                *_prior_note(problem, successes, sizes),
                *few_informative(problem, successes, sizes),
                *uneven_clusters(problem, sizes),
            ),
        )
        unseen = rule_of_three_warning(problem, result, successes, sizes)
        return replace(result, messages=(*result.messages, *unseen)).estimate(problem, self.name)


@dataclass(frozen=True, slots=True)
class BetaClustered(RequiresProblem):
    """Posterior of theta, the mean of the Beta in a beta-binomial model of clusters (Bowyer et al. 2025, eq. 8).

    `clustered-beta` has a uniform prior on the intra-cluster correlation, `clustered-gamma` the paper's Gamma(1, 1) on
    the dispersion and equal tails; `clustered-is` is the latter by importance sampling.
    """

    name: str = "clustered-beta"
    prior: DispersionPrior = "icc"
    is_sampled: bool = False
    info: MethodInfo = MethodInfo(
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
        uses_clusters=True,
    )
    requirements: ClassVar = (needs_type("binary"), _needs_one_level)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of theta, which is close to the plain score if difficulties are Beta and independent of sizes."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        posterior = self._posterior(successes, sizes, problem)
        result = credible(
            problem,
            posterior,
            plain_score(scores),
            default="hdi" if self.prior == "icc" else "quantile",
            icc=posterior.icc_mean,
            diagnostics=_diagnostics(posterior),
            messages=(
                *few_informative(problem, successes, sizes),
                *_narrow(problem, posterior, successes, sizes),
            ),
        )
        beside = _beside_the_plain_score(result, posterior.icc_mean, successes, sizes)
        return replace(result, messages=(*result.messages, *beside)).estimate(problem, self.name)

    def _posterior(
        self, successes: FloatArray, sizes: FloatArray, problem: Problem
    ) -> "ClusteredPosterior | SampledClusteredPosterior":
        if self.is_sampled:
            return stats.clustered_importance_posterior(successes, sizes, self.prior, rng=problem.rng)
        return stats.clustered_posterior(successes, sizes, self.prior)


def _prior_note(problem: Problem, successes: FloatArray, sizes: FloatArray) -> tuple[Message, ...]:
    """With few clusters the prior on their spread matters: report the interval under the published prior, too."""
    if len(sizes) >= FEW_CLUSTERS:
        return ()
    low, high = stats.clustered_posterior(successes, sizes, "gamma").interval(problem.level)
    return (catalogue.CLUSTER_PRIOR(n_clusters=len(sizes), clusters=_clusters(problem), low=low, high=high),)


class ClusteredRatio(RequiresProblem):
    """Dirichlet-process posterior of the mean over questions, as a ratio of totals of whole clusters.

    It supports any bounded scores, and assumes neither a distribution of the scores within or between clusters nor
    that scores are independent of the sizes of their clusters.
    """

    name = "clustered-dp"
    info = MethodInfo(
        title="Dirichlet-process ratio over clusters",
        formula=(
            "R = Σ g<sub>c</sub> T<sub>c</sub> / Σ g<sub>c</sub> N<sub>c</sub>, g<sub>c</sub> ~ Gamma(1), "
            "pseudo-clusters of size Σ N² / Σ N at both bounds, of mass ¼ (1 if every cluster is at a "
            "bound)"
        ),
        text=(
            "Weights whole clusters at random, so that nothing is assumed of the scores within a cluster, "
            "nor that a cluster's size says nothing about its score; the Beta with the exact mean and "
            "variance."
        ),
        sources=("ferguson1973",),
        uses_clusters=True,
    )
    requirements = (needs_type("binary", "graded", "bounded"), _needs_units)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean over questions."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        totals, sizes = stats.cluster_totals(question_means(scores), unit_codes(scores))
        posterior = stats.clustered_bounded_posterior(totals, sizes, low, high)
        messages = (*_few_clusters_warning(problem, len(sizes)), *uneven_clusters(problem, sizes))
        result = credible(problem, posterior, plain_score(scores), messages=messages)
        if problem.structure.score_type != "binary":
            result = with_rare_losses(result, problem, scores)
        return result.estimate(problem, self.name)


class ClusteredWilson(RequiresProblem):
    """Wilson interval with Korn and Graubard's effective sample size and t with C - 1 degrees of freedom."""

    name = "clustered-wilson"
    info = MethodInfo(
        title="Wilson interval with an effective sample size",
        formula=(
            "Wilson's interval at n<sub>eff</sub> = min(n, p (1 − p) / SE<sub>c</sub>²) with t<sub>C−1</sub> for z"
        ),
        text="SE<sub>c</sub> is the cluster-robust standard error.",
        sources=("korn1998", "wilson1927"),
        uses_clusters=True,
    )
    requirements = (needs_type("binary"), _needs_units)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the mean over questions; its standard error is the half-width in normal units."""
        scores = scores_of(problem)
        values, units, weights = scored_answers(scores)
        low, high = stats.korn_graubard_wilson(values, units, level=problem.level, weights=weights)
        half_width = (high - low) / 2
        result = confidence(problem, low, high, plain_score(scores), half_width / normal_quantile(problem.level))
        return result.estimate(problem, self.name)


@dataclass(frozen=True, slots=True)
class ClusteredMean(RequiresProblem):
    """Cluster-robust interval of the mean (Miller 2024, eq. 4, times C / (C - 1)).

    `clustered-t` takes t with C - 1 degrees of freedom, `clustered-clt` the normal quantile, `clustered-cr2` the
    bias-reduced variance with Satterthwaite's degrees of freedom.
    """

    name: str
    info: MethodInfo
    requirements: ClassVar = (needs_type(), _needs_units)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval mean ± quantile × se."""
        scores = scores_of(problem)
        correction: Correction = "CR2" if self.name == "clustered-cr2" else "CR1"
        fit = stats.cluster_robust(question_means(scores), unit_codes(scores), correction=correction)
        low, high = fit.interval(problem.level)
        if self.name == "clustered-clt":
            half = normal_quantile(problem.level) * fit.std_error
            low, high = fit.mean - half, fit.mean + half
        return confidence(problem, low, high, plain_score(scores), fit.std_error).estimate(problem, self.name)


def few_informative(problem: Problem, successes: FloatArray, sizes: FloatArray) -> tuple[Message, ...]:
    """A note if nearly all clusters agree: the data then hardly determine their spread, and the interval is wide."""
    if len(sizes) > FEW_INFORMATIVE_UP_TO:
        return ()
    informative = int(min(np.sum(successes > 0), np.sum(successes < sizes)))
    if informative >= INFORMATIVE_CLUSTERS:
        return ()
    outcome = "success" if np.sum(successes > 0) < np.sum(successes < sizes) else "failure"
    return (
        catalogue.FEW_INFORMATIVE_CLUSTERS(
            n_informative=informative, n_clusters=len(sizes), clusters=_clusters(problem), outcome=outcome
        ),
    )


def _clusters(problem: Problem) -> str:
    return problem.structure.cluster_key or "questions with repeated trials"


def uneven_clusters(problem: Problem, sizes: FloatArray) -> tuple[Message, ...]:
    """Warn if few clusters have most of the weight and large clusters may score differently from small ones."""
    from harness_uq.stats.trials.size_association import size_association_test

    if problem.structure.n_clusters is None:
        return ()
    effective = stats.effective_weights(sizes)
    if effective >= min(FEW_EFFECTIVE, UNEVEN * len(sizes)):
        return ()
    scores = scores_of(problem)
    if effective >= TOO_FEW_TO_COMPARE_SIZES:
        p_value = size_association_test(question_means(scores), unit_codes(scores))
        if p_value >= SIZE_ASSOCIATION_P:
            return ()
    return (catalogue.UNEVEN_CLUSTERS(n_clusters=len(sizes), clusters=_clusters(problem), effective=effective),)


def _beside_the_plain_score(
    result: MethodResult, icc: float, successes: FloatArray, sizes: FloatArray
) -> tuple[Message, ...]:
    """A warning if theta differs from the plain score: difficulties are not Beta, or depend on the sizes of clusters.

    Theta is estimated by the means of the clusters with weights N / (1 + (N - 1) icc).
    """
    weights = sizes / (1 + (sizes - 1) * icc)
    centre = float(weights @ (successes / sizes) / weights.sum())
    is_inside = result.interval.low - ROUNDING <= result.value <= result.interval.high + ROUNDING
    if is_inside and abs(centre - result.value) <= APART_SD * result.std_error:
        return ()
    return (catalogue.INTERVAL_OF_THETA(low=result.interval.low, high=result.interval.high, value=result.value),)


def _few_clusters_warning(problem: Problem, n_clusters: int) -> tuple[Message, ...]:
    if n_clusters >= FEW_CLUSTERS:
        return ()
    return (catalogue.FEW_CLUSTERS(n_clusters=n_clusters, clusters=_clusters(problem)),)


def _narrow(
    problem: Problem,
    posterior: "ClusteredPosterior | SampledClusteredPosterior",
    successes: FloatArray,
    sizes: FloatArray,
) -> tuple[Message, ...]:
    """A warning of few, strongly correlated clusters, for which highest-density intervals cover least.

    If all answers are alike, they cover 0.95 or more, and if the correlation is weak, 0.93 or more.
    """
    is_mixed = 0 < successes.sum() < sizes.sum()
    is_strong = posterior.icc_mean >= STRONG_ICC
    if len(sizes) >= VERY_FEW_CLUSTERS or not is_strong or not is_mixed or problem.interval == "quantile":
        return ()
    low, high = posterior.interval(problem.level, "quantile")
    return (catalogue.HOMOGENEOUS_CLUSTERS(n_clusters=len(sizes), clusters=_clusters(problem), low=low, high=high),)


def _diagnostics(posterior: "ClusteredPosterior | SampledClusteredPosterior") -> dict[str, float]:
    from harness_uq.stats.clusters.beta_binomial_posterior import SampledClusteredPosterior

    if not isinstance(posterior, SampledClusteredPosterior):
        return {}
    return {name: float(getattr(posterior, name)) for name in ("importance_ess", "pareto_k", "mc_error")}


_GAMMA = MethodInfo(
    title="Beta-binomial posterior over clusters, Gamma prior",
    formula="Y<sub>c</sub> | θ, d ~ BetaBinomial(N<sub>c</sub>, d θ, d (1 − θ)), θ ~ U(0, 1), d ~ Gamma(1, 1)",
    text=("The published prior with equal tails. It covers too rarely where clusters are weak and accuracy is high."),
    sources=("bowyer2025",),
    uses_clusters=True,
)

_IS = MethodInfo(
    title="Beta-binomial posterior over clusters, importance sampling",
    formula=(
        "w<sub>k</sub> ∝ Π<sub>c</sub> BetaBinomial(Y<sub>c</sub>; N<sub>c</sub>, d<sub>k</sub> "
        "θ<sub>k</sub>, d<sub>k</sub> (1 − θ<sub>k</sub>)), (θ<sub>k</sub>, d<sub>k</sub>) from the prior"
    ),
    text="The published sampler, with its effective sample size and Pareto k; it degenerates with many clusters.",
    sources=("bowyer2025",),
    uses_clusters=True,
)

_T = MethodInfo(
    title="Cluster-robust t",
    formula=(
        "ȳ ± t<sub>C−1</sub> SE<sub>c</sub>, SE<sub>c</sub>² = C / (C − 1) · n<sup>−2</sup> Σ<sub>c</sub> "
        "(Σ<sub>i∈c</sub> (y<sub>i</sub> − ȳ))²"
    ),
    text="C clusters, or questions with repeated trials, are the units of independence.",
    sources=("liang1986", "miller2024"),
    uses_clusters=True,
)

_CR2 = MethodInfo(
    title="Bias-reduced cluster-robust t (CR2)",
    formula=(
        "ȳ ± t<sub>ν</sub> SE, SE² = n<sup>−2</sup> Σ<sub>c</sub> (Σ<sub>i∈c</sub> (y<sub>i</sub> − ȳ))² / "
        "(1 − n<sub>c</sub> / n)"
    ),
    text="ν are Satterthwaite's degrees of freedom.",
    sources=("bell2002", "pustejovsky2018"),
    uses_clusters=True,
)

_CLT = MethodInfo(
    title="Cluster-robust normal interval",
    formula=(
        "ȳ ± z SE<sub>c</sub>, SE<sub>c</sub>² = C / (C − 1) · n<sup>−2</sup> Σ<sub>c</sub> (Σ<sub>i∈c</sub> "
        "(y<sub>i</sub> − ȳ))²"
    ),
    text="As cluster-robust t, with the normal quantile: too narrow with few clusters.",
    sources=("liang1986", "miller2024"),
    uses_clusters=True,
)

ESTIMATORS = (
    ClusteredScore(),
    BetaClustered(),
    BetaClustered("clustered-gamma", "gamma", info=_GAMMA),
    BetaClustered("clustered-is", "gamma", is_sampled=True, info=_IS),
    ClusteredRatio(),
    ClusteredWilson(),
    ClusteredMean("clustered-t", _T),
    ClusteredMean("clustered-cr2", _CR2),
    ClusteredMean("clustered-clt", _CLT),
)
