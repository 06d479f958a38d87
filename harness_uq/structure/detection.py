"""Detect the score type, trials and clusters of the data of one metric, each with its evidence."""

from collections.abc import Mapping

import numpy as np

from harness_uq.data.resource_metrics import RESOURCE_METRICS
from harness_uq.data.task_log import Classifications, Scores, SufficientStatistics, TaskData
from harness_uq.errors import StructureError
from harness_uq.messages import Message
from harness_uq.messages.catalogue.structure import (
    PERCENT_SCORES,
    RANGE_ASSUMED,
    RANGE_EXCLUDES_VALUE,
    RANGE_INFERRED,
    RANGE_UNKNOWN,
)
from harness_uq.structure.clusters import codes_of
from harness_uq.structure.types import Clusters, Evidence, ScoreType, Structure, StructureOptions

_LARGEST_PERCENT = 100.0


def detect(
    data: Scores | Classifications | SufficientStatistics, clusters: Clusters, options: StructureOptions
) -> Structure:
    """Detect the structure of the data of one metric, given the clusters of its task's questions."""
    scored = data.is_scored
    codes = codes_of(data, clusters)
    n_clusters = None if codes is None else len(np.unique(codes[scored]))
    score_type, bounds, fact = score_type_of(data, options.ranges)
    cells = _cells(data)[scored]
    max_trials = int(cells.sum(axis=1).max(initial=0))
    key, cluster_fact = clusters.key, clusters.fact
    if codes is not None and codes is not clusters.codes:
        key, cluster_fact = "cluster", Evidence("clusters", str(n_clusters), "given with the scores")
    trials = f"{max_trials} trial{'' if max_trials == 1 else 's'} per question"
    facts = (cluster_fact, fact, Evidence("trials", trials, "the log"))
    messages = clusters.messages
    if score_type == "real" and isinstance(data, Scores) and data.metric not in RESOURCE_METRICS:
        unknown = PERCENT_SCORES if _look_like_percent(data) else RANGE_UNKNOWN
        messages += (unknown(metric=data.metric),)
    if isinstance(data, Scores) and data.metric not in options.ranges and scored.any():
        messages += _source_of_range(data)
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=int(scored.sum()),
        max_trials=max_trials,
        n_scores=int(cells.sum()),
        n_clusters=n_clusters,
        cluster_key=key if n_clusters is not None else None,
        facts=facts,
        messages=messages,
    )


def _look_like_percent(data: Scores) -> bool:
    """Whether all scores lie between 0 and 100, and some are 100, or some 0 and others above 10."""
    values = data.values[np.isfinite(data.values)]
    if not values.size or values.min() < 0 or values.max() > _LARGEST_PERCENT:
        return False
    return bool(values.max() == _LARGEST_PERCENT or (values.min() == 0 and values.max() > _LARGEST_PERCENT / 10))


def _source_of_range(data: Scores) -> tuple[Message, ...]:
    """The message that the range of scores that are all equal is inferred or assumed."""
    if data.bounds is None or data.bounds_source is None:
        return ()
    params = {
        "metric": data.metric,
        "value": float(np.nanmax(data.values)),
        "low": data.bounds[0],
        "high": data.bounds[1],
    }
    return (RANGE_INFERRED(**params, source=data.bounds_source) if data.bounds_source else RANGE_ASSUMED(**params),)


def _cells(data: Scores | Classifications | SufficientStatistics) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    if isinstance(data, Scores):
        return np.isfinite(data.values)
    if isinstance(data, Classifications):
        return data.predictions >= 0
    return data.is_scored[:, None]


def score_type_of(
    data: Scores | Classifications | SufficientStatistics, ranges: Mapping[str, tuple[float, float]]
) -> tuple[ScoreType, tuple[float, float] | None, Evidence]:
    """Determine the score type and bounds from the first available source.

    The sources are, in order: the user's range, declared levels, the range of the metric, and whether all values are
    0 or 1. Resources such as the number of turns have no range.
    """
    if not isinstance(data, Scores):
        return "record", None, Evidence("score type", "not an average of scores", "kind of the metric")
    values = data.values[np.isfinite(data.values)]
    if data.metric in ranges:
        bounds = ranges[data.metric]
        _check_range(data.metric, values, bounds)
        return _bounded_or_binary(values, bounds, "named by the user (--range)")
    if data.levels is not None:
        bounds = (min(data.levels), max(data.levels))
        if set(np.unique(values)) <= {0.0, 1.0} and bounds == (0.0, 1.0):
            return "binary", bounds, Evidence("score type", "binary", "levels declared by the harness, all 0 or 1")
        return "graded", bounds, Evidence("score type", f"graded {data.levels}", "levels declared by the harness")
    if data.bounds is not None and values.size and data.bounds[0] <= values.min() and values.max() <= data.bounds[1]:
        return _bounded_or_binary(values, data.bounds, _evidence_of_range(data))
    if values.size and data.metric not in RESOURCE_METRICS and np.isin(values, (0.0, 1.0)).all():
        return "binary", (0.0, 1.0), Evidence("score type", "binary", "all values are 0 or 1")
    return "real", None, Evidence("score type", "unbounded", "no range is known")


def known_range(data: TaskData, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Smallest and largest possible score; None if the range is unknown, or scores lie outside their declared range."""
    if not isinstance(data, Scores):
        return None
    try:
        return score_type_of(data, ranges)[1]
    except StructureError:
        return None  # the results of the task contain a warning about these scores


def _evidence_of_range(data: Scores) -> str:
    if data.bounds_source is None:
        return "range of the metric, known to the harness"
    return f"inferred from {data.bounds_source}" if data.bounds_source else "assumed, because all scores are equal"


def _bounded_or_binary(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float], evidence: str
) -> tuple[ScoreType, tuple[float, float], Evidence]:
    if bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return "binary", bounds, Evidence("score type", "binary", f"{evidence}; all values are 0 or 1")
    return "bounded", bounds, Evidence("score type", f"bounded to [{bounds[0]:g}, {bounds[1]:g}]", evidence)


def _check_range(
    metric: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float]
) -> None:
    low, high = bounds
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise StructureError(RANGE_EXCLUDES_VALUE(metric=metric, low=low, high=high, value=outside[0]))
