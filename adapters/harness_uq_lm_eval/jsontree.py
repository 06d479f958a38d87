"""Reading nested JSON whose shape depends on the version that wrote it: absent or odd parts count as empty."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Table: TypeAlias = Mapping[str, object]

NOTHING: Table = {}

_LONGEST = 4300  # digits that Python makes an integer of
_LARGEST = 2**53


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


def loads(content: str | bytes, repeated: list[str] | None = None) -> object:
    r"""JSON of whatever origin: integers of any length, and a mark in place of half a character.

    Parameters
    ----------
    repeated : takes the keys that come twice in one object, of which the last counts

    Raises
    ------
    ValueError : if it is no JSON, or nested too deeply

    >>> loads('{"a": "\ud800", "a": 1}', repeated := []), repeated
    ({'a': 1}, ['a'])
    >>> loads("1" + "0" * 5000)
    inf
    """
    names = [] if repeated is None else repeated

    def table_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            names.extend(name for name, n in counts.items() if n > 1)
        return found

    try:
        tree: object = json.loads(content, parse_int=_integer, object_pairs_hook=None if repeated is None else table_of)
        return _whole_characters(tree) if _may_hold_halves(content) else tree
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _LONGEST else float(digits)


def _may_hold_halves(content: str | bytes) -> bool:
    return (b"\\ud" in content.lower()) if isinstance(content, bytes) else ("\\ud" in content.lower())


def _whole_characters(tree: object) -> object:
    if isinstance(tree, str):
        return tree.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(tree, list):
        return [_whole_characters(item) for item in tree]
    if isinstance(tree, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in tree.items()}
    return tree


def text(value: object) -> str | None:
    """A text that says something, else None."""
    return value if isinstance(value, str) and value else None


def integer(value: object) -> int | None:
    """A whole number that a float holds exactly and that is no bool, else None."""
    number = real(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= _LARGEST else None


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
