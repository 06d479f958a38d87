"""What a registered metric computes: from Inspect's scores of trials to the numbers of an estimate."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from harness_uq import Estimate, Options, Questions, Scores, Source, StructureOptions, TaskLog, estimate, load_plugins
from harness_uq_inspect.read.questions import metadata_fields
from harness_uq_inspect.read.reported import NO_FILTER
from harness_uq_inspect.read.schema import Json, Value
from harness_uq_inspect.read.values import NoNumbers, numbers

if TYPE_CHECKING:
    from inspect_ai.scorer import SampleScore

    from harness_uq.plugins.manager import Plugins

NO_CLUSTERS: Final = "none"
_MAX_CACHED: Final = 64
_SAMPLE_ID, _VALUE = attrgetter("sample_id"), attrgetter("score.value")
_cache: dict[str, dict[tuple[str, str], float]] = {}

Found = dict[tuple[str, str], float]


def measure(scores: "Sequence[SampleScore]", options: Mapping[str, str | float], cluster: str | None) -> Found:
    """Mean, ends of the interval and sd by (key of the score with an underscore, name).

    Parameters
    ----------
    scores : of every trial, in any order
    options : arguments of `harness_uq.Options`
    cluster : metadata field that groups the questions, `none`, or None to look for one

    Returns
    -------
    finite numbers only; empty where no value is a number
    """
    ids = list(map(str, map(_SAMPLE_ID, scores)))
    values: list[Value] = list(map(_VALUE, scores))
    name = scores[0].scorer or "score"
    documents: dict[str, Json | None] = dict.fromkeys(ids)
    if cluster != NO_CLUSTERS:
        documents = dict(zip(ids, [score.sample_metadata for score in scores], strict=True))
    key = _digest(ids, values, list(documents.values()), name, sorted(options.items()), cluster)
    if key not in _cache:
        while len(_cache) >= _MAX_CACHED:
            del _cache[next(iter(_cache))]
        wanted = Options(**options, structure=StructureOptions(cluster))  # type: ignore[arg-type]
        _cache[key] = dict(_measured(name, ids, values, documents, wanted))
    return dict(_cache[key])


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _measured(
    name: str, ids: Sequence[str], values: Sequence[Value], documents: Mapping[str, Json | None], options: Options
) -> Iterator[tuple[tuple[str, str], float]]:
    fields = metadata_fields(list(documents.values()), list(documents)) if any(documents.values()) else {}
    questions = Questions(tuple(documents), fields=fields)
    for key, column in _columns(values):
        found = numbers(column)
        if isinstance(found, NoNumbers):
            continue
        row = _estimate(f"{name}/{key}" if key else name, _matrix(ids, found.values), found.levels, questions, options)
        for label, number in _numbers_of(row):
            if number is not None and math.isfinite(number):
                yield (f"{key}_" if key else "", label), float(number)


def _columns(values: Sequence[Value]) -> Iterator[tuple[str, list[Value]]]:
    """The values, or a column for each key where they are dictionaries."""
    if dict not in set(map(type, values)):
        yield "", list(values)
        return
    for key in dict.fromkeys(key for value in values if isinstance(value, dict) for key in value):
        yield key, [value.get(key) if isinstance(value, dict) else None for value in values]  # type: ignore[misc]


def _matrix(ids: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Question × trial matrix, trials in the order of arrival."""
    place = {question: row for row, question in enumerate(dict.fromkeys(ids))}
    row = np.fromiter(map(place.__getitem__, ids), np.int64, len(ids))
    order = np.argsort(row, kind="stable")
    sizes = np.bincount(row)
    column = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.full((len(sizes), int(sizes.max())), np.nan)
    table[row[order], column] = values[order]
    return table


def _estimate(
    name: str, table: NDArray[np.float64], levels: tuple[float, ...] | None, questions: Questions, options: Options
) -> Estimate:
    data = Scores(name, NO_FILTER, table, levels=levels, logged_trials=table.shape[1])
    log = TaskLog("metric", "metric", Source("metric", "inspect"), questions, (data,))
    return estimate(log, options, plugins=_plugins())[0]


@cache
def _plugins() -> "Plugins":
    return load_plugins()


def _numbers_of(row: Estimate) -> Iterator[tuple[str, float | None]]:
    yield "mean", row.value
    if row.interval is not None:
        yield from (("lower", row.interval.low), ("upper", row.interval.high), ("sd", row.std_error))
