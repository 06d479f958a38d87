"""The block that a scored log carries: estimates, the settings behind them, and a hash of the scores they are of."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from harness_uq import Comparison, Estimate, __version__
from harness_uq_inspect.samples import Log
from harness_uq_inspect.schema import Json, Results

NAME: Final = "harness_uq"
SCHEMA: Final = 1

Settings = Mapping[str, str | float]


def make_block(
    log: Log, estimates: Sequence[Estimate], settings: Settings, comparisons: Sequence[Comparison] = ()
) -> Json:
    """The block of a log as it stands.

    Parameters
    ----------
    log : the file's own content, whose scores are hashed
    estimates : of this log
    settings : what was asked for (`method`, `level`, `scope`…)
    comparisons : with another run, where asked for
    """
    block: Json = {
        "schema": SCHEMA,
        "version": __version__,
        "settings": dict(settings),
        "scores_hash": scores_hash(log),
        "estimates": [estimate.to_dict() for estimate in estimates],
    }
    return block | ({"comparisons": [row.to_dict() for row in comparisons]} if comparisons else {})


def block_of(results: Results | None) -> Json | None:
    """The block in a log's results; None where there is none."""
    block = (results.metadata or {}).get(NAME) if results is not None else None
    return block if isinstance(block, dict) else None


def is_stale(log: Log) -> bool:
    """Whether the log's scores changed since its block was written; False where it has no block."""
    block = block_of(log.header.results)
    return block is not None and block.get("scores_hash") != scores_hash(log)


def scores_hash(log: Log) -> str:
    """SHA-256 of the log's scores by question and epoch; of the reduced ones where it holds no others."""
    content: object = [
        (question, epoch, {name: score.value for name, score in (cell.scores or {}).items()}, bool(cell.invalidation))
        for (question, epoch), cell in sorted(log.cells.items())
    ]
    if not log.cells:
        content = [(r.scorer, r.reducer, [(str(s.sample_id), s.value) for s in r.samples]) for r in log.reductions]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
