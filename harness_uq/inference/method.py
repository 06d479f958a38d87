"""Functions shared by the estimators: independent units, observed scores, and building an `Estimate`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from scipy import special

from harness_uq.data.estimands import Mean
from harness_uq.data.task_log import FloatArray, IntArray, Scores, TaskGroup
from harness_uq.io.plugins.protocols import CredibleKind, Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue.estimation import (
    CONSTANT_SCORES,
    INDEPENDENCE_REQUIRED,
    INTERVAL_EXCEEDS_RANGE,
    QUESTION_SCORES_REQUIRED,
    SCORE_TYPE_UNSUPPORTED,
    SCORES_REQUIRED,
    SINGLE_TASKS_ONLY,
    ZERO_WIDTH_INTERVAL,
)
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import NOTHING_REPORTED, Estimate, Interval, Posterior


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The result of an estimator, before the facts of the log are added.

    Attributes
    ----------
    value : the observed score
    interval : interval with its level and kind
    std_error : posterior sd or frequentist standard error
    posterior : posterior of the score, None for frequentist methods
    icc : posterior mean of the intra-cluster correlation, None if the method does not estimate it
    diagnostics, messages : diagnostics and messages for the report
    """

    value: float
    interval: Interval
    std_error: float
    posterior: Posterior | None = None
    icc: float | None = None
    diagnostics: Mapping[str, float] | None = None
    messages: tuple[Message, ...] = ()

    def estimate(self, problem: Problem, method: str) -> Estimate:
        """Build the estimate: the result with the value and ± of the harness, questions, clusters, ICC and notes."""
        log, data, structure = problem.log, problem.data, problem.structure
        spread = _spread(problem, self)
        return Estimate(
            system=log.system,
            task=log.task,
            metric=data.metric,
            filter=data.filter,
            estimand=problem.estimand.label,
            scope=problem.estimand.scope,
            method=method,
            value=self.value,
            std_error=self.std_error,
            interval=self.interval,
            source=log.source,
            n_questions=structure.n_questions,
            n_trials=structure.max_trials,
            n_scores=structure.n_scores,
            posterior_mean=self.posterior.mean if self.posterior is not None else None,
            n_clusters=structure.n_clusters,
            cluster_key=structure.cluster_key,
            icc=self.icc if self.icc is not None else spread.get("icc"),
            design_effect=spread.get("design_effect"),
            effective_questions=spread.get("effective_questions"),
            variance_between=spread.get("variance_between"),
            variance_within=spread.get("variance_within"),
            harness=log.reported.get((data.metric, data.filter), NOTHING_REPORTED),
            structure=structure,
            posterior=self.posterior,
            diagnostics=self.diagnostics or {},
            messages=self.messages,
        )


def scores_of(problem: Problem) -> Scores:
    """Return the problem's scores. Raises NotEstimableError if the data are not scores."""
    if not isinstance(problem.data, Scores):
        raise NotEstimableError(QUESTION_SCORES_REQUIRED(metric=problem.data.metric))
    return problem.data


Requirement: TypeAlias = Callable[[str, Problem], Message | None]
"""Returns why a method with this name does not apply to a problem; None if the problem fulfils the requirement."""


class RequiresProblem:
    """Base of the built-in methods that declare what they require of a problem.

    `requirements`: what the method requires, in the order in which it is checked.
    """

    __slots__ = ()
    name: str
    requirements: ClassVar[tuple[Requirement, ...]]

    def why_unsupported(self, problem: Problem) -> Message | None:
        """The first requirement that the problem does not fulfil."""
        return next((why for one in self.requirements if (why := one(self.name, problem)) is not None), None)


def needs_type(*types: str) -> Requirement:
    """The data are scores of one of these types, or of any type if none is given."""
    return lambda method, problem: needs_scores(method, problem, *types)


def needs_scores(method: str, problem: Problem, *types: str) -> Message | None:
    """Return why `method` does not apply: the data are not scores, or not of one of the `types`; otherwise None."""
    if isinstance(problem.data, TaskGroup):
        return SINGLE_TASKS_ONLY(method=method)
    if not isinstance(problem.data, Scores):
        return SCORES_REQUIRED(method=method, metric=problem.data.metric)
    if types and problem.structure.score_type not in types:
        return SCORE_TYPE_UNSUPPORTED(
            method=method, required=_REQUIRED[types], actual=_ACTUAL[problem.structure.score_type]
        )
    return None


