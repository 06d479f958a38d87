"""Add annotations to the header of a log and remove them; both functions return a new dictionary.

The metadata of each added metric names harness_uq. A replaced standard error keeps Inspect's value in its metadata.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias, cast

from harness_uq.plugin_api import Estimate
from harness_uq_inspect.annotated_names import METRICS, NAME, NATIVE_STDERR, NATIVE_VALUE, SCORES_HASH, SD
from harness_uq_inspect.read.harness_results import MEANS
from harness_uq_inspect.read.schema import Json

ANNOTATED_MEMBERS: Final = ("results", "log_updates", "metadata")
_STDERR: Final = "stderr"
ACTIVE: Final = "active"  # the method for questions that were chosen during the run
_TOLERANCE: Final = 1e-6
_AUTHOR: Final = "harness_uq "

Header: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Annotations:
    """What harness_uq adds to the header of a log.

    `estimates`: estimates by index in `results.scores`. `block`: JSON form of all estimates and settings, for
    `results.metadata`. `swaps_stderr`: whether the posterior standard deviation replaces the value of `stderr`.
    """

    estimates: Mapping[int, Estimate]
    block: Json
    swaps_stderr: bool = True


def annotate_header(header: Header, annotations: Annotations) -> Json:
    """The header with annotations, which replace those of an earlier write."""
    plain = remove_annotations(header)
    results = dict(_mapping(plain.get("results")))
    scores = _list(results.get("scores"))
    is_only = len(scores) == 1
    for position, estimate in annotations.estimates.items():
        if position < len(scores):
            scores[position] = _annotated_score(scores[position], estimate, annotations, is_only=is_only)
    results |= {"scores": scores, "metadata": _mapping(results.get("metadata")) | {NAME: annotations.block}}
    summary = {name: annotations.block[name] for name in ("version", "settings", SCORES_HASH)}
    updates = [*_list(plain.get("log_updates")), _update(summary)]
    return plain | {
        "results": results,
        "log_updates": updates,
        "metadata": _mapping(plain.get("metadata")) | {NAME: summary},
    }


def remove_annotations(header: Header) -> Json:
    """The header without the annotations of harness_uq; what other programs added stays."""
    plain = dict(header)
    results = dict(_mapping(plain.get("results")))
    if results:
        results["scores"] = [_original_score(score) for score in _list(results.get("scores"))]
        plain["results"] = _without(results, "metadata", NAME)
    updates = [
        update
        for update in _list(plain.get("log_updates"))
        if not str(_mapping(_mapping(update).get("provenance")).get("author", "")).startswith(_AUTHOR)
    ]
    plain["log_updates"] = updates
    if not updates:
        del plain["log_updates"]
    if isinstance(plain.get("metadata"), dict):
        plain["metadata"] = {name: value for name, value in _mapping(plain["metadata"]).items() if name != NAME}
    return plain


def _annotated_score(score: Json, estimate: Estimate, annotations: Annotations, *, is_only: bool) -> Json:
    """The score with the metrics of harness_uq; the viewer shows their group if there are several scores.

    The mean of actively chosen samples is not an estimate; the value of `accuracy` or `mean` becomes that of the
    estimate. An interval of the mean is otherwise added only if Inspect's value is the mean: a metric with parameters
    such as `accuracy(to_float=...)` computes another quantity. Without `accuracy` or `mean`, the score gets no metrics.
    """
    interval, sd = estimate.interval, estimate.std_error
    if interval is None or sd is None or not all(map(math.isfinite, (interval.low, interval.high, sd))):
        return score
    metrics = _mapping(score.get("metrics"))
    if not any(_is_mean(_mapping(metric)) for metric in metrics.values()):
        return score
    printed, value = estimate.harness.value, estimate.value
    is_printed = printed is not None and value is not None and math.isclose(printed, value, abs_tol=_TOLERANCE)
    is_replaced = estimate.method == ACTIVE and estimate.scope == "full"
    if estimate.estimand == "mean" and printed is not None and not is_printed and not is_replaced:
        return score
    settings = _mapping(annotations.block["settings"])
    estimand = settings.get("estimand", "mean")
    shared: Json = {
        "group": f"uq {settings['method']}{'' if estimand == 'mean' else f' {estimand}'} {100 * interval.level:g}%",
        "params": {},
        "metadata": {NAME: {"method": estimate.method, "interval": interval.kind, "estimand": estimate.estimand}},
    }
    numbers: dict[str, float | None] = dict(zip(METRICS, (interval.low, interval.high, sd), strict=True))
    if estimate.estimand != "mean" and not is_printed:  # the panel shows them below the mean
        prefix = f"uq_{estimate.estimand}"
        numbers = {prefix: value} | {name.replace("uq", prefix): number for name, number in numbers.items()}
    uq_metrics = {
        name: {"name": name if is_only else name.removeprefix("uq_"), "value": number, **shared}
        for name, number in numbers.items()
    }
    if is_replaced:
        metrics = {name: _with_estimate(_mapping(metric), value) for name, metric in metrics.items()}
    stderr = metrics.get(_STDERR)
    if annotations.swaps_stderr and isinstance(stderr, dict) and (is_printed or estimate.estimand == "mean"):
        metadata = _mapping(stderr.get("metadata")) | {NAME: {NATIVE_STDERR: stderr.get("value")}}
        metrics = metrics | {_STDERR: stderr | {"value": sd, "metadata": metadata}}
        uq_metrics.pop(SD, None)  # the value of stderr
    # a task that registers the metric `uq` writes these metrics itself; its values stay
    is_present = any(name in metrics for name in uq_metrics)
    return score | {"metrics": metrics if is_present else metrics | uq_metrics}


def _with_estimate(metric: Json, value: float | None) -> Json:
    """The metric with the estimate as its value, if it is a mean without parameters; its own value is kept."""
    if not _is_mean(metric) or metric.get("params") or value is None:
        return metric
    metadata = _mapping(metric.get("metadata")) | {NAME: {NATIVE_VALUE: metric.get("value"), "method": ACTIVE}}
    return metric | {"value": value, "metadata": metadata}


def _is_mean(metric: Json) -> bool:
    return str(metric.get("name")).rpartition("/")[2] in MEANS and metric.get("group") is None


def _original_score(score: Json) -> Json:
    metrics = {
        name: _with_native_value(_mapping(metric))
        for name, metric in _mapping(score.get("metrics")).items()
        if not (name.startswith("uq_") and NAME in _mapping(_mapping(metric).get("metadata")))
    }
    return score | {"metrics": metrics} if "metrics" in score else score


def _with_native_value(metric: Json) -> Json:
    annotation = _mapping(_mapping(metric.get("metadata")).get(NAME))
    for name in (NATIVE_STDERR, NATIVE_VALUE):
        if name in annotation:
            return _without(metric | {"value": annotation[name]}, "metadata", NAME)
    return metric


def _without(parent: Json, field: str, name: str) -> Json:
    """The dictionary without `name` in its `field`, and without the field if nothing else is in it."""
    children = parent.get(field)
    if not isinstance(children, dict) or name not in children:
        return parent
    rest = {key: value for key, value in children.items() if key != name}
    return parent | {field: rest} if rest else {key: value for key, value in parent.items() if key != field}


def _update(summary: Json) -> Json:
    """The record of an edit, in the form that `inspect_ai.log.edit_eval_log` appends."""
    return {
        "edits": [{"type": "metadata", "metadata_set": {NAME: summary}, "metadata_remove": []}],
        "provenance": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "author": f"{_AUTHOR}{summary['version']}",
            "reason": "uncertainty of the scores",
            "metadata": {},
        },
    }


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Json]:
    return cast(list[Json], value) if isinstance(value, list) else []
