"""Find the clusters of a task's questions in the first source that specifies them.

1. the user (`--cluster`), 2. the task itself (`TaskLog.declared`), 3. labels stored with the scores
(such as `Scores.clusters`), 4. the catalog of known tasks, 5. a plugin's suggestion, 6. heuristics on
`Questions.fields`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from harness_uq.data.catalogue import Catalogue, CatalogueEntry
from harness_uq.data.selection import PREFIX
from harness_uq.data.structure import Clusters, Evidence, StructureOptions
from harness_uq.data.task_log import ClusterDeclaration, MetadataField, Questions, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.score_structure import (
    PARTIAL_CLUSTER_FIELD,
    POSSIBLE_CLUSTER_FIELDS,
    UNKNOWN_CLUSTER_FIELD,
)
from harness_uq.messages.errors import StructureError

PROMPT_PREFIX = "prompt_prefix"
MANY_CLUSTERS = 20  # of nested fields with at least as many values, the coarsest defines the clusters
MIN_AUTOMATIC_CLUSTERS = 5  # detected fields with fewer values are only hints
MIN_HINTED_CLUSTERS = 3  # from this number on, the hint contains the interval of these clusters

# Clusters by what determines them, for as long as the questions are in memory. The catalogue is part of a value because
# it has no hash.
_Known = dict[tuple[object, ...], tuple[Catalogue | None, Clusters]]
_KNOWN: WeakKeyDictionary[Questions, _Known] = WeakKeyDictionary()


class ClusterSources(Protocol):
    """Knowledge of the installed plugins about clusters."""

    @property
    def catalogues(self) -> Mapping[str, Catalogue]:
        """Catalogues by the name of the harness."""

    def cluster_keys(self, task: str, metadata: Mapping[str, object]) -> tuple[list[str], tuple[Message, ...]]:
        """Fields that plugins suggest as clusters of a task, and a warning for each plugin that failed."""


def clusters_of(log: TaskLog, options: StructureOptions, plugins: ClusterSources) -> Clusters:
    """Find the clusters of a task; if it lacks the field that the user named, warn and search the other sources.

    The clusters of a log are searched once and kept with its questions, which logs derived from it share.
    """
    catalogue = plugins.catalogues.get(log.source.harness)
    suggestions, messages = plugins.cluster_keys(log.task, log.facts.settings)
    own = options.of_task(log.task)
    key = (log.task, log.declared, own.cluster, own.origin, *suggestions, messages)
    known = _KNOWN.setdefault(log.questions, {})
    if key not in known or known[key][0] is not catalogue:
        known[key] = catalogue, _searched(log, options, catalogue, suggestions, messages)
    return known[key][1]


def _searched(
    log: TaskLog,
    options: StructureOptions,
    catalogue: Catalogue | None,
    suggestions: Sequence[str],
    messages: tuple[Message, ...],
) -> Clusters:
    tasks = catalogue.tasks if catalogue else ()
    try:
        clusters = find_clusters(log, options, catalogue=tasks, suggestions=suggestions)
    except StructureError as error:
        clusters = find_clusters(log, StructureOptions(), catalogue=tasks, suggestions=suggestions)
        messages += (error.message,)
    return replace(clusters, messages=(*clusters.messages, *messages))


def find_clusters(
    log: TaskLog,
    options: StructureOptions,
    *,
    catalogue: Sequence[CatalogueEntry] = (),
    suggestions: Iterable[str] = (),
) -> Clusters:
    """The cluster labels of the task's questions, from the first source that names one of its fields.

    The first pattern of the catalogue that matches the task is used, and the best of the fields that plugins suggest
    comes first. Raises StructureError if the user names a field that this task's questions do not have.
    """
    if (wanted := options.cluster_of(log.task)) is not None:
        return _from_user(log, wanted, options.of_task(log.task).origin)
    if log.declared is not None and (clusters := _from_declaration(log, log.declared)):
        return clusters
    entry = next((e for e in catalogue if re.fullmatch(e.pattern, log.task)), None)
    if entry is not None and (clusters := _from_catalogue(log, entry)):
        return clusters
    for name in suggestions:
        if (candidate := candidate_field(log, name)) is not None:
            return labelled(name, candidate, "suggested by a plugin")
    return clusters_by_heuristics(log, entry)


def missing_field(options: StructureOptions, logs: Iterable[TaskLog]) -> Message | None:
    """Return an error message if a cluster field that the user names does not exist; None otherwise.

    A field for one task must exist in this task; a field for all tasks must exist in at least one task. The message
    lists the available fields. Fields named by the defaults may belong to other logs, and logs without documents have
    no fields. In both cases the results of each task contain a warning instead.
    """
    own = replace(options, defaults=None)
    with_fields = [log for log in logs if not log.subtasks and candidate_fields(log)]
    lacking = [error for log in with_fields if (error := _lacks(log, own))]
    named = [error for log in with_fields if log.task in own.cluster_by_task and (error := _lacks(log, own))]
    return next(iter(named or (lacking if len(lacking) == len(with_fields) else [])), None)


def _lacks(log: TaskLog, options: StructureOptions) -> Message | None:
    try:
        if (wanted := options.cluster_of(log.task)) is not None:
            _from_user(log, wanted, options.origin)
    except StructureError as error:
        return error.message
    return None


def _from_user(log: TaskLog, wanted: str, origin: str) -> Clusters:
    if wanted == "none":
        return independent(f"set by the user ({origin} none)", is_stated=True)
    candidate = candidate_field(log, wanted)
    if candidate is None:
        known = ", ".join(sorted(candidate_fields(log))) or "unknown (the log contains no documents)"
        raise StructureError(UNKNOWN_CLUSTER_FIELD(task=log.task, field=wanted, known=known))
    return labelled(wanted, candidate, f"named by the user ({origin})", is_stated=True)


def _from_declaration(log: TaskLog, declared: ClusterDeclaration) -> Clusters | None:
    name, is_stated = declared.cluster, declared.is_stated
    evidence = f"declared in the task ({declared.origin})" if is_stated else declared.origin
    if name == "none":
        return independent(evidence, is_stated=is_stated)
    candidate = candidate_field(log, name)
    return None if candidate is None else labelled(name, candidate, evidence, is_stated=is_stated)


def _from_catalogue(log: TaskLog, entry: CatalogueEntry) -> Clusters | None:
    for name in entry.cluster_fields:
        candidate = candidate_field(log, name)
        if candidate is not None and candidate.n_distinct < len(log.questions):
            return labelled(name, candidate, f"catalogue of known tasks: {entry.note or entry.pattern}")
    return None


_CLUSTER_NAME = re.compile(
    r"(^|[._ ])(passage|context|ctx|article|cluster|story|paragraph|document|doc|section|dialog|dialogue|conversation"
    r"|title|link|image|video|narrative|premise|seed|seed_question|template|question_index|decision_question|scenario)"
    r"(_?(id|hash|idx|index|key|name|str))?$",
    re.IGNORECASE,
)
_NEVER_A_CLUSTER = re.compile(
    r"(answer|label|choice|option|target|gold|solution|subject|category|topic|lang|language|level|difficulty|split"
    r"|source|type|domain|instruction|prompt_id|seed_number)",
    re.IGNORECASE,
)


def clusters_by_heuristics(log: TaskLog, entry: CatalogueEntry | None) -> Clusters:
    """The field that is detected as clusters, or none, with a hint about the others.

    It is the coarsest with at least 20 values. If there is none, it is the finest, which is less often a category. A
    detected field with three or four values is not used, but returned as `Clusters.few`, whose messages are the hints
    about the other fields. The beginning of the prompt needs at least 20 values.
    The strata of the catalogue's entry are never clusters. Unless the catalogue knows the task, every field that groups
    the questions is part of the hint, whatever the harness.
    """
    named = {
        name: candidate
        for name, candidate in candidate_fields(log).items()
        if _looks_like_a_cluster(name, candidate) and not (entry and name in entry.strata)
    }
    # prompts that begin alike in few ways share an instruction, and not the material
    many, strong, few = (
        {name: c for name, c in named.items() if c.n_distinct >= (MANY_CLUSTERS if name == PROMPT_PREFIX else least)}
        for least in (MANY_CLUSTERS, MIN_AUTOMATIC_CLUSTERS, MIN_HINTED_CLUSTERS)
    )
    groups = dict(named)
    if entry is None:  # fields with any name that have at least two questions per value on average
        groups |= {
            name: candidate
            for name, candidate in candidate_fields(log).items()
            if not _NEVER_A_CLUSTER.search(name) and 2 <= candidate.n_distinct <= len(candidate.codes) / 2
        }
    if strong:
        return _detected(strong, _coarsest(many) if many else _finest(strong))
    found = independent("no field says that questions share material", _hints(groups))
    if not few:
        return found
    clusters = _detected(few, _finest(few))
    others = {name: candidate for name, candidate in groups.items() if name != clusters.key}
    return replace(found, few=replace(clusters, messages=_hints(others)))


def _detected(candidates: Mapping[str, MetadataField], name: str) -> Clusters:
    evidence = "repeated text" if candidates[name].is_text or name == PROMPT_PREFIX else "name of the field"
    return labelled(name, candidates[name], f"heuristic: {evidence}, {candidates[name].n_distinct} values")


def _looks_like_a_cluster(name: str, candidate: MetadataField) -> bool:
    n = len(candidate.codes) - candidate.n_missing
    distinct = candidate.n_distinct
    if _NEVER_A_CLUSTER.search(name) or distinct < 2 or n < len(candidate.codes) / 2:
        return False
    if candidate.is_text or name == PROMPT_PREFIX:
        return 1 - distinct / n >= 0.05
    return bool(_CLUSTER_NAME.search(name)) and distinct / n <= 0.98


def _coarsest(candidates: Mapping[str, MetadataField]) -> str:
    """Return the field with the fewest values among those in which the finest field is nested."""
    finest = max(candidates.values(), key=lambda candidate: candidate.n_distinct).codes
    n_finest = len(np.unique(finest))
    nesting = [
        name for name, c in candidates.items() if np.unique(np.stack([finest, c.codes]), axis=1).shape[1] == n_finest
    ]
    return min(nesting, key=lambda name: (candidates[name].n_distinct, candidates[name].is_text, name))


def _finest(candidates: Mapping[str, MetadataField]) -> str:
    """Return the field with the most values."""
    return min(candidates, key=lambda name: (-candidates[name].n_distinct, candidates[name].is_text, name))


def _hints(candidates: Mapping[str, MetadataField]) -> tuple[Message, ...]:
    """Write one note about all fields; of fields that define the same clusters, only the shortest name is listed."""
    by_codes: dict[bytes, str] = {}
    for name in sorted(candidates, key=lambda name: (name == PROMPT_PREFIX, len(name), name)):
        by_codes.setdefault(np.unique(candidates[name].codes, return_inverse=True)[1].tobytes(), name)
    if not by_codes:
        return ()
    # fields with many groups are more often material than categories are
    names = sorted(by_codes.values(), key=lambda name: -candidates[name].n_distinct)
    fields = ", ".join(f"{name} ({candidates[name].n_distinct} groups)" for name in names)
    return (POSSIBLE_CLUSTER_FIELDS(fields=fields, example=names[0]),)


def independent(evidence: str, messages: tuple[Message, ...] = (), *, is_stated: bool = False) -> Clusters:
    """Return the finding that there are no clusters, with its evidence."""
    return Clusters(
        None, None, Evidence("clusters", "questions count as independent", evidence), messages, is_stated=is_stated
    )


def labelled(name: str, candidate: MetadataField, evidence: str, *, is_stated: bool = False) -> Clusters:
    """Return the clusters that a field defines; none if every question has a different value."""
    codes = candidate.codes
    missing = codes < 0
    messages: tuple[Message, ...] = ()
    if missing.any():
        codes = np.where(missing, codes.max(initial=-1) + 1 + np.cumsum(missing), codes)
        n = int(missing.sum())
        messages = (PARTIAL_CLUSTER_FIELD(field=name, n_missing=n, n_questions=len(codes)),)
    _, codes = np.unique(codes, return_inverse=True)
    if codes.max(initial=-1) + 1 == len(codes):
        return independent(f"every question has a {name!r} of its own ({evidence})", is_stated=is_stated)
    fact = Evidence("clusters", f"{codes.max() + 1} by {name}", evidence)
    return Clusters(name, codes.astype(np.int64), fact, messages, is_stated=is_stated)


def candidate_field(log: TaskLog, name: str) -> MetadataField | None:
    """Return the field `name`; `a+b` combines two fields, and the prefixes `doc.` and `metadata.` are optional."""
    candidates = candidate_fields(log)
    parts = []
    for part in name.split("+"):
        bare = part.strip().removeprefix("doc.").removeprefix("metadata.")
        if bare not in candidates:
            return None
        parts.append(candidates[bare])
    if len(parts) == 1:
        return parts[0]
    table = np.stack([part.codes for part in parts], axis=1)
    _, codes = np.unique(table, axis=0, return_inverse=True)
    return MetadataField(np.where((table < 0).any(axis=1), -1, codes.ravel()), any(p.is_text for p in parts))


def candidate_fields(log: TaskLog) -> dict[str, MetadataField]:
    """Return all fields by name, including the text at the beginning of the prompt.

    Fields that describe how a question was chosen are left out.
    """
    candidates = {name: field for name, field in log.questions.fields.items() if not name.startswith(PREFIX)}
    if log.questions.prompt_prefix is not None:
        candidates[PROMPT_PREFIX] = log.questions.prompt_prefix
    return candidates
