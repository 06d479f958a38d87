"""Recognition of missing values in metadata. Questions that share a missing value do not form a cluster."""

import re

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
