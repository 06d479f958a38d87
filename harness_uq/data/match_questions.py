"""Match the questions that runs share by the identity of the document, never by row order, with their clusters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.clusters import ClusterSources, clusters_of
from harness_uq.data.selection import NEARLY_COMPLETE, SelectedRun
from harness_uq.data.structure import StructureOptions, codes_of
from harness_uq.data.task_groups import joined_labels
from harness_uq.data.task_log import Classifications, IntArray, Questions, Scores, SufficientStatistics, TaskData
from harness_uq.messages import HasMessages, Message, distinct
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
from harness_uq.messages.errors import DataError, NotEstimableError

ENOUGH = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class CommonQuestions(HasMessages):
    """The questions that every run contains and scored."""

    entries: tuple[SelectedRun, ...]  # the runs used, one per system
    systems: tuple[str, ...]  # unique names
    rows: IntArray  # (n_systems, n_questions); row of each question in the log of each system
    matched_by: str  # `content` or `id`
    n_unmatched: tuple[int, ...]  # questions of each system that some other system lacks
    messages: tuple[Message, ...] = ()

    @property
    def n_questions(self) -> int:
        """Number of questions in common."""
        return int(self.rows.shape[1])


def common_questions(chosen: Sequence[SelectedRun]) -> CommonQuestions:
    """Match the questions that all systems answered and scored, of one task, metric and filter.

    Questions are matched by the hash of their content if this matches at least half as many questions as their
    identifiers do, otherwise by identifier. Identical questions within a log (equal hashes) are distinguished by their
    identifiers if these agree between logs, otherwise by the order in which they occur. The core consists of the
    questions that at least half of the systems, and at least two, answered. A system that answered less than half of
    the core is excluded. The same runs are matched once, as long as their questions are in memory. Raises DataError if
    two questions of a log cannot be distinguished, and NotEstimableError if fewer than two systems remain, or if they
    share less than half of the questions of the system with the fewest questions.
    """
    match = _known_match(chosen)
    entries = tuple(chosen[place] for place in match.kept)
    systems = unique_names([entry.log.system for entry in entries])
    n_common = match.rows.shape[1]
    left_out = (
        SYSTEM_WITH_FEW_SHARED_QUESTIONS(system=entry.log.system, n_shared=n, n_core=match.n_core)
        for place, (entry, n) in enumerate(zip(chosen, match.n_in_core, strict=True))
        if place not in match.kept
    )
    messages = (
        *left_out,
        *_loss(match.n_unmatched, n_common),
        *match.warnings,
        *_across_harnesses(entries, match),
        *_other_prompts(entries, match),
        *_cut(systems, entries),
    )
    fewest = min(n + n_common for n in match.n_unmatched)
    if n_common < ENOUGH * fewest:
        raise NotEstimableError(FEW_COMMON_QUESTIONS(n_common=n_common, n_questions=fewest))
    return CommonQuestions(entries, systems, match.rows, match.matched_by, match.n_unmatched, messages)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Number repeated names to make all names unique."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} #{seen[name]}" if counts[name] > 1 else name)
    return tuple(unique)


# ---------------------------------------------------------------- matching


@dataclass(frozen=True, slots=True, eq=False)
class _Match:
    """What depends only on the questions and on which of them have a score; other fields as in `CommonQuestions`."""

    kept: tuple[int, ...]  # indices of the systems that answered at least half of the core
    n_core: int  # questions of the core
    n_in_core: tuple[int, ...]  # questions of the core that each system answered
    rows: IntArray
    matched_by: str
    n_unmatched: tuple[int, ...]
    n_other_prompts: int  # common questions whose prompts differ between the systems
    warnings: tuple[Message, ...]  # that contents and identifiers contradict each other


_Key = tuple[tuple[ref[Questions], bytes], ...]
_MATCHES: WeakKeyDictionary[Questions, dict[_Key, _Match]] = WeakKeyDictionary()


def _known_match(chosen: Sequence[SelectedRun]) -> _Match:
    """Return the match of these runs, which is kept as long as the questions of all of them are in memory."""
    questions = [entry.log.questions for entry in chosen]
    rows = [entry.scored_rows for entry in chosen]
    key = tuple((ref(one), own.tobytes()) for one, own in zip(questions, rows, strict=True))
    matches = _MATCHES.setdefault(questions[0], {})
    if key not in matches:
        for outdated in [known for known in matches if any(one() is None for one, _ in known)]:
            del matches[outdated]
        matches[key] = _match(questions, rows, [entry.log.system for entry in chosen])
    return matches[key]


def _match(questions: Sequence[Questions], scored: Sequence[IntArray], systems: Sequence[str]) -> _Match:
    ids = _codes([one.ids for one in questions], scored)
    hashes = _codes([one.hashes for one in questions], scored)
    core = _core(ids)
    matched_by = "id"
    if all(own.all() for own in hashes):
        by_content = _core(hashes)
        if by_content.sum() and by_content.sum() >= ENOUGH * core.sum():
            matched_by, core = "content", by_content
    labels = hashes if matched_by == "content" else ids
    n_core, n_in_core = int(core.sum()), [int(core[np.unique(own)].sum()) for own in labels]
    kept = [place for place, n in enumerate(n_in_core) if n and n >= ENOUGH * n_core]
    if len(kept) < min(2, len(questions)):
        raise NotEstimableError(NO_COMMON_QUESTIONS(systems=unique_names(systems)))
    ids, hashes, rows = ([of_systems[place] for place in kept] for of_systems in (ids, hashes, scored))
    names = unique_names([systems[place] for place in kept])
    keys = _distinguished(hashes, ids) if matched_by == "content" else ids
    for place, name, own, own_rows in zip(kept, names, keys, rows, strict=True):
        _check_distinct(questions[place], own, own_rows, name, matched_by)
    in_all = _occurrences(keys) == len(keys)
    if not in_all.any():
        raise NotEstimableError(NO_COMMON_QUESTIONS(systems=names))
    common = _common_rows(keys, rows, keys[0][in_all[keys[0]]])
    common.setflags(write=False)
    prompts = _codes([questions[place].prompt_hashes for place in kept], list(common))
    return _Match(
        kept=tuple(kept),
        n_core=n_core,
        n_in_core=tuple(n_in_core),
        rows=common,
        matched_by=matched_by,
        n_unmatched=tuple(len(own) - common.shape[1] for own in keys),
        n_other_prompts=_n_different(np.stack(prompts)),
        warnings=_moved_warning(ids, hashes) if matched_by == "content" else _content_warning(ids, hashes),
    )


def _codes(labels: Sequence[Sequence[str]], rows: Sequence[IntArray]) -> list[IntArray]:
    """Number the labels of the given rows in all logs; equal labels have equal codes, and 0 is an unknown label."""
    numbers = {"": 0}
    return [
        np.array([numbers.setdefault(own[i], len(numbers)) for i in at.tolist()], np.int64)
        if own
        else np.zeros(len(at), np.int64)
        for own, at in zip(labels, rows, strict=True)
    ]


def _occurrences(codes: Sequence[IntArray]) -> IntArray:
    """Number of logs that contain each code."""
    return np.bincount(np.concatenate([np.unique(own) for own in codes]))


def _core(codes: Sequence[IntArray]) -> NDArray[np.bool_]:
    """Which codes at least half of the systems, and at least two, contain."""
    return _occurrences(codes) >= max(min(2, len(codes)), len(codes) / 2)


def _distinguished(hashes: Sequence[IntArray], ids: Sequence[IntArray]) -> list[IntArray]:
    """Return a code for each scored question; the same document has the same code in every log."""
    repeated = [_is_repeated(own) for own in hashes]
    pairs = [
        {*zip(own[at].tolist(), own_ids[at].tolist(), strict=True)}
        for own, own_ids, at in zip(hashes, ids, repeated, strict=True)
    ]
    if any(one != other for one, other in pairwise(pairs)):
        second = [_order_among_equals(own) for own in hashes]
    else:
        second = [np.where(at, own + 1, 0) for own, at in zip(ids, repeated, strict=True)]
    table = np.stack([np.concatenate(hashes), np.concatenate(second)])
    codes = np.unique(table, axis=1, return_inverse=True)[1].ravel()
    return np.split(codes, np.cumsum([len(own) for own in hashes])[:-1])


def _is_repeated(codes: IntArray) -> NDArray[np.bool_]:
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse] > 1)


def _order_among_equals(codes: IntArray) -> IntArray:
    """How many earlier rows have the same code."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.empty(len(codes), np.int64)
    order[np.argsort(inverse, kind="stable")] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order


