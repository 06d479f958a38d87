"""The plugins of harness_uq itself and those that are installed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from harness_uq.io.plugins.manager import (
    FORMAT,
    METHOD,
    READER,
    TABLES,
    InstalledPlugin,
    PluginLoader,
    Plugins,
    built_in,
)
from harness_uq.io.plugins.protocols import Estimator, Format, HasCatalogue, Reader
from harness_uq.messages.errors import error_summary

if TYPE_CHECKING:
    from harness_uq.data.catalogue import Catalogue

_CORE = (built_in("methods", "harness_uq.inference.methods"), TABLES)
_FORMATS = built_in("output formats", "harness_uq.output.formats")


def load_plugins(extra: Sequence[object] = ()) -> Plugins:
    """Load the installed plugins, those of harness_uq itself and `extra` plugin objects.

    A plugin that cannot be imported, raises, breaks its contract or uses a name that is taken is skipped, as a whole
    or in part; `Plugins.installed` has the reasons.
    """
    loader = PluginLoader()
    loader.register_installed()
    for plugin in extra:
        loader.register(InstalledPlugin(repr(plugin), type(plugin).__module__), plugin)
    for core in _CORE:
        loader.register(core, import_module(core.module))
    estimators: dict[str, Estimator] = loader.collect(METHOD)
    harnesses: dict[str, Reader] = loader.collect(READER)
    catalogues = _catalogues(harnesses, loader)
    return Plugins(estimators, harnesses, catalogues, _formats(loader), loader.plugins, loader.manager)


def _formats(loader: PluginLoader) -> dict[str, Format]:
    """Output formats by name; the built-in ones are loaded only if a plugin adds one, to compare the names."""
    if not loader.manager.hook.harness_uq_formats.get_hookimpls():
        return {}
    loader.register(_FORMATS, import_module(_FORMATS.module))
    return loader.collect(FORMAT)


def _catalogues(harnesses: Mapping[str, Reader], loader: PluginLoader) -> "dict[str, Catalogue]":
    catalogues = {}
    for name, harness in harnesses.items():
        if isinstance(harness, HasCatalogue):
            try:
                catalogues[name] = harness.catalogue()
            except Exception as error:
                reason = f"the catalogue of reader {name!r} raised {error_summary(error)}"
                loader.add_problem(loader.owner_of(READER, name), reason)
    return catalogues
