"""The four kinds of data of a task log as one kind of row, for Parquet."""

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from harness_uq.logs.data import Classifications, FloatArray, Records, Scores, TaskData, Totals

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
        "total": pa.float64(),
        "n": pa.int64(),
        "reason": pa.string(),
        "is_share": pa.bool_(),
    }
)


def row_of_data(data: TaskData) -> Row:
    """Scores, classifications, records or totals as a row of `DATA`."""
    named: Row = {"metric": data.metric, "filter": data.filter}
    if isinstance(data, Totals):
        told: Row = {"total": data.value, "n": data.n, "reason": data.reason, "is_share": data.is_share}
        return named | told | {"kind": "totals"}
    named["clusters"] = None if data.clusters is None else data.clusters.tolist()
    if isinstance(data, Records):
        return named | {"kind": "records", "function": data.statistic, **_table(data.statistics)}
    if isinstance(data, Classifications):
        told = {"targets": data.targets.tolist(), "labels": list(data.labels), "function": data.function}
        flat = data.predictions.ravel().tolist()
        return named | told | {"kind": "classes", "predictions": flat, "n_columns": data.predictions.shape[1]}
    return named | {
        "kind": "scores",
        **_table(data.values),
        "levels": None if data.levels is None else list(data.levels),
        "bounds": None if data.bounds is None else list(data.bounds),
        "logged_trials": data.logged_trials,
        "reduction": data.reduction,
        "event": data.event,
    }


def data_of(row: Row) -> TaskData:
    """The data of a row."""
    metric, name, kind = row["metric"], row["filter"], row["kind"]
    if kind == "totals":
        return Totals(metric, name, row["total"], row["n"], row["reason"], row["is_share"])
    clusters = None if row["clusters"] is None else np.array(row["clusters"], np.int64)
    if kind == "records":
        return Records(metric, name, _values(row), row["function"], clusters)
    if kind == "classes":
        predictions = np.array(row["predictions"], np.int64).reshape(-1, row["n_columns"])
        targets = np.array(row["targets"], np.int64)
        return Classifications(metric, name, targets, predictions, tuple(row["labels"]), clusters, row["function"])
    levels, bounds = (None if row[key] is None else tuple(row[key]) for key in ("levels", "bounds"))
    return Scores(
        metric, name, _values(row), clusters, levels, row["logged_trials"], row["reduction"], bounds, row["event"]
    )


def _table(values: FloatArray) -> Row:
    return {"values": values.ravel().tolist(), "n_columns": values.shape[1]}


def _values(row: Row) -> FloatArray:
    return np.array(row["values"], np.float64).reshape(-1, row["n_columns"])
