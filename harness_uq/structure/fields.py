"""Fields of the questions' documents as cluster labels."""

import numpy as np

from harness_uq.logs.data import CandidateField, TaskLog
from harness_uq.structure.facts import Clusters, Fact

PROMPT_PREFIX = "prompt_prefix"


def independent(evidence: str, hints: tuple[str, ...] = (), *, is_stated: bool = False) -> Clusters:
    """No clusters, and how that is known."""
    return Clusters(
        None, None, Fact("clusters", "questions count as independent", evidence), hints, is_stated=is_stated
    )


def labelled(name: str, candidate: CandidateField, evidence: str, *, is_stated: bool = False) -> Clusters:
    """The clusters that a field makes; none where every question has a value of its own."""
    codes = candidate.codes
    missing = codes < 0
    warnings: tuple[str, ...] = ()
    if missing.any():
        codes = np.where(missing, codes.max(initial=-1) + 1 + np.cumsum(missing), codes)
        n = int(missing.sum())
        warnings = (f"cluster field {name!r} is missing on {n} of {len(codes)} questions; each counts as its own",)
    _, codes = np.unique(codes, return_inverse=True)
    if codes.max(initial=-1) + 1 == len(codes):
        return independent(f"every question has a {name!r} of its own ({evidence})", is_stated=is_stated)
    fact = Fact("clusters", f"{codes.max() + 1} by {name}", evidence)
    return Clusters(name, codes.astype(np.int64), fact, warnings=warnings, is_stated=is_stated)


def candidate_field(log: TaskLog, name: str) -> CandidateField | None:
    """The field `name`; `a+b` combines two, and `doc.` or `metadata.` in front may be left out."""
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
    return CandidateField(np.where((table < 0).any(axis=1), -1, codes.ravel()), any(p.is_text for p in parts))


def candidate_fields(log: TaskLog) -> dict[str, CandidateField]:
    """Every field by name, with the text that opens the prompt."""
    candidates = dict(log.questions.fields)
    if log.questions.prompt_prefix is not None:
        candidates[PROMPT_PREFIX] = log.questions.prompt_prefix
    return candidates


def field_names(log: TaskLog) -> str:
    """The names of the fields, for messages."""
    return ", ".join(sorted(candidate_fields(log))) or "unknown (the log holds no documents)"
