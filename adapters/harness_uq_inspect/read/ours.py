"""What of a log harness_uq wrote: metrics of ours, and whether the scores changed since."""

import hashlib

import msgspec

from harness_uq_inspect.block import KEPT, NAME, REGISTERED, SCORES_HASH, block_of
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Metric


def harness_value(metric: Metric) -> float | None:
    """The value that Inspect computed, also where ours stands in its place."""
    kept = (metric.metadata or {}).get(NAME)
    value = kept.get(KEPT) if isinstance(kept, dict) else None
    return value if isinstance(value, float | int) else metric.value


def is_ours(metric: Metric) -> bool:
    """Whether the metric was computed by harness_uq, live, by a registered metric or afterwards."""
    return metric.name.startswith(("uq_", f"{NAME}_inspect/")) or metric.group in REGISTERED


def is_stale(log: Log) -> bool:
    """Whether the log's scores changed since its block was written; False where it has no block."""
    results = log.header.results
    block = block_of(results.metadata if results else None)
    return block is not None and block.get(SCORES_HASH) != scores_hash(log)


def scores_hash(log: Log) -> str:
    """SHA-256 of the log's scores by question and epoch; of the reduced ones where it holds no others."""
    content: object = [
        (question, epoch, {name: score.value for name, score in (cell.scores or {}).items()}, bool(cell.invalidation))
        for (question, epoch), cell in sorted(log.cells.items())
    ]
    if not log.cells:
        content = [(r.scorer, r.reducer, [(str(s.sample_id), s.value) for s in r.samples]) for r in log.reductions]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