_REQUIRED = {
    ("binary",): "scores that are all 0 or 1",
    ("binary", "graded"): "scores of 0 or 1, or of declared levels",
    ("binary", "graded", "bounded"): "scores of a known range",
}
_ACTUAL = {
    "binary": "0 or 1",
    "graded": "graded",
    "bounded": "numbers between a lowest and a highest score",
    "real": "of unknown range (--range METRIC=LO,HI declares one)",
    "record": "not averages of single scores",
}


def question_means(scores: Scores) -> FloatArray:
    """Return the mean over the scored trials of each question; float (n_questions,)."""
    return np.asarray(np.nanmean(scores.values, axis=1))


def plain_score(scores: Scores) -> float:
    """Return the score of the harness: the mean over questions of their mean over trials."""
    return float(question_means(scores).mean())


def has_units(problem: Problem) -> bool:
    """Whether there are clusters or repeated trials, so that scores are not independent."""
    return problem.structure.n_clusters is not None or problem.structure.max_trials > 1


def needs_independence(method: str, problem: Problem) -> Message | None:
    """Return why `method` does not apply: there are clusters or repeated trials; otherwise None."""
    return INDEPENDENCE_REQUIRED(method=method) if has_units(problem) else None


def unit_codes(scores: Scores) -> IntArray:
    """Return the label of the independent unit of each question: its cluster, or the question itself."""
    if scores.clusters is not None:
        return np.asarray(np.unique(scores.clusters, return_inverse=True)[1], np.int64)
    return np.arange(len(scores.values))


def question_counts(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of successes and of scored trials of each question; float (n_questions,) each."""
    return np.nansum(scores.values, axis=1), np.isfinite(scores.values).sum(axis=1).astype(float)


def unit_counts(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of successes and of scores of each independent unit; float (n_units,) each."""
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
    messages: tuple[Message, ...] = (),
) -> MethodResult:
    """Build a result from a posterior, with the kind of interval that the problem requests."""
    kind = problem.interval or default
    low, high = posterior.interval(problem.level, kind)
    if not high > low:
        raise NotEstimableError(ZERO_WIDTH_INTERVAL(quantity="score"))
    interval = Interval(low, high, problem.level, kind)
    return MethodResult(value, interval, posterior.sd, posterior, icc, diagnostics, messages)


def confidence(
    problem: Problem,
    low: float,
    high: float,
    value: float,
    std_error: float,
    *,
    messages: tuple[Message, ...] = (),
) -> MethodResult:
    """Build a result from a frequentist interval; rejects zero width and notes intervals that exceed the range."""
    if not high > low:
        raise NotEstimableError(CONSTANT_SCORES())
    if (bounds := problem.structure.bounds) and (low < bounds[0] or high > bounds[1]):
        messages += (INTERVAL_EXCEEDS_RANGE(low=bounds[0], high=bounds[1]),)
    interval = Interval(low, high, problem.level, "confidence")
    return MethodResult(value, interval, std_error, messages=messages)


def normal_quantile(level: float) -> float:
    """Return the two-sided standard normal quantile: P(|Z| <= z) = level."""
    return float(special.ndtri((1 + level) / 2))


def scored_answers(scores: Scores) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return score, independent unit and weight of each scored answer; weights are equal in total for all questions."""
    scored = np.isfinite(scores.values)
    units = np.broadcast_to(unit_codes(scores)[:, None], scored.shape)[scored]
    weights = np.broadcast_to(1 / scored.sum(axis=1, keepdims=True), scored.shape)[scored]
    return scores.values[scored], units, weights


def _spread(problem: Problem, result: MethodResult) -> dict[str, float]:
    """ICC, design effect and variance components of clustered or repeated scores; empty where undefined.

    The design effect is that of the mean on new questions: another estimand or scope has none. With few clusters its
    estimate can contradict the method, and is left out: below 1 if the intraclass correlation of the method is positive
    or its standard error larger than that of independent answers, and above 1 if this is smaller.
    """
    from harness_uq.stats.clusters.cluster_robust import cluster_robust
    from harness_uq.stats.trials.diagnostics import unit_components, variance_components

    data = problem.data
    if not isinstance(data, Scores) or not has_units(problem):
        return {}
    values, units, weights = scored_answers(data)
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
        "variance_between": components.variance_between,
        "variance_within": components.variance_within,
    }
    is_smaller = result.std_error < fit.std_error_iid and not (result.icc or 0.0) > 0
    is_mean = isinstance(problem.estimand, Mean) and problem.estimand.scope == "population"
    if is_mean and (is_smaller if fit.design_effect < 1 else result.std_error >= fit.std_error_iid):
        named |= {"design_effect": fit.design_effect, "effective_questions": fit.effective_questions}
    return {name: float(value) for name, value in named.items() if value is not None and np.isfinite(value)}
