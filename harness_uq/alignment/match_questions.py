"""Match the questions that runs share by the identity of the document, never by row order."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.data.run_selection import SelectedRun
from harness_uq.data.task_log import IntArray
from harness_uq.errors import DataError, NotEstimableError
from harness_uq.estimation.samples_or_totals import NEARLY_COMPLETE
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.comparison import (
    DUPLICATE_IDENTIFIER,
    FEW_COMMON_QUESTIONS,
    IDENTIFIERS_DIFFER,
    IDENTIFIERS_MOVED,
    MATCHED_BY_IDENTIFIER_ONLY,
    NO_COMMON_QUESTIONS,
    PARTIAL_SAMPLES,
    PROMPTS_DIFFER,
    QUESTION_CONTENT_DIFFERS,
    SYSTEM_WITH_FEW_SHARED_QUESTIONS,
    UNMATCHED_QUESTIONS,
)

ENOUGH = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class CommonQuestions(HasMessages):
    """The questions that every run contains and scored.

    Attributes
    ----------
    entries : the runs used, one per system
    systems : unique names of the systems
    rows : int (n_systems, n_questions); row of each question in the log of each system
    matched_by : `content` or `id`
    n_unmatched : number of questions of each system that some other system lacks
    messages : notes and warnings
    """

    entries: tuple[SelectedRun, ...]
    systems: tuple[str, ...]
    rows: IntArray
    matched_by: str
    n_unmatched: tuple[int, ...]
    messages: tuple[Message, ...] = ()

    @property
    def n_questions(self) -> int:
        """Number of questions in common."""
        return int(self.rows.shape[1])


def common_questions(chosen: Sequence[SelectedRun]) -> CommonQuestions:
    """Match the questions that all systems answered and scored.

    Questions are matched by the hash of their content if this matches at least half as many questions as their
    identifiers do, otherwise by identifier. Identical questions within a log (equal hashes) are distinguished by their
    identifiers if these agree between logs, otherwise by the order in which they occur. The core consists of the
    questions that at least half of the systems, and at least two, answered. A system that answered less than half of
    the core is excluded.

    Parameters
    ----------
    chosen : question scores of one task, metric and filter, one entry per system

    Raises
    ------
    DataError : if two questions of a log cannot be distinguished
    NotEstimableError : if fewer than two systems remain, or if they share less than half of the questions of the
        system with the fewest questions
    """
    matched_by = _identity(chosen)
    with_core, notes = _with_core(chosen, matched_by)
    common = _aligned(with_core, matched_by, notes)
    _check_enough(common)
    return common


def _check_enough(common: CommonQuestions) -> None:
    fewest = min(n + common.n_questions for n in common.n_unmatched)
    if common.n_questions < ENOUGH * fewest:
        raise NotEstimableError(FEW_COMMON_QUESTIONS(n_common=common.n_questions, n_questions=fewest))


# ---------------------------------------------------------------- selection of systems


def _identity(chosen: Sequence[SelectedRun]) -> str:
    """Choose `content` if all logs hash their questions and it matches at least half as many as the identifiers do."""
    if not all(all(_labels(entry, "content")) for entry in chosen):
        return "id"
    by_content, by_id = (len(_core([_labels(entry, by) for entry in chosen])) for by in ("content", "id"))
    return "content" if by_content and by_content >= ENOUGH * by_id else "id"


def _labels(entry: SelectedRun, matched_by: str) -> list[str]:
    """Return the key that identifies each scored question of a run."""
    questions = entry.log.questions
    labels = questions.hashes or ("",) * len(questions) if matched_by == "content" else questions.ids
    return [labels[i] for i in entry.scored_rows]


def _core(label_sets: Sequence[Collection[str]]) -> set[str]:
    """Return the questions that at least half of the systems, and at least two, contain."""
    counts = Counter(question for labels in label_sets for question in set(labels))
    least = max(min(2, len(label_sets)), len(label_sets) / 2)
    return {question for question, n in counts.items() if n >= least}


def _with_core(chosen: Sequence[SelectedRun], matched_by: str) -> tuple[list[SelectedRun], tuple[Message, ...]]:
    """Return the systems that answered at least half of the core, and notes on the others."""
    label_sets = [set(_labels(entry, matched_by)) for entry in chosen]
    core = _core(label_sets)
    n_core = [len(core & labels) for labels in label_sets]
    with_core = [entry for entry, n in zip(chosen, n_core, strict=True) if n and n >= ENOUGH * len(core)]
    if len(with_core) < min(2, len(chosen)):
        names = unique_names([entry.log.system for entry in chosen])
        raise NotEstimableError(NO_COMMON_QUESTIONS(systems=names))
    notes = tuple(
        SYSTEM_WITH_FEW_SHARED_QUESTIONS(system=entry.log.system, n_shared=n, n_core=len(core))
        for entry, n in zip(chosen, n_core, strict=True)
        if entry not in with_core
    )
    return with_core, notes


# ---------------------------------------------------------------- matching of questions

_Key = tuple[str, str]


def _aligned(runs: Sequence[SelectedRun], matched_by: str, messages: tuple[Message, ...]) -> CommonQuestions:
    names = unique_names([entry.log.system for entry in runs])
    keys, warnings = _keys(runs, matched_by)
    for system, labels in zip(names, keys, strict=True):
        if len(set(labels)) < len(labels):
            (repeated, n), *_ = Counter(labels).most_common(1)
            raise DataError(DUPLICATE_IDENTIFIER(system=system, n_questions=n, identifier=repeated[0]))
    common = set(keys[0]).intersection(*keys[1:])
    if not common:
        raise NotEstimableError(NO_COMMON_QUESTIONS(systems=names))
    order = [key for key in keys[0] if key in common]
    indices = [
        dict(zip(labels, entry.scored_rows.tolist(), strict=True)) for labels, entry in zip(keys, runs, strict=True)
    ]
    rows = np.array([[index[key] for key in order] for index in indices])
    rows.setflags(write=False)
    n_unmatched = tuple(len(labels) - len(order) for labels in keys)
    messages = (
        *messages,
        *_loss(n_unmatched, len(order)),
        *warnings,
        *_across_harnesses(runs, keys, matched_by),
        *_other_prompts(runs, rows),
        *_cut(names, runs),
    )
    return CommonQuestions(tuple(runs), names, rows, matched_by, n_unmatched, messages)


def _keys(chosen: Sequence[SelectedRun], matched_by: str) -> tuple[list[list[_Key]], tuple[Message, ...]]:
    """Return a key for each scored question; the same document has the same key in every log."""
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
    if any(repeats != duplicated[0] for repeats in duplicated[1:]):
        by_content = [_numbered(hs) for hs in hashes]
    return by_content, _moved_warning(ids, hashes)


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


# ---------------------------------------------------------------- notes and warnings


def _across_harnesses(
    chosen: Sequence[SelectedRun], keys: Sequence[Sequence[_Key]], matched_by: str
) -> tuple[Message, ...]:
    """Check questions that two harnesses logged; harnesses hash and number documents differently.

    Raises NotEstimableError unless all identifiers agree: if they were shifted by one, every question would be paired
    with its neighbor.
    """
    harnesses = list(dict.fromkeys(entry.log.source.harness for entry in chosen))
    if matched_by == "content" or len(harnesses) == 1:
        return ()
    if any(set(labels) != set(keys[0]) for labels in keys[1:]):
        raise NotEstimableError(IDENTIFIERS_DIFFER(harnesses=harnesses))
    return (MATCHED_BY_IDENTIFIER_ONLY(harnesses=harnesses),)


def _content_warning(ids: Sequence[Sequence[str]], hashes: Sequence[Sequence[str]]) -> tuple[Message, ...]:
    if not all(all(run_hashes) for run_hashes in hashes):
        return ()
    common = set(ids[0]).intersection(*ids[1:])
    n_shared = min(len(set(hashes[0]).intersection(*hashes[1:])), len(common))
    if not common:
        return ()
    return (QUESTION_CONTENT_DIFFERS(n_different=len(common) - n_shared, n_common=len(common)),)


def _moved_warning(ids: Sequence[Sequence[str]], hashes: Sequence[Sequence[str]]) -> tuple[Message, ...]:
    first = dict(zip(ids[0], hashes[0], strict=True))
    moved = {
        name
        for names, hs in zip(ids[1:], hashes[1:], strict=True)
        for name, h in zip(names, hs, strict=True)
        if first.get(name, h) != h
    }
    if not moved:
        return ()
    return (IDENTIFIERS_MOVED(n_identifiers=len(moved)),)


def _other_prompts(chosen: Sequence[SelectedRun], rows: IntArray) -> tuple[Message, ...]:
    """Warn if the prompts differ (examples, chat template, system prompt), because this may also affect the scores."""
    hashes = [entry.log.questions.prompt_hashes for entry in chosen]
    if not all(hashes):
        return ()
    asked = zip(*([run_hashes[i] for i in own] for run_hashes, own in zip(hashes, rows, strict=True)), strict=True)
    n_other = sum(len(set(prompts)) > 1 for prompts in asked if all(prompts))
    if not n_other:
        return ()
    names = _differing_settings(chosen)
    settings = f" (settings that differ: {', '.join(names)})" if names else ""
    return (PROMPTS_DIFFER(n_different=n_other, n_questions=rows.shape[1], settings=settings),)


def _cut(names: Sequence[str], chosen: Sequence[SelectedRun]) -> Iterator[Message]:
    """Warn of logs whose samples are used although they cover only a part of the questions that the harness reports."""
    for name, entry in zip(names, chosen, strict=True):
        n_held, reported = len(entry.scored_rows), entry.log.reported.get((entry.data.metric, entry.data.filter))
        if reported and reported.n and n_held < NEARLY_COMPLETE * reported.n:
            total = "" if reported.value is None else f" (score reported for all questions: {reported.value:.4g})"
            yield PARTIAL_SAMPLES(system=name, n_logged=n_held, n_questions=reported.n, total=total)


def _differing_settings(chosen: Sequence[SelectedRun]) -> list[str]:
    first, *others = (entry.log.facts.settings for entry in chosen)
    return sorted(name for name in first if any(other.get(name) != first[name] for other in others))


def _loss(n_unmatched: Sequence[int], n_common: int) -> tuple[Message, ...]:
    if not (most := max(n_unmatched)):
        return ()
    return (UNMATCHED_QUESTIONS(n_systems=len(n_unmatched), n_common=n_common, n_unmatched=most),)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Number repeated names to make all names unique."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} #{seen[name]}" if counts[name] > 1 else name)
    return tuple(unique)
