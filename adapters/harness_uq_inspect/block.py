"""The block that a scored log carries under `results.metadata`, and the metrics beside it: names that both who writes
and who reads them know.
"""

from collections.abc import Mapping
from typing import Final

NAME: Final = "harness_uq"
SCHEMA: Final = 1
SCORES_HASH: Final = "scores_hash"
METRICS: Final = ("uq_lower", "uq_upper", "uq_sd")
KEPT: Final = "std_error"  # Inspect's own standard error, where ours stands in its place
REGISTERED: Final = ("uq", "bayes_at_n", "pass_k")


def block_of(metadata: Mapping[str, object] | None) -> dict[str, object] | None:
    """The block in the metadata of a log's results; None where there is none."""
    block = (metadata or {}).get(NAME)
    return block if isinstance(block, dict) else None
