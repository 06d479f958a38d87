"""Access to nested JSON whose structure depends on the version that wrote it; missing or unexpected parts are empty."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Table: TypeAlias = Mapping[str, object]

NOTHING: Table = {}

_MAX_DIGITS = 4300  # Python's limit for the conversion of text to an integer
_MAX_EXACT = 2**53


def table(tree: object, *keys: str) -> Table:
    """The JSON object under `keys`; empty if there is none.

    >>> table({"config": {"limit": 5}}, "config")
    {'limit': 5}
    >>> table({"config": None}, "config", "limit")
    {}
    """
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, Mapping) else NOTHING


def items(tree: object) -> Sequence[object]:
    """The value, if it is a JSON array; else an empty one."""
    return tree if isinstance(tree, list | tuple) else ()


def loads(content: str | bytes, repeated: list[str] | None = None) -> object:
    r"""Parse JSON from any source: long integers become floats, lone surrogates the replacement character.

    `content`: JSON text. `repeated`: list that receives the keys that occur twice in one object; the last value counts.
    Raises ValueError if the content is not JSON, or nested too deeply.

    >>> loads('{"a": "\ud800", "a": 1}', repeated := []), repeated
    ({'a': 1}, ['a'])
    >>> loads("1" + "0" * 5000)
    inf
    """
    names = [] if repeated is None else repeated

    def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            names.extend(name for name, n in counts.items() if n > 1)
        return members

    escapes = (b"\\ud", b"\\uD") if isinstance(content, bytes) else ("\\ud", "\\uD")
    has_surrogates = any(escape in content for escape in escapes)  # type: ignore[operator]
    hook = None if repeated is None else object_of
    try:
        tree: object = json.loads(
            content,
            parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else float(digits),
            object_pairs_hook=hook,
        )
        return _replace_surrogates(tree) if has_surrogates else tree
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _replace_surrogates(tree: object) -> object:
    if isinstance(tree, str):
        return tree.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(tree, list):
        return [_replace_surrogates(item) for item in tree]
    if isinstance(tree, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in tree.items()}
    return tree


def text(value: object) -> str | None:
    """The value, if it is a text that is not empty; else None."""
    return value if isinstance(value, str) and value else None


def integer(value: object) -> int | None:
    """The value, if it is a whole number that a float represents exactly, and not a bool; else None."""
    number = real(value)
    return int(number) if number is not None and number.is_integer() and abs(number) <= _MAX_EXACT else None


def real(value: object) -> float | None:
    """The value as a float, if it is finite; else None. Before lm-eval 0.4.13 numpy scalars are logged as text.

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
