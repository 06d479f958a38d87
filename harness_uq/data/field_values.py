"""Values of metadata fields: which are missing, and which can name groups of questions."""

import math
import re
from collections.abc import Iterable

MAX_NUMBERS, MAX_LABELS, MAX_LABEL_LENGTH = 20_000, 200, 60


def labels_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return the different values of a field if they can name groups of questions, otherwise an empty tuple.

    At most 200 values are kept, or 20,000 if all are numbers, which can be divided into ranges. No value may be longer
    than 60 characters.

    >>> labels_of(["law", "history"]), labels_of(["x" * 61])
    (('law', 'history'), ())
    """
    labels = tuple(values)
    if len(labels) > MAX_NUMBERS or any(len(label) > MAX_LABEL_LENGTH for label in labels):
        return ()
    return labels if len(labels) <= MAX_LABELS or all(map(is_number, labels)) else ()


def is_number(text: str) -> bool:
    """Whether the text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


_PLACEHOLDER = re.compile(
    r"\s*(n/?a|none|null|nan|nil|unknown|missing|undefined|-+|\?+|\.+|\[\]|\{\}|\(\))?\s*", re.IGNORECASE
)


def is_unknown(value: object) -> bool:
    """Whether a value is missing: None, NaN, an empty or blank string, a placeholder such as "N/A", or an empty list.

    Examples
    --------
    >>> [is_unknown(value) for value in (None, "", " N/A ", [], "no passage", 0)]
    [True, True, True, True, False, False]
    """
    if value is None or value != value:  # NaN
        return True
    if isinstance(value, str):
        return (len(value) < 16 and _PLACEHOLDER.fullmatch(value) is not None) or value.isspace()
    return isinstance(value, list | tuple | dict) and not value
