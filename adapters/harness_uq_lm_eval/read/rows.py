"""Read the rows of a samples file, one at a time.

Since lm-eval 0.4.3 a samples file has one JSON object per line. Before, it was one indented JSON array, which is split
into its objects without loading the whole file. A row maps names to undecoded JSON, so that prompts and completions,
most of the file, are never decoded.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import BinaryIO, TypeAlias, cast

import msgspec
import numpy as np

from harness_uq.plugin_api import LogError, TrialEndings, ending_code
from harness_uq_lm_eval.json_access import items, loads
from harness_uq_lm_eval.read.compression import open_decompressed
from harness_uq_lm_eval.results_block import DRAW

Row: TypeAlias = Mapping[str, object]

HARNESS_COLUMNS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        DRAW,
    }
)


class _FirstArgument(msgspec.Struct):
    arg_0: object = None


class _Arguments(msgspec.Struct):
    gen_args_0: _FirstArgument | None = None


_undecoded_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_undecoded_array = msgspec.json.Decoder(list[msgspec.Raw])
_anything = msgspec.json.Decoder()
_arguments = msgspec.json.Decoder(_Arguments)


def iterate(path: str) -> Iterator[tuple[int, bytes]]:
    """The rows of a samples file as (number of their first line, undecoded row). Raises OSError if the file cannot be
    read, and LogError if it is a truncated array, or compressed and damaged.
    """
    with open_decompressed(path) as file:
        first = file.readline()
        file.seek(0)
        if not first.lstrip().startswith(b"["):
            yield from ((number, line) for number, line in enumerate(file, start=1) if not line.isspace())
        elif first.strip() == b"[":
            yield from _indented(file)
        else:
            yield from _array(file)


def decoded_rows(path: str) -> Iterator[dict[str, object]]:
    """The rows of a samples file, with all columns decoded. Raises ValueError if a row is truncated or not a sample."""
    decode = Decoder()
    for _, line in iterate(path):
        yield {name: value(item) for name, item in decode(line).items()}


def _indented(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Objects of `json.dumps(rows, indent=2)`: each opens and closes with a brace at the same indentation."""
    parts: list[bytes] = []
    start, closing = 0, b""
    for number, line in enumerate(file, start=1):
        content = line.rstrip()
        if not parts:
            if content.endswith(b"{"):
                parts, start, closing = [line], number, content[:-1] + b"}"
        elif content in (closing, closing + b","):
            yield start, b"".join(parts) + b"}"
            parts = []
        else:
            parts.append(line)
    if parts:
        yield start, b"".join(parts)


