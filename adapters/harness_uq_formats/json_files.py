"""Decode JSON that other tools wrote, and recognize files by their first bytes."""

import json
import math
import re
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec

from harness_uq.plugin_api import FILE_EMPTY, INVALID_JSON, LogError, Message
from harness_uq.plugin_api import paths as io_paths

Decoded = TypeVar("Decoded")

HEAD_SIZE: Final = 16384
_LONGEST_INTEGER: Final = 4300  # digits that Python converts
_MOST_QUESTIONS: Final = 1e15
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def head_of(path: str) -> bytes:
    """The first `HEAD_SIZE` bytes of a file. Raises LogError if it cannot be read."""
    with io_paths.reading(), io_paths.open_binary(path) as file:
        return file.read(HEAD_SIZE)


def heads_of(paths: Iterable[str], problems: list[tuple[str, Message | str]]) -> Iterator[tuple[str, bytes]]:
    """Path and first bytes of each file; the path and the reason of each file that cannot be read go to `problems`."""
    for path in paths:
        try:
            yield path, head_of(path)
        except LogError as error:
            problems.append((path, error.message))


def content_of(path: str) -> bytes:
    """The whole file. Raises LogError if it cannot be read or is empty."""
    with io_paths.reading():
        content = io_paths.read_bytes(path)
    if not content or content.isspace():
        raise LogError(FILE_EMPTY())
    return content


def decode(content: bytes, kind: type[Decoded], *, whose: str = "") -> Decoded:
    """Decode JSON to a type of msgspec, such as a `Struct` with the fields that are read.

    NaN and infinity, lone surrogates and integers of any length are accepted, although they are not JSON or cannot be
    represented: Python's own encoder writes the first three. `whose`: what the content is, for the message, such as
    `line 7`. Raises LogError if the content is not JSON or does not match `kind`.
    """
    try:
        return cast(Decoded, _decoder(cast(Hashable, kind)).decode(content))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_leniently(content, kind, f"{whose}: " if whose else "")


def decoded_files(files: Iterable[str], kind: type[Decoded], unread: list[tuple[str, str]]) -> list[Decoded]:
    """Decode files, like `decode`; the path and the reason of each file that cannot be read go to `unread`."""
    contents = list[Decoded]()
    for file in files:
        try:
            contents.append(decode(content_of(file), kind))
        except LogError as error:
            unread.append((file, str(error)))
    return contents


def decoded_lines(path: str, kind: type[Decoded]) -> Iterator[Decoded]:
    """Decode each line of a file that is not blank, like `decode`. Raises LogError if the file cannot be read, or a
    line is not JSON or does not match `kind`.
    """
    decode_line = _decoder(cast(Hashable, kind)).decode
    with io_paths.reading(), io_paths.open_binary(path) as file:
        for number, line in enumerate((line for line in file if not line.isspace()), 1):
            try:
                yield cast(Decoded, decode_line(line))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield _decode_leniently(line, kind, f"line {number}: ")


@cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def finite_number(value: object) -> float | None:
    """A number of JSON as a float; None if it is not a number, not finite or too large for a float.

    >>> finite_number(3), finite_number(True), finite_number(float("nan")), finite_number(10**400)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def question_count(given: float | None) -> int | None:
    """A number of questions as an integer; None if it is unknown, not positive or implausibly large."""
    return round(given) if given is not None and 0 < given < _MOST_QUESTIONS else None


def _decode_leniently(content: bytes, kind: type[Decoded], prefix: str) -> Decoded:
    try:
        tree = json.loads(content, parse_int=_integer)
        return msgspec.convert(_without_surrogates(tree), kind)
    except RecursionError:
        raise LogError(INVALID_JSON(reason=f"{prefix}nested too deeply")) from None
    except msgspec.ValidationError as error:
        raise LogError(f"{prefix}{error}") from None
    except ValueError as error:
        raise LogError(INVALID_JSON(reason=f"{prefix}{error}")) from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _without_surrogates(tree: object) -> object:
    """The tree with the replacement character for each lone surrogate, which UTF-8 cannot encode."""
    match tree:
        case str():
            return tree if tree.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", tree)
        case list():
            return [_without_surrogates(item) for item in tree]
        case dict():
            return {str(_without_surrogates(key)): _without_surrogates(item) for key, item in tree.items()}
    return tree
