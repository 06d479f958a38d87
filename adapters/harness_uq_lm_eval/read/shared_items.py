"""Identify items that several tasks of a group share: translations, prompts and variants of the same question.

An identifier that two data sets would not share by chance is accepted. A running number (`7`, `q-7`) is accepted only
if the catalogue lists it, or if the targets or a text field agree for equal identifiers far more often than by chance.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from harness_uq.plugin_api import MAX_FIELDS, CatalogueEntry, TaskLog
from harness_uq_lm_eval.read.catalogue import load_catalogue

DOC_ID = "doc_id"
AGREEMENT = 0.9
MIN_Z = 6.0
SHARED = 0.5
DENSE = 10  # identifiers count as running numbers if their range is at most this many times their number

_IDENTIFIER = re.compile(
    r"_?(id|uid|uuid|ind|idx|qid|key|(sample|question|unique|story|item|record)[ _]id)", re.IGNORECASE
)
_MAX_LENGTH = 200
_DIGITS = re.compile(r"\d+")
_TARGET = "target"

Cell = TypeVar("Cell")


class _Ragged(Generic[Cell]):
    """The first columns of rows that may lack some of them; None if a row lacks the column."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Cell | None]] = {}
        self._n = 0

    def add(self, row: Iterable[tuple[str, Cell | None]]) -> None:
        """Append a row."""
        for name, value in row:
            column = self.columns.get(name)
            if column is None and (len(self.columns) < MAX_FIELDS or name == _TARGET):
                column = self.columns[name] = [None] * self._n
            if column is not None:
                column.append(value)
        self._n += 1
        for column in self.columns.values():
            column.extend([None] * (self._n - len(column)))


class Identifiers:
    """Fields that may identify the items of one task, and hashes of contents that may confirm it."""

    def __init__(self, task: str) -> None:
        self.entry = next((e for e in load_catalogue().tasks if re.fullmatch(e.pattern, task)), None)
        self._parts = {part for name in self.known for part in name.split("+")}
        self._ids, self._texts = _Ragged[str](), _Ragged[int]()

    @property
    def known(self) -> tuple[str, ...]:
        """Item fields in the catalogue."""
        return self.entry.item_fields if self.entry is not None else ()

    @property
    def values(self) -> Mapping[str, list[str | None]]:
        """Values of each field that may identify the items, one per question."""
        return self._ids.columns

    @property
    def content_hashes(self) -> Mapping[str, list[int | None]]:
        """Hashes of the targets and of text fields with three words or more, one per question."""
        return self._texts.columns

    def add(self, doc_id: object, document: object, target: str) -> None:
        """Append a question."""
        leaves = document if isinstance(document, Mapping) else {}
        self._ids.add(
            (name, str(value)[:_MAX_LENGTH] if isinstance(value, str | int) and not isinstance(value, bool) else None)
            for name, value in {**leaves, DOC_ID: doc_id}.items()
            if name in self._parts or (name != DOC_ID and _IDENTIFIER.fullmatch(name))
        )
        texts = [
            (f"doc.{name}", hash(value))
            for name, value in leaves.items()
            if isinstance(value, str) and _has_three_words(value)
        ]
        self._texts.add([*texts, (_TARGET, hash(target) if target else None)])

    def column(self, names: str) -> list[str] | None:
        """Values of a field, or of several joined by `+`; None if a question lacks it."""
        parts = [self.values.get(name) for name in names.split("+")]
        if any(part is None or None in part for part in parts):
            return None
        return ["|".join(map(str, row)) for row in zip(*(part for part in parts if part is not None), strict=True)]


def _has_three_words(text: str) -> bool:
    """Whether a text has two blanks; the search ends at the second one, so that a long text takes no longer."""
    return text.find(" ", text.find(" ") + 1) > text.find(" ") >= 0


