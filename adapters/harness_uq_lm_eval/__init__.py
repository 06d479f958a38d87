"""lm-evaluation-harness for harness_uq: reads the logs of lm-eval 0.4.0 and later without importing lm_eval."""

from typing import TYPE_CHECKING

from harness_uq import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness_uq_lm_eval.harness import LmEvalHarness


@hookimpl
def harness_uq_harnesses() -> "Iterable[LmEvalHarness]":
    """Offer the reader of lm-eval logs."""
    from harness_uq_lm_eval.harness import LmEvalHarness

    return [LmEvalHarness()]
