"""Compare the overall scores of systems with that of a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.analyses.overall.combine import Combination
from harness_uq.analyses.overall.difference_posterior import DifferencePosteriors
from harness_uq.analyses.overall.estimate import overall_result, refused
from harness_uq.analyses.overall.rank import OverallScores, overall_scores, overall_tasks
from harness_uq.analyses.rank import comparable_runs, joint_tasks
from harness_uq.data.arrays import FloatArray
from harness_uq.inference.contrasts import Contrast
from harness_uq.inference.decisions import verdict_of
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.verdicts import VerdictInputs
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError, NotEstimableError, refusal_of, unknown_name
from harness_uq.options import Options
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.results.overall import Overall, OverallDifference

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label

OVERALL = "overall"


def compare_overall(
    runs: Runs,
    baseline: str,
    options: Options | None = None,
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
    options : options of the comparisons and of the combination of tasks; the margin of the task `overall` applies
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
    The interval of a single difference is that of the row with the same weights in `compare`: the row of a group, or of
    all questions. With right-or-wrong answers, the questions of all tasks are pooled in the same way with any other
    weights. Otherwise the interval is d_j -+ c_j s_j, with the difference d_j and standard deviation s_j of system j in
    the joint draws of all systems, where c_j is the quantile of |error| / s_j.

    The simultaneous interval is the single interval, stretched by c / c_j. Here c is the quantile of the largest
    |error| / s_j over all systems, as in Dunnett's test. With one system both intervals are the same.

    References
    ----------
    Dunnett (1955), J. Am. Stat. Assoc. 50, 1096-1121.
    """
    offered, chosen = plugins or load_plugins(), options or Options()
    ranking = chosen.estimation
    known = comparable_runs(
        task_logs(runs, offered), ranking, offered, labels=labels, inclusion_probabilities=inclusion_probabilities
    )
    if baseline not in known.by_system:
        raise DataError(unknown_name("baseline", baseline, known.by_system))
    selection = overall_tasks(known, chosen, ranking, offered)
    if len(selection.tasks) < 2:
        return None
    parts = {part for task in selection.tasks for part in task.parts}
    try:
        tasks = joint_tasks(known, ranking, offered, parts)
        scores = overall_scores(tasks, selection, chosen, ranking)
        posteriors = DifferencePosteriors(tasks, scores.combination, selection.group, chosen)
        differences = _differences(scores, posteriors, baseline, chosen)
    except NotEstimableError as error:
        return refused(chosen, refusal_of(error))
    sign = 1 if scores.combination.higher_is_better else -1
    systems = sorted(scores.systems, key=lambda system: -sign * system.value)
    result = overall_result(chosen, selection, scores.combination, systems, scores.messages)
    place = {system.system: k for k, system in enumerate(systems)}
    differences.sort(key=lambda difference: place[difference.system])
    return replace(result, baseline=baseline, differences=tuple(differences))


def worse_overall(result: Overall, margin: float) -> list[OverallDifference]:
    """Return the systems that are worse than the baseline by more than the margin, by simultaneous intervals."""
    ends = [one.interval.high if result.higher_is_better else -one.interval.low for one in result.differences]
    return [one for one, best in zip(result.differences, ends, strict=True) if best < -margin]


def _differences(
    scores: OverallScores, posteriors: DifferencePosteriors, baseline: str, options: Options
) -> list[OverallDifference]:
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
    differences = []
    for k, one, single in zip(others, errors, np.quantile(scaled, options.level, axis=1).tolist(), strict=True):
        value = float(values[k] - values[base])
        found = posteriors.find((names[k], baseline), value)
        alone = _of_draws(value, one, single, options) if found is None else _of_posterior(value, found, options)
        stretch = together / single if single > 0 else 1.0
        differences.append(_difference((names[k], baseline), value, alone, stretch, scores.combination, options))
    return differences


@dataclass(frozen=True, slots=True, eq=False)
class _Alone:
    """The interval of one difference on its own, P(A > B), and the posterior if it is known."""

    interval: Interval
    prob_positive: float
    posterior: Posterior | None = None


def _of_draws(value: float, errors: FloatArray, factor: float, options: Options) -> _Alone:
    half = factor * float(errors.std())
    interval = Interval(value - half, value + half, options.level, "quantile")
    return _Alone(interval, float((value + errors > 0).mean()))


def _of_posterior(value: float, found: Contrast, options: Options) -> _Alone:
    low, high = found.interval(options.level, value)
    prob_positive = found.prob_positive
    if prob_positive is None:
        prob_positive = 1.0 - float(found.posterior.cdf(0.0))
    return _Alone(Interval(low, high, options.level, found.kind), prob_positive, found.posterior)


def _difference(
    names: tuple[str, str],
    value: float,
    alone: _Alone,
    stretch: float,
    combination: Combination,
    options: Options,
) -> OverallDifference:
    """Return one difference.

    `names`: the system and the baseline. `stretch`: how many times as far from the difference the limits of the
    simultaneous interval are.
    """
    single = alone.interval
    low, high = (limit + (stretch - 1) * (limit - value) for limit in (single.low, single.high))
    together = replace(single, low=low, high=high)
    sign = 1 if combination.higher_is_better else -1
    verdicts = []
    for interval in (together, single):
        evidence = VerdictInputs(
            min(sign * interval.low, sign * interval.high),
            max(sign * interval.low, sign * interval.high),
            name_a=names[0],
            name_b=names[1],
            margin=options.margin_of(OVERALL),
            in_points=combination.bounds == (0.0, 1.0),
        )
        verdicts.append(verdict_of(evidence))
    return OverallDifference(
        system=names[0],
        value=value,
        interval=together,
        single_interval=single,
        prob_better=alone.prob_positive if combination.higher_is_better else 1.0 - alone.prob_positive,
        verdict=verdicts[0][0],
        verdict_text=verdicts[0][1],
        single_verdict=verdicts[1][0],
        posterior=alone.posterior,
    )
