"""Reject margins that exceed every possible difference; they are usually errors in the decimal point."""

from collections.abc import Iterable

from harness_uq.comparison.build_rows import CompareOptions
from harness_uq.data.run_selection import SelectedRun
from harness_uq.errors import StructureError
from harness_uq.messages.catalogue.comparison import MARGIN_EXCEEDS_RANGE
from harness_uq.structure.detection import known_range

_PERCENT = 100


def check_margins(options: CompareOptions, chosen: Iterable[SelectedRun]) -> None:
    """Check that every margin is smaller than the range of the scores to which it applies.

    Raises
    ------
    StructureError : if a margin is too large; the message suggests the value that was probably intended
    """
    for one in chosen:
        margin = options.margin_of(one.log.task)
        bounds = known_range(one.data, options.structure.of_task(one.log.task).ranges) if margin else None
        if bounds is None or margin < bounds[1] - bounds[0]:
            continue
        raise StructureError(
            MARGIN_EXCEEDS_RANGE(
                margin=margin,
                task=one.log.task,
                metric=one.data.metric,
                low=bounds[0],
                high=bounds[1],
                suggestion=margin / _PERCENT,
            )
        )