def with_items(logs: Sequence[TaskLog], identifiers: Mapping[str, Identifiers]) -> list[TaskLog]:
    """The logs, with identifiers of the items that the tasks of a group share; the largest group of a task counts."""
    labels: dict[str, tuple[str, ...]] = {}
    by_name = {log.task: log for log in logs}
    for group in sorted((log for log in logs if log.subtasks), key=lambda log: len(log.subtasks)):
        members = {name: identifiers[name] for name in _leaves(group, by_name) if name in identifiers}
        if len(members) > 1:
            labels |= _labels(members)
    return [
        replace(log, questions=replace(log.questions, items=labels[log.task])) if log.task in labels else log
        for log in logs
    ]


def _leaves(log: TaskLog, by_name: Mapping[str, TaskLog]) -> Iterable[str]:
    for name in log.subtasks:
        child = by_name.get(name)
        yield from _leaves(child, by_name) if child is not None and child.subtasks else [name]


def _labels(members: Mapping[str, Identifiers]) -> dict[str, tuple[str, ...]]:
    names = [*(k for m in members.values() for k in m.known), *(k for m in members.values() for k in m.values)]
    for name in dict.fromkeys(names):
        columns = {task: column for task, member in members.items() if (column := member.column(name)) is not None}
        if len(columns) == len(members) and (sharing := _tasks_sharing_items(name, members, columns)):
            return {
                task: tuple(column) if task in sharing else tuple(f"{task}: {value}" for value in column)
                for task, column in columns.items()
            }
    return {}


def _tasks_sharing_items(name: str, members: Mapping[str, Identifiers], columns: Mapping[str, list[str]]) -> set[str]:
    """Tasks whose shared items the field identifies; empty if it does not identify items."""
    is_known = any(name in member.known for member in members.values())
    is_unique = all(len(set(column)) == len(column) for column in columns.values())
    counts = Counter(value for column in columns.values() for value in set(column))
    shared = sum(counts[value] > 1 for column in columns.values() for value in column)
    if not (is_known or is_unique) or shared < SHARED * sum(map(len, columns.values())):
        return set()
    if not _are_running_numbers(counts) or _is_verified(name, members):
        return set(columns)
    first = next(iter(columns))
    agreeing = {task for task in columns if task != first and _agree(members, columns, first, task)}
    return agreeing | {first} if agreeing else set()


def _are_running_numbers(values: Collection[str]) -> bool:
    """Whether most identifiers may be running numbers, with any text around the number."""
    numbers_by_pattern: dict[str, list[list[int]]] = {}
    for value in values:
        numbers = [int(digits) for digits in _DIGITS.findall(value)]
        numbers_by_pattern.setdefault(_DIGITS.sub("#", value), []).append(numbers)
    n_running = 0
    for rows in numbers_by_pattern.values():
        volume = math.prod(max(numbers) - min(numbers) + 1 for numbers in zip(*rows, strict=True))
        n_running += len(rows) if rows[0] and len(rows) > 1 and volume <= DENSE * len(rows) else 0
    return 2 * n_running >= len(values)


def _is_verified(name: str, members: Mapping[str, Identifiers]) -> bool:
    entries: list[CatalogueEntry | None] = [member.entry for member in members.values()]
    return all(entry is not None and entry.verified and name in entry.item_fields for entry in entries)


def _agree(members: Mapping[str, Identifiers], columns: Mapping[str, list[str]], first: str, second: str) -> bool:
    """Whether the targets or a text field of two tasks agree for equal identifiers."""
    hashes_a, hashes_b = members[first].content_hashes, members[second].content_hashes
    return any(
        _agree_beyond_chance(dict(zip(columns[first], hashes_a[name], strict=True)), columns[second], hashes_b[name])
        for name in hashes_a
        if name in hashes_b
    )


def _agree_beyond_chance(hash_of: Mapping[str, int | None], labels: list[str], hashes: list[int | None]) -> bool:
    """Whether two contents agree for equal labels, more often than expected from their frequencies."""
    pairs = [(hash_of[label], other) for label, other in zip(labels, hashes, strict=True) if label in hash_of]
    if not pairs or any(None in pair for pair in pairs):
        return False
    n, rate = len(pairs), sum(a == b for a, b in pairs) / len(pairs)
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(left[content] * right[content] for content in left) / n**2
    spread = math.sqrt(chance * (1 - chance) / n)
    return rate >= AGREEMENT and chance < 1 and rate - chance > MIN_Z * spread
