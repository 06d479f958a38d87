"""What the estimators share: units of independence, plain scores, and building an `Estimate`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.estimands import PassK
from harness_uq.logs.data import FloatArray, IntArray, Scores, TaskGroup
from harness_uq.plugins.protocols import CredibleKind, Problem
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate, Interval, Posterior


@dataclass(frozen=True, slots=True)
class Finding:
    """What an estimator found, before the facts of the log are added.

    Attributes
    ----------
    value : the plain score
    interval : with its level and kind
    std_error : posterior sd or frequentist standard error
    posterior : None for frequentist methods
    icc : posterior mean of the intra-cluster correlation where the method has one
    diagnostics, notes, warnings : for the report
    """

    value: float
    interval: Interval
    std_error: float
    posterior: Posterior | None = None
    icc: float | None = None
    diagnostics: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def estimate(self, problem: Problem, method: str) -> Estimate:
        """The estimate: what was found, with the harness's value and ±, questions, clusters, ICC and notes."""
        return build(problem, method, self)


def scores_of(problem: Problem) -> Scores:
    """The problem's scores. Raises NotEstimableError where the data are of another kind."""
    if not isinstance(problem.data, Scores):
        raise NotEstimableError(f"the method needs a score a question; {problem.data.metric!r} has none")
    return problem.data


def needs_mean(problem: Problem, *types: str) -> str | None:
    """Reason to refuse: another estimand than the mean, or what `needs_scores` refuses; None where both fit."""
    return not_a_mean(problem) or needs_scores(problem, *types)


def not_a_mean(problem: Problem) -> str | None:
    """Reason to refuse an event in k trials; None for other estimands."""
    if isinstance(problem.estimand, PassK):
        return f"estimates means, and {problem.estimand.label} is none; pass-k and pass-k-unbiased estimate it"
    return None


def needs_scores(problem: Problem, *types: str) -> str | None:
    """Reason to refuse: data of another kind or another score type than `types`; None where they fit."""
    if isinstance(problem.data, TaskGroup):
        return "is made for single tasks; this is a group of them"
    if not isinstance(problem.data, Scores):
        return f"needs a score a question; {problem.data.metric!r} has none"
    if types and problem.structure.score_type not in types:
        return f"needs {_KINDS[types]}; these are {_FOUND[problem.structure.score_type]}"
    return None


_KINDS = {
    ("binary",): "scores that are all 0 or 1",
    ("binary", "graded"): "scores that are 0 or 1, or of declared levels",
    ("binary", "graded", "bounded"): "scores of a known range",
}
_FOUND = {
    "binary": "0 or 1",
    "graded": "graded",
    "bounded": "bounded, with values between",
    "real": "of unknown range (--range METRIC=LO,HI gives one)",
    "record": "not averaged",
}


def question_means(scores: Scores) -> FloatArray:
    """Mean over each question's scored trials; float (n_questions,)."""
    return np.asarray(np.nanmean(scores.values, axis=1))


def plain_score(scores: Scores) -> float:
    """The harness's score: mean over questions of their mean over trials."""
    return float(question_means(scores).mean())


def has_units(problem: Problem) -> bool:
    """Whether scores come in clusters or repeated trials, so that cells are not independent."""
    return problem.structure.n_clusters is not None or problem.structure.max_trials > 1


def needs_independence(problem: Problem) -> str | None:
    """Reason to refuse: clusters or repeated trials; None without."""
    if has_units(problem):
        return "treats every answer as independent; these come in clusters or repeated trials"
    return None


def unit_codes(scores: Scores) -> IntArray:
    """Label of the independent unit of each question: its cluster, or the question itself."""
    if scores.clusters is not None:
        return np.asarray(np.unique(scores.clusters, return_inverse=True)[1], np.int64)
    return np.arange(len(scores.values))


def unit_name(problem: Problem) -> str:
    """What the independent units are, for messages."""
    return problem.structure.cluster_key or "question"


