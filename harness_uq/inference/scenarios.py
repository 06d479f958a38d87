"""Apply the policies for missing scores to logs, and report how much the result depends on them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.special import bdtrc

from harness_uq.data.missing_scores import Extreme, MissingCounts, find_missing
from harness_uq.data.resources import RESOURCE_METRICS
from harness_uq.data.selection import higher_is_better
from harness_uq.data.structure import StructureOptions, score_type_of
from harness_uq.data.task_log import AggregateScore, Scores, TaskData, TaskLog
from harness_uq.messages.catalogue.estimation import (
    IDENTIFIED_RANGE,
    MISSING_SCORES_MATTER,
    MISSING_SCORES_REFUSED,
)
from harness_uq.messages.errors import DataError, StructureError
from harness_uq.results.estimate import Estimate, Interval

_FEW = 0.02  # a share of missing scores that is not reported if it may be as low as this
_ALPHA = 0.05
_NOTABLE = 0.5  # largest shift of the score by missing trials, in standard errors, that is not reported

EstimateAt: TypeAlias = Callable[[Extreme, float], Estimate]
"""Estimate of a score with the worst or the best possible scores of missing trials, at a level."""


def with_policies(logs: Iterable[TaskLog], structure: StructureOptions) -> list[TaskLog]:
    """The logs, in which trials without a score count as the policies of `structure` say.

    A metric whose worst score is unknown becomes a total without a value if it is needed. Raises DataError if a trial
    without a score has the policy `error`.
    """
    return [_completed(log, structure) for log in logs]


def _completed(log: TaskLog, structure: StructureOptions) -> TaskLog:
    data = tuple(_with_policies(log, item, structure) for item in log.data)
    is_unchanged = all(new is old for new, old in zip(data, log.data, strict=True))
    return log if is_unchanged else replace(log, data=data)


def _with_policies(log: TaskLog, data: TaskData, structure: StructureOptions) -> TaskData:
    if not isinstance(data, Scores) or data.metric in RESOURCE_METRICS:
        return data
    missing = find_missing(data.values, log.ended_by, structure.missing, is_complete=data.is_complete)
    if missing is None:
        return data
    counts = missing.counts
    if (missing.policy == "error").any():
        raise DataError(
            MISSING_SCORES_REFUSED(
                task=log.task,
                system=log.system,
                n_missing=counts.n_missing,
                n_trials=counts.n_trials,
                causes=counts.causes,
            )
        )
    bounds = _range_of(log, data, structure)
    n_replaced = counts.n_worst + (counts.n_open if structure.missing.extreme else 0)
    if bounds is None and n_replaced:
        reason = f"Trials without a score cannot be replaced, because the range of {data.metric!r} is unknown (--range)"
        return AggregateScore(data.metric, data.filter, None, None, reason)
    low, high = bounds or (math.nan, math.nan)
    worst, best = (low, high) if higher_is_better(log, data.metric) else (high, low)
    open_score = {None: math.nan, "worst": worst, "best": best}[structure.missing.extreme]
    completed = missing.completed(data.values, worst, open_score)
    if n_replaced and data.is_scored.any():
        of_questions = np.nanmean(data.values[data.is_scored], axis=1)
        counts = replace(counts, logged=(float(of_questions.mean()), len(of_questions)))
    return replace(data, values=completed, bounds=bounds or data.bounds, missing=counts)


def _range_of(log: TaskLog, data: Scores, structure: StructureOptions) -> tuple[float, float] | None:
    """The range of possible scores; None if it is unknown or contradicted by the scores."""
    try:
        return score_type_of(data, structure.of_task(log.task).ranges)[1]
    except StructureError:
        return None


def identified(row: Estimate, at: EstimateAt, level: float) -> Estimate:
    """The estimate with an interval that is valid for any scores of the trials with the policy `bounds`.

    `row`: estimate without these trials, whose value is kept. `at`: estimates with the worst and the best scores of
    these trials.
    """
    from harness_uq.stats.trials.partial_identification import imbens_manski_level

    extremes: tuple[Extreme, Extreme] = ("worst", "best")
    ends = {extreme: at(extreme, level) for extreme in extremes}
    for end in ends.values():
        if end.interval is None or end.value is None:
            return end
    first, second = sorted(extremes, key=lambda extreme: ends[extreme].value or 0.0)
    limits = ends[first].value or 0.0, ends[second].value or 0.0
    std_error = max(end.std_error or 0.0 for end in ends.values())
    outer = imbens_manski_level(limits[1] - limits[0], std_error, level)
    low, high = at(first, outer).interval, at(second, outer).interval
    if low is None or high is None:
        return ends[first]
    # quantiles of a posterior exclude a score at the end of the range, such as 1 if all scores may be 1
    ends_of_interval = min(low.low, limits[0]), max(high.high, limits[1])
    return replace(
        row,
        interval=Interval(*ends_of_interval, level, "confidence" if row.posterior is None else "quantile"),
        std_error=None,
        posterior=None,
        posterior_mean=None,
        identified_range=limits,
        messages=(*row.messages, IDENTIFIED_RANGE(quantity="score", low=limits[0], high=limits[1])),
    )


def with_sensitivity(row: Estimate, counts: MissingCounts, at: EstimateAt, level: float) -> Estimate:
    """Warn if trials without a score, which are left out by default, could move the score by half a standard error.

    `row`: estimate without the trials. `counts`: numbers of trials; nothing is reported unless significantly more than
    2 % have no score. `at`: estimates with the worst and the best scores of all these trials.
    """
    has_few = bdtrc(counts.n_missing - 1, counts.n_trials, _FEW) > _ALPHA
    if has_few or row.interval is None or row.value is None:
        return row
    worst, wide = at("worst", level), identified(row, at, level)
    if wide.identified_range is None or wide.interval is None or worst.interval is None or worst.value is None:
        return row
    shift = max(abs(end - row.value) for end in wide.identified_range)
    if shift <= _NOTABLE * (row.std_error or 0.0):
        return row
    warning = MISSING_SCORES_MATTER(
        n_missing=counts.n_missing,
        n_trials=counts.n_trials,
        value=row.value,
        low=row.interval.low,
        high=row.interval.high,
        worst=worst.value,
        worst_low=worst.interval.low,
        worst_high=worst.interval.high,
        lowest=wide.interval.low,
        highest=wide.interval.high,
    )
    return replace(row, messages=(*row.messages, warning))
