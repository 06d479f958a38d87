"""Whether the two sides of a comparison are one and the same."""

from collections.abc import Sequence

import numpy as np

from harness_uq.comparing.sides import Side
from harness_uq.logs.data import Classifications, FloatArray, IntArray, Records, Scores, TaskData
from harness_uq.logs.newest import Key


def sameness(a: Side, b: Side, matched: Sequence[tuple[Key, Key]]) -> str | None:
    """Why no difference of the two can be seen, in a sentence; None where one can.

    Parameters
    ----------
    matched : keys of A and B of what is compared
    """
    pairs = [(a.chosen[key_a], b.chosen[key_b]) for key_a, key_b in matched]
    held = [(one, other) for one, other in pairs if not one.log.subtasks]
    same = [
        one.log.questions.ids == other.log.questions.ids and _are_equal(one.data, other.data) for one, other in held
    ]
    if not (same and all(same)):
        return None
    n = sum({one.log.task: len(one.log.questions) for one, _ in held}.values())
    said = f"Both sides have the same scores on all {n} questions"
    if all(one.log.source.path == other.log.source.path for one, other in held):
        return f"{said}, both of one log."
    if all(_is_constant(one.data) for one, _ in held):
        return f"{said}, whose scores are all equal."
    return f"{said}, perhaps the same samples under two names."


def _are_equal(a: TaskData, b: TaskData) -> bool:
    of_a, of_b = _values(a), _values(b)
    return of_a is not None and of_b is not None and np.array_equal(of_a, of_b, equal_nan=of_a.dtype.kind == "f")


def _is_constant(data: TaskData) -> bool:
    values = _values(data)
    return values is not None and np.unique(values).size == 1


def _values(data: TaskData) -> FloatArray | IntArray | None:
    match data:
        case Scores():
            return data.values
        case Classifications():
            return data.predictions
        case Records():
            return data.statistics
    return None
