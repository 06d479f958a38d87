"""Rank systems by their overall scores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy import stats as scipy_stats

from harness_uq.analyses.overall.combine import Combination, Facts, Rows, combine
from harness_uq.analyses.overall.estimate import (
    chances_of,
    overall_result,
    refused,
    sample_notes,
    system_score,
    with_group_row,
)
from harness_uq.analyses.overall.select_tasks import TaskSelection, select_tasks, task_groups
from harness_uq.analyses.rank import ComparableRuns, JointTasks, comparable_runs, joint_tasks
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.task_groups import item_labels, joined_labels, labels_of_tasks
from harness_uq.data.task_log import AggregateScore, Scores
from harness_uq.inference.compact_letter_display import group_letters
from harness_uq.inference.labels import labels_note
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import marginal
from harness_uq.inference.posterior import JointPosterior
from harness_uq.io.human_labels import selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import OVERALL_WITHOUT_BOUNDS
from harness_uq.messages.catalogue.overall import OVERALL_SHARED_ITEMS, OVERALL_TASK_WARNINGS
from harness_uq.messages.errors import NotEstimableError, refusal_of
from harness_uq.messages.message import Message, with_severity
from harness_uq.options import Options, resolve
from harness_uq.options_typed import RankKeywords
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import Overall, OverallSystem
from harness_uq.stats.effects.weighted_tasks import shared_error
from harness_uq.stats.pairs.rank_sets import rank_sets_of_normal
from harness_uq.stats.pairs.ranks import rank_posterior
from harness_uq.stats.pairs.shrunk_scores import shrunk_draws

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label


def rank_overall(  # type: ignore[misc]
    runs: Runs,
    overall: Options | None = None,
    options: Options | None = None,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
    **keywords: Unpack[RankKeywords],
) -> Overall | None:
    """Rank systems by the weighted mean of their scores on several tasks.

    Parameters
    ----------
    runs : runs of at least two systems, as for `rank`
    overall : how the scores of the tasks are combined
    options : options of the ranking
    labels, inclusion_probabilities : human labels that correct the scores of a grader, as for `rank`
    plugins : plugins to use; by default the installed ones
    **keywords : options as for `rank`

    Returns
    -------
    The overall result with ranks, the best system first; None if there is only one task

    Raises
    ------
    NotEstimableError : if all logs belong to one system
    LogError, DataError, TypeError : as `estimate_overall`
    """
    offered, (chosen, selected) = plugins or load_plugins(), resolve("rank", options, keywords)
    read = task_logs(runs, offered, selection_with_labels(selected, labels))
    known = comparable_runs(read, chosen, offered, labels=labels, inclusion_probabilities=inclusion_probabilities)
    selection = overall_tasks(known, overall or Options(), chosen, offered)
    if len(selection.tasks) < 2:
        return None
    keys = {part for task in selection.tasks for part in task.parts}
    return rank_tasks(joint_tasks(known, chosen, offered, keys), selection, overall or Options(), chosen)


def overall_tasks(runs: ComparableRuns, options: Options, ranking: Options, plugins: Plugins) -> TaskSelection:
    """Select the tasks of the overall result. Raises DataError if an option names a task that does not exist."""
    keys = {system: list(by_key) for system, by_key in runs.by_system.items()}

    def has_interval(system: str, key: ScoreKey) -> bool:
        run = runs.by_system[system].get(key)
        return run is not None and (runs.labels is not None or _has_interval(run, ranking, plugins))

    return select_tasks(keys, task_groups(runs.logs), options, has_interval)


def _has_interval(run: SelectedRun, options: Options, plugins: Plugins) -> bool:
    """Whether the score of a single task has an interval, as that of right-or-wrong answers always has."""
    if isinstance(run.data, Scores) and options.scope == "population" and options.method == "bayes":
        scored = run.data.values[np.isfinite(run.data.values)]
        if len(scored) and np.isin(scored, (0.0, 1.0)).all():
            return True
    return marginal(run, options, plugins).interval is not None


@dataclass(frozen=True, slots=True, eq=False)
class OverallScores:
    """Joint inference about the overall scores of several systems.

    `combination`: tasks, weights and systems. `draws`: float (n_systems, n_draws); joint draws of the scores.
    `task_values`: float (n_tasks, n_systems); scores of each task.
    """

    combination: Combination
    systems: tuple[OverallSystem, ...]
    draws: FloatArray
    task_values: FloatArray
    messages: tuple[Message, ...]


def rank_tasks(tasks: JointTasks, selection: TaskSelection, options: Options, ranking: Options) -> Overall:
    """Rank systems by overall scores, from joint scores of the tasks. Raises DataError if tasks are missing and the
    options do not allow it.
    """
    try:
        scores = overall_scores(tasks, selection, options, ranking)
    except NotEstimableError as error:
        return refused(options, refusal_of(error))
    order, systems, prob_better = _ranks(scores, ranking)
    best_first = [systems[k] for k in order]
    result = overall_result(options, selection, scores.combination, best_first, scores.messages)
    return replace(result, prob_better=tuple(map(tuple, prob_better[np.ix_(order, order)].tolist())))


def overall_scores(tasks: JointTasks, selection: TaskSelection, options: Options, ranking: Options) -> OverallScores:
    """Combine the joint scores of tasks. Raises DataError if tasks are missing and the options do not allow it, and
    NotEstimableError if there is no overall result.
    """
    if tasks.runs.extremes and ranking.structure.missing.has_bounds:
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
    if options.generalizes_over_tasks:
        keys = [(task.task, task.metric, task.filter) for task in combination.tasks]
        by_name = sorted(range(len(keys)), key=keys.__getitem__)
        errors = _between_tasks(task_values[by_name], ranking.n_draws, np.random.default_rng(ranking.seed))
    else:
        errors = _within_fixed_tasks(joints, index, combination)
    errors = _scaled(errors, apart)
    is_one_task = np.count_nonzero(combination.coefficients) == 1
    shared = None if options.generalizes_over_tasks or is_one_task else _shared(joints, index, combination)
    if shared is not None:
        errors, factors = _with_shared(errors, shared)
    systems = [
        with_group_row(
            system_score(system, combination, rows, options, inflation=float(factor)),
            None if selection.group is None else group_estimate(tasks, system, selection.group, ranking.estimation),
            options,
        )
        for system, factor in zip(combination.systems, factors, strict=True)
    ]
    scores = np.array([system.value for system in systems])
    return OverallScores(
        combination=combination,
        systems=tuple(systems),
        draws=scores[:, None] + errors,
        task_values=task_values,
        messages=(
            *([] if tasks.runs.labels is None else [labels_note([row for one in joints for row in one.estimates])]),
            *combination.messages,
            *sample_notes(combination, options),
            *([OVERALL_SHARED_ITEMS(factor=float(factors.mean()))] if not (factors == 1).all() else ()),
            *_task_warnings(joints),
        ),
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


# ---------------------------------------------------------------- joint posterior


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


# ---------------------------------------------------------------- ranks


def _ranks(scores: OverallScores, options: Options) -> tuple[IntArray, list[OverallSystem], FloatArray]:
    """Return the order of the systems, their scores with ranks, and the probabilities of all pairs."""
    sign = 1.0 if scores.combination.higher_is_better else -1.0
    values = np.array([system.value for system in scores.systems])
    order = np.argsort(-sign * values, kind="stable")
    if len(values) == 1:
        return order, list(scores.systems), np.full((1, 1), 0.5)
    rng = np.random.default_rng(options.seed)
    draws = sign * scores.draws
    flat = rank_posterior(draws, level=options.level, rng=rng)
    ranks = rank_posterior(shrunk_draws(draws, rng=rng), level=options.level, rng=rng)
    sets = rank_sets_of_normal(sign * values, np.cov(draws), level=options.level, rng=rng)
    letters = dict(zip(order.tolist(), group_letters((sets.above | sets.above.T)[np.ix_(order, order)]), strict=True))
    task_ranks = scipy_stats.rankdata(-sign * scores.task_values, axis=1)
    best = (sign * scores.task_values).max(axis=1, keepdims=True)
    leads = (sign * scores.task_values >= best - 1e-12 * np.abs(best)).sum(axis=0)
    systems = [
        replace(
            system,
            prob_best=float(ranks.prob_best[k]),
            prob_best_flat=float(flat.prob_best[k]),
            expected_rank=float(ranks.expected[k]),
            rank_interval=(int(ranks.low[k]), int(ranks.high[k])),
            rank_set=(int(sets.low[k]), int(sets.high[k])),
            letters=letters[k],
            average_rank=float(task_ranks[:, k].mean()),
            tasks_led=int(leads[k]),
        )
        for k, system in enumerate(scores.systems)
    ]
    return order, systems, flat.prob_better
