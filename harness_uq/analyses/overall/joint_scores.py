"""Joint inference about the overall scores of several systems: linear combinations of the scores of tasks."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist

import numpy as np

from harness_uq.analyses.joint_tasks import ComparableRuns, JointTasks
from harness_uq.analyses.overall.combine import SAME_VALUE, Combination, Facts, Rows, combine
from harness_uq.analyses.overall.estimate import chances_of, sample_notes, system_score, with_group_row
from harness_uq.analyses.overall.select_tasks import TaskSelection, select_tasks, task_groups
from harness_uq.data.arrays import FloatArray
from harness_uq.data.panel import pool
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.task_groups import item_labels, joined_labels, labels_of_tasks
from harness_uq.data.task_log import AggregateScore, Scores
from harness_uq.inference.contrasts import Contrast, independent_contrast, paired_contrast
from harness_uq.inference.joint_posterior import JointPosterior
from harness_uq.inference.labels import labels_note
from harness_uq.inference.marginals import marginal
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import OVERALL_WITHOUT_BOUNDS
from harness_uq.messages.catalogue.overall import OVERALL_SHARED_ITEMS, OVERALL_TASK_WARNINGS
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.messages.message import Message, with_severity
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate, Interval, Posterior
from harness_uq.results.overall import OverallSystem
from harness_uq.stats.common.posterior import ScaledPosterior
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.effects.weighted_tasks import shared_error


def overall_tasks(runs: ComparableRuns, options: Options, plugins: Plugins) -> TaskSelection:
    """Select the tasks of the overall result. Raises DataError if an option names a task that does not exist."""
    keys = {system: list(by_key) for system, by_key in runs.by_system.items()}

    def has_interval(system: str, key: ScoreKey) -> bool:
        run = runs.by_system[system].get(key)
        return run is not None and (runs.labels is not None or _has_interval(run, options, plugins))

    return select_tasks(keys, task_groups(runs.logs), options, has_interval)


def _has_interval(run: SelectedRun, options: Options, plugins: Plugins) -> bool:
    """Whether the score of a single task has an interval, as that of right-or-wrong answers always has."""
    if isinstance(run.data, Scores) and options.scope == "population":
        scored = run.data.values[np.isfinite(run.data.values)]
        if len(scored) and np.isin(scored, (0.0, 1.0)).all():
            return True
    return marginal(run, options.estimation, plugins).interval is not None


@dataclass(frozen=True, slots=True)
class PairDifference:
    """A difference of two overall scores, its interval, P(difference > 0), and its posterior if that is known."""

    value: float
    interval: Interval
    prob_positive: float
    posterior: Posterior | None = None


@dataclass(frozen=True, eq=False)
class OverallScores:
    """Joint inference about the overall scores of several systems.

    `draw_errors` draws the errors of the scores, float (n_systems, n_draws), and `task_values` are the scores of each
    task, float (n_tasks, n_systems). The tasks have the weights of the `group`, unless it is None.
    """

    combination: Combination
    systems: tuple[OverallSystem, ...]
    draw_errors: Callable[[], FloatArray]
    task_values: FloatArray
    messages: tuple[Message, ...]
    tasks: JointTasks
    group: ScoreKey | None
    options: Options

    @cached_property
    def draws(self) -> FloatArray:
        """Joint draws of the scores, float (n_systems, n_draws), for what is not known from two systems alone."""
        return np.array([system.value for system in self.systems])[:, None] + self.draw_errors()

    def errors(self, of: Sequence[int], base: int) -> FloatArray:
        """Draws of the differences from one system without their means, float (n_differences, n_draws)."""
        errors = (self.draws - self.draws[base])[of]
        return np.asarray(errors - errors.mean(axis=1, keepdims=True))

    def difference(self, k: int, base: int) -> PairDifference:
        """The difference of two systems: from the questions of all tasks if they can be pooled, else from the draws.

        The posterior equals that of the row in `compare` that has the same weights: the row of a group, or of all
        questions. These rows pool the questions of all tasks, so that their intervals include the variation between
        the differences on the tasks. With right-or-wrong answers this variation is small, and questions are pooled with
        any weights: a task of a few questions with a large weight then counts as few questions. If the questions of a
        task do not match, the estimates of a group count as independent, as in its row.
        """
        value, level = self.systems[k].value - self.systems[base].value, self.options.level
        found = self._contrast((self.systems[k].system, self.systems[base].system), value)
        if found is None:
            (errors,) = self.errors([k], base)
            half = float(np.quantile(np.abs(errors), level))
            interval = Interval(value - half, value + half, level, "quantile")
            return PairDifference(value, interval, float((value + errors > 0).mean()))
        prob_positive = found.prob_positive
        if prob_positive is None:
            prob_positive = 1.0 - float(found.posterior.cdf(0.0))
        low, high = found.interval(level, value)
        return PairDifference(value, Interval(low, high, level, found.kind), prob_positive, found.posterior)

    def _contrast(self, names: tuple[str, str], value: float) -> Contrast | None:
        """The posterior; None for new tasks, in the scope `benchmark`, with labels, and if questions are not pooled."""
        if (
            self.options.generalizes_over_tasks
            or self.options.scope != "population"
            or self.tasks.runs.labels is not None
        ):
            return None
        try:
            found = self._paired(names) or self._independent(names)
        except (DataError, NotEstimableError):
            return None
        if found is None:
            return None
        finding, (a, b) = found
        total = float(self.combination.coefficients.sum())
        is_same = abs(total * (a - b) - value) <= SAME_VALUE * max(1.0, abs(value))
        low, high = finding.posterior.interval(self.options.level)
        return (
            replace(finding, posterior=_scaled_posterior(finding.posterior, total)) if is_same and low < high else None
        )

    def _paired(self, names: tuple[str, str]) -> tuple[Contrast, tuple[float, float]] | None:
        """Pool the questions of all tasks that have a weight; None if that is not possible."""
        if self.options.method == "independent":
            return None
        members, weights = [], []
        for part, weight in zip(self.combination.parts, self.combination.coefficients.tolist(), strict=True):
            panel = self.tasks.joint[part].panel
            if panel is None:
                return None
            if weight > 0:
                members.append(panel.pair(*(panel.systems.index(name) for name in names)))
                weights.append(weight)
        is_row = self.group is not None or self.options.weights == "questions" or len(members) == 1
        if len({member.bounds for member in members}) > 1 or not (
            is_row or all(member.is_single_binary for member in members)
        ):
            return None
        pair = pool(members, (np.array(weights) / sum(weights)).tolist())
        value_a, value_b = pair.scores.tolist()
        return paired_contrast(pair, self.options.method), (value_a, value_b)

    def _independent(self, names: tuple[str, str]) -> tuple[Contrast, tuple[float, float]] | None:
        """Subtract the independent estimates of a group."""
        if self.group is None:
            return None
        a, b = (group_estimate(self.tasks, name, self.group, self.options.estimation) for name in names)
        if a is None or b is None or a.value is None or b.value is None:
            return None
        return independent_contrast(a, b), (a.value, b.value)


def _scaled_posterior(posterior: Posterior, factor: float) -> Posterior:
    """Return the distribution of `factor` times the parameter."""
    if abs(factor - 1) <= 1e-12:
        return posterior
    if isinstance(posterior, StudentPosterior):
        return StudentPosterior(factor * posterior.mean, factor * posterior.std_error, posterior.df)
    return ScaledPosterior(posterior, factor)


def overall_scores(tasks: JointTasks, selection: TaskSelection, options: Options) -> OverallScores:
    """Combine the joint scores of tasks.

    Raises
    ------
    DataError : if tasks are missing and the options do not allow it
    NotEstimableError : if there is no overall result
    """
    if tasks.runs.extremes and options.structure.missing.has_bounds:
        raise NotEstimableError(OVERALL_WITHOUT_BOUNDS())
    rows: Rows = {
        (system, key): row
        for key, joint in tasks.joint.items()
        for system, row in zip(joint.systems, joint.estimates, strict=True)
    }
    combination = combine(tuple(sorted(tasks.runs.by_system)), selection, rows, _facts(tasks.runs), options)
    joints = [tasks.joint[part] for part in combination.parts]
    index = [[joint.systems.index(system) for system in combination.systems] for joint in joints]
    values = np.array([joint.values[at] for joint, at in zip(joints, index, strict=True)])
    apart = [system_score(system, combination, rows, options) for system in combination.systems]
    factors = np.ones(len(apart))
    place = np.array(combination.task_of_part)
    task_values = np.stack(
        [combination.coefficients[place == k] @ values[place == k] for k in range(len(combination.tasks))]
    )

    def alone() -> FloatArray:
        """Errors as if no two tasks shared items."""
        if not options.generalizes_over_tasks:
            return _scaled(_within_fixed_tasks(joints, index, combination), apart)
        keys = [(task.task, task.metric, task.filter) for task in combination.tasks]
        by_name = sorted(range(len(keys)), key=keys.__getitem__)
        return _scaled(
            _between_tasks(task_values[by_name], options.n_draws, np.random.default_rng(options.seed)), apart
        )

    draw_errors = alone
    is_one_task = np.count_nonzero(combination.coefficients) == 1
    shared = None if options.generalizes_over_tasks or is_one_task else _shared(joints, index, combination)
    if shared is not None:
        errors, factors = _with_shared(alone(), shared)
        draw_errors = partial(np.copy, errors)
    systems = [
        with_group_row(
            system_score(system, combination, rows, options, inflation=float(factor)),
            None if selection.group is None else group_estimate(tasks, system, selection.group, options.estimation),
            options,
        )
        for system, factor in zip(combination.systems, factors, strict=True)
    ]
    return OverallScores(
        combination=combination,
        systems=tuple(systems),
        draw_errors=draw_errors,
        task_values=task_values,
        messages=(
            *([] if tasks.runs.labels is None else [labels_note([row for one in joints for row in one.estimates])]),
            *combination.messages,
            *sample_notes(combination, options),
            *([OVERALL_SHARED_ITEMS(factor=float(factors.mean()))] if not (factors == 1).all() else ()),
            *_task_warnings(joints),
        ),
        tasks=tasks,
        group=selection.group,
        options=options,
    )


def group_estimate(tasks: JointTasks, system: str, group: ScoreKey, options: Options) -> Estimate | None:
    """Return the estimate of a group as `estimate` computes it; None with human labels or without its log."""
    run = tasks.runs.by_system[system].get(group)
    if run is None or tasks.runs.labels is not None:
        return None
    return marginal(run, options, tasks.plugins, logs=[log for log in tasks.runs.logs if log.system == system])


def _facts(runs: ComparableRuns) -> Facts:
    entries = {(system, key): entry for system, by_key in runs.by_system.items() for key, entry in by_key.items()}
    reported = {place: entry.log.reported.get(place[1][1:]) for place, entry in entries.items()}
    return Facts(
        higher_is_better={key: runs.is_higher_better(key) for key in runs.by_key},
        reported={place: one.value for place, one in reported.items() if one is not None and one.value is not None},
        chance=chances_of(runs.logs),
        full_scores={place: score for place, entry in entries.items() if (score := _full_score(entry)) is not None},
    )


def _full_score(entry: SelectedRun) -> tuple[float, int, int] | None:
    """Return an entry of `Facts.full_scores`; None if the score or the number of questions is unknown."""
    data = entry.data
    if isinstance(data, AggregateScore):
        return None if data.value is None or not data.n else (data.value, data.n, data.n)
    rows = entry.scored_rows
    if not isinstance(data, Scores) or not len(rows):
        return None
    if data.missing is not None and data.missing.logged is not None:
        return *data.missing.logged, len(rows)
    return float(np.nanmean(data.values[rows], axis=1).mean()), len(rows), len(rows)


def _task_warnings(joints: Sequence[JointPosterior]) -> Iterator[Message]:
    """Yield one message for each kind of warning of the tasks."""
    kinds = [{(message.code, message.name) for message in with_severity(joint.messages, "warning")} for joint in joints]
    for (code, name), n_tasks in sorted(Counter(kind for of_task in kinds for kind in of_task).items()):
        yield OVERALL_TASK_WARNINGS(n_tasks=n_tasks, warning=code, name=name)


def _within_fixed_tasks(
    joints: Sequence[JointPosterior], index: Sequence[Sequence[int]], combination: Combination
) -> FloatArray:
    """Draw the errors of the weighted sums, float (n_systems, n_draws).

    Tasks are independent, so that the draws of each are permuted.
    """
    n_draws = joints[0].draws.shape[1]
    total = np.zeros((len(index[0]), n_draws))
    for joint, at, weight in zip(joints, index, combination.coefficients, strict=True):
        draws = joint.draws[at][:, joint.rng("overall").permutation(n_draws)]
        total += weight * (draws - draws.mean(axis=1, keepdims=True))
    return total


def _between_tasks(task_values: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw errors with the covariance of the systems' contributions over tasks, float (n_systems, n_draws)."""
    centred = task_values - task_values.mean(axis=0)
    return np.asarray(centred.T @ rng.standard_normal((len(centred), n_draws)))


