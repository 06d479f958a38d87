"""The overall result of two systems as one row of a gate."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from harness_uq.comparison.build_rows import CompareOptions
from harness_uq.comparison.compare import OVERALL
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError, NotEstimableError
from harness_uq.overall.compare import compare_overall
from harness_uq.overall.options import OverallOptions
from harness_uq.plugins.manager import Plugins
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.overall import Overall


def overall_comparison(
    new: Sequence[TaskLog],
    baseline: Sequence[TaskLog],
    overall: OverallOptions,
    options: CompareOptions,
    plugins: Plugins,
) -> Comparison:
    """Compare the overall scores of two systems, with the margin of the task `overall`.

    The error of the difference counts as normal with the standard deviation of its interval, so that a decision at
    alpha is that of the interval at level 1 - alpha.

    Raises
    ------
    DataError : if there are fewer than two tasks
    NotEstimableError : if there is no overall result, for the reason that its message gives
    """
    names = new[0].system, baseline[0].system
    if names[0] == names[1]:
        names = f"{names[0]} (A)", f"{names[1]} (B)"
    sides = zip((new, baseline), names, strict=True)
    logs = [replace(log, system=name) for side, name in sides for log in side]
    result = compare_overall(logs, names[1], overall, options, plugins=plugins)
    if result is None:
        raise DataError("an overall decision requires at least two tasks")
    if not result.differences:
        raise NotEstimableError(result.reason or "There is no overall result")
    return _comparison(result, names, options)


def _comparison(result: Overall, names: tuple[str, str], options: CompareOptions) -> Comparison:
    (one,) = result.differences
    by_name = {system.system: system for system in result.systems}
    a, b = by_name[names[0]], by_name[names[1]]
    margin, sign = options.margin_of(OVERALL), 1 if result.higher_is_better else -1
    normal = NormalDist()
    std_error = one.single_interval.width / 2 / normal.inv_cdf((1 + options.level) / 2)
    metrics = dict.fromkeys((task.metric, task.filter) for task in result.tasks)
    metric, filter_name = next(iter(metrics)) if len(metrics) == 1 else ("mean of tasks", "none")
    return Comparison(
        task=OVERALL,
        metric=metric,
        filter=filter_name,
        system_a=names[0],
        system_b=names[1],
        scope=options.scope,
        method="overall",
        value_a=a.value,
        value_b=b.value,
        difference=Difference(one.value, std_error, one.single_interval),
        verdict=one.single_verdict,
        verdict_text=one.verdict_text,
        prob_positive=one.prob_better if result.higher_is_better else 1 - one.prob_better,
        n_matched=a.n_questions,
        margin=margin,
        prob_noninferior=normal.cdf((sign * one.value + margin) / std_error) if std_error > 0 else None,
        higher_is_better=result.higher_is_better,
        messages=result.messages,
    )
