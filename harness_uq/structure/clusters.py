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

from harness_uq.data.catalogue import Catalogue, CatalogueEntry
from harness_uq.data.task_log import AggregateScore, ClusterDeclaration, IntArray, Questions, TaskData, TaskLog
from harness_uq.errors import StructureError
from harness_uq.messages import Message
from harness_uq.messages.catalogue.structure import UNKNOWN_CLUSTER_FIELD
from harness_uq.structure.cluster_heuristics import clusters_by_heuristics
from harness_uq.structure.field_labels import candidate_field, candidate_fields, independent, labelled
from harness_uq.structure.types import Clusters, StructureOptions

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
    """Return the cluster labels of the task's questions, from the first source that names one of its fields.

    Parameters
    ----------
    log : the task
    options : clusters that the user declares
    catalogue : known tasks; the first matching pattern is used
    suggestions : fields that plugins suggest; the best comes first

    Raises
    ------
    StructureError : if the user names a field that this task's questions do not have
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
    return clusters_by_heuristics(log, entry, is_known=bool(catalogue))


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


def codes_of(data: TaskData, clusters: Clusters) -> IntArray | None:
    """Return the cluster labels used for a metric; None if its questions are treated as independent."""
    given = None if isinstance(data, AggregateScore) else data.clusters
    return clusters.codes if clusters.is_stated or given is None else given
