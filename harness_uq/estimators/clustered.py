"""Scores in clusters or repeated trials: the unit of independence is the cluster, or the question."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness_uq.data import FloatArray
from harness_uq.errors import NotEstimableError
from harness_uq.estimators._common import (
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
    unit_name,
)
from harness_uq.hookspecs import Problem
from harness_uq.results import Estimate, Posterior
from harness_uq.stats.bounded import cluster_totals, clustered_bounded_posterior, size_score_relation
from harness_uq.stats.cluster_robust import Correction, cluster_robust, korn_graubard_wilson
from harness_uq.stats.clustered import ClusteredPosterior, Engine, SampledClusteredPosterior, clustered_posterior

DispersionPrior = Literal["icc", "gamma"]

FEW_CLUSTERS = 10
VERY_FEW_CLUSTERS = 8
STRONG_ICC = 0.45
FEW_INFORMATIVE_UP_TO = 30
INFORMATIVE_CLUSTERS = 5
INFORMATIVE_SIZE_P = 0.05
APART_SD = 0.5
ROUNDING = 1e-6


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
        if reason := needs_mean(problem, "binary"):
            return reason
        if problem.structure.n_clusters is not None and problem.structure.max_trials > 1:
            return "has one level above the trial; these scores have two, clusters and questions"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of theta, where theta stands for the mean over questions."""
        scores = scores_of(problem)
        successes, sizes = unit_counts(scores)
        refuse_informative_sizes(problem, successes, sizes)
        posterior = self._posterior(successes, sizes, problem)
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            default="hdi" if self.prior == "icc" else "quantile",
            icc=posterior.icc_mean,
            diagnostics=_diagnostics(posterior),
            notes=(*self._prior_note(problem, successes, sizes), *few_informative(problem, successes, sizes)),
            warnings=narrow_with_few_clusters(problem, posterior, posterior.icc_mean, successes, sizes),
        )
        refuse_value_apart(problem, found, posterior.icc_mean, successes, sizes)
        return build(problem, self.name, found)

    def _posterior(
        self, successes: FloatArray, sizes: FloatArray, problem: Problem
    ) -> ClusteredPosterior | SampledClusteredPosterior:
        if self.engine == "is":
            return clustered_posterior(successes, sizes, self.prior, engine="is", rng=problem.rng)
        return clustered_posterior(successes, sizes, self.prior)

    def _prior_note(self, problem: Problem, successes: FloatArray, sizes: FloatArray) -> tuple[str, ...]:
        """With few clusters the prior of their spread decides: show the other one's interval."""
        if len(sizes) >= FEW_CLUSTERS:
            return ()
        other: DispersionPrior = "gamma" if self.prior == "icc" else "icc"
        low, high = clustered_posterior(successes, sizes, other).interval(problem.level)
        return (
            f"with {_clusters(problem, len(sizes))} little is known of how clusters spread, so the interval rests on "
            f"its prior; with the {other} prior it is [{low:.3f}, {high:.3f}]",
        )


@dataclass(frozen=True, slots=True)
class ClusteredRatio:
    """Dirichlet-process posterior of the mean over questions, whole clusters drawn: a ratio of cluster totals.

    Makes no assumption on how scores spread within and between clusters, nor that a cluster's size says nothing
    about its score; takes any bounded score.
    """

    name: str = "clustered-dp"

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses scores without bounds and scores without clusters or trials."""
        return needs_mean(problem, "binary", "graded", "bounded") or _needs_units(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the mean over questions."""
        scores = scores_of(problem)
        low, high = problem.structure.bounds or (0.0, 1.0)
        totals, sizes = cluster_totals(question_means(scores), unit_codes(scores))
        posterior = clustered_bounded_posterior(totals, sizes, low, high)
        found = credible(problem, posterior, plain_score(scores), warnings=_few_clusters_warning(problem, len(sizes)))
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class ClusteredWilson:
    """Wilson interval with Korn and Graubard's effective sample size and t with C - 1 degrees of freedom."""

    name: str = "clustered-wilson"

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


def refuse_informative_sizes(problem: Problem, successes: FloatArray, sizes: FloatArray) -> None:
    """Raise NotEstimableError where scores depend on the size of their cluster."""
    if len(np.unique(sizes)) == 1:
        return
    relation = size_score_relation(successes, sizes)
    if relation.p_value < INFORMATIVE_SIZE_P:
        raise NotEstimableError(
            f"scores depend on the size of their cluster ({unit_name(problem)}; p = {float(relation.p_value):.2g}), so "
            "the beta-binomial mean is not the mean over questions; clustered-dp is"
        )


def refuse_value_apart(problem: Problem, found: Finding, icc: float, successes: FloatArray, sizes: FloatArray) -> None:
    """Raise NotEstimableError where theta is not about the plain score, because cluster sizes differ.

    theta's data are the clusters' means with weights N / (1 + (N - 1) icc). Where their average lies more than half a
    posterior sd from the plain score, or the plain score outside the interval, sizes matter. With equal sizes nothing
    but the prior, or equal tails near a bound, can part the two.
    """
    if len(np.unique(sizes)) == 1:
        return
    weights = sizes / (1 + (sizes - 1) * icc)
    centre = float(weights @ (successes / sizes) / weights.sum())
    is_inside = found.interval.low - ROUNDING <= found.value <= found.interval.high + ROUNDING
    if not is_inside or abs(centre - found.value) > APART_SD * found.std_error:
        raise NotEstimableError(
            f"the plain score {found.value:.4f} is not what the beta-binomial interval "
            f"[{found.interval.low:.4f}, {found.interval.high:.4f}] over clusters ({unit_name(problem)}) is about, the "
            f"precision-weighted mean {centre:.4f}: their sizes matter; clustered-dp allows for that"
        )


def _few_clusters_warning(problem: Problem, n_clusters: int) -> tuple[str, ...]:
    if n_clusters >= FEW_CLUSTERS:
        return ()
    return (f"with {_clusters(problem, n_clusters)} little is known of how clusters spread: the interval is rough",)


def narrow_with_few_clusters(
    problem: Problem, posterior: Posterior, icc: float, successes: FloatArray, sizes: FloatArray
) -> tuple[str, ...]:
    """A warning where highest-density intervals cover .83 to .90: few clusters that hold together strongly.

    Where all answers are alike they cover .95 and more, and where the correlation is weak .93 and more.
    """
    is_mixed = 0 < successes.sum() < sizes.sum()
    if len(sizes) >= VERY_FEW_CLUSTERS or icc < STRONG_ICC or not is_mixed or problem.interval == "quantile":
        return ()
    low, high = posterior.interval(problem.level, "quantile")
    return (
        f"{_clusters(problem, len(sizes))} in which answers mostly agree: such intervals held the truth .83 to .90 of "
        f"the time in simulations at .95; the equal-tailed one is [{low:.3f}, {high:.3f}]",
    )


def _diagnostics(posterior: ClusteredPosterior | SampledClusteredPosterior) -> dict[str, float]:
    if not isinstance(posterior, SampledClusteredPosterior):
        return {}
    return {name: float(getattr(posterior, name)) for name in ("importance_ess", "pareto_k", "mc_error")}
