"""Scores of which only the total is known."""

from dataclasses import dataclass

from harness_uq.data.task_log import AggregateScore
from harness_uq.errors import NotEstimableError
from harness_uq.estimation.method_result import build, credible, not_a_mean
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.plugins.protocols import Problem
from harness_uq.results.estimate import Estimate
from harness_uq.results.method_info import MethodInfo
from harness_uq.stats.proportion.binomial import beta_posterior
from harness_uq.structure.recover_counts import counts_of


@dataclass(frozen=True, slots=True)
class KnownTotals:
    """Beta(1,1) posterior from a proportion and its number of questions, where the metric is known to be one."""

    name: str = "totals"
    info: MethodInfo = MethodInfo(
        title="Beta posterior from totals",
        formula="θ | data ~ Beta(1 + S, 1 + F)",
        text=(
            "The log holds a proportion and its number of questions only: clusters and trials, if there are "
            "any, are not allowed for."
        ),
        sources=("bowyer2025",),
    )

    def why_unsupported(self, problem: Problem) -> Message | None:
        """Refuses data that hold more than totals, and totals that do not determine a count."""
        data = problem.data
        if not isinstance(data, AggregateScore):
            return catalogue.TOTALS_REQUIRED(method=self.name)
        if reason := not_a_mean(self.name, problem):
            return reason
        try:
            counts_of(data)
        except NotEstimableError as error:
            return error.message
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the success rate, questions taken as independent."""
        data = problem.data
        if not isinstance(data, AggregateScore) or data.value is None:
            raise NotEstimableError(catalogue.TOTALS_REQUIRED(method=self.name))
        posterior = beta_posterior(*counts_of(data))
        warning = catalogue.TOTALS_ONLY(reason=data.reason)
        return build(problem, self.name, credible(problem, posterior, data.value, messages=(warning,)))


ESTIMATORS = (KnownTotals(),)
