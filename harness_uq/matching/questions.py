"""The questions that runs share, matched by document identity, never by row order."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.logs.data import IntArray, Totals
from harness_uq.logs.newest import Chosen

ENOUGH = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class CommonQuestions:
    """The questions that all of some runs hold and scored.

    Attributes
    ----------
    entries : the runs that count, one a system
    systems : their names, unique
    rows : int (n_systems, n_questions); row of each question in its own log
    matched_by : `content` or `id`
    n_unmatched : questions of each system that some other system lacks
    notes, warnings : for the report
    """

    entries: tuple[Chosen, ...]
    systems: tuple[str, ...]
    rows: IntArray
    matched_by: str
    n_unmatched: tuple[int, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n_questions(self) -> int:
        """Questions in common."""
        return int(self.rows.shape[1])


def common_questions(chosen: Sequence[Chosen]) -> CommonQuestions:
    """The questions that all systems hold and scored.

    Questions match by the hash of their content, else by their identifier: whichever is shared more, content where it
    identifies at least half as many. Identical questions within a log (equal hashes) are told apart by their identifier
    where that agrees between logs, else by the order in which they occur. A system is left out that answered less than
    half of the core: the questions that at least half of the systems, and at least two, answered.

    Parameters
    ----------
    chosen : data a question of one task, metric and filter, one a system

    Raises
    ------
    DataError : if two questions of a log cannot be told apart
    NotEstimableError : if fewer than two systems remain, or if they share less than half of the questions of the one
        that has fewest
    """
    matched_by = _identity(chosen)
    kept, notes = _with_core(chosen, matched_by)
    found = _aligned(kept, matched_by, notes)
    _check_enough(found)
    return found


def _check_enough(found: CommonQuestions) -> None:
    fewest = min(n + found.n_questions for n in found.n_unmatched)
    if found.n_questions < ENOUGH * fewest:
        raise NotEstimableError(f"only {found.n_questions} of {fewest} questions match")


# ---------------------------------------------------------------- which systems


def _identity(chosen: Sequence[Chosen]) -> str:
    """`content` where all logs hash their questions and at least half as many are shared by that as by identifier."""
    if not all(all(_labels(entry, "content")) for entry in chosen):
        return "id"
    by_content, by_id = (len(_core([_labels(entry, by) for entry in chosen])) for by in ("content", "id"))
    return "content" if by_content and by_content >= ENOUGH * by_id else "id"


def _labels(entry: Chosen, matched_by: str) -> list[str]:
    """What identifies each scored question of a run."""
    questions = entry.log.questions
    labels = questions.hashes or ("",) * len(questions) if matched_by == "content" else questions.ids
    return [labels[i] for i in _scored(entry)]


def _scored(entry: Chosen) -> IntArray:
    return np.empty(0, int) if isinstance(entry.data, Totals) else np.flatnonzero(entry.data.is_scored)


def _core(held: Sequence[Collection[str]]) -> set[str]:
    """Questions that at least half of the systems hold, and at least two."""
    counts = Counter(question for labels in held for question in set(labels))
    least = max(min(2, len(held)), len(held) / 2)
    return {question for question, n in counts.items() if n >= least}


def _with_core(chosen: Sequence[Chosen], matched_by: str) -> tuple[list[Chosen], tuple[str, ...]]:
    """The systems that answered at least half of the core, and notes on the others."""
    held = [set(_labels(entry, matched_by)) for entry in chosen]
    core = _core(held)
    n_core = [len(core & labels) for labels in held]
    kept = [entry for entry, n in zip(chosen, n_core, strict=True) if n and n >= ENOUGH * len(core)]
    if len(kept) < min(2, len(chosen)):
        names = unique_names([entry.log.system for entry in chosen])
        raise NotEstimableError(f"{' and '.join(names)} have no question in common")
    notes = tuple(
        f"{entry.log.system} is left out: it answered {n} of the {len(core)} questions that most answered"
        for entry, n in zip(chosen, n_core, strict=True)
        if entry not in kept
    )
    return kept, notes


# ---------------------------------------------------------------- which questions

_Key = tuple[str, str]


def _aligned(kept: Sequence[Chosen], matched_by: str, notes: tuple[str, ...]) -> CommonQuestions:
    names = unique_names([entry.log.system for entry in kept])
    keys, warnings = _keys(kept, matched_by)
    _check_unique(names, keys)
    common = set(keys[0]).intersection(*keys[1:])
    if not common:
        raise NotEstimableError(f"{' and '.join(names)} have no question in common")
    order = [key for key in keys[0] if key in common]
    indices = [
        dict(zip(labels, _scored(entry).tolist(), strict=True)) for labels, entry in zip(keys, kept, strict=True)
    ]
    rows = np.array([[index[key] for key in order] for index in indices])
    rows.setflags(write=False)
    n_unmatched = tuple(len(labels) - len(order) for labels in keys)
    warnings += (*_across_harnesses(kept, keys, matched_by), *_other_prompts(kept, rows), *_cut(names, kept))
    return CommonQuestions(
        tuple(kept), names, rows, matched_by, n_unmatched, (*notes, *_loss(n_unmatched, len(order))), warnings
    )


def _keys(chosen: Sequence[Chosen], matched_by: str) -> tuple[list[list[_Key]], tuple[str, ...]]:
    """A key a scored question, the same in every log for the same document."""
    ids = [_labels(entry, "id") for entry in chosen]
    by_id = [[(name, "") for name in names] for names in ids]
    hashes = [_labels(entry, "content") for entry in chosen]
    if matched_by == "id":
        return by_id, _content_warning(ids, hashes)
    by_content = [
        [(h, name if repeated else "") for h, name, repeated in zip(hs, names, _is_duplicated(hs), strict=True)]
        for hs, names in zip(hashes, ids, strict=True)
    ]
    duplicated = [{key for key in keys if key[1]} for keys in by_content]
    if any(found != duplicated[0] for found in duplicated[1:]):
        by_content = [_numbered(hs) for hs in hashes]
    return by_content, _moved_warning(ids, hashes)


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


# ---------------------------------------------------------------- what to say


def _across_harnesses(chosen: Sequence[Chosen], keys: Sequence[Sequence[_Key]], matched_by: str) -> tuple[str, ...]:
    """Two harnesses hash and number documents in their own ways: identifiers count only where all of them agree.

    Raises NotEstimableError where they do not: a shift by one would pair every question with its neighbour.
    """
    harnesses = " and ".join(dict.fromkeys(entry.log.source.harness for entry in chosen))
    if matched_by == "content" or " and " not in harnesses:
        return ()
    if any(set(found) != set(keys[0]) for found in keys[1:]):
        raise NotEstimableError(f"{harnesses} identify documents in their own ways, and their identifiers differ")
    return (f"{harnesses} questions are matched by identifier alone: check that they number alike",)


def _content_warning(ids: Sequence[Sequence[str]], hashes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not all(all(found) for found in hashes):
        return ()
    common = set(ids[0]).intersection(*ids[1:])
    n_shared = min(len(set(hashes[0]).intersection(*hashes[1:])), len(common))
    if not common:
        return ()
    return (
        f"the content of {len(common) - n_shared} of {len(common)} questions differs between the runs though their "
        "identifiers agree (shuffled choices?); they are matched by identifier",
    )


def _moved_warning(ids: Sequence[Sequence[str]], hashes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    first = dict(zip(ids[0], hashes[0], strict=True))
    moved = {
        name
        for names, hs in zip(ids[1:], hashes[1:], strict=True)
        for name, h in zip(names, hs, strict=True)
        if first.get(name, h) != h
    }
    if not moved:
        return ()
    return (f"{len(moved)} identifiers stand for different documents in the runs; questions are matched by content",)


def _other_prompts(chosen: Sequence[Chosen], rows: IntArray) -> tuple[str, ...]:
    """Questions put in other words (examples, chat template, system prompt): the scores may differ by that too."""
    hashes = [entry.log.questions.prompt_hashes for entry in chosen]
    if not all(hashes):
        return ()
    asked = zip(*([found[i] for i in own] for found, own in zip(hashes, rows, strict=True)), strict=True)
    n_other = sum(len(set(prompts)) > 1 for prompts in asked if all(prompts))
    if not n_other:
        return ()
    names = _differing_settings(chosen)
    why = f" (settings that differ: {', '.join(names)})" if names else ""
    return (f"the prompts of {n_other} of {rows.shape[1]} questions differ between the runs{why}: so may the scores",)


def _cut(names: Sequence[str], chosen: Sequence[Chosen]) -> Iterator[str]:
    """Logs that hold samples of less than half of their questions: totals of all cannot be matched, and are said."""
    for name, entry in zip(names, chosen, strict=True):
        n_held, reported = len(_scored(entry)), entry.log.reported.get((entry.data.metric, entry.data.filter))
        if reported and reported.n and n_held < ENOUGH * reported.n:
            total = "" if reported.value is None else f"; on all of them it scores {reported.value:.4g}"
            yield f"{name}: the log holds samples of {n_held} of {reported.n} questions, and no others count{total}"


def _differing_settings(chosen: Sequence[Chosen]) -> list[str]:
    first, *others = (entry.log.facts.settings for entry in chosen)
    return sorted(name for name in first if any(other.get(name) != first[name] for other in others))


def _loss(n_unmatched: Sequence[int], n_common: int) -> tuple[str, ...]:
    if not (most := max(n_unmatched)):
        return ()
    return (
        f"{n_common} questions are common to {_all(len(n_unmatched))} systems; the other {most} of up to "
        f"{n_common + most} are left out",
    )


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {n}"


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered where they recur."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} #{seen[name]}" if counts[name] > 1 else name)
    return tuple(unique)
