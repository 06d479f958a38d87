"""Partially pooled values of groups, with standard errors that do not depend much on single small groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.results.estimate import Interval
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.groups.partial_pooling import pool_groups

FEWEST_GROUPS = 3
_PRIOR_QUESTIONS = 4.0


@dataclass(frozen=True, slots=True)
class GroupValue:
    """Value of a group with its standard error and its number of questions."""

    value: float
    std_error: float
    n_questions: int

    @classmethod
    def of(cls, value: float | None, std_error: float | None, n_questions: int | None) -> "GroupValue | None":
        """Return the value; None if it has no standard error."""
        return cls(value, std_error, n_questions) if value is not None and std_error and n_questions else None


@dataclass(frozen=True, slots=True)
class PooledValues:
    """Pooled value and interval of each group, None for groups without a value, and the spread between groups.

    `spread` is None if there are too few groups to pool.
    """

    values: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]
    spread: float | None = None


def pooled_values(
    groups: Sequence[GroupValue | None], level: float, bounds: tuple[float, float] | None = None
) -> PooledValues:
    """Return the partially pooled values of at least three groups; with fewer, no group has one.

    The variance per question of each group counts as if four questions with the mean variance of all groups were added:
    a small group whose answers are all right would otherwise seem to be known exactly. `groups`: value of each group;
    None if it is not estimable. `level`: probability of the intervals. `bounds`: smallest and largest possible value,
    to which intervals are limited. True values lie between them, so the limits do not change the coverage of the
    intervals.
    """
    known = [(k, one) for k, one in enumerate(groups) if one is not None]
    values: list[float | None] = [None] * len(groups)
    intervals: list[Interval | None] = [None] * len(groups)
    if len(known) < FEWEST_GROUPS:
        return PooledValues(tuple(values), tuple(intervals))
    present = [one for _, one in known]
    found = pool_groups([one.value for one in present], stable_errors(present), level=level)
    low, high = (end if bounds is None else np.clip(end, *bounds) for end in (found.low, found.high))
    for position, (k, _) in enumerate(known):
        values[k] = float(found.means[position])
        intervals[k] = Interval(float(low[position]), float(high[position]), level, "quantile")
    return PooledValues(tuple(values), tuple(intervals), found.spread)


def stable_errors(groups: Sequence[GroupValue]) -> FloatArray:
    """Return the standard errors, with variances per question that are shrunk towards their mean."""
    n = np.array([one.n_questions for one in groups], float)
    per_question = n * np.array([one.std_error for one in groups]) ** 2
    common = float(np.average(per_question, weights=n))
    smooth = (n * per_question + _PRIOR_QUESTIONS * common) / (n + _PRIOR_QUESTIONS)
    return np.asarray(np.sqrt(smooth / n))
