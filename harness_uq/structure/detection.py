"""Score type, trials and clusters of the data of one metric, each with its evidence."""

from collections.abc import Mapping

import numpy as np

from harness_uq.errors import StructureError
from harness_uq.logs.data import Classifications, Records, Scores
from harness_uq.structure.clusters import codes_of
from harness_uq.structure.facts import Clusters, Fact, ScoreType, Structure, StructureOptions


def detect(data: Scores | Classifications | Records, clusters: Clusters, options: StructureOptions) -> Structure:
    """Structure of the data of one metric, given the clusters of its task's questions."""
    scored = data.is_scored
    codes = codes_of(data, clusters)
    n_clusters = None if codes is None else len(np.unique(codes[scored]))
    score_type, bounds, fact = score_type_of(data, options.ranges)
    cells = _cells(data)[scored]
    max_trials = int(cells.sum(axis=1).max(initial=0))
    key, cluster_fact = clusters.key, clusters.fact
    if codes is not None and codes is not clusters.codes:
        key, cluster_fact = "cluster", Fact("clusters", str(n_clusters), "given with the scores")
    facts = [cluster_fact, fact, Fact("trials", _trials(max_trials), "the log")]
    hints = clusters.hints
    if score_type == "real" and isinstance(data, Scores):
        hints += (f"the range of {data.metric!r} is unknown; --range {data.metric}=LO,HI gives a bounded interval",)
    return Structure(
        score_type=score_type,
        bounds=bounds,
        n_questions=int(scored.sum()),
        max_trials=max_trials,
        n_cells=int(cells.sum()),
        n_clusters=n_clusters,
        cluster_key=key if n_clusters is not None else None,
        facts=tuple(facts),
        hints=hints,
        warnings=clusters.warnings,
    )


def _trials(n: int) -> str:
    return f"{n} trial{'s' if n != 1 else ''} a question"


def _cells(data: Scores | Classifications | Records) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    if isinstance(data, Scores):
        return np.isfinite(data.values)
    if isinstance(data, Classifications):
        return data.predictions >= 0
    return data.is_scored[:, None]


def score_type_of(
    data: Scores | Classifications | Records, ranges: Mapping[str, tuple[float, float]]
) -> tuple[ScoreType, tuple[float, float] | None, Fact]:
    """Score type and bounds: the user's range > declared levels > the range of the metric > all values 0 or 1."""
    if not isinstance(data, Scores):
        return "record", None, Fact("score type", "not an average of scores", "kind of the metric")
    values = data.values[np.isfinite(data.values)]
    if data.metric in ranges:
        bounds = ranges[data.metric]
        _check_range(data.metric, values, bounds)
        return _bounded_or_binary(values, bounds, "named by the user (--range)")
    if data.levels is not None:
        bounds = (min(data.levels), max(data.levels))
        if set(np.unique(values)) <= {0.0, 1.0} and bounds == (0.0, 1.0):
            return "binary", bounds, Fact("score type", "binary", "levels declared by the harness, all 0 or 1")
        return "graded", bounds, Fact("score type", f"graded {data.levels}", "levels declared by the harness")
    if data.bounds is not None and values.size and data.bounds[0] <= values.min() and values.max() <= data.bounds[1]:
        return _bounded_or_binary(values, data.bounds, "range of the metric, known to the harness")
    if values.size and np.isin(values, (0.0, 1.0)).all():
        return "binary", (0.0, 1.0), Fact("score type", "binary", "all values are 0 or 1")
    return "real", None, Fact("score type", "unbounded", "no range is known")


def _bounded_or_binary(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float], evidence: str
) -> tuple[ScoreType, tuple[float, float], Fact]:
    if bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return "binary", bounds, Fact("score type", "binary", f"{evidence}; all values are 0 or 1")
    return "bounded", bounds, Fact("score type", f"bounded to [{bounds[0]:g}, {bounds[1]:g}]", evidence)


def _check_range(
    metric: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], bounds: tuple[float, float]
) -> None:
    low, high = bounds
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise StructureError(f"--range {metric}={low:g},{high:g} excludes a logged value: {outside[0]:g}")
