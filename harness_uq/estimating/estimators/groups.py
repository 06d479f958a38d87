"""The score of a group of tasks."""

from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.estimating.finding import build, credible, not_a_mean
from harness_uq.logs.data import FloatArray, TaskGroup
from harness_uq.plugins.protocols import Problem
from harness_uq.results.about import About
from harness_uq.results.estimate import Estimate
from harness_uq.stats.effects.groups import group_posterior, shared_items_posterior
from harness_uq.stats.means.bounded import clustered_bounded_posterior
from harness_uq.stats.trials.checks import effective_weights

FEW_TASKS = 10
FEW_UNITS = 10


@dataclass(frozen=True, slots=True)
class GroupMean:
    """Weighted mean of the scores of exactly these tasks, on new questions of their kind.

    0/1 questions that are all independent: centred on the plain mean, with the variance that a hierarchy of the tasks'
    success rates gives. Otherwise a Dirichlet process over independent units, which are clusters, or items that recur
    across the tasks.
    """

    name: str = "group"
    about: About = About(
        title="Score of a group of tasks",
        formula=(
            "Σ<sub>k</sub> w<sub>k</sub> θ<sub>k</sub>, θ<sub>k</sub> ~ Beta(d θ, d (1 − θ)), S<sub>k</sub> "
            "~ Bin(n<sub>k</sub>, θ<sub>k</sub>)"
        ),
        text=(
            "Exactly these tasks, new questions of their kind. Centred on the plain mean; how much the "
            "questions of a task vary is learnt from all tasks. Clusters, "
            "trials and items that recur across the tasks are weighted as wholes by a Dirichlet process "
            "instead."
        ),
        sources=(
            "bowyer2025",
            "ferguson1973",
        ),
        takes_groups=True,
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses data of a single task, and scores without known bounds."""
        return _not_a_bounded_group(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the weighted mean."""
        data, structure = _group_of(problem), problem.structure
        totals, sizes = _by_task(data)
        value, notes = float(data.weights @ (totals / sizes)), (_weights_note(data),)
        if structure.score_type == "binary" and structure.n_clusters is None and data.n_trials == 1:
            found = credible(problem, group_posterior(totals, sizes, data.weights), value, notes=notes)
        else:
            low, high = structure.bounds or (0.0, 1.0)
            posterior = shared_items_posterior(data.values, data.tasks, data.units, data.weights, low=low, high=high)
            warnings = _few_effective_units(posterior.effective_units, len(np.unique(data.units)))
            found = credible(problem, posterior, value, default="quantile", notes=notes, warnings=warnings)
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class NewTasks:
    """Score expected on new tasks of the kind of these: the tasks are the clusters of a Dirichlet-process ratio."""

    name: str = "new-tasks"
    about: About = About(
        title="Score of new tasks of a group's kind",
        formula=(
            "Σ<sub>k</sub> g<sub>k</sub> w<sub>k</sub> ȳ<sub>k</sub> / Σ<sub>k</sub> g<sub>k</sub> "
            "w<sub>k</sub>, g ~ Dirichlet(m, 1, …, 1, m)"
        ),
        text=(
            "The group's tasks count as a sample of tasks: each is a cluster with its weight, in a Dirichlet "
            "process with prior tasks all at the lowest and all at the highest score."
        ),
        sources=("ferguson1973",),
        takes_groups=True,
    )

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses what `group` refuses, and tasks that share items, which are no independent draws of tasks."""
        if reason := _not_a_bounded_group(problem):
            return reason
        shares = isinstance(problem.data, TaskGroup) and problem.data.shares_units
        return "needs tasks that were drawn independently; these share items" if shares else None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the weighted mean over tasks."""
        data = _group_of(problem)
        totals, sizes = _by_task(data)
        means, weights = totals / sizes, data.weights * len(data.weights)
        low, high = problem.structure.bounds or (0.0, 1.0)
        posterior = clustered_bounded_posterior(weights * means, weights, low, high)
        found = credible(
            problem,
            posterior,
            float(data.weights @ means),
            notes=("the tasks count as a sample of tasks; group is about exactly these", _weights_note(data)),
            warnings=_few_tasks(len(sizes)),
        )
        return build(problem, self.name, found)


def _not_a_bounded_group(problem: Problem) -> str | None:
    if not isinstance(problem.data, TaskGroup):
        return "is made for groups of tasks"
    if reason := not_a_mean(problem):
        return reason
    return None if problem.structure.bounds else "needs scores of a known range; --range METRIC=LO,HI gives one"


def _group_of(problem: Problem) -> TaskGroup:
    if not isinstance(problem.data, TaskGroup):
        raise NotEstimableError("no group of tasks")
    return problem.data


def _by_task(data: TaskGroup) -> tuple[FloatArray, FloatArray]:
    """Total score and number of questions of each task; float (n_tasks,) each."""
    return np.bincount(data.tasks, data.values).astype(float), np.bincount(data.tasks).astype(float)


def _weights_note(data: TaskGroup) -> str:
    n = len(data.weights)
    if np.ptp(data.weights) <= 1e-9:
        return f"{n} tasks of equal weight" if n > 1 else "1 task"
    worth = effective_weights(data.weights)
    return f"{n} tasks weighted by their number of questions, worth {worth:.1f} of equal weight"


def _few_effective_units(effective: float, n_units: int) -> tuple[str, ...]:
    """A warning where some tasks weigh so much that few of the questions or clusters count."""
    if effective >= FEW_UNITS or effective > n_units / 2:
        return ()
    return (
        f"tasks of few questions or clusters have much weight: {n_units} independent units are worth {effective:.1f} "
        "of equal influence, and such intervals can be too narrow (.55 to .85 instead of .95 in simulations with 5)",
    )


def _few_tasks(n: int) -> tuple[str, ...]:
    if n >= FEW_TASKS:
        return ()
    return (f"with {n} task{'s' if n != 1 else ''} little is known of how tasks spread: the interval is rough",)


ESTIMATORS = (GroupMean(), NewTasks())
