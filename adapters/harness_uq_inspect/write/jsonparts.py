"""Top-level members of a JSON object as spans of bytes, so that one can be replaced and the others stay untouched."""

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from harness_uq import LogError

_SPACE: Final = b" \t\r\n"


def members(content: bytes) -> dict[str, slice]:
    """Where the value of each member lies.

    Raises
    ------
    LogError : if the content is no JSON object

    >>> members(b'{"a": 1, "b": [2]}')
    {'a': slice(6, 7, None), 'b': slice(14, 17, None)}
    """
    try:
        lengths = {name: len(raw) for name, raw in msgspec.json.decode(content, type=dict[str, msgspec.Raw]).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _members_leniently(content)
    spans, at = {}, content.index(b"{") + 1
    for name, length in lengths.items():
        at = _after(content, content.index(b'"', at), name)
        spans[name] = slice(at, at + length)
        at += length
    return spans


def _after(content: bytes, at: int, name: str) -> int:
    """Start of the value whose key stands at `at`."""
    key = json.dumps(name, ensure_ascii=False).encode()
    if content[at : at + len(key)] != key:
        raise LogError(f"the member {name!r} does not stand where it should; is it there twice?")
    at = content.index(b":", at + len(key)) + 1
    while content[at] in _SPACE:
        at += 1
    return at


def _members_leniently(content: bytes) -> dict[str, slice]:
    """The same with NaN and Infinity, which Inspect writes as bare constants and msgspec refuses."""
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
        raise LogError(f"the file is no valid JSON, perhaps cut off: {error}") from error


def replace_parts(content: bytes, parts: Mapping[str, slice], new: Mapping[str, bytes | None]) -> bytes:
    """The content with some values replaced; a member whose new value is None goes, with the comma before it.

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
    """The content with one more member.

    >>> insert_at_end(b'{"a": 1}', "b", b"2")
    b'{"a": 1,"b":2}'
    """
    at = max(part.stop for part in members(content).values())
    return b"".join([content[:at], b",", json.dumps(name).encode(), b":", value, content[at:]])
