"""Clusters of a task's questions, from the first source that names them.

1. the user (`--cluster`), 2. the task itself (`TaskLog.declared`), 3. labels that come with the scores
(`Scores.clusters` and the like), 4. the catalogue of known tasks, 5. a plugin's suggestion, 6. heuristics on
`Questions.fields`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness_uq.errors import StructureError
from harness_uq.logs.catalogue import CatalogueEntry
from harness_uq.logs.data import Declaration, IntArray, TaskData, TaskLog, Totals
from harness_uq.structure.facts import Clusters, StructureOptions
from harness_uq.structure.fields import candidate_field, candidate_fields, field_names, independent, labelled
from harness_uq.structure.heuristics import clusters_by_heuristics


def find_clusters(
    log: TaskLog,
    options: StructureOptions,
    *,
    catalogue: Sequence[CatalogueEntry] = (),
    suggestions: Iterable[str] = (),
) -> Clusters:
    """Cluster labels of the task's questions, from the strongest source that names a field it has.

    Parameters
    ----------
    log : the task
    options : what the user says
    catalogue : known tasks; the first matching pattern counts
    suggestions : fields that plugins propose, best first

    Raises
    ------
    StructureError : if the user names a field that this task's questions do not have
    """
    if (wanted := options.cluster_of(log.task)) is not None:
        return _from_user(log, wanted, options.of_task(log.task).origin)
    if log.declared is not None and (found := _from_declaration(log, log.declared)):
        return found
    entry = next((e for e in catalogue if re.fullmatch(e.pattern, log.task)), None)
    if entry is not None and (found := _from_catalogue(log, entry)):
        return found
    for name in suggestions:
        if (candidate := candidate_field(log, name)) is not None:
            return labelled(name, candidate, "suggested by a plugin")
    return clusters_by_heuristics(log, entry, is_known=bool(catalogue))


def missing_field(options: StructureOptions, logs: Iterable[TaskLog]) -> str:
    """What is wrong with the fields that the user names for clusters, where one is missing; else empty.

    A field for one task is missing where the task lacks it, one for all tasks where every task lacks it. The message
    says which fields there are. What the defaults name may belong to other logs, and logs without documents have no
    fields: of both each task's results warn.
    """
    own = replace(options, defaults=None)
    held = [log for log in logs if not log.subtasks and candidate_fields(log)]
    lacking = [error for log in held if (error := _lacks(log, own))]
    named = [error for log in held if log.task in own.cluster_by_task and (error := _lacks(log, own))]
    return (named or (lacking if len(lacking) == len(held) else []) or [""])[0]


def _lacks(log: TaskLog, options: StructureOptions) -> str:
    try:
        if (wanted := options.cluster_of(log.task)) is not None:
            _from_user(log, wanted, options.origin)
    except StructureError as error:
        return str(error)
    return ""


def _from_user(log: TaskLog, wanted: str, origin: str) -> Clusters:
    if wanted == "none":
        return independent(f"the user says so ({origin} none)", is_stated=True)
    candidate = candidate_field(log, wanted)
    if candidate is None:
        raise StructureError(
            f"task {log.task!r} has no field {wanted!r} to cluster by; its fields are {field_names(log)}"
        )
    return labelled(wanted, candidate, f"named by the user ({origin})", is_stated=True)


def _from_declaration(log: TaskLog, declared: Declaration) -> Clusters | None:
    name, origin = declared.cluster, declared.origin
    if name == "none":
        return independent(f"declared in the task ({origin})", is_stated=True)
    candidate = candidate_field(log, name)
    return None if candidate is None else labelled(name, candidate, f"declared in the task ({origin})", is_stated=True)


def _from_catalogue(log: TaskLog, entry: CatalogueEntry) -> Clusters | None:
    for name in entry.cluster_fields:
        candidate = candidate_field(log, name)
        if candidate is not None and candidate.n_distinct < len(log.questions):
            return labelled(name, candidate, f"catalogue of known tasks: {entry.note or entry.pattern}")
    return None


def codes_of(data: TaskData, clusters: Clusters) -> IntArray | None:
    """Labels of the clusters that count for a metric; None where its questions count as independent."""
    given = None if isinstance(data, Totals) else data.clusters
    return clusters.codes if clusters.is_stated or given is None else given