def _scaled(errors: FloatArray, systems: Sequence[OverallSystem]) -> FloatArray:
    """Scale the errors of each system to the width of its interval; the priors of many small tasks would add up."""
    z = NormalDist().inv_cdf((1 + systems[0].interval.level) / 2)
    widths = np.array([system.interval.width for system in systems]) / (2 * z)
    spread = errors.std(axis=1)
    positive = np.where(spread > 0, spread, 1.0)
    return np.asarray(errors * np.where(spread > 0, widths / positive, 1.0)[:, None])


def _shared(
    joints: Sequence[JointPosterior], index: Sequence[Sequence[int]], combination: Combination
) -> FloatArray | None:
    """Return the covariance between systems that comes from items that tasks share; None if there are none."""
    panels = [joint.panel for joint in joints if joint.panel is not None]
    if len(panels) < len(joints):
        return None
    items = item_labels([panel.runs[0].log for panel in panels], [panel.rows[0] for panel in panels])
    if items is None:
        return None
    parts, contributions = [], []
    for k, (panel, at, weight) in enumerate(zip(panels, index, combination.coefficients, strict=True)):
        means = panel.means[at]
        contributions.append(weight * (means - means.mean(axis=1, keepdims=True)) / panel.n_questions)
        parts.append(np.full(panel.n_questions, k))
    within = labels_of_tasks([panel.units for panel in panels], [panel.n_questions for panel in panels])
    units = joined_labels(within, items)
    return shared_error(np.concatenate(contributions, axis=1), np.concatenate(parts), units)


def _with_shared(errors: FloatArray, shared: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return errors with the additional covariance, and the factor by which each system's standard error changes."""
    covariance = np.cov(errors)
    root, target = _root(covariance), _root(covariance + shared)
    changed = target @ np.linalg.pinv(root) @ errors
    return np.asarray(changed), np.asarray(changed.std(axis=1) / errors.std(axis=1))


def _root(covariance: FloatArray) -> FloatArray:
    """Return the symmetric square root of a matrix; negative eigenvalues count as a thousandth of the largest."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-3 * values.max()))) @ vectors.T)
