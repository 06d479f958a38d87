"""Compare the overall scores of systems with that of a baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.comparison.build_rows import CompareOptions
from harness_uq.comparison.verdicts import VerdictInputs, verdict_of
from harness_uq.data.task_log import FloatArray
from harness_uq.errors import DataError, NotEstimableError, refusal_of, unknown_name
from harness_uq.overall.estimate import overall_result, refused
from harness_uq.overall.options import OverallOptions
from harness_uq.overall.rank import OverallScores, overall_scores, overall_tasks
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.readers import task_logs
from harness_uq.plugins.runs import Runs
from harness_uq.ranking.rank import RankOptions, comparable_runs, joint_tasks
from harness_uq.results.estimate import Interval
from harness_uq.results.overall import Overall, OverallDifference

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label

OVERALL = "overall"


def compare_overall(
    runs: Runs,
    baseline: str,
    overall: OverallOptions | None = None,
    options: CompareOptions | None = None,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
) -> Overall | None:
    """Compare the overall score of each system with that of the baseline, with simultaneous intervals.

    Parameters
    ----------
    runs : runs of the baseline and at least one other system, as for `rank`
    baseline : name of the system with which the others are compared
    overall : how the scores of the tasks are combined
    options : level, margin, scope, structure and seed of the comparisons; the margin of the task `overall` applies
    labels, inclusion_probabilities : human labels that correct the scores of a grader, as for `rank`

    Returns
    -------
    The overall result with a difference for each other system; None if there is only one task

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if no run belongs to the baseline, an option names a task or metric that does not exist, or tasks are
        missing and the options do not allow it
    NotEstimableError : if all logs belong to one system

    Notes
    -----
    The intervals are d_j -+ c s_j, with the difference d_j and standard deviation s_j of system j in the joint
    posterior. c is the quantile of the largest |error| / s_j over all systems, as in Dunnett's test. With one system
    it is the quantile of its own errors.

    References
    ----------
    Dunnett (1955), J. Am. Stat. Assoc. 50, 1096-1121.
    """
    offered, chosen, combined = plugins or load_plugins(), options or CompareOptions(), overall or OverallOptions()
    ranking = RankOptions(level=chosen.level, scope=chosen.scope, structure=chosen.structure, seed=chosen.seed)
    known = comparable_runs(
        task_logs(runs, offered), ranking, offered, labels=labels, inclusion_probabilities=inclusion_probabilities
    )
    if baseline not in known.by_system:
        raise DataError(unknown_name("baseline", baseline, known.by_system))
    selection = overall_tasks(known, combined)
    if len(selection.tasks) < 2:
        return None
    parts = {part for task in selection.tasks for part in task.parts}
    try:
        scores = overall_scores(joint_tasks(known, ranking, offered, parts), selection, combined, ranking)
        differences = _differences(scores, baseline, chosen)
    except NotEstimableError as error:
        return refused(combined, refusal_of(error))
    sign = 1 if scores.combination.higher_is_better else -1
    systems = sorted(scores.systems, key=lambda system: -sign * system.value)
    result = overall_result(combined, selection, scores.combination, systems, scores.messages)
    place = {system.system: k for k, system in enumerate(systems)}
    differences.sort(key=lambda difference: place[difference.system])
    return replace(result, baseline=baseline, differences=tuple(differences))


def worse_overall(result: Overall, margin: float) -> list[OverallDifference]:
    """Return the systems that are worse than the baseline by more than the margin, by simultaneous intervals."""
    ends = [one.interval.high if result.higher_is_better else -one.interval.low for one in result.differences]
    return [one for one, best in zip(result.differences, ends, strict=True) if best < -margin]


def _differences(scores: OverallScores, baseline: str, options: CompareOptions) -> list[OverallDifference]:
    names = [system.system for system in scores.systems]
    if baseline not in names:
        raise NotEstimableError(f"The baseline {baseline!r} lacks some tasks")
    base = names.index(baseline)
    others = [k for k in range(len(names)) if k != base]
    values = np.array([system.value for system in scores.systems])
    errors = (scores.draws - scores.draws[base])[others]
    errors -= errors.mean(axis=1, keepdims=True)
    spread = errors.std(axis=1)
    scaled = np.abs(errors) / np.where(spread > 0, spread, 1.0)[:, None]
    together = float(np.quantile(scaled.max(axis=0), options.level)) if others else 0.0
    return [
        _difference(names[k], float(values[k] - values[base]), one, (together, single), scores, baseline, options)
        for k, one, single in zip(others, errors, np.quantile(scaled, options.level, axis=1).tolist(), strict=True)
    ]


def _difference(
    system: str,
    value: float,
    errors: FloatArray,
    factors: Sequence[float],
    scores: OverallScores,
    baseline: str,
    options: CompareOptions,
) -> OverallDifference:
    """Return one difference.

    Parameters
    ----------
    errors : float (n_draws,); draws of its error
    factors : multiples of the standard deviation of the simultaneous and of the single interval
    """
    spread = float(errors.std())
    sign = 1 if scores.combination.higher_is_better else -1
    intervals, verdicts = [], []
    for factor in factors:
        low, high = value - factor * spread, value + factor * spread
        intervals.append(Interval(low, high, options.level, "quantile"))
        evidence = VerdictInputs(
            min(sign * low, sign * high),
            max(sign * low, sign * high),
            name_a=system,
            name_b=baseline,
            margin=options.margin_of(OVERALL),
            in_points=scores.combination.bounds == (0.0, 1.0),
        )
        verdicts.append(verdict_of(evidence))
    return OverallDifference(
        system=system,
        value=value,
        interval=intervals[0],
        single_interval=intervals[1],
        prob_better=float((sign * (value + errors) > 0).mean()),
        verdict=verdicts[0][0],
        verdict_text=verdicts[0][1],
        single_verdict=verdicts[1][0],
    )
