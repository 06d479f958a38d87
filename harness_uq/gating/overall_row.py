"""The overall result of two systems as one row of a gate."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from harness_uq.comparison.build_rows import prob_noninferior
from harness_uq.comparison.differences import std_error_of
from harness_uq.data.task_log import TaskLog
from harness_uq.errors import DataError, NotEstimableError
from harness_uq.options import OVERALL, Options
from harness_uq.overall.compare import compare_overall
from harness_uq.plugins.manager import Plugins
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.overall import Overall, OverallDifference


def overall_comparison(
    new: Sequence[TaskLog],
    baseline: Sequence[TaskLog],
    options: Options,
    plugins: Plugins,
) -> Comparison:
    """Compare the overall scores of two systems, with the margin of the task `overall`.

    A decision at alpha is that of the interval at level 1 - alpha. If the posterior of the difference is unknown, the
    error counts as normal with the standard deviation of the interval.

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
    result = compare_overall(logs, names[1], options, plugins=plugins)
    if result is None:
        raise DataError("an overall decision requires at least two tasks")
    if not result.differences:
        raise NotEstimableError(result.reason or "There is no overall result")
    return _comparison(result, names, options)


def _comparison(result: Overall, names: tuple[str, str], options: Options) -> Comparison:
    (one,) = result.differences
    by_name = {system.system: system for system in result.systems}
    a, b = by_name[names[0]], by_name[names[1]]
    margin = options.margin_of(OVERALL)
    std_error = _std_error(one)
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
        prob_noninferior=_prob_noninferior(one, std_error, margin, higher_is_better=result.higher_is_better),
        higher_is_better=result.higher_is_better,
        posterior=one.posterior,
        messages=result.messages,
    )


def _std_error(one: OverallDifference) -> float:
    """Return the standard error of the difference."""
    if one.posterior is not None:
        return std_error_of(one.posterior)
    return one.single_interval.width / 2 / NormalDist().inv_cdf((1 + one.single_interval.level) / 2)


def _prob_noninferior(
    one: OverallDifference, std_error: float, margin: float, *, higher_is_better: bool
) -> float | None:
    if one.posterior is not None:
        return prob_noninferior(one.posterior, margin, higher_is_better=higher_is_better)
    sign = 1 if higher_is_better else -1
    return NormalDist().cdf((sign * one.value + margin) / std_error) if std_error > 0 else None
