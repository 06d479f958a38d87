"""Use fields of the questions' documents as cluster labels."""

import numpy as np

from harness_uq.data.active_draws import PREFIX
from harness_uq.data.task_log import MetadataField, TaskLog
from harness_uq.messages import Message
from harness_uq.messages.catalogue.structure import PARTIAL_CLUSTER_FIELD
from harness_uq.structure.types import Clusters, Evidence

PROMPT_PREFIX = "prompt_prefix"


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
