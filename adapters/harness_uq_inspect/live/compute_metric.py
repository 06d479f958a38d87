"""Compute the values of a registered metric: the mean and its interval from Inspect's scores of the trials."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_inspect.read.harness_results import NO_FILTER
from harness_uq_inspect.read.parse_scores import NoNumbers, numbers
from harness_uq_inspect.read.questions import metadata_fields
from harness_uq_inspect.read.schema import Json, Value

if TYPE_CHECKING:
    from inspect_ai.scorer import SampleScore


NO_CLUSTERS: Final = "none"
_MAX_CACHED: Final = 64
_SAMPLE_ID, _VALUE = attrgetter("sample_id"), attrgetter("score.value")
_cache: dict[str, dict[tuple[str, str], float]] = {}


def metric_values(
    scores: "Sequence[SampleScore]", options: Mapping[str, str | float], cluster: str | None
) -> dict[tuple[str, str], float]:
    """Mean, interval limits and standard deviation by (key of the score followed by an underscore, name).

    `scores`: scores of all trials, in any order. `options`: arguments of `harness_uq.Options`. `cluster`: metadata
    field that groups the questions, `none` for no clusters, or None to detect one. Returns finite numbers only; empty
    if no value is a number.
    """
    ids = list(map(str, map(_SAMPLE_ID, scores)))
    values: list[Value] = list(map(_VALUE, scores))
    name = scores[0].scorer or "score"
    documents: dict[str, Json | None] = dict.fromkeys(ids)
    if cluster != NO_CLUSTERS:
        documents = dict(zip(ids, [score.sample_metadata for score in scores], strict=True))
    content = [ids, values, list(documents.values()), name, sorted(options.items()), cluster]
    key = hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
    if key not in _cache:
        while len(_cache) >= _MAX_CACHED:
            del _cache[next(iter(_cache))]
        estimate_options = uq.Options(**options, structure=uq.StructureOptions(cluster))  # type: ignore[arg-type]
        _cache[key] = dict(_finite_values(name, ids, values, documents, estimate_options))
    return dict(_cache[key])


def _finite_values(
    name: str, ids: Sequence[str], values: Sequence[Value], documents: Mapping[str, Json | None], options: uq.Options
) -> Iterator[tuple[tuple[str, str], float]]:
    fields = metadata_fields(list(documents.values()), list(documents)) if any(documents.values()) else {}
    questions = uq.Questions(tuple(documents), fields=fields)
    for key, column in _columns(values):
        parsed = numbers(column)
        if isinstance(parsed, NoNumbers):
            continue
        matrix = _score_matrix(ids, parsed.values)
        result = _estimate(f"{name}/{key}" if key else name, matrix, parsed.levels, questions, options)
        # the interval of Bayes@N is around its own mean, which the prior moves away from the observed one
        is_own_mean = options.method == "bayes-at-n" and result.posterior_mean is not None
        summary = {"mean": result.posterior_mean if is_own_mean else result.value}
        if result.interval is not None:
            summary |= {"lower": result.interval.low, "upper": result.interval.high, "sd": result.std_error}
        for label, number in summary.items():
            if number is not None and math.isfinite(number):
                yield (f"{key}_" if key else "", label), float(number)


def _columns(values: Sequence[Value]) -> Iterator[tuple[str, list[Value]]]:
    """The values under an empty key; if they are dictionaries, one column for each of their keys."""
    if dict not in set(map(type, values)):
        yield "", list(values)
        return
    for key in dict.fromkeys(key for value in values if isinstance(value, dict) for key in value):
        yield key, [value.get(key) if isinstance(value, dict) else None for value in values]  # type: ignore[misc]


def _score_matrix(ids: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Question × trial matrix of scores; the trials of a question in the order of `ids`."""
    row_of = {question: row for row, question in enumerate(dict.fromkeys(ids))}
    row = np.fromiter(map(row_of.__getitem__, ids), np.int64, len(ids))
    order = np.argsort(row, kind="stable")
    sizes = np.bincount(row)
    column = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.full((len(sizes), int(sizes.max())), np.nan)
    table[row[order], column] = values[order]
    return table


def _estimate(
    name: str,
    table: NDArray[np.float64],
    levels: tuple[float, ...] | None,
    questions: uq.Questions,
    options: uq.Options,
) -> uq.Estimate:
    data = uq.Scores(name, NO_FILTER, table, levels=levels, logged_trials=table.shape[1])
    log = uq.TaskLog("metric", "metric", uq.Source("metric", "inspect"), questions, (data,))
    return uq.estimate(log, options, plugins=_cached_plugins())[0]


_cached_plugins = cache(uq.load_plugins)
