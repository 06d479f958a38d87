"""Reject margins that exceed every possible difference; they are usually errors in the decimal point."""

from collections.abc import Iterable

from harness_uq.comparison.build_rows import CompareOptions
from harness_uq.data.run_selection import SelectedRun
from harness_uq.errors import StructureError
from harness_uq.messages.catalogue.comparison import MARGIN_EXCEEDS_RANGE
from harness_uq.structure.detection import known_range
from harness_uq.structure.types import StructureOptions

_PERCENT = 100


def check_margins(options: CompareOptions, chosen: Iterable[SelectedRun]) -> None:
    """Check that every margin is smaller than the range of the scores to which it applies.

    Raises
    ------
    StructureError : if a margin is too large; the message suggests the value that was probably intended
    """
    for one in chosen:
        check_difference("margin", options.margin_of(one.log.task), one, options.structure)


def check_difference(kind: str, size: float, run: SelectedRun, structure: StructureOptions) -> None:
    """Check that a margin or a required improvement is smaller than the range of the scores.

    Raises
    ------
    StructureError : if it is not; the message suggests the value that was probably intended
    """
    bounds = known_range(run.data, structure.of_task(run.log.task).ranges) if size else None
    if bounds is None or size < bounds[1] - bounds[0]:
        return
    raise StructureError(
        MARGIN_EXCEEDS_RANGE(
            kind=kind,
            margin=size,
            task=run.log.task,
            metric=run.data.metric,
            low=bounds[0],
            high=bounds[1],
            suggestion=size / _PERCENT,
        )
    )
