"""Items that recur across the tasks of a group: translations, prompts and variants of the same question.

An identifier that no two data sets would give by chance speaks for itself. One that counts does not (`7`, `q-7`), since
every data set counts from 0: it needs the catalogue, or a witness, targets or a field of text that agree where the
identifiers do far more often than chance would have it.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from harness_uq import CatalogueEntry, TaskLog
from harness_uq_lm_eval.read.catalogue import load_catalogue

DOC_ID = "doc_id"
AGREEMENT = 0.9
MIN_Z = 6.0
SHARED = 0.5
DENSE = 10  # numbers that a data set could have counted, for each that it has

_IDENTIFIER = re.compile(
    r"_?(id|uid|uuid|ind|idx|qid|key|(sample|question|unique|story|item|record)[ _]id)", re.IGNORECASE
)
_LONGEST = 200
_DIGITS = re.compile(r"\d+")
_TARGET = "target"
_FEWEST_BLANKS = 2

Cell = TypeVar("Cell")


class _Ragged(Generic[Cell]):
    """Columns of rows that need not have all of them; None where a row has not."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Cell | None]] = {}
        self._n = 0

    def add(self, row: Iterable[tuple[str, Cell | None]]) -> None:
        """Take the next row."""
        for name, value in row:
            self.columns.setdefault(name, [None] * self._n).append(value)
        self._n += 1
        for column in self.columns.values():
            column.extend([None] * (self._n - len(column)))


class Identifiers:
    """What may identify the items of one task, by name of the field; and hashes of what may witness it.

    Attributes
    ----------
    witnesses : hashes of the targets and of the fields of three words or more, one a question
    """

    def __init__(self, task: str) -> None:
        self.entry = next((e for e in load_catalogue().tasks if re.fullmatch(e.pattern, task)), None)
        self._parts = {part for name in self.known for part in name.split("+")}
        self._ids, self._texts = _Ragged[str](), _Ragged[int]()

    @property
    def known(self) -> tuple[str, ...]:
        """Fields that the catalogue names."""
        return self.entry.item_fields if self.entry is not None else ()

    @property
    def values(self) -> Mapping[str, list[str | None]]:
        """What each question has in each field that may identify it."""
        return self._ids.columns

    @property
    def witnesses(self) -> Mapping[str, list[int | None]]:
        return self._texts.columns

    def add(self, doc_id: object, document: object, target: str) -> None:
        """Take the next question."""
        leaves = document if isinstance(document, Mapping) else {}
        self._ids.add(
            (name, _label(value))
            for name, value in {**leaves, DOC_ID: doc_id}.items()
            if name in self._parts or (name != DOC_ID and _IDENTIFIER.fullmatch(name))
        )
        texts = [(f"doc.{name}", hash(value)) for name, value in leaves.items() if _is_text(value)]
        self._texts.add([*texts, (_TARGET, hash(target) if target else None)])

    def column(self, names: str) -> list[str] | None:
        """Values of a field, or of several joined by `+`; None where a question lacks it."""
        parts = [self.values.get(name) for name in names.split("+")]
        if any(part is None or None in part for part in parts):
            return None
        return ["|".join(map(str, row)) for row in zip(*(part for part in parts if part is not None), strict=True)]


def _label(value: object) -> str | None:
    return str(value)[:_LONGEST] if isinstance(value, str | int) and not isinstance(value, bool) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.count(" ") >= _FEWEST_BLANKS


def with_items(logs: Sequence[TaskLog], found: Mapping[str, Identifiers]) -> list[TaskLog]:
    """The logs, with identifiers of the items that the tasks of a group share; the widest group decides."""
    labels: dict[str, tuple[str, ...]] = {}
    by_name = {log.task: log for log in logs}
    for group in sorted((log for log in logs if log.subtasks), key=lambda log: len(log.subtasks)):
        members = {name: found[name] for name in _leaves(group, by_name) if name in found}
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
        if len(columns) == len(members) and (joined := _joined(name, members, columns)):
            return {
                task: tuple(column) if task in joined else tuple(f"{task}: {value}" for value in column)
                for task, column in columns.items()
            }
    return {}


def _joined(name: str, members: Mapping[str, Identifiers], columns: Mapping[str, list[str]]) -> set[str]:
    """Tasks whose items the field identifies together; empty where it identifies none."""
    is_known = any(name in member.known for member in members.values())
    is_unique = all(len(set(column)) == len(column) for column in columns.values())
    counts = Counter(value for column in columns.values() for value in set(column))
    shared = sum(counts[value] > 1 for column in columns.values() for value in column)
    if not (is_known or is_unique) or shared < SHARED * sum(map(len, columns.values())):
        return set()
    if not _are_counted(counts) or _is_verified(name, members):
        return set(columns)
    first = next(iter(columns))
    agreeing = {task for task in columns if task != first and _agree(members, columns, first, task)}
    return agreeing | {first} if agreeing else set()


def _are_counted(values: Collection[str]) -> bool:
    """Whether most identifiers could be numbers that a data set gave its questions, whatever stands around them."""
    alike: dict[str, list[list[int]]] = {}
    for value in values:
        numbers = [int(digits) for digits in _DIGITS.findall(value)]
        alike.setdefault(_DIGITS.sub("#", value), []).append(numbers)
    n_counted = 0
    for rows in alike.values():
        volume = math.prod(max(places) - min(places) + 1 for places in zip(*rows, strict=True))
        n_counted += len(rows) if rows[0] and len(rows) > 1 and volume <= DENSE * len(rows) else 0
    return 2 * n_counted >= len(values)


def _is_verified(name: str, members: Mapping[str, Identifiers]) -> bool:
    entries: list[CatalogueEntry | None] = [member.entry for member in members.values()]
    return all(entry is not None and entry.verified and name in entry.item_fields for entry in entries)


def _agree(members: Mapping[str, Identifiers], columns: Mapping[str, list[str]], first: str, second: str) -> bool:
    """Whether the targets, or a text, of two tasks agree where their identifiers do."""
    ours, theirs = members[first].witnesses, members[second].witnesses
    return any(
        _agree_beyond_chance(dict(zip(columns[first], ours[name], strict=True)), columns[second], theirs[name])
        for name in ours
        if name in theirs
    )


def _agree_beyond_chance(ours: Mapping[str, int | None], labels: list[str], theirs: list[int | None]) -> bool:
    """Whether two witnesses agree where the labels do, more often than their frequencies explain."""
    pairs = [(ours[label], other) for label, other in zip(labels, theirs, strict=True) if label in ours]
    if not pairs or any(None in pair for pair in pairs):
        return False
    n, rate = len(pairs), sum(a == b for a, b in pairs) / len(pairs)
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(left[witness] * right[witness] for witness in left) / n**2
    spread = math.sqrt(chance * (1 - chance) / n)
    return rate >= AGREEMENT and chance < 1 and rate - chance > MIN_Z * spread
