"""Locate the top-level members of a JSON object as spans of bytes, to replace one and copy the others unchanged."""

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from harness_uq.plugin_api import LogError

_SPACE: Final = b" \t\r\n"


def members(content: bytes) -> dict[str, slice]:
    """The span of bytes of each member's value. Raises LogError if the content is not a JSON object.

    >>> members(b'{"a": 1, "b": [2]}')
    {'a': slice(6, 7, None), 'b': slice(14, 17, None)}
    """
    try:
        lengths = {name: len(raw) for name, raw in msgspec.json.decode(content, type=dict[str, msgspec.Raw]).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _members_leniently(content)
    spans, at = {}, content.index(b"{") + 1
    for name, length in lengths.items():
        at = _value_start(content, content.index(b'"', at), name)
        spans[name] = slice(at, at + length)
        at += length
    return spans


def _value_start(content: bytes, at: int, name: str) -> int:
    """Start of the value whose key begins at `at`."""
    key = json.dumps(name, ensure_ascii=False).encode()
    if content[at : at + len(key)] != key:
        raise LogError(f"the key {name!r} is not at the expected position, perhaps because it occurs twice")
    at = content.index(b":", at + len(key)) + 1
    while content[at] in _SPACE:
        at += 1
    return at


def _members_leniently(content: bytes) -> dict[str, slice]:
    """`members` for content with NaN or Infinity, which Inspect writes as bare constants and msgspec rejects."""
    scan, spans = json.JSONDecoder(), {}
    try:
        text = content.decode()
        at = text.index("{") + 1
        while True:
            start = text.index('"', at)
            name, end = scan.raw_decode(text, start)
            start = text.index(":", end) + 1
            while text[start] in " \t\r\n":
                start += 1
            _, at = scan.raw_decode(text, start)
            spans[name] = slice(len(text[:start].encode()), len(text[:at].encode()))
            if text[at:].lstrip()[:1] != ",":
                return spans
    except (ValueError, IndexError, RecursionError) as error:
        raise LogError(f"the file is not valid JSON, perhaps because it is incomplete: {error}") from error


def replace_parts(content: bytes, parts: Mapping[str, slice], new: Mapping[str, bytes | None]) -> bytes:
    """The content with some values replaced; a new value of None removes the member and the comma before it.

    >>> replace_parts(b'{"a": 1, "b": 2}', members(b'{"a": 1, "b": 2}'), {"a": b"3", "b": None})
    b'{"a": 3}'
    """
    pieces, at = [], 0
    for name, part in parts.items():
        if name not in new:
            pieces.append(content[at : part.stop])
        elif (value := new[name]) is not None:
            pieces += [content[at : part.start], value]
        at = part.stop
    return b"".join([*pieces, content[at:]])


def insert_at_end(content: bytes, name: str, value: bytes) -> bytes:
    """The content with one more member at its end.

    >>> insert_at_end(b'{"a": 1}', "b", b"2")
    b'{"a": 1,"b":2}'
    """
    at = max(part.stop for part in members(content).values())
    return b"".join([content[:at], b",", json.dumps(name).encode(), b":", value, content[at:]])
