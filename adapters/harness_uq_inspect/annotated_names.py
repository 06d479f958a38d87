"""Names in a log that harness_uq has annotated: the block under `results.metadata` and the metrics beside it."""

from collections.abc import Mapping
from typing import Final

NAME: Final = "harness_uq"
SCHEMA: Final = 1
SCORES_HASH: Final = "scores_hash"
SD: Final = "uq_sd"  # only if Inspect's own standard error is shown
METRICS: Final = ("uq_lower", "uq_upper", SD)
NATIVE_STDERR: Final = "std_error"  # Inspect's own value of a standard error that was replaced
NATIVE_VALUE: Final = "value"  # Inspect's own value of a mean that was replaced
REGISTERED: Final = ("uq", "bayes_at_n", "pass_k")


def block_of(metadata: Mapping[str, object] | None) -> dict[str, object] | None:
    """The harness_uq block in the metadata of a log's results; None if there is none."""
    block = (metadata or {}).get(NAME)
    return block if isinstance(block, dict) else None
