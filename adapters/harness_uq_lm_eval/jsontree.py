"""Reading nested JSON whose shape depends on the version that wrote it: absent or odd parts count as empty."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Table: TypeAlias = Mapping[str, object]

NOTHING: Table = {}


def table(tree: object, *keys: str) -> Table:
    """The object under `keys`, empty where there is none.

    >>> table({"config": {"limit": 5}}, "config")
    {'limit': 5}
    >>> table({"config": None}, "config", "limit")
    {}
    """
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, Mapping) else NOTHING


def items(tree: object) -> Sequence[object]:
    """The array itself, empty where it is none."""
    return tree if isinstance(tree, list | tuple) else ()


def text(value: object) -> str | None:
    """A text that says something, else None."""
    return value if isinstance(value, str) and value else None


def integer(value: object) -> int | None:
    """A whole number that is no bool, else None."""
    number = real(value)
    return int(number) if number is not None and number.is_integer() else None


def real(value: object) -> float | None:
    """A finite number, also one logged as text (numpy scalars before lm-eval 0.4.13), else None.

    >>> real("0.75"), real("N/A"), real(float("nan")), real(True)
    (0.75, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):  # an integer of 400 digits
        return None
    return number if math.isfinite(number) else None
