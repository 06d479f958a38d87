"""Loading plugins: each in isolation, name clashes as errors, built-ins through the same hooks as anyone's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar, cast

import pluggy

from harness_uq import hookspecs
from harness_uq.errors import PluginError
from harness_uq.hookspecs import PROJECT, Estimator, Harness


class _Named(Protocol):
    @property
    def name(self) -> str: ...


BUILT_IN = "built-in"

T = TypeVar("T", bound=_Named)


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the installed plugins offer.

    Attributes
    ----------
    estimators, harnesses : by name
    warnings : plugins left out, and why
    manager : the pluggy manager, for the collecting hooks
    """

    estimators: dict[str, Estimator]
    harnesses: dict[str, Harness]
    warnings: tuple[str, ...] = ()
    manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(PROJECT), repr=False)


def load_plugins(extra: Sequence[object] = ()) -> Plugins:
    """Load the built-in estimators, the installed plugins and `extra` plugin objects.

    A plugin that cannot be imported, or whose hooks do not match the specifications, is left out with a warning.

    Raises
    ------
    PluginError : if two plugins offer the same name
    """
    from harness_uq import estimators

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs.Hooks)
    manager.register(estimators, name=BUILT_IN)
    warnings: list[str] = []
    for entry in sorted(entry_points(group=PROJECT), key=lambda e: e.name):
        warnings += _isolated(manager, entry.name, entry.load, _address(entry))
    for plugin in extra:
        warnings += _isolated(manager, repr(plugin), partial(_itself, plugin), "given by the caller")
    estimators_offered: list[tuple[str, Estimator]] = _collect(manager, "harness_uq_estimators", warnings)
    harnesses_offered: list[tuple[str, Harness]] = _collect(manager, "harness_uq_harnesses", warnings)
    return Plugins(_by_name(estimators_offered), _by_name(harnesses_offered), tuple(warnings), manager)


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
    return f"plugin {plugin!r}: {hook} failed: {type(error).__name__}: {error}"


def _itself(plugin: object) -> object:
    return plugin


def harness_names() -> list[str]:
    """Names under which harness plugins are installed, without loading any of them."""
    return sorted(entry.name for entry in entry_points(group=PROJECT))


def _address(entry: EntryPoint) -> str:
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"
    return f"{entry.value}, {owner}"


def _isolated(manager: pluggy.PluginManager, name: str, load: Callable[[], object], address: str) -> list[str]:
    try:
        plugin = load()
        manager.register(plugin, name=name)
    except Exception as error:
        return [f"plugin {name!r} ({address}) was left out: {type(error).__name__}: {error}"]
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
            if implementation.plugin_name == BUILT_IN:
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
