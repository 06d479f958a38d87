"""The hooks that plugins implement.

All hooks collect; none is first-result. A plugin adds methods and harnesses; it never changes a number
that a user did not ask it for.
"""

from collections.abc import Iterable, Mapping

import pluggy

from harness_uq.plugins.protocols import Estimator, Reader

PROJECT = "harness_uq"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Hooks:
    """The hook specifications."""

    @hookspec
    def harness_uq_estimators(self) -> Iterable[Estimator]:  # type: ignore[empty-body]
        """Offer estimators."""

    @hookspec
    def harness_uq_harnesses(self) -> Iterable[Reader]:  # type: ignore[empty-body]
        """Offer harnesses."""

    @hookspec
    def harness_uq_cluster_keys(self, task: str, metadata: Mapping[str, object]) -> Iterable[str]:  # type: ignore[empty-body]
        """Suggest fields that identify clusters of a task, best first."""
