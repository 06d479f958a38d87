"""Parquet representation of the four kinds of data in a task log."""

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from harness_uq.data.task_log import AggregateScore, Classifications, Scores, SufficientStatistics, TaskData
from harness_uq.errors import DataError

Row: TypeAlias = dict[str, Any]

TEXTS, NUMBERS, CODES = pa.list_(pa.string()), pa.list_(pa.float64()), pa.list_(pa.int64())
DATA = pa.struct(
    {
        "metric": pa.string(),
        "filter": pa.string(),
        "kind": pa.string(),
        "n_columns": pa.int64(),
        "values": NUMBERS,
        "targets": CODES,
        "predictions": CODES,
        "labels": TEXTS,
        "function": pa.string(),
        "clusters": CODES,
        "levels": NUMBERS,
        "bounds": NUMBERS,
        "logged_trials": pa.int64(),
        "reduction": pa.string(),
        "event": pa.string(),
        "is_complete": pa.bool_(),
        "bounds_source": pa.string(),
        "total": pa.float64(),
        "n": pa.int64(),
        "reason": pa.string(),
        "is_share": pa.bool_(),
        "is_contradicted": pa.bool_(),
    }
)
_REQUIRED = {
    "scores": ("values", "n_columns", "logged_trials", "is_complete"),
    "classes": ("targets", "predictions", "n_columns", "labels", "function"),
    "records": ("values", "n_columns", "function"),
    "totals": ("reason", "is_contradicted"),
}
"""Fields that each kind of data has; the others may be missing."""
OPTIONAL_DATA = frozenset(field.name for field in DATA) - {"metric", "filter", "kind"}
"""Fields that are missing for some kinds of data."""


def data_to_row(data: TaskData) -> Row:
    """Convert scores, classifications, sufficient statistics or an aggregate score to a row of type `DATA`."""
    row: Row = {"metric": data.metric, "filter": data.filter}
    if isinstance(data, AggregateScore):
        names = ("n", "reason", "is_share", "is_contradicted")
        return row | {"kind": "totals", "total": data.value} | {name: getattr(data, name) for name in names}
    row["clusters"] = None if data.clusters is None else data.clusters.tolist()
    if isinstance(data, SufficientStatistics):
        values, n_columns = data.statistics.ravel().tolist(), data.statistics.shape[1]
        return row | {"kind": "records", "function": data.statistic, "values": values, "n_columns": n_columns}
    if isinstance(data, Classifications):
        return row | {
            "kind": "classes",
            "targets": data.targets.tolist(),
            "labels": list(data.labels),
            "function": data.function,
            "predictions": data.predictions.ravel().tolist(),
            "n_columns": data.predictions.shape[1],
        }
    return row | {
        "kind": "scores",
        "values": data.values.ravel().tolist(),
        "n_columns": data.values.shape[1],
        "levels": None if data.levels is None else list(data.levels),
        "bounds": None if data.bounds is None else list(data.bounds),
        "logged_trials": data.logged_trials,
        "reduction": data.reduction,
        "event": data.event,
        "is_complete": data.is_complete,
        "bounds_source": data.bounds_source,
    }


def data_from_row(row: Row) -> TaskData:
    """Convert a row back to data; the inverse of `data_to_row`.

    Raises
    ------
    DataError
        If the kind is unknown, a field of the kind is missing, or the fields contradict each other.
    """
    metric, name, kind = row["metric"], row["filter"], row["kind"]
    if kind not in _REQUIRED:
        raise DataError(f"unknown kind of data: {kind!r}")
    if absent := [field for field in _REQUIRED[kind] if row[field] is None]:
        raise DataError(f"{kind} without {absent[0]}")
    if row["bounds"] is not None and (len(row["bounds"]) != 2 or not row["bounds"][0] <= row["bounds"][1]):
        raise DataError(f"bounds must be the lowest and the highest score, not {row['bounds']}")
    if kind == "totals":
        return AggregateScore(
            metric,
            name,
            row["total"],
            row["n"],
            row["reason"],
            row["is_share"],
            is_contradicted=row["is_contradicted"],
        )
    clusters = None if row["clusters"] is None else np.array(row["clusters"], np.int64)
    if kind == "classes":
        predictions = np.array(row["predictions"], np.int64).reshape(-1, row["n_columns"])
        targets = np.array(row["targets"], np.int64)
        return Classifications(metric, name, targets, predictions, tuple(row["labels"]), clusters, row["function"])
    values = np.array(row["values"], np.float64).reshape(-1, row["n_columns"])
    if kind == "records":
        return SufficientStatistics(metric, name, values, row["function"], clusters)
    levels, bounds = (None if row[key] is None else tuple(row[key]) for key in ("levels", "bounds"))
    trials, reduction, event = row["logged_trials"], row["reduction"], row["event"]
    return Scores(
        metric,
        name,
        values,
        clusters,
        levels,
        trials,
        reduction,
        bounds,
        event,
        row["is_complete"],
        row["bounds_source"],
    )