def _check_distinct(questions: Questions, keys: IntArray, rows: IntArray, system: str, matched_by: str) -> None:
    """Raise DataError, which names the most frequent key, unless all questions of a log have different keys."""
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    if len(counts) < len(keys):
        place = int(counts[inverse].argmax())
        labels = questions.hashes if matched_by == "content" else questions.ids
        raise DataError(
            DUPLICATE_IDENTIFIER(system=system, n_questions=int(counts.max()), identifier=labels[rows[place]])
        )


def _common_rows(keys: Sequence[IntArray], rows: Sequence[IntArray], order: IntArray) -> IntArray:
    """Row of each key of `order` in each log."""
    row_of = np.zeros(max(int(own.max(initial=0)) for own in keys) + 1, np.int64)
    common = np.empty((len(keys), len(order)), np.int64)
    for place, (own, own_rows) in enumerate(zip(keys, rows, strict=True)):
        row_of[own] = own_rows
        common[place] = row_of[order]
    return common


def _n_different(codes: IntArray) -> int:
    """Number of columns of known codes that are not all equal; 0 if a log has no codes at all."""
    is_known = (codes > 0).all(axis=0)
    return int((is_known & (codes != codes[0]).any(axis=0)).sum())


def _content_warning(ids: Sequence[IntArray], hashes: Sequence[IntArray]) -> tuple[Message, ...]:
    """Warn if an identifier belongs to different contents. Several questions may have the same content."""
    in_all = _occurrences(ids) == len(ids)
    contents = _common_rows(ids, hashes, ids[0][in_all[ids[0]]])
    if n_different := _n_different(contents):
        return (QUESTION_CONTENT_DIFFERS(n_different=n_different, n_common=contents.shape[1]),)
    return ()