def _array(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    try:
        rows = _undecoded_array.decode(file.read())
    except (msgspec.DecodeError, RecursionError) as error:
        raise LogError(f"the file is not a valid JSON array of samples: {error}") from None
    yield from ((1, bytes(row)) for row in rows)


class Decoder:
    """Decodes rows; those with NaN or Infinity, which lm-eval writes although they are not JSON, with the json module.

    If one row contains them, the next one probably does, and the fast decoder is not tried.
    """

    def __init__(self) -> None:
        self._expects_nan = False

    def __call__(self, line: bytes) -> Row:
        """One row by column name. Raises ValueError if the text is truncated, not JSON or not a sample."""
        row: object = None
        if not self._expects_nan:
            with suppress(msgspec.DecodeError, RecursionError):
                row = _undecoded_object.decode(line)
        if row is None:
            row = _lenient(line)
            self._expects_nan = b"NaN" in line or b"Infinity" in line
        if not isinstance(row, dict) or "doc_id" not in row:
            raise ValueError("no sample row: it has no doc_id")
        return row


def repeated_keys(line: bytes, row: Row, names: Iterable[str]) -> list[str]:
    """The names that occur more than once as keys of the row itself; the last value of a key counts."""
    if _is_complete(row, line) or all(line.count(f'"{name}":'.encode()) < 2 for name in names):
        return []
    checked, repeated = set(names), list[str]()

    def find_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
        # the last call is for the row itself
        keys = [key for key, _ in pairs]
        repeated[:] = sorted({key for key in keys if key in checked and keys.count(key) > 1})
        return {}

    with suppress(ValueError, RecursionError):
        json.loads(line, object_pairs_hook=find_repeated, parse_int=float)
    return repeated


def _is_complete(row: Row, line: bytes) -> bool:
    """Whether the keys and values of a row, with the separators of `json.dumps`, are as long as its line.

    Then no key is repeated. In long rows, this is found much faster than by searching for each key.
    """
    first, item = next(iter(row.items()))
    if not isinstance(item, msgspec.Raw) or not line.startswith(f'{{"{first}": '.encode()):
        return False
    undecoded = cast("Mapping[str, msgspec.Raw]", row)
    size = sum(map(len, undecoded)) + sum(map(len, undecoded.values())) + len(undecoded) * len('"": , ')
    return size == len(line.rstrip())


def value(item: object) -> object:
    """The decoded value of a column. Raises ValueError if it is not JSON, or nested too deeply."""
    if not isinstance(item, msgspec.Raw):
        return item
    try:
        return _anything.decode(item)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _lenient(bytes(item))


def _lenient(content: bytes) -> object:
    """Decode JSON with NaN and Infinity; bytes that are not UTF-8 become the replacement character."""
    return loads(content.decode(errors="replace"))


def prompt(arguments: object) -> str | None:
    """The prompt of the row's first request; None if it has none."""
    if not isinstance(arguments, msgspec.Raw):
        return _first_text(arguments)
    try:
        first = _arguments.decode(arguments).gen_args_0
        return _first_text(first.arg_0) if first is not None else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _first_text(value(arguments))


def n_requests(arguments: object) -> int:
    """The number of requests of a row, which is the number of choices of a multiple-choice question; 0 if unknown."""
    if isinstance(arguments, msgspec.Raw):
        for decoder in (_undecoded_object, _undecoded_array):
            with suppress(msgspec.DecodeError, RecursionError):
                return len(decoder.decode(arguments))
        arguments = value(arguments)
    return len(arguments) if isinstance(arguments, dict | list) else 0


def _first_text(tree: object) -> str | None:
    """The first text, following first entries: "Q: …" in `{"gen_args_0": {"arg_0": "Q: …"}}` and `[["Q: …", " A"]]`."""
    while not isinstance(tree, str):
        if isinstance(tree, dict):
            tree = list(tree.values())
        if not isinstance(tree, list) or not tree:
            return None
        tree = tree[0]
    return tree


FALLBACK = "[invalid]"


def is_unparsed(filtered: object) -> bool:
    """Whether all answers of a row are the fallback of a filter.

    >>> is_unparsed(["[invalid]"]), is_unparsed(["42"]), is_unparsed([])
    (True, False, False)
    """
    answers = items(filtered)
    return bool(answers) and all(answer == FALLBACK for answer in answers)


class UnparsedAnswers:
    """Counts, for each question, the rows of all filters and those with an unparsed answer."""

    def __init__(self) -> None:
        self._n_rows: dict[int, int] = {}
        self._n_unparsed: dict[int, int] = {}

    def add(self, question: int, *, is_unparsed: bool) -> None:
        """Add the row of a filter."""
        self._n_rows[question] = self._n_rows.get(question, 0) + 1
        if is_unparsed:
            self._n_unparsed[question] = self._n_unparsed.get(question, 0) + 1

    def endings(self, n_questions: int) -> TrialEndings | None:
        """How each question ended, `unparsed` or `completed`; None if every answer was parsed."""
        unparsed = [question for question, n in self._n_unparsed.items() if n == self._n_rows[question]]
        if not unparsed:
            return None
        codes = np.full((n_questions, 1), ending_code("completed"))
        codes[unparsed] = ending_code("unparsed")
        return TrialEndings(codes)
