"""Loading plugins: each in isolation, name clashes as errors, built-ins through the same hooks as anyone's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import pluggy

from harness_uq.errors import PluginError, told
from harness_uq.plugins import hookspecs
from harness_uq.plugins.hookspecs import PROJECT
from harness_uq.plugins.protocols import Estimator, HasCatalogue, Reader, Runner

if TYPE_CHECKING:
    from harness_uq.logs.catalogue import Catalogue


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_OURS = tuple(
    EntryPoint("built-in", module, PROJECT)
    for module in ("harness_uq.estimating.estimators", "harness_uq.tables.reader")
)

T = TypeVar("T", bound=_Named)


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the installed plugins offer.

    Attributes
    ----------
    estimators, harnesses : by name
    catalogues : of the harnesses that have one
    warnings : plugins left out, and why
    manager : the pluggy manager, for the collecting hooks
    """

    estimators: dict[str, Estimator]
    harnesses: dict[str, Reader]
    catalogues: "Mapping[str, Catalogue]" = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(PROJECT), repr=False)


def load_plugins(extra: Sequence[object] = ()) -> Plugins:
    """Load the built-in estimators, the installed plugins and `extra` plugin objects.

    A plugin that cannot be imported, or whose hooks do not match the specifications, is left out with a warning.

    Raises
    ------
    PluginError : if two plugins offer the same name
    """
    manager, warnings = _registered(extra)
    for ours in _OURS:
        manager.register(ours.load(), name=ours.value)
    estimators: dict[str, Estimator] = _by_name(_collect(manager, "harness_uq_estimators", warnings))
    harnesses: dict[str, Reader] = _by_name(_collect(manager, "harness_uq_harnesses", warnings))
    catalogues = _catalogues(harnesses, warnings)
    return Plugins(estimators, harnesses, catalogues, tuple(warnings), manager)


def _registered(extra: Sequence[object] = ()) -> tuple[pluggy.PluginManager, list[str]]:
    """A manager with the installed plugins and `extra` ones, and warnings on those left out."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs.Hooks)
    warnings: list[str] = []
    for entry in sorted(entry_points(group=PROJECT), key=lambda e: e.name):
        warnings += _isolated(manager, entry.name, entry.load, _address(entry))
    for plugin in extra:
        warnings += _isolated(manager, repr(plugin), partial(_itself, plugin), "given by the caller")
    return manager, warnings


def _catalogues(harnesses: Mapping[str, Reader], warnings: list[str]) -> "dict[str, Catalogue]":
    found = {}
    for name, harness in harnesses.items():
        if isinstance(harness, HasCatalogue):
            try:
                found[name] = harness.catalogue()
            except Exception as error:
                warnings.append(_failed(name, "catalogue", error))
    return found


def cluster_keys(plugins: Plugins, task: str, metadata: Mapping[str, object]) -> tuple[list[str], tuple[str, ...]]:
    """Fields that plugins suggest as clusters of a task, best first, and warnings on plugins that failed."""
    found: list[str] = []
    warnings: list[str] = []
    for implementation in reversed(plugins.manager.hook.harness_uq_cluster_keys.get_hookimpls()):
        try:
            given = {"task": task, "metadata": metadata}
            names = cast(
                "str | Iterable[str]", implementation.function(*map(given.__getitem__, implementation.argnames))
            )
            found += [names] if isinstance(names, str) else list(names)
        except Exception as error:
            warnings.append(_failed(implementation.plugin_name, "harness_uq_cluster_keys", error))
    return found, tuple(warnings)


def _failed(plugin: str, hook: str, error: Exception) -> str:
    return f"plugin {plugin!r}: {hook} failed: {told(error)}"


def _itself(plugin: object) -> object:
    return plugin


def runners() -> list[str]:
    """Names of the installed harnesses that `harness-uq NAME` can run, sorted."""
    manager, warnings = _registered()
    offered: list[tuple[str, Reader]] = _collect(manager, "harness_uq_harnesses", warnings)
    return sorted({harness.name for _, harness in offered if isinstance(harness, Runner)})


def entry_names() -> list[str]:
    """Names of the installed plugins, without loading any of them."""
    return sorted(entry.name for entry in entry_points(group=PROJECT))


def _address(entry: EntryPoint) -> str:
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"
    return f"{entry.value}, {owner}"


def _isolated(manager: pluggy.PluginManager, name: str, load: Callable[[], object], address: str) -> list[str]:
    try:
        plugin = load()
        manager.register(plugin, name=name)
    except Exception as error:
        return [f"plugin {name!r} ({address}) was left out: {told(error)}"]
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        manager.unregister(plugin)
        return [f"plugin {name!r} ({address}) was left out: {error}"]
    return []


def _collect(manager: pluggy.PluginManager, hook: str, warnings: list[str]) -> list[tuple[str, T]]:
    offered: list[tuple[str, T]] = []
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        try:
            things: Iterable[T] = implementation.function()
            offered += [(implementation.plugin_name, thing) for thing in things]
        except Exception as error:
            if implementation.plugin_name in {ours.value for ours in _OURS}:
                raise
            warnings.append(_failed(implementation.plugin_name, hook, error))
    return offered


def _by_name(offered: list[tuple[str, T]]) -> dict[str, T]:
    owners: dict[str, str] = {}
    by_name: dict[str, T] = {}
    for owner, thing in offered:
        if thing.name in by_name:
            raise PluginError(
                f"plugins {owners[thing.name]!r} and {owner!r} both offer {thing.name!r}; uninstall one or rename it"
            )
        owners[thing.name], by_name[thing.name] = owner, thing
    return by_name
