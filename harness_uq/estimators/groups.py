"""The score of a group of tasks."""

from dataclasses import dataclass

import numpy as np

from harness_uq.data import TaskGroup
from harness_uq.errors import NotEstimableError
from harness_uq.estimators._common import build, credible
from harness_uq.hookspecs import Problem
from harness_uq.results import Estimate
from harness_uq.stats.groups import group_posterior, shared_items_posterior


@dataclass(frozen=True, slots=True)
class GroupMean:
    """Weighted mean of the scores of exactly these tasks, on new questions of their kind.

    0/1 questions that are all independent: hierarchical posterior of the tasks' success rates. Otherwise a
    Dirichlet process over independent units, which are clusters, or items that recur across the tasks.
    """

    name: str = "group"

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses data of a single task, and scores without known bounds."""
        if not isinstance(problem.data, TaskGroup):
            return "is made for groups of tasks"
        return None if problem.structure.bounds else "the scores have no known range; --range METRIC=LO,HI gives one"

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the weighted mean."""
        data = problem.data
        if not isinstance(data, TaskGroup):
            raise NotEstimableError("no group of tasks")
        sizes = np.bincount(data.tasks).astype(float)
        totals = np.bincount(data.tasks, data.values)
        value = float(data.weights @ (totals / sizes))
        structure = problem.structure
        if structure.score_type == "binary" and structure.n_clusters is None and data.n_trials == 1:
            found = credible(problem, group_posterior(totals, sizes, data.weights), value)
        else:
            low, high = structure.bounds or (0.0, 1.0)
            posterior = shared_items_posterior(data.values, data.tasks, data.units, data.weights, low=low, high=high)
            found = credible(problem, posterior, value, default="quantile")
        return build(problem, self.name, found)
