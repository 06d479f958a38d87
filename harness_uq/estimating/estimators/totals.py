"""Scores of which only the total is known."""

from dataclasses import dataclass

from harness_uq.errors import NotEstimableError
from harness_uq.estimating.finding import build, credible, not_a_mean
from harness_uq.logs.data import Totals
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.proportion.binomial import beta_posterior
from harness_uq.structure.totals import counts_of


@dataclass(frozen=True, slots=True)
class KnownTotals:
    """Beta(1,1) posterior from a proportion and its number of questions, where the metric is known to be one."""

    name: str = "totals"
    about: About = About(
        title="Beta posterior from totals",
        formula="θ | data ~ Beta(1 + S, 1 + F)",
        text=(
            "The log holds a proportion and its number of questions only: clusters and trials, if there are "
            "any, are not allowed for."
        ),
        sources=("bowyer2025",),
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses data that hold more than totals, and totals that do not determine a count."""
        data = problem.data
        if not isinstance(data, Totals):
            return "is made for logs without a score a question"
        if reason := not_a_mean(problem):
            return reason
        try:
            counts_of(data)
        except NotEstimableError as error:
            return str(error)
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the success rate, questions taken as independent."""
        data = problem.data
        if not isinstance(data, Totals) or data.value is None:
            raise NotEstimableError("no total is known")
        posterior = beta_posterior(*counts_of(data))
        warning = f"{data.reason}: clusters and trials, if there are any, are not allowed for"
        return build(problem, self.name, credible(problem, posterior, data.value, warnings=(warning,)))


ESTIMATORS = (KnownTotals(),)