def question_counts(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Successes and scored trials of each question; float (n_questions,) each."""
    return np.nansum(scores.values, axis=1), np.isfinite(scores.values).sum(axis=1).astype(float)


def unit_counts(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Successes and scored cells of each independent unit; float (n_units,) each."""
    successes, trials = question_counts(scores)
    units = unit_codes(scores)
    return np.bincount(units, successes).astype(float), np.bincount(units, trials).astype(float)


def credible(
    problem: Problem,
    posterior: Posterior,
    value: float,
    *,
    default: CredibleKind = "hdi",
    icc: float | None = None,
    diagnostics: Mapping[str, float] | None = None,
    notes: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
) -> Finding:
    """Finding from a posterior, with the interval kind that the problem asks for."""
    kind = problem.interval or default
    low, high = posterior.interval(problem.level, kind)
    if not high > low:
        raise NotEstimableError(f"the posterior interval has zero width at {low}; the data do not determine it")
    interval = Interval(low, high, problem.level, kind)
    return Finding(value, interval, posterior.sd, posterior, icc, diagnostics, notes, warnings)


def confidence(
    problem: Problem,
    low: float,
    high: float,
    value: float,
    std_error: float,
    *,
    notes: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
) -> Finding:
    """Finding from a frequentist interval; refuses one of zero width, says where one leaves the range."""
    if not high > low:
        raise NotEstimableError("all scores are equal, so this method gives an interval of zero width; use --uq bayes")
    if (bounds := problem.structure.bounds) and (low < bounds[0] or high > bounds[1]):
        notes += (f"the interval leaves [{bounds[0]:g}, {bounds[1]:g}], as this method's can",)
    interval = Interval(low, high, problem.level, "confidence")
    return Finding(value, interval, std_error, notes=notes, warnings=warnings)


def normal_quantile(level: float) -> float:
    """Two-sided standard normal quantile: P(|Z| <= z) = level."""
    return float(special.ndtri((1 + level) / 2))


def answers(scores: Scores) -> tuple[FloatArray, IntArray, FloatArray]:
    """Score, independent unit and weight of each scored answer; weights make questions count alike."""
    scored = np.isfinite(scores.values)
    units = np.broadcast_to(unit_codes(scores)[:, None], scored.shape)[scored]
    weights = np.broadcast_to(1 / scored.sum(axis=1, keepdims=True), scored.shape)[scored]
    return scores.values[scored], units, weights


def build(problem: Problem, method: str, found: Finding) -> Estimate:
    """The estimate: what was found, with the facts of the log and the structure."""
    log, data, structure = problem.log, problem.data, problem.structure
    spread = _spread(problem)
    return Estimate(
        system=log.system,
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        estimand=problem.estimand.label,
        scope=problem.estimand.scope,
        method=method,
        value=found.value,
        std_error=found.std_error,
        interval=found.interval,
        source=log.source,
        n_questions=structure.n_questions,
        n_trials=structure.max_trials,
        n_cells=structure.n_cells,
        posterior_mean=found.posterior.mean if found.posterior is not None else None,
        n_clusters=structure.n_clusters,
        cluster_key=structure.cluster_key,
        icc=found.icc if found.icc is not None else spread.get("icc"),
        design_effect=spread.get("design_effect"),
        effective_questions=spread.get("effective_questions"),
        variance_between=spread.get("variance_between"),
        variance_within=spread.get("variance_within"),
        harness=log.reported.get((data.metric, data.filter), NOTHING_REPORTED),
        structure=structure,
        posterior=found.posterior,
        diagnostics=found.diagnostics or {},
        notes=found.notes,
        warnings=found.warnings,
    )


def _spread(problem: Problem) -> dict[str, float]:
    """ICC, design effect and variance components of clustered or repeated scores; empty where undefined."""
    from harness_uq.stats.clusters.cluster_robust import cluster_robust
    from harness_uq.stats.trials.checks import unit_components, variance_components

    data = problem.data
    if not isinstance(data, Scores) or not has_units(problem):
        return {}
    values, units, weights = answers(data)
    try:
        fit = cluster_robust(values, units, weights=weights)
        if problem.structure.max_trials > 1:
            components = variance_components(data.values)
        else:
            components = unit_components(values, units)
    except NotEstimableError:
        return {}
    named = {
        "icc": fit.icc,
        "design_effect": fit.design_effect,
        "effective_questions": fit.effective_questions,
        "variance_between": components.variance_between,
        "variance_within": components.variance_within,
    }
    return {name: float(value) for name, value in named.items() if value is not None and np.isfinite(value)}
