"""Recognise the metrics that harness_uq wrote into a log, and whether the scores have changed since."""

import hashlib

import msgspec

from harness_uq_inspect.annotated_names import NAME, NATIVE_STDERR, NATIVE_VALUE, REGISTERED, SCORES_HASH, block_of
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Metric


def harness_value(metric: Metric) -> float | None:
    """The value that Inspect computed, even if harness_uq replaced it."""
    annotation = (metric.metadata or {}).get(NAME)
    value = annotation.get(NATIVE_STDERR, annotation.get(NATIVE_VALUE)) if isinstance(annotation, dict) else None
    return value if isinstance(value, float | int) else metric.value


def is_ours(metric: Metric) -> bool:
    """Whether harness_uq computed the metric: in a live run, as a registered metric or afterwards."""
    return metric.name.startswith(("uq_", f"{NAME}_inspect/")) or metric.group in REGISTERED


def is_stale(log: Log) -> bool:
    """Whether the scores have changed since the block was written; False without a block that contains estimates.

    A run with `--no-score` has a block without estimates; scores that are added later do not contradict it.
    """
    results = log.header.results
    block = block_of(results.metadata if results else None)
    return block is not None and bool(block.get("estimates")) and block.get(SCORES_HASH) != scores_hash(log)


def scores_hash(log: Log) -> str:
    """SHA-256 of the scores by question and epoch; of the reduced scores if the log has no others."""
    content: object = [
        (question, epoch, {name: score.value for name, score in (cell.scores or {}).items()}, bool(cell.invalidation))
        for (question, epoch), cell in sorted(log.cells.items())
    ]
    if not log.cells:
        content = [(r.scorer, r.reducer, [(str(s.sample_id), s.value) for s in r.samples]) for r in log.reductions]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
