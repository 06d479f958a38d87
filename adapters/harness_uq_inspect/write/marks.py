"""What harness_uq adds to the header of a log, and how it is taken out again: dictionaries in, new ones out.

Every added metric says in its metadata that it is ours, and a standard error that was replaced keeps Inspect's there.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias, cast

from harness_uq import Estimate
from harness_uq_inspect.block import KEPT, METRICS, NAME, SCORES_HASH
from harness_uq_inspect.read.schema import Json

TOUCHED: Final = ("results", "log_updates", "metadata")
_STDERR: Final = "stderr"
_TOLERANCE: Final = 1e-6
_AUTHOR: Final = "harness_uq "

Header: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Marks:
    """What goes into a header.

    Attributes
    ----------
    estimates : by position among `results.scores`
    block : JSON form of everything, for `results.metadata`
    swaps_stderr : whether `stderr` becomes the posterior's sd, with Inspect's kept beside it
    """

    estimates: Mapping[int, Estimate]
    block: Json
    swaps_stderr: bool = True


def mark(header: Header, marks: Marks) -> Json:
    """The header with marks; those of an earlier time are replaced."""
    plain = unmark(header)
    results = dict(_mapping(plain.get("results")))
    found = _list(results.get("scores"))
    scores = [
        _marked_score(score, marks.estimates[at], marks, is_only=len(found) == 1) if at in marks.estimates else score
        for at, score in enumerate(found)
    ]
    results |= {"scores": scores, "metadata": _mapping(results.get("metadata")) | {NAME: marks.block}}
    summary = {name: marks.block[name] for name in ("version", "settings", SCORES_HASH)}
    updates = [*_list(plain.get("log_updates")), _update(summary)]
    return plain | {
        "results": results,
        "log_updates": updates,
        "metadata": _mapping(plain.get("metadata")) | {NAME: summary},
    }


def unmark(header: Header) -> Json:
    """The header without marks of ours; what others added since stays."""
    plain = dict(header)
    results = dict(_mapping(plain.get("results")))
    if results:
        results["scores"] = [_unmarked_score(score) for score in _list(results.get("scores"))]
        plain["results"] = _without(results, "metadata", NAME)
    updates = [update for update in _list(plain.get("log_updates")) if not _is_ours(update)]
    plain["log_updates"] = updates
    if not updates:
        del plain["log_updates"]
    if isinstance(plain.get("metadata"), dict):
        plain["metadata"] = {name: value for name, value in _mapping(plain["metadata"]).items() if name != NAME}
    return plain


def _marked_score(score: Json, estimate: Estimate, marks: Marks, *, is_only: bool) -> Json:
    """The score with our metrics; the viewer shows their group where there are several scores, else their names."""
    interval, sd = estimate.interval, estimate.std_error
    if interval is None or sd is None or not all(map(math.isfinite, (interval.low, interval.high, sd))):
        return score
    settings = _mapping(marks.block["settings"])
    asked = settings.get("estimand", "mean")
    shared: Json = {
        "group": f"uq {settings['method']}{'' if asked == 'mean' else f' {asked}'} {100 * interval.level:g}%",
        "params": {},
        "metadata": {NAME: {"method": estimate.method, "interval": interval.kind, "estimand": estimate.estimand}},
    }
    ours = {
        name: {"name": name if is_only else name.removeprefix("uq_"), "value": value, **shared}
        for name, value in zip(METRICS, (interval.low, interval.high, sd), strict=True)
    }
    metrics = _mapping(score.get("metrics"))
    if marks.swaps_stderr and isinstance(metrics.get(_STDERR), dict) and _is_of_what_was_printed(estimate):
        metrics = metrics | {_STDERR: _swapped(_mapping(metrics[_STDERR]), sd)}
    is_taken = any(name in metrics for name in METRICS)  # by the metric `uq` of the task itself, which has the say
    return score | {"metrics": metrics if is_taken else metrics | ours}


def _is_of_what_was_printed(estimate: Estimate) -> bool:
    """Whether Inspect's `stderr` is that of the value estimated: of the mean, or of the pass@k that it printed."""
    printed = estimate.harness.value
    is_same = printed is not None and estimate.value is not None and abs(printed - estimate.value) < _TOLERANCE
    return estimate.estimand == "mean" or is_same


def _swapped(stderr: Json, sd: float) -> Json:
    metadata = _mapping(stderr.get("metadata")) | {NAME: {KEPT: stderr.get("value")}}
    return stderr | {"value": sd, "metadata": metadata}


def _unmarked_score(score: Json) -> Json:
    metrics = {
        name: _unswapped(_mapping(metric))
        for name, metric in _mapping(score.get("metrics")).items()
        if not (name in METRICS and NAME in _mapping(_mapping(metric).get("metadata")))
    }
    return score | {"metrics": metrics} if "metrics" in score else score


def _unswapped(metric: Json) -> Json:
    ours = _mapping(_mapping(metric.get("metadata")).get(NAME))
    return _without(metric | {"value": ours[KEPT]}, "metadata", NAME) if KEPT in ours else metric


def _without(owner: Json, field: str, name: str) -> Json:
    """The dictionary without `name` in its `field`, and without the field where nothing else is in it."""
    held = owner.get(field)
    if not isinstance(held, dict) or name not in held:
        return owner
    rest = {key: value for key, value in held.items() if key != name}
    return owner | {field: rest} if rest else {key: value for key, value in owner.items() if key != field}


def _update(summary: Json) -> Json:
    """The record of an edit, as `inspect_ai.log.edit_eval_log` appends it."""
    return {
        "edits": [{"type": "metadata", "metadata_set": {NAME: summary}, "metadata_remove": []}],
        "provenance": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "author": f"{_AUTHOR}{summary['version']}",
            "reason": "uncertainty of the scores",
            "metadata": {},
        },
    }


def _is_ours(update: object) -> bool:
    return str(_mapping(_mapping(update).get("provenance")).get("author", "")).startswith(_AUTHOR)


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Json]:
    return cast(list[Json], value) if isinstance(value, list) else []
