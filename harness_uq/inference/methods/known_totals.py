"""Scores whose total alone is known."""

import numpy as np

from harness_uq.data.estimands import MethodInfo
from harness_uq.data.structure import counts_of
from harness_uq.data.task_log import AggregateScore
from harness_uq.inference.method import MethodResult, credible
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.proportion.binomial import beta_posterior


class KnownTotals:
    """Posterior under a Beta(1, 1) prior from a proportion and its number of questions."""

    name = "totals"
    info = MethodInfo(
        title="Beta posterior from totals",
        formula="θ | data ~ Beta(1 + S, 1 + F)",
        text=(
            "The log contains only a proportion and its number of questions, so clusters and trials, if there are "
            "any, cannot be taken into account."
        ),
        sources=("bowyer2025",),
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuse data with samples, and totals that do not determine a count."""
        try:
            counts_of(_totals_of(self.name, problem))
        except NotEstimableError as error:
            return error.message
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the success rate; the questions are assumed to be independent."""
        data = _totals_of(self.name, problem)
        n_right, n = counts_of(data)
        value = n_right / n if data.value is None else data.value
        warning = catalogue.TOTALS_ONLY(reason=data.reason)
        result = credible(problem, beta_posterior(n_right, n), value, messages=(warning,))
        return result.estimate(problem, self.name)


class ReportedError:
    """Student's t interval from the value and the standard error that the harness reported."""

    name = "reported-error"
    info = MethodInfo(
        title="Interval from the reported standard error",
        formula="value ± t<sub>n−1</sub> SE; the normal quantile if n is unknown",
        text=(
            "The log contains only a value and its standard error. The interval is valid if the harness's standard "
            "error is, and if the distribution of the mean is nearly normal."
        ),
        sources=("miller2024",),
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuse data with samples, and totals without a positive standard error."""
        try:
            _posterior_of(_totals_of(self.name, problem))
        except NotEstimableError as error:
            return error.message
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Interval value ± t SE, cut at 0 and 1 if the score is a proportion."""
        data = _totals_of(self.name, problem)
        posterior = _posterior_of(data)
        low, high = posterior.interval(problem.level)
        if data.is_share:
            low, high = max(low, 0.0), min(high, 1.0)
        interval = Interval(low, high, problem.level, "confidence")
        warning = catalogue.REPORTED_ERROR_USED(reason=data.reason)
        result = MethodResult(posterior.mean, interval, posterior.std_error, posterior, messages=(warning,))
        return result.estimate(problem, self.name)


def _totals_of(method: str, problem: Problem) -> AggregateScore:
    if not isinstance(problem.data, AggregateScore):
        raise NotEstimableError(catalogue.TOTALS_REQUIRED(method=method))
    if problem.data.is_contradicted:
        raise NotEstimableError(catalogue.NOT_COMPUTABLE(reason=problem.data.reason))
    return problem.data


def _posterior_of(data: AggregateScore) -> StudentPosterior:
    """Student's t distribution with n - 1 degrees of freedom, or the normal distribution if n is unknown."""
    if data.value is None or not data.std_error:
        missing = "the value" if data.value is None else "a standard error"
        if data.value is not None and data.std_error == 0:
            missing = "a standard error greater than 0"
        raise NotEstimableError(catalogue.INCOMPLETE_TOTALS(reason=data.reason, missing=missing))
    return StudentPosterior(data.value, data.std_error, data.n - 1.0 if data.n and data.n > 1 else np.inf)


ESTIMATORS = (KnownTotals(), ReportedError())
