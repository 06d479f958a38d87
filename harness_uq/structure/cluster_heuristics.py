"""Detect cluster fields by names or repeated text that indicate that questions share material.

A detected field is used automatically only if it has at least 20 clusters. Otherwise a hint is reported.
"""

import re
from collections.abc import Mapping

import numpy as np

from harness_uq.data.catalogue import CatalogueEntry
from harness_uq.data.task_log import IntArray, MetadataField, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.structure import POSSIBLE_CLUSTER_FIELDS
from harness_uq.structure.field_labels import PROMPT_PREFIX, candidate_fields, independent, labelled
from harness_uq.structure.types import Clusters

MIN_AUTOMATIC_CLUSTERS = 20

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


def clusters_by_heuristics(log: TaskLog, entry: CatalogueEntry | None, *, is_known: bool) -> Clusters:
    """Return the coarsest field that is detected as clusters, or none, with a hint about the others.

    Parameters
    ----------
    entry : the catalog entry, whose strata are never used as clusters
    is_known : whether the harness has a catalog; without one, every field that groups the questions is part of the hint
    """
    named = {
        name: candidate
        for name, candidate in candidate_fields(log).items()
        if _looks_like_a_cluster(name, candidate) and not (entry and name in entry.strata)
    }
    strong = {name: c for name, c in named.items() if c.n_distinct >= MIN_AUTOMATIC_CLUSTERS}
    groups = dict(named)
    if not is_known:  # fields with any name that have at least two questions per value on average
        groups |= {
            name: candidate
            for name, candidate in candidate_fields(log).items()
            if not _NEVER_A_CLUSTER.search(name) and 2 <= candidate.n_distinct <= len(candidate.codes) / 2
        }
    hints = _hints({name: c for name, c in groups.items() if name not in strong})
    if not strong:
        return independent("no field says that questions share material", hints)
    name = _coarsest(strong)
    evidence = "repeated text" if strong[name].is_text or name == PROMPT_PREFIX else "name of the field"
    return labelled(name, strong[name], f"heuristic: {evidence}, {strong[name].n_distinct} values")


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
    finest = max(candidates, key=lambda name: candidates[name].n_distinct)
    nesting = [name for name, c in candidates.items() if _nests(c.codes, candidates[finest].codes)]
    return min(nesting, key=lambda name: (candidates[name].n_distinct, candidates[name].is_text, name))


def _nests(outer: IntArray, inner: IntArray) -> bool:
    pairs = np.unique(np.stack([inner, outer]), axis=1).shape[1]
    return bool(pairs == len(np.unique(inner)))


def _hints(candidates: Mapping[str, MetadataField]) -> tuple[Message, ...]:
    """Write one note about all fields; of fields that define the same clusters, only the shortest name is listed."""
    by_codes: dict[bytes, str] = {}
    for name in sorted(candidates, key=lambda name: (name == PROMPT_PREFIX, len(name), name)):
        by_codes.setdefault(np.unique(candidates[name].codes, return_inverse=True)[1].tobytes(), name)
    if not by_codes:
        return ()
    fields = ", ".join(f"{name} ({candidates[name].n_distinct} groups)" for name in by_codes.values())
    return (POSSIBLE_CLUSTER_FIELDS(fields=fields, example=next(iter(by_codes.values()))),)
