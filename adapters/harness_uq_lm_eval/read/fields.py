"""What the documents and prompts say about shared material, kept as codes: equal content, equal code."""

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from harness_uq import CandidateField
from harness_uq.logs.unknown import is_unknown

LONG_TEXT = 120
PREFIX_LENGTH = 200
MAX_FIELDS = 200

_MISSING = -1  # hash() of an object is never -1


class _Hashes:
    """The hash of a value for each question, and the characters its texts have in all."""

    __slots__ = ("characters", "hashes")

    def __init__(self, n_before: int) -> None:
        self.hashes = array("q", [_MISSING]) * n_before
        self.characters = 0

    def set(self, question: int, value: object) -> None:
        content = value if isinstance(value, str) else repr(value)
        if len(self.hashes) < question:
            self.pad(question)
        self.hashes.append(hash(content))
        if isinstance(value, str | list):
            self.characters += len(content)

    def pad(self, n_questions: int) -> None:
        self.hashes.extend([_MISSING] * (n_questions - len(self.hashes)))

    def candidate(self) -> CandidateField:
        codes = _codes_of_hashes(np.frombuffer(self.hashes, dtype=np.int64))
        n_present = max(1, int(np.sum(codes >= 0)))
        return CandidateField(codes, self.characters / n_present >= LONG_TEXT)


class DocumentFields:
    """Leaves of the documents to depth two, by dotted name; a list is a leaf.

    Text itself is not kept, only a 64-bit hash a question, so that memory does not grow with passages.
    """

    def __init__(self) -> None:
        self._fields: dict[str, _Hashes] = {}
        self._n = 0

    def add(self, document: object) -> None:
        """Append the next question's document."""
        for name, leaf in dict(_leaves(document)).items():  # "a.b" may stand beside {"a": {"b": …}}
            self._set(name, leaf)
        self._n += 1

    def _set(self, name: str, value: object) -> None:
        field = self._fields.get(name)
        if field is None:
            if len(self._fields) >= MAX_FIELDS:
                return
            field = self._fields[name] = _Hashes(self._n)
        field.set(self._n, value)

    def candidates(self) -> dict[str, CandidateField]:
        """The fields seen, in order of appearance; -1 marks questions without the field."""
        for field in self._fields.values():
            field.pad(self._n)
        return {name: field.candidate() for name, field in self._fields.items()}


def _leaves(document: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values; what lies deeper than two levels is left out."""
    for name, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, dict):
            yield from () if prefix else _leaves(value, f"{name}.")
        elif not is_unknown(value):
            yield f"{prefix}{name}", value


class PromptPrefixes:
    """The text that opens each prompt after what all prompts share.

    One pass: a prompt is kept as the 200 characters after the prefix shared so far. When a later prompt shortens
    that prefix, what was cut from it stands in front of the characters kept for every earlier prompt.
    """

    def __init__(self) -> None:
        self._first: str | None = None
        self._shared = ""
        self._characters = 0
        self._shared_lengths = array("q")
        self._windows: list[str] = []

    def add(self, prompt: str | None) -> None:
        """Append the next question's prompt."""
        if prompt is None:
            self._shared_lengths.append(_MISSING)
            self._windows.append("")
            return
        if self._first is None:
            self._first = self._shared = prompt
        elif not prompt.startswith(self._shared):
            self._shared = prompt[: _common_length(self._shared, prompt)]
        end = len(self._shared)
        self._shared_lengths.append(end)
        self._windows.append(prompt[end : end + PREFIX_LENGTH])
        self._characters += len(prompt)

    @property
    def shared_text(self) -> str:
        """What all prompts begin with."""
        return self._shared

    @property
    def mean_length(self) -> float:
        """Mean number of characters of a prompt."""
        return self._characters / max(1, len(self._windows))

    def candidate(self) -> CandidateField | None:
        """Codes of the openings, None where no prompt was logged."""
        if self._first is None:
            return None
        hashes = np.full(len(self._windows), _MISSING, dtype=np.int64)
        end = len(self._shared)
        for question, (then, window) in enumerate(zip(self._shared_lengths, self._windows, strict=True)):
            if then != _MISSING:
                hashes[question] = hash((self._first[end:then] + window)[:PREFIX_LENGTH])
        return CandidateField(_codes_of_hashes(hashes), is_text=True)


def _common_length(prefix: str, text: str) -> int:
    """Length of the longest common prefix, by bisection: comparing slices is fast, comparing characters is not."""
    low, high = 0, len(prefix)
    while low < high:
        middle = (low + high + 1) // 2
        if text.startswith(prefix[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _codes_of_hashes(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes 0, 1, … by first appearance (hashes differ between processes, codes must not); -1 stays."""
    present = hashes != _MISSING
    _, first, inverse = np.unique(hashes[present], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    codes = np.full(len(hashes), -1, dtype=np.int64)
    codes[present] = rank[inverse.ravel()]
    return codes
