"""Warn if one margin, or one required improvement, applies to metrics whose scores have different scales."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_uq.comparison.sides import Side
from harness_uq.messages.catalogue.comparison import MIXED_SCALES
from harness_uq.messages.message import Message
from harness_uq.results.comparison import Comparison
from harness_uq.structure.structure import known_range

if TYPE_CHECKING:
    from harness_uq.gating.gate import GateDesign

_SIMILAR = 2.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """Scale of the scores of a metric.

    Attributes
    ----------
    size : width of the range; if the range is unknown, the largest score, which the width may exceed
    is_known : whether the range is known
    text : the range or score, for the warning
    """

    size: float
    is_known: bool
    text: str


def scale_messages(options: "GateDesign", rows: Sequence[Comparison], new: Side) -> Iterator[Message]:
    """Yield a warning if the margin for all scores applies to metrics of different scales; so for improvements."""
    improved = [row for row in rows if options.improvement_of(row.task, row.metric) is not None]
    with_margin = [row for row in rows if row not in improved]
    named = (options.margins.keys() | options.compare.margins.keys(), options.improve_by.keys())
    sizes = (options.compare.margin, options.improve_by.get(None, 0.0))
    kinds = (("margin", "--margin"), ("required improvement", "--improve-by"))
    for (kind, option), size, covered, names in zip(kinds, sizes, (with_margin, improved), named, strict=True):
        general = [row for row in covered if not {row.task, row.metric} & names]
        scales = _scales(general, new, options)
        if size and (different := _different(scales)):
            listed = [f"{metric} ({scales[metric].text})" for metric in different]
            yield MIXED_SCALES(kind=kind, size=size, scales=listed, option=option, metric=different[1])


def _scales(rows: Sequence[Comparison], new: Side, options: "GateDesign") -> dict[str, _Scale]:
    """The scale of each metric on its first task."""
    scales: dict[str, _Scale] = {}
    for row in rows:
        run = new.chosen.get(row.key)
        if run is None or row.metric in scales:
            continue
        bounds = known_range(run.data, options.compare.structure.of_task(row.task).ranges)
        values = [value for value in (row.value_a, row.value_b) if value is not None]
        if bounds is not None:
            scales[row.metric] = _Scale(bounds[1] - bounds[0], True, f"{bounds[0]:g} to {bounds[1]:g}")
        elif values:
            scales[row.metric] = _Scale(max(map(abs, values)), False, f"score {values[0]:.4g}")
    return scales


def _different(scales: Mapping[str, _Scale]) -> tuple[str, str] | None:
    """The metrics with the smallest known and with the largest scale; None if their scales are similar."""
    known = [metric for metric, scale in scales.items() if scale.is_known]
    if not known:
        return None
    smallest = min(known, key=lambda metric: scales[metric].size)
    largest = max(scales, key=lambda metric: scales[metric].size)
    return (smallest, largest) if scales[largest].size > _SIMILAR * scales[smallest].size else None
