"""Matching the questions of several runs by document identity, never by row order."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.data import FloatArray, IntArray, Scores, TaskLog
from harness_uq.errors import DataError, NotEstimableError

CONTENT_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class AlignedScores:
    """Scores of several systems on the same questions.

    Attributes
    ----------
    systems : names, unique
    values : float (n_systems, n_questions, n_trials); NaN marks a missing trial
    rows : int (n_systems, n_questions); row of each matched question in its own log
    matched_by : `content` or `id`
    n_unmatched : questions of each system that some other system lacks
    notes, warnings : for the report
    """

    systems: tuple[str, ...]
    values: FloatArray
    rows: IntArray
    matched_by: str
    n_unmatched: tuple[int, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 3 or len(self.values) != len(self.systems):
            raise DataError(f"values must have shape (n_systems, n_questions, n_trials); got {self.values.shape}")
        for array in (self.values, self.rows):
            array.setflags(write=False)

    @property
    def n_questions(self) -> int:
        """Matched questions."""
        return int(self.values.shape[1])


def align(logs: Sequence[TaskLog], scores: Sequence[Scores]) -> AlignedScores:
    """Scores of the questions that all logs hold and scored.

    Questions match by the hash of their content where that identifies at least half of the smallest log, else by
    their identifier. Identical questions within a log (equal hashes) are told apart by their identifier where that
    agrees between logs, else by the order in which they occur.

    Parameters
    ----------
    logs, scores : one a system, in the same order; `scores[i]` belongs to `logs[i]`

    Raises
    ------
    DataError : if two questions of a log cannot be told apart
    NotEstimableError : if no question is common to all
    """
    names = _unique_names([log.system for log in logs])
    scored = [np.flatnonzero(score.is_scored) for score in scores]
    keys, matched_by, warnings = _keys(logs, scored)
    _check_unique(names, keys)
    common = set(keys[0]).intersection(*keys[1:])
    if not common:
        raise NotEstimableError(f"{' and '.join(names)} have no question in common")
    order = [key for key in keys[0] if key in common]
    indices = [dict(zip(names_, found.tolist(), strict=True)) for names_, found in zip(keys, scored, strict=True)]
    rows = np.array([[index[key] for key in order] for index in indices])
    n_trials = max(score.values.shape[1] for score in scores)
    values = np.full((len(logs), len(order), n_trials), np.nan)
    for i, score in enumerate(scores):
        values[i, :, : score.values.shape[1]] = score.values[rows[i]]
    unmatched = tuple(len(found) - len(order) for found in scored)
    return AlignedScores(names, values, rows, matched_by, unmatched, _unmatched_notes(names, unmatched), warnings)


_Key = tuple[str, str]


def _keys(logs: Sequence[TaskLog], scored: Sequence[IntArray]) -> tuple[list[list[_Key]], str, tuple[str, ...]]:
    """A key a scored question, the same in every log for the same document."""
    by_id = [[(log.questions.ids[i], "") for i in rows] for log, rows in zip(logs, scored, strict=True)]
    if not all(log.questions.hashes for log in logs):
        return by_id, "id", ()
    hashes = [[log.questions.hashes[i] for i in rows] for log, rows in zip(logs, scored, strict=True)]
    if not all(h for found in hashes for h in found):
        return by_id, "id", ()
    shared = set(hashes[0]).intersection(*hashes[1:])
    smallest = min(len(set(h)) for h in hashes)
    if len(shared) < CONTENT_SHARE * smallest:
        return by_id, "id", _content_warning(by_id, len(shared))
    by_content = [
        [(h, q if duplicated else "") for h, (q, _), duplicated in zip(hs, ids, _is_duplicated(hs), strict=True)]
        for hs, ids in zip(hashes, by_id, strict=True)
    ]
    duplicated_keys = [{key for key in keys if key[1]} for keys in by_content]
    if any(found != duplicated_keys[0] for found in duplicated_keys[1:]):
        by_content = [_numbered(hs) for hs in hashes]
    return by_content, "content", _moved_warning(by_id, hashes)


def _check_unique(systems: Sequence[str], keys: Sequence[Sequence[_Key]]) -> None:
    for system, found in zip(systems, keys, strict=True):
        if len(set(found)) < len(found):
            (repeated, n), *_ = Counter(found).most_common(1)
            raise DataError(
                f"{system}: {n} questions have the identifier {repeated[0]!r}, so they cannot be matched with others; "
                "give each question its own"
            )


def _is_duplicated(hashes: Sequence[str]) -> list[bool]:
    counts = Counter(hashes)
    return [counts[h] > 1 for h in hashes]


def _numbered(hashes: Sequence[str]) -> list[_Key]:
    seen: Counter[str] = Counter()
    keys = []
    for h in hashes:
        keys.append((h, str(seen[h])))
        seen[h] += 1
    return keys


def _content_warning(by_id: Sequence[Sequence[_Key]], n_shared: int) -> tuple[str, ...]:
    common = set(by_id[0]).intersection(*by_id[1:])
    if not common:
        return ()
    return (
        f"the content of {len(common) - min(n_shared, len(common))} of {len(common)} questions differs between the "
        "runs though their identifiers agree (shuffled choices?); they are matched by identifier",
    )


def _moved_warning(by_id: Sequence[Sequence[_Key]], hashes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    first = {key[0]: h for key, h in zip(by_id[0], hashes[0], strict=True)}
    moved = {
        key[0]
        for ids, hs in zip(by_id[1:], hashes[1:], strict=True)
        for key, h in zip(ids, hs, strict=True)
        if key[0] in first and first[key[0]] != h
    }
    if not moved:
        return ()
    return (f"{len(moved)} identifiers stand for different documents in the runs; questions are matched by content",)


def _unmatched_notes(names: Sequence[str], unmatched: Sequence[int]) -> tuple[str, ...]:
    return tuple(
        f"{n} question{'s' if n > 1 else ''} of {name} {'are' if n > 1 else 'is'} left out: other runs lack "
        f"{'them' if n > 1 else 'it'}"
        for name, n in zip(names, unmatched, strict=True)
        if n
    )


def _unique_names(names: Sequence[str]) -> tuple[str, ...]:
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} #{seen[name]}" if counts[name] > 1 else name)
    return tuple(unique)