def _moved_warning(ids: Sequence[IntArray], hashes: Sequence[IntArray]) -> tuple[Message, ...]:
    """Warn if an identifier belongs to another document than in the first log."""
    all_ids, all_hashes = np.concatenate(ids), np.concatenate(hashes)
    first = np.zeros(all_ids.max() + 1, np.int64)
    first[ids[0]] = hashes[0]
    is_moved = (first[all_ids] > 0) & (first[all_ids] != all_hashes)
    is_moved[: len(ids[0])] = False
    n_moved = len(np.unique(all_ids[is_moved]))
    return (IDENTIFIERS_MOVED(n_identifiers=n_moved),) if n_moved else ()


# ---------------------------------------------------------------- notes and warnings


def _across_harnesses(entries: Sequence[SelectedRun], match: _Match) -> tuple[Message, ...]:
    """Check questions that two harnesses logged; harnesses hash and number documents differently.

    Raises NotEstimableError unless all identifiers agree: if they were shifted by one, every question would be paired
    with its neighbor.
    """
    harnesses = list(dict.fromkeys(entry.log.source.harness for entry in entries))
    if match.matched_by == "content" or len(harnesses) == 1:
        return ()
    if any(match.n_unmatched):
        raise NotEstimableError(IDENTIFIERS_DIFFER(harnesses=harnesses))
    return (MATCHED_BY_IDENTIFIER_ONLY(harnesses=harnesses),)


def _other_prompts(entries: Sequence[SelectedRun], match: _Match) -> tuple[Message, ...]:
    """Warn if the prompts differ (examples, chat template, system prompt), because this may also affect the scores."""
    if not match.n_other_prompts:
        return ()
    first, *others = (entry.log.facts.settings for entry in entries)
    names = sorted(name for name in first if any(other.get(name) != first[name] for other in others))
    settings = f" (settings that differ: {', '.join(names)})" if names else ""
    return (PROMPTS_DIFFER(n_different=match.n_other_prompts, n_questions=match.rows.shape[1], settings=settings),)


