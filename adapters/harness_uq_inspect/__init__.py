"""Inspect AI logs for harness_uq, read without importing inspect_ai."""

from typing import TYPE_CHECKING

from harness_uq import hookimpl

if TYPE_CHECKING:
    from harness_uq_inspect.harness import InspectHarness


@hookimpl
def harness_uq_harnesses() -> "list[InspectHarness]":
    """Offer the reader of Inspect AI logs."""
    from harness_uq_inspect.harness import InspectHarness

    return [InspectHarness()]
