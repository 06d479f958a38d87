"""The plugins at hand: what they provide, and which were skipped.

Installing a plugin never changes a number: a plugin cannot replace a built-in method or reader, and of two plugins that
provide the same name neither is used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar, cast

import pluggy

from harness_uq._version import __version__
from harness_uq.io.plugins.hookspecs import PROJECT
from harness_uq.io.plugins.loader import READER, Contract, InstalledPlugin, Named, PluginLoader
from harness_uq.io.plugins.protocols import Estimator, Format, Reader, Runner
from harness_uq.messages import Message
from harness_uq.messages.catalogue.plugins import PLUGIN_HOOK_FAILED, PLUGIN_SKIPPED
from harness_uq.messages.errors import error_summary

if TYPE_CHECKING:
    from harness_uq.data.catalogue import Catalogue

T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the installed plugins provide.

    Attributes
    ----------
    estimators, harnesses : methods and readers by name
    catalogues : of the readers that have one, by name
    formats : output formats by name; without the built-in ones if no plugin adds one
    installed : every plugin, with what it provides and what of it was skipped
    manager : the pluggy manager, for hooks that are called later
    """

    estimators: dict[str, Estimator]
    harnesses: dict[str, Reader]
    catalogues: "Mapping[str, Catalogue]" = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    installed: tuple[InstalledPlugin, ...] = ()
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(PROJECT), repr=False)

    @property
    def warnings(self) -> tuple[Message, ...]:
        """One warning per plugin that was skipped, as a whole or in part."""
        return tuple(
            PLUGIN_SKIPPED(
                plugin=plugin.name,
                address=plugin.address,
                extent="" if plugin.is_skipped else " in part",
                reason="; ".join(plugin.problems),
            )
            for plugin in self.installed
            if plugin.problems
        )

    def cluster_keys(self, task: str, metadata: Mapping[str, object]) -> tuple[list[str], tuple[Message, ...]]:
        """Fields that plugins suggest as clusters of a task, best first, and a warning for each plugin that failed."""
        keys: list[str] = []
        warnings: list[Message] = []
        arguments = {"task": task, "metadata": metadata}
        for implementation in reversed(self.manager.hook.harness_uq_cluster_keys.get_hookimpls()):
            try:
                suggested = cast(
                    "str | Iterable[str]", implementation.function(*map(arguments.__getitem__, implementation.argnames))
                )
                keys += [suggested] if isinstance(suggested, str) else list(suggested)
            except Exception as error:
                reason = error_summary(error)
                plugin, hook = implementation.plugin_name, "harness_uq_cluster_keys"
                warnings.append(PLUGIN_HOOK_FAILED(plugin=plugin, hook=hook, reason=reason))
        return keys, tuple(warnings)


def built_in(name: str, module: str) -> InstalledPlugin:
    """The description of a plugin that harness_uq itself provides."""
    return InstalledPlugin(name, module, f"harness-uq {__version__}", is_built_in=True)


TABLES = built_in("tables", "harness_uq.io.tables.reader")


def collect_installed(contract: Contract, *core: InstalledPlugin) -> dict[str, T]:
    """What the installed plugins and some of harness_uq itself provide under one contract, by name."""
    loader = PluginLoader()
    loader.register_installed()
    for plugin in core:
        loader.register(plugin, import_module(plugin.module))
    return loader.collect(contract)


def installed_readers() -> dict[str, Reader]:
    """The readers of the installed plugins and that of tables, by name."""
    return collect_installed(READER, TABLES)


def runners() -> list[str]:
    """Names of the installed harnesses that `harness-uq NAME` can run, sorted."""
    harnesses: dict[str, Reader] = collect_installed(READER)
    return sorted(name for name, harness in harnesses.items() if isinstance(harness, Runner))


def entry_names() -> list[str]:
    """Names of the installed plugins, without loading any of them."""
    return sorted(entry.name for entry in entry_points(group=PROJECT))
