"""A margin that no difference of the scores could pass is a slip of the decimal point, and refused."""

from collections.abc import Iterable, Mapping

from harness_uq.comparing.rows import CompareOptions
from harness_uq.errors import StructureError
from harness_uq.logs.data import Classifications, Scores, TaskData
from harness_uq.logs.newest import Chosen
from harness_uq.results.points import amount
from harness_uq.structure.detection import score_type_of

_PERCENT = 100


def check_margins(options: CompareOptions, chosen: Iterable[Chosen]) -> None:
    """Make sure that every margin is smaller than the range of the scores that it is for.

    Raises
    ------
    StructureError : if one is not; the message says what was probably meant
    """
    for one in chosen:
        margin = options.margin_of(one.log.task)
        bounds = _bounds(one.data, options.structure.of_task(one.log.task).ranges) if margin else None
        if bounds is None or margin < bounds[1] - bounds[0]:
            continue
        in_points = bounds == (0.0, 1.0)
        told = amount(margin, in_points=in_points) if in_points else f"{margin:g}"
        raise StructureError(
            f"a margin of {told} on {one.log.task} {one.data.metric}, whose scores lie in [{bounds[0]:g}, "
            f"{bounds[1]:g}]: no difference is larger; did you mean {margin / _PERCENT:g}?"
        )


def _bounds(data: TaskData, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    if not isinstance(data, Scores | Classifications):
        return None
    try:
        return score_type_of(data, ranges)[1]
    except StructureError:
        return None  # a range that the scores do not keep to is said of the row