def _cut(names: Sequence[str], entries: Sequence[SelectedRun]) -> Iterator[Message]:
    """Warn of logs whose samples are used although they cover only a part of the questions that the harness reports."""
    for name, entry in zip(names, entries, strict=True):
        n_held, reported = len(entry.scored_rows), entry.log.reported.get((entry.data.metric, entry.data.filter))
        if reported and reported.n and n_held < NEARLY_COMPLETE * reported.n:
            total = "" if reported.value is None else f" (score reported for all questions: {reported.value:.4g})"
            yield PARTIAL_SAMPLES(system=name, n_logged=n_held, n_questions=reported.n, total=total)


def _loss(n_unmatched: Sequence[int], n_common: int) -> tuple[Message, ...]:
    if not (most := max(n_unmatched)):
        return ()
    n_own = n_common + most
    return (UNMATCHED_QUESTIONS(n_systems=len(n_unmatched), n_common=n_common, n_own=n_own, n_unmatched=most),)


# ---------------------------------------------------------------- clusters


@dataclass(frozen=True, slots=True, eq=False)
class CommonClusters(HasMessages):
    """Clusters of the common questions."""

    labels: IntArray | None  # (n_questions,); None if all questions are independent
    key: str | None  # name of the field that defines the clusters, None without labels
    messages: tuple[Message, ...] = ()

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without labels."""
        return None if self.labels is None else len(np.unique(self.labels))


def common_clusters(common: CommonQuestions, options: StructureOptions, plugins: ClusterSources) -> CommonClusters:
    """Find the clusters of the common questions; if the logs disagree, clusters that overlap in any log are merged."""
    cluster_sets = [clusters_of(entry.log, options, plugins) for entry in common.entries]
    messages = distinct(message for clusters in cluster_sets for message in clusters.warnings)
    codes = [codes_of(entry.data, clusters) for entry, clusters in zip(common.entries, cluster_sets, strict=True)]
    code_rows = zip(codes, common.rows, strict=True)
    in_common = [np.unique(code[rows], return_inverse=True)[1] for code, rows in code_rows if code is not None]
    labels = reduce(joined_labels, np.unique(in_common, axis=0)) if in_common else None
    if labels is None or len(np.unique(labels)) == len(labels):
        return CommonClusters(None, None, messages)
    key = next((clusters.key for clusters in cluster_sets if clusters.key), "cluster")
    return CommonClusters(labels, key, messages)


# ---------------------------------------------------------------- runs with the same score on every question


def have_equal_scores(a: SelectedRun, b: SelectedRun) -> bool:
    """Whether two runs have the same questions and the same score on each of them; False if only totals are known."""
    return (of_a := _fingerprint(a)) is not None and of_a == _fingerprint(b)


def identical_pairs(runs: Sequence[SelectedRun]) -> list[tuple[SelectedRun, SelectedRun]]:
    """All pairs of runs that have equal scores which are not constant, in the order of the runs."""
    alike: dict[object, list[int]] = {}
    for place, run in enumerate(runs):
        if (scores := _fingerprint(run)) is not None and not are_constant(run.data):
            alike.setdefault(scores, []).append(place)
    return [
        (runs[i], runs[j]) for i, j in sorted(pair for places in alike.values() for pair in combinations(places, 2))
    ]


def are_constant(data: TaskData) -> bool:
    """Whether all questions have the same score, so that it is not remarkable if two runs agree."""
    values = _values_of(data)
    return values is not None and np.unique(values).size == 1


def _fingerprint(run: SelectedRun) -> object:
    values = _values_of(run.data)
    if values is None:
        return None
    comparable = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no negative zero
    return run.log.questions.ids, comparable.shape, comparable.tobytes()


def _values_of(data: TaskData) -> NDArray[np.float64] | IntArray | None:
    """Return scores, predictions or statistics by question; None if only the total is known."""
    match data:
        case Scores():
            return data.values
        case Classifications():
            return data.predictions
        case SufficientStatistics():
            return data.statistics
    return None
