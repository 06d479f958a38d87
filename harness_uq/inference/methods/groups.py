"""The score of a group of tasks."""

import numpy as np

from harness_uq import stats
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.task_log import FloatArray, TaskGroup
from harness_uq.inference.method import RequiresProblem, credible
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate

FEW_TASKS = 10
FEW_UNITS = 10


def _needs_bounded_group(method: str, problem: Problem) -> Message | None:
    if not isinstance(problem.data, TaskGroup):
        return catalogue.GROUP_REQUIRED(method=method)
    return None if problem.structure.bounds else catalogue.RANGE_REQUIRED(method=method)


def _needs_separate_items(method: str, problem: Problem) -> Message | None:
    """Tasks that share items are not independent draws of tasks."""
    shares = isinstance(problem.data, TaskGroup) and problem.data.shares_units
    return catalogue.INDEPENDENT_TASKS_REQUIRED(method=method) if shares else None


class GroupMean(RequiresProblem):
    """Weighted mean of the scores of exactly these tasks, on new questions from the same population.

    Independent questions with binary scores: centred on the mean score, with the variance from a hierarchy of the
    success rates of the tasks, or from each task alone if few tasks determine it. Otherwise a Dirichlet process over
    independent units, which are clusters or items that occur in several tasks.
    """

    name = "group"
    info = MethodInfo(
        title="Score of a group of tasks",
        formula=(
            "Σ<sub>k</sub> w<sub>k</sub> θ<sub>k</sub>, θ<sub>k</sub> ~ Beta(d θ, d (1 − θ)), S<sub>k</sub> "
            "~ Bin(n<sub>k</sub>, θ<sub>k</sub>)"
        ),
        text=(
            "Exactly these tasks, new questions from the same population. Centred on the plain mean; how much the "
            "questions of a task vary is learnt from all tasks, or from the task alone if few tasks determine the "
            "variance. Clusters, "
            "trials and items that recur across the tasks are weighted as wholes by a Dirichlet process "
            "instead."
        ),
        sources=(
            "bowyer2025",
            "ferguson1973",
        ),
        takes_groups=True,
        uses_clusters=True,
    )
    requirements = (_needs_bounded_group,)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the weighted mean."""
        data, structure = _group_of(problem), problem.structure
        totals, sizes = _by_task(data)
        value = float(data.weights @ (totals / sizes))
        messages: tuple[Message, ...] = (_weights_note(data),)
        if structure.score_type == "binary" and structure.n_clusters is None and data.n_trials == 1:
            result = credible(problem, stats.group_posterior(totals, sizes, data.weights), value, messages=messages)
        else:
            low, high = structure.bounds or (0.0, 1.0)
            posterior = stats.shared_items_posterior(
                data.values, data.tasks, data.units, data.weights, low=low, high=high
            )
            messages += _few_effective_units(posterior.effective_units, len(np.unique(data.units)))
            result = credible(problem, posterior, value, default="quantile", messages=messages)
        return result.estimate(problem, self.name)


class NewTasks(RequiresProblem):
    """Expected score on new tasks: Student t on the logit scale and a Dirichlet process over tasks, averaged."""

    name = "new-tasks"
    info = MethodInfo(
        title="Score of new tasks of a group's kind",
        formula=(
            "logit m ± t<sub>c−1</sub> s / (√c m (1 − m)); Σ<sub>k</sub> g<sub>k</sub> w<sub>k</sub> ȳ<sub>k</sub> / "
            "Σ<sub>k</sub> g<sub>k</sub> w<sub>k</sub>, g ~ Dirichlet(m, 1, …, 1, m)"
        ),
        text=(
            "The group's tasks count as a sample of tasks. If their mean scores are alike, the interval is that of "
            "Student's t on the logit scale; if they differ much, that of a Dirichlet process with prior tasks at the "
            "lowest and the highest score. The limits are averaged with weights that depend on the spread."
        ),
        sources=("ferguson1973",),
        takes_groups=True,
        uses_clusters=True,
    )
    requirements = (_needs_bounded_group, _needs_separate_items)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the weighted mean over tasks."""
        data = _group_of(problem)
        totals, sizes = _by_task(data)
        means = totals / sizes
        low, high = problem.structure.bounds or (0.0, 1.0)
        posterior = stats.new_tasks_posterior(means, data.weights, float(sizes.sum()), low, high)
        result = credible(
            problem,
            posterior,
            float(data.weights @ means),
            messages=(catalogue.TASKS_AS_SAMPLE(), _weights_note(data), *_few_tasks(len(sizes))),
        )
        return result.estimate(problem, self.name)


def _group_of(problem: Problem) -> TaskGroup:
    if not isinstance(problem.data, TaskGroup):
        raise NotEstimableError(catalogue.GROUP_REQUIRED(method="group"))
    return problem.data


def _by_task(data: TaskGroup) -> tuple[FloatArray, FloatArray]:
    """Total score and number of questions of each task; float (n_tasks,) each."""
    return np.bincount(data.tasks, data.values).astype(float), np.bincount(data.tasks).astype(float)


def _weights_note(data: TaskGroup) -> Message:
    n = len(data.weights)
    if np.ptp(data.weights) <= 1e-9:
        return catalogue.EQUAL_TASK_WEIGHTS(n_tasks=n)
    return catalogue.TASK_WEIGHTS_BY_SIZE(n_tasks=n, effective=stats.effective_weights(data.weights))


def _few_effective_units(effective: float, n_units: int) -> tuple[Message, ...]:
    """A warning if a few tasks have so much weight that the effective number of questions or clusters is small."""
    if effective >= FEW_UNITS or effective > n_units / 2:
        return ()
    return (catalogue.FEW_EFFECTIVE_UNITS(n_units=n_units, effective=effective),)


def _few_tasks(n: int) -> tuple[Message, ...]:
    if n >= FEW_TASKS:
        return ()
    return (catalogue.FEW_TASKS(n_tasks=n),)


ESTIMATORS = (GroupMean(), NewTasks())
