"""Fields of documents and openings of prompts, encoded so that equal content has equal codes, to find clusters."""

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import MAX_FIELDS, MAX_LABEL_LENGTH, MAX_NUMBERS, MetadataField, is_unknown, labels_of

LONG_TEXT = 120
PREFIX_LENGTH = 200

_MISSING = -1  # hash() of an object is never -1


class _Hashes:
    """The hash of a value for each question, the characters of its texts, and its values if they are short."""

    __slots__ = ("characters", "hashes", "values")

    def __init__(self, n_before: int) -> None:
        self.hashes = array("q", [_MISSING]) * n_before
        self.characters = 0
        self.values: dict[str, None] | None = {}

    def set(self, question: int, value: object) -> None:
        content = value if isinstance(value, str) else repr(value)
        if len(self.hashes) < question:
            self.pad(question)
        self.hashes.append(hash(content))
        if self.values is not None and content not in self.values:
            self.values[content] = None
            if len(content) > MAX_LABEL_LENGTH or len(self.values) > MAX_NUMBERS:
                self.values = None
        if isinstance(value, str | list):
            self.characters += len(content)

    def pad(self, n_questions: int) -> None:
        self.hashes.extend([_MISSING] * (n_questions - len(self.hashes)))

    def candidate(self) -> MetadataField:
        codes = _codes_of_hashes(np.frombuffer(self.hashes, dtype=np.int64))
        n_present = max(1, int(np.sum(codes >= 0)))
        return MetadataField(codes, self.characters / n_present >= LONG_TEXT, labels_of(self.values or ()))


class DocumentFields:
    """Leaves of the documents to depth two, by dotted name; a list is a leaf.

    Only a 64-bit hash per question is stored, not the text, so that memory does not grow with long passages.
    """

    def __init__(self) -> None:
        self._fields: dict[str, _Hashes] = {}
        self._n = 0

    def add(self, document: object) -> None:
        """Append the next question's document."""
        for name, leaf in dict(_leaves(document)).items():  # both "a.b" and {"a": {"b": …}} may exist
            if name not in self._fields:
                if len(self._fields) >= MAX_FIELDS:
                    continue
                self._fields[name] = _Hashes(self._n)
            self._fields[name].set(self._n, leaf)
        self._n += 1

    def candidates(self) -> dict[str, MetadataField]:
        """The fields, in order of appearance; -1 marks questions without the field."""
        for field in self._fields.values():
            field.pad(self._n)
        return {name: field.candidate() for name, field in self._fields.items()}


def _leaves(document: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values; objects below the second level are omitted."""
    for name, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, dict):
            yield from () if prefix else _leaves(value, f"{name}.")
        elif not is_unknown(value):
            yield f"{prefix}{name}", value


class PromptPrefixes:
    """The text at the beginning of each prompt, after the prefix that all prompts share.

    One pass: of each prompt, 200 characters after the prefix shared so far are stored. If a later prompt shortens the
    prefix, the removed part belongs before the stored characters of all earlier prompts.
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
        """The prefix of all prompts."""
        return self._shared

    @property
    def mean_length(self) -> float:
        """Mean number of characters of a prompt."""
        return self._characters / max(1, len(self._windows))

    def candidate(self) -> MetadataField | None:
        """Codes of the openings; None if no prompt was logged."""
        if self._first is None:
            return None
        hashes = np.full(len(self._windows), _MISSING, dtype=np.int64)
        end = len(self._shared)
        for question, (shared_length, window) in enumerate(zip(self._shared_lengths, self._windows, strict=True)):
            if shared_length != _MISSING:
                hashes[question] = hash((self._first[end:shared_length] + window)[:PREFIX_LENGTH])
        return MetadataField(_codes_of_hashes(hashes), is_text=True)


def _common_length(prefix: str, text: str) -> int:
    """Length of the longest common prefix, by bisection: comparing slices is faster than comparing characters."""
    low, high = 0, len(prefix)
    while low < high:
        middle = (low + high + 1) // 2
        if text.startswith(prefix[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _codes_of_hashes(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes 0, 1, … in order of first appearance, because hashes differ between processes; -1 for missing values."""
    present = hashes != _MISSING
    _, first, inverse = np.unique(hashes[present], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    codes = np.full(len(hashes), -1, dtype=np.int64)
    codes[present] = rank[inverse.ravel()]
    return codes
