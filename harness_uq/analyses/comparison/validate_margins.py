"""Reject margins that exceed every possible difference; they are usually errors in the decimal point."""

from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import StructureOptions, known_range
from harness_uq.messages.catalogue.comparison import MARGIN_EXCEEDS_RANGE
from harness_uq.messages.errors import StructureError

_PERCENT = 100


def check_difference(kind: str, size: float, run: SelectedRun, structure: StructureOptions) -> None:
    """Check that a margin or a required improvement is smaller than the range of the scores. Raises StructureError if
    it is not; the message suggests the value that was probably intended.
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
