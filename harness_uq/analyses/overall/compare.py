"""Compare the overall scores of systems with that of a baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness_uq.analyses.joint_tasks import comparable_runs, joint_tasks
from harness_uq.analyses.overall.estimate import overall_result, refused
from harness_uq.analyses.overall.joint_scores import OverallScores, overall_scores, overall_tasks
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.decisions import verdict_of
from harness_uq.inference.verdicts import VerdictInputs
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.errors import NotEstimableError, refusal_of
from harness_uq.options import OVERALL, Options
from harness_uq.results.overall import Overall, OverallDifference

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label


def compare_overall(
    logs: Sequence[TaskLog],
    others: Sequence[TaskLog],
    options: Options,
    plugins: Plugins,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
) -> Overall | None:
    """Compare the overall score of each system in the logs with that of the baseline, of which `others` are the logs.

    If the baseline has the name of another system, they are named `NAME (A)` and `NAME (B)`.

    Raises
    ------
    DataError : if an option names a task or metric that does not exist, or tasks are missing and the options do not
        allow it
    """
    baseline = others[0].system
    if any(log.system == baseline for log in logs):
        logs = [replace(log, system=f"{log.system} (A)") for log in logs]
        baseline = f"{baseline} (B)"
        others = [replace(log, system=baseline) for log in others]
    known = comparable_runs(
        [*logs, *others], options.estimation, plugins, labels=labels, inclusion_probabilities=inclusion_probabilities
    )
    selection = overall_tasks(known, options, plugins)
    if len(selection.tasks) < 2:
        return None
    parts = {part for task in selection.tasks for part in task.parts}
    try:
        scores = overall_scores(joint_tasks(known, options.estimation, plugins, parts), selection, options)
        differences = _differences(scores, baseline)
    except NotEstimableError as error:
        return refused(options, refusal_of(error))
    sign = 1 if scores.combination.higher_is_better else -1
    systems = sorted(scores.systems, key=lambda system: -sign * system.value)
    result = overall_result(options, selection, scores.combination, systems, scores.messages)
    place = {system.system: k for k, system in enumerate(systems)}
    differences.sort(key=lambda difference: place[difference.system])
    return replace(result, baseline=baseline, differences=tuple(differences))


def worse_overall(result: Overall, margin: float) -> list[OverallDifference]:
    """Return the systems that are worse than the baseline by more than the margin, by simultaneous intervals."""
    ends = [one.interval.high if result.higher_is_better else -one.interval.low for one in result.differences]
    return [one for one, best in zip(result.differences, ends, strict=True) if best < -margin]


def _differences(scores: OverallScores, baseline: str) -> list[OverallDifference]:
    names = [system.system for system in scores.systems]
    if baseline not in names:
        raise NotEstimableError(f"The baseline {baseline!r} lacks some tasks")
    base = names.index(baseline)
    others = [k for k in range(len(names)) if k != base]
    if len(others) == 1:
        return [_difference(scores, others[0], base, 1.0)]
    errors = scores.errors(others, base)
    spread = errors.std(axis=1)
    scaled = np.abs(errors) / np.where(spread > 0, spread, 1.0)[:, None]
    level = scores.options.level
    together = float(np.quantile(scaled.max(axis=0), level)) if others else 0.0
    return [
        _difference(scores, k, base, together / single if single > 0 else 1.0)
        for k, single in zip(others, np.quantile(scaled, level, axis=1).tolist(), strict=True)
    ]


def _difference(scores: OverallScores, k: int, base: int, stretch: float) -> OverallDifference:
    """One difference; the limits of its simultaneous interval are `stretch` times as far from it as those alone."""
    alone, combination = scores.difference(k, base), scores.combination
    low, high = (limit + (stretch - 1) * (limit - alone.value) for limit in (alone.interval.low, alone.interval.high))
    together = replace(alone.interval, low=low, high=high)
    sign = 1 if combination.higher_is_better else -1
    verdicts = [
        verdict_of(
            VerdictInputs(
                min(sign * interval.low, sign * interval.high),
                max(sign * interval.low, sign * interval.high),
                name_a=scores.systems[k].system,
                name_b=scores.systems[base].system,
                margin=scores.options.margin_of(OVERALL),
                in_points=combination.bounds == (0.0, 1.0),
            )
        )
        for interval in (together, alone.interval)
    ]
    return OverallDifference(
        system=scores.systems[k].system,
        value=alone.value,
        interval=together,
        single_interval=alone.interval,
        prob_better=alone.prob_positive if combination.higher_is_better else 1.0 - alone.prob_positive,
        verdict=verdicts[0][0],
        verdict_text=verdicts[0][1],
        single_verdict=verdicts[1][0],
        posterior=alone.posterior,
    )
