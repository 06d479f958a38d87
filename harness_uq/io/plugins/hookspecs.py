"""The hooks that plugins implement.

Each hook may be implemented by any number of plugins, and the results of all of them are used. Plugins add methods,
readers and output formats; they never change a number unless the user names them.
"""

from collections.abc import Iterable, Mapping

import pluggy

from harness_uq.io.plugins.protocols import Estimator, Format, Reader

PROJECT = "harness_uq"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Hooks:
    """The hook specifications."""

    @hookspec
    def harness_uq_estimators(self) -> Iterable[Estimator]:  # type: ignore[empty-body]
        """Provide interval methods."""

    @hookspec
    def harness_uq_harnesses(self) -> Iterable[Reader]:  # type: ignore[empty-body]
        """Provide readers of the logs of harnesses."""

    @hookspec
    def harness_uq_formats(self) -> Iterable[Format]:  # type: ignore[empty-body]
        """Provide output formats."""

    @hookspec
    def harness_uq_cluster_keys(self, task: str, metadata: Mapping[str, object]) -> Iterable[str]:  # type: ignore[empty-body]
        """Suggest document fields that identify the clusters of a task, best first."""
