"""Infer the range of a metric from its name and from other metrics, if all its scores are equal.

Scores that are all 0 can be shares of correct answers or points out of 100: the scores themselves do not tell.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.plugin_api import Scores
from harness_uq_lm_eval.read.catalogue import load_catalogue
from harness_uq_lm_eval.read.metric_types import TaskData

_SHARE = (0.0, 1.0)
_PERCENT = (0.0, 100.0)
_PERCENT_NAME = re.compile(r"(.*[_ -])?(percent|percentage|pct)([_ -].*)?|.*%.*", re.IGNORECASE)
_SHARE_NAME = re.compile(
    r"([a-z0-9]+_)*(accuracy|acc|em|exact_match|match|precision|recall|f1|mrr|rate)(_[a-z0-9]+)*|r@\d+", re.IGNORECASE
)
_NO_SCORE = re.compile(r".*(len|length|token|count|time|second).*", re.IGNORECASE)
_LEAST_PERCENT = 10.0  # scales with a largest value of 5 or 10 are common


def with_inferred_ranges(data: Sequence[TaskData]) -> tuple[TaskData, ...]:
    """The data of a task, with ranges of metrics whose scores are all equal, and the source of these ranges.

    The sources are, in order: the catalogue, the other metrics of the task, and the name of the metric. Scores that are
    all 0 or all 1 are otherwise assumed to be shares of correct answers, unless the name indicates another range.
    """
    return tuple(_with_range(item, data) for item in data)


def _with_range(item: TaskData, data: Sequence[TaskData]) -> TaskData:
    ends = _ends(item)
    if not isinstance(item, Scores) or ends is None or ends[0] < ends[1] or _catalogued_range(item) is not None:
        return item
    if 0.0 <= ends[0] <= 100.0 and (source := _source_of_percent(item, data)) is not None:
        return replace(item, bounds=_PERCENT, bounds_source=source)
    if ends[0] in _SHARE and not _SHARE_NAME.fullmatch(item.metric):
        return replace(item, bounds=_SHARE, bounds_source="")
    return item


def _source_of_percent(item: Scores, data: Sequence[TaskData]) -> str | None:
    """What tells that the scores are percentages; None if nothing does."""
    if other := next((other.metric for other in data if other.metric != item.metric and _is_percent(other)), None):
        return f"metric {other!r} of the same task"
    return "its name" if _PERCENT_NAME.fullmatch(item.metric) else None


def _is_percent(data: TaskData) -> bool:
    """Whether the scores are percentages, according to the catalogue or to their values."""
    ends = _ends(data)
    if ends is None or ends[0] < 0.0 or ends[1] > 100.0:
        return False
    if (known := _catalogued_range(data)) is not None:
        return known == _PERCENT
    is_lower_better = re.fullmatch(load_catalogue().lower_is_better, data.metric, re.IGNORECASE)
    return ends[1] > _LEAST_PERCENT and not is_lower_better and not _NO_SCORE.fullmatch(data.metric)


def _ends(data: TaskData) -> tuple[float, float] | None:
    """The lowest and the highest score; None if there is none."""
    if not isinstance(data, Scores) or not data.is_scored.any():
        return None
    return float(np.nanmin(data.values)), float(np.nanmax(data.values))


def _catalogued_range(data: TaskData) -> tuple[float, float] | None:
    ranges = load_catalogue().ranges
    return next((ends for pattern, ends in ranges if re.fullmatch(pattern, data.metric)), None)
